// The ledger service: holds, settles and returns the money of calls; refusals are faults.
import { fault } from '../base/faults.ts';
import type { NewAttempt } from '../money/attempt.ts';
import {
  type Charge,
  type ChargeKind,
  type ChargeOp,
  decide,
  getOperationId,
  type HoldOp,
  type Outcome,
  type RefundOp,
  type ReturnOp,
  type SettleOp,
  type Usage,
  type Wallet,
} from '../money/decide.ts';
import type { IdempotencyTerms } from '../money/idempotency.ts';
import type { CreateJob, FailJob, Job } from '../money/job-rules.ts';
import type { Micro } from '../money/money.ts';
import type { Store } from '../store/store.ts';
import { type BudgetedCall, budgetFault, type CallBudget, type CallCap, capFault, toTerms } from './caps.ts';
import { ANSWER_WITHIN_MS, createQueue, type NoOutcome, type SubmitOptions } from './queue.ts';
import { insufficientFault, neverToppedFault } from './refusals.ts';
import { createSweep, type Sweep } from './sweep.ts';

export interface LedgerOptions {
  readonly store: Store;
  /** This process, as the owner of its holds. */
  readonly ownerId: string;
  readonly leaseMs: number;
  readonly log: LedgerLog;
  readonly now?: () => number;
  /** How long a call waits for the store at most, for its hold and its end together. */
  readonly answerWithinMs?: number;
  /** Whether models here cost real money: play money pays for none of them. */
  readonly isReal?: () => boolean;
}

export interface LedgerLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface HoldRequest {
  /** The id of the request, which becomes the id of the charge. */
  readonly chargeId: string;
  readonly wallet: string;
  readonly key: string;
  readonly kind: ChargeKind;
  readonly model: string;
  /** The prices the call is made with, as stored with the charge. */
  readonly prices: string;
  readonly amount: Micro;
  /** Absent if the key has no budget. */
  readonly budget?: CallBudget;
  /** Further budgets; absent if there are none. */
  readonly caps?: readonly CallCap[];
  /** Absent if the client sent no idempotency key. */
  readonly idempotency?: IdempotencyTerms;
  /** What running calls of the wallet have used above their holds; absent if nothing. */
  readonly owed?: Micro;
  /** What the call may cost above its hold; absent if no more is expected. */
  readonly excess?: Micro;
  /** How long the call has already waited for the store; counts towards the limit. */
  readonly waitedMs?: number;
}

/** Money held for a running call; ended once, by `settle` or `release`. */
export interface Hold {
  readonly charge: Charge;
  /** The wallet right after the hold. */
  readonly wallet: Wallet;
  /** The id of the client's idempotency key; absent if it sent none. */
  readonly idempotencyId?: string;
  /** How long its call has waited for the store by then; absent if unknown. */
  readonly waitedMs?: number;
}

/** What a call costs, and its attempts at upstreams. */
export interface CallCost {
  readonly amount: Micro;
  readonly usage: Usage;
  readonly attempts?: readonly NewAttempt[];
}

/** The result of ending a hold. */
export interface Settlement {
  readonly charged: Micro;
  readonly reserved: Micro;
  /** What the wallet can spend now. */
  readonly balance: Micro;
  /** False if the store has not confirmed in time: the numbers are the expected ones, and the operation is retried. */
  readonly confirmed: boolean;
}

/** A charge made up front, before the work. */
interface ChargeRequest extends Omit<HoldRequest, 'excess'> {
  readonly usage: Usage;
}

/** A completed charge; `refund` returns it. */
export interface Paid {
  readonly charge: Charge;
  /** The wallet right after the charge. */
  readonly wallet: Wallet;
  /** The job that was created with it. */
  readonly job?: Job;
}

interface RefundRequest {
  readonly chargeId: string;
  readonly wallet: string;
  /** Fails the job of the charge in the same transaction. */
  readonly job?: FailJob;
  /** They replace any earlier ones. */
  readonly attempts?: readonly NewAttempt[];
}

interface Refund {
  /**
   * `refunded`: the money was returned, now or before; `stale_job`: nothing happened, because the job has changed or
   * ended; `refused`: the charge does not exist or cannot be refunded, which is logged; `unconfirmed`: the store has
   * not answered in time, and the refund is retried.
   */
  readonly status: 'refunded' | 'stale_job' | 'refused' | 'unconfirmed';
  /** The job after the refund. */
  readonly job?: Job;
  /** The amount returned now; absent if nothing was. */
  readonly amount?: Micro;
  readonly model?: string;
}

export interface Ledger {
  /**
   * Throws 402, 403 or 503 faults, and `CallsFull`; then nothing is held, or the hold is returned automatically.
   */
  hold(request: HoldRequest): Promise<Hold>;
  /** Charges the cost and returns the rest; never throws. */
  settle(hold: Hold, due: CallCost): Promise<Settlement>;
  /** Returns the hold in full, and books the attempts at upstreams; never throws. */
  release(hold: Hold, attempts?: readonly NewAttempt[]): Promise<Settlement>;
  /**
   * Charges at once and creates the job in the same transaction. Throws like `hold`; then nothing is charged, or the
   * charge is refunded automatically and its job fails.
   */
  charge(request: ChargeRequest, job?: CreateJob): Promise<Paid>;
  /** Refunds a charge in full and fails its job with it; never throws. */
  refund(request: RefundRequest): Promise<Refund>;
  /** Returns holds of dead owners, one page at a time; resolves to how many were returned since the last call. */
  expireOrphans: Sweep;
  /** Operations that have no outcome yet. */
  size(): number;
  /** Waits for operations in flight; resolves to how many are left without an outcome. */
  drain(withinMs: number): Promise<number>;
}

/** The share of a call's time for the store that its hold leaves to its end: a healthy store needs less. */
const END_SHARE = 1 / 8;

export function createLedger(options: LedgerOptions): Ledger {
  const {
    store,
    ownerId,
    leaseMs,
    log,
    now = Date.now,
    answerWithinMs = ANSWER_WITHIN_MS,
    isReal = () => false,
  } = options;
  const queue = createQueue({
    store: store.ledger,
    answerWithinMs,
    onRetry: (err, operations) => log.warn({ err, operations }, 'the store did not accept a batch; retrying'),
    onParked: (err, op) =>
      log.error(
        { err, operation: getOperationId(op), wallet: op.wallet },
        'the store cannot apply this operation but accepts others; it is retried on its own',
      ),
  });

  async function hold(request: HoldRequest): Promise<Hold> {
    const at = now();
    const from = performance.now();
    const { chargeId, wallet, idempotency, waitedMs = 0 } = request;
    const op: HoldOp = { ...toChargeStart(request, at), kind: 'reserve', owner: ownerId, lease: at + leaseMs };
    // A hold that is applied after its call was answered 503 is returned at once.
    const started = await start(op, request, ({ charge }) => {
      if (charge?.state === 'held') void submitEnd({ kind: 'release', wallet, chargeId, at: now() });
    });
    return { ...started, idempotencyId: idempotency?.id, waitedMs: waitedMs + performance.now() - from };
  }

  async function charge({ usage, ...request }: ChargeRequest, job?: CreateJob): Promise<Paid> {
    const { chargeId, wallet } = request;
    const op: ChargeOp = { ...toChargeStart(request, now()), kind: 'charge', usage: JSON.stringify(usage), job };
    // The client does not know about a late charge, so it is refunded at once, and its job fails.
    return start(op, request, (outcome) => {
      if (outcome.charge?.state !== 'settled') return;
      const fail = outcome.job && buildJobFailure(outcome.job, now());
      void refund({ chargeId, wallet, ...(fail && { job: fail }) });
    });
  }

  function toChargeStart({ kind, budget, caps, waitedMs: _, ...call }: HoldRequest, at: number) {
    return { ...call, chargeKind: kind, at, ...toTerms({ budget, caps, at }), real: isReal() || undefined };
  }

  async function start(op: HoldOp | ChargeOp, asked: HoldRequest, onLate: (outcome: Outcome) => void): Promise<Paid> {
    const options = { persistent: false, onLate, waitedMs: asked.waitedMs };
    const outcome = await queue.submit(op, options).catch(throwUnconfirmed);
    const { status, wallet, charge: made, job, cap, left, exposed = 0n } = outcome;
    // `exists`: an earlier attempt did it, and only its answer was lost.
    const isStarted = status === 'done' || status === 'exists';
    if (isStarted && wallet && made?.state === (op.kind === 'reserve' ? 'held' : 'settled')) {
      return { wallet, charge: made, ...(job && { job }) };
    }
    // This process was suspended before it learned the outcome, and another one has returned the money.
    if (status === 'exists') throw fault('store_unavailable');
    const owed = (asked.owed ?? 0n) + exposed;
    throw toRefusalFault({ status, cap, left }, wallet && subtractOwed(wallet, owed), { ...asked, at: op.at });
  }

  async function refund({ chargeId, wallet, job, attempts }: RefundRequest): Promise<Refund> {
    const more = { ...(job && { job }), ...(attempts && { attempts }) };
    const op: RefundOp = { kind: 'refund', wallet, chargeId, at: now(), ...more };
    const outcome = await submitEnd(op, { onLate: (late) => void toRefund(late, op) });
    return outcome ? toRefund(outcome, op) : { status: 'unconfirmed' };
  }

  function toRefund({ status, charge, job }: Outcome, op: RefundOp): Refund {
    const after = job && { job };
    const moved = status === 'done' && charge && { amount: charge.charged, model: charge.model };
    if (charge?.state === 'refunded') return { status: 'refunded', ...after, ...moved };
    if (status === 'stale_job') return { status, ...after };
    log.error({ charge: op.chargeId, operation: op.kind, status, state: charge?.state }, 'a refund was refused');
    return { status: 'refused', ...after };
  }

  function submitEnd(
    op: SettleOp | ReturnOp | RefundOp,
    waiting: Pick<SubmitOptions, 'onLate' | 'waitedMs'> = {},
  ): Promise<Outcome | undefined> {
    return queue.submit(op, { persistent: true, ...waiting }).catch(() => {
      log.error({ charge: op.chargeId, operation: op.kind }, 'the store has not confirmed the end of a call; retrying');
      return undefined;
    });
  }

  async function endHold(hold: Hold, op: SettleOp | ReturnOp): Promise<Settlement> {
    const { charge, wallet, waitedMs = 0 } = hold;
    const outcome = await submitEnd(op, { waitedMs: Math.min(waitedMs, answerWithinMs * (1 - END_SHARE)) });
    const after = outcome ?? decide({ wallet, charge, prior: undefined }, op);
    const state = after.charge?.state;
    // After a lost answer the same end is found again; a different end was made by another operation.
    if (state !== (op.kind === 'settle' ? 'settled' : 'released')) {
      log.error({ charge: charge.id, operation: op.kind, state }, 'a call ended twice or too late');
    }
    if (op.kind === 'settle' && state === 'settled' && after.charge?.charged !== op.amount)
      log.warn({ charge: charge.id, usage: after.charge?.usage }, 'a late call is free: its client has repeated it');
    return {
      charged: state === 'settled' ? (after.charge?.charged ?? 0n) : 0n,
      reserved: charge.reserved,
      balance: after.wallet?.avail ?? wallet.avail,
      confirmed: outcome !== undefined,
    };
  }

  return {
    hold,
    charge,
    refund,
    settle(open, { amount, usage, attempts }) {
      const { charge, idempotencyId } = open;
      const end = { wallet: charge.wallet, chargeId: charge.id, at: now() };
      const money = { amount, usage: JSON.stringify(usage), idempotencyId };
      return endHold(open, { kind: 'settle', ...end, ...money, attempts });
    },
    release: (open, attempts) =>
      endHold(open, { kind: 'release', wallet: open.charge.wallet, chargeId: open.charge.id, at: now(), attempts }),
    expireOrphans: createSweep({ store: store.ledger, end: (op, onLate) => submitEnd(op, { onLate }), leaseMs, now }),
    size: queue.size,
    drain: (withinMs) => queue.drain(withinMs),
  };
}

function throwUnconfirmed(error: NoOutcome): never {
  throw fault('store_unavailable', { unconfirmed: error.applied === 'unknown' }, error);
}

/** The fault of a call, or of another hold, that was refused. */
export function toRefusalFault({ status, cap: id, left }: Outcome, wallet: Wallet | undefined, asked: BudgetedCall) {
  const cap = asked.caps?.find((each) => each.id === id);
  if (cap) return capFault(cap, asked, left);
  switch (status) {
    case 'insufficient':
      return insufficientFault(wallet as Wallet, asked);
    case 'never_topped':
      return neverToppedFault();
    case 'suspended':
      return fault('account_suspended');
    case 'play_money':
      return fault('play_money');
    case 'key_budget':
      return budgetFault(asked, left);
    // The other call is about to end.
    case 'repeated':
      return fault('idempotency_running', { retryAfterS: 1 });
    case 'key_misused':
      return fault('idempotency_mismatch');
    default:
      return fault('internal', {}, new Error(`money for a call was answered ${status}`));
  }
}

/** Fails a job whose creator was answered 503. */
function buildJobFailure({ id, version }: Job, at: number): FailJob {
  return { kind: 'fail', id, version, at, error: 'The service was temporarily unavailable.' };
}

/** Treats known and possible overshoot of running calls as held. */
function subtractOwed(wallet: Wallet, owed: Micro): Wallet {
  return { ...wallet, avail: wallet.avail - owed, held: wallet.held + owed };
}
