// The ledger service: holds, settles and returns the money of calls; refusals are faults.
import { fault } from '../base/faults.ts';
import {
  type Charge,
  type ChargeKind,
  type ChargeOp,
  decide,
  FIRST_TOPUP_MINIMUM,
  type HoldOp,
  type Outcome,
  operationId,
  type RefundOp,
  type ReturnOp,
  type SettleOp,
  type Usage,
  type Wallet,
} from '../money/decide.ts';
import type { IdempotencyTerms } from '../money/idempotency.ts';
import type { CreateJob, FailJob, Job } from '../money/job-rules.ts';
import { isOverBudget, type KeyBudget } from '../money/key-budget.ts';
import type { KeyLimits } from '../money/key-limits.ts';
import { formatRub, type Micro } from '../money/money.ts';
import { formatMoment, periodAt } from '../money/period.ts';
import type { Store } from '../store/store.ts';
import { createQueue, type NoOutcome, type SubmitOptions } from './queue.ts';
import { createSweep, type Sweep } from './sweep.ts';

export interface LedgerOptions {
  readonly store: Store;
  /** This process, as the owner of its holds. */
  readonly ownerId: string;
  readonly leaseMs: number;
  readonly log: LedgerLog;
  readonly now?: () => number;
  /** How long a caller waits for the store. */
  readonly answerWithinMs?: number;
  /** Whether models here cost real money: play money pays for none of them. */
  readonly isReal?: () => boolean;
}

export interface LedgerLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface HoldRequest {
  /** The request's id, which becomes the charge's. */
  readonly chargeId: string;
  readonly wallet: string;
  readonly key: string;
  readonly kind: ChargeKind;
  readonly model: string;
  /** The prices the call is made with, as stored with the charge. */
  readonly prices: string;
  readonly amount: Micro;
  /** The key's; absent if it has none. */
  readonly budget?: CallBudget;
  /** Of the client's idempotency key; absent if it sent none. */
  readonly repeat?: IdempotencyTerms;
  /** What running calls of the wallet have used above their holds; absent if nothing. */
  readonly owed?: Micro;
  /** What it may cost above what is held; absent if its output is capped. */
  readonly excess?: Micro;
  /** How long the call has already waited for the store; counts towards this wait. */
  readonly waitedMs?: number;
}

/** The budget of a key, and the key's name for refusals. */
export interface CallBudget extends Pick<KeyLimits, 'reset' | 'zone'> {
  readonly name: string;
  /** Whose sum it counts in; absent: its own key's. */
  readonly sumKey?: string;
  readonly most: Micro;
}

/** Money held for a running call; end it with `settle` or `release`, once. */
export interface Hold {
  readonly charge: Charge;
  /** The wallet right after the hold. */
  readonly wallet: Wallet;
  /** The id of the client's idempotency key; absent if it sent none. */
  readonly repeatId?: string;
}

/** What a call costs. */
export interface Due {
  readonly amount: Micro;
  readonly usage: Usage;
}

/** How the money of a call ended. */
export interface Settlement {
  readonly charged: Micro;
  readonly reserved: Micro;
  /** What the wallet can spend now. */
  readonly balance: Micro;
  /** False if the store has not confirmed it in time: the numbers are the expected ones, and it is being retried. */
  readonly confirmed: boolean;
}

/** A charge made up front, before the work. */
export interface ChargeRequest extends Omit<HoldRequest, 'owed' | 'excess'> {
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

export interface RefundRequest {
  readonly chargeId: string;
  readonly wallet: string;
  /** The failure of its job, in the same transaction. */
  readonly job?: FailJob;
}

export interface Refund {
  /**
   * `refunded`: the money was returned, now or before; `stale_job`: neither happened, because the job has changed or
   * ended; `refused`: there is no such charge, or it cannot be refunded, which is logged; `unconfirmed`: the store has
   * not answered in time, and it is being retried.
   */
  readonly status: 'refunded' | 'stale_job' | 'refused' | 'unconfirmed';
  /** The job as it is now. */
  readonly job?: Job;
  /** What was returned just now; absent if nothing was. */
  readonly amount?: Micro;
  readonly model?: string;
}

export interface Ledger {
  /** Throws 402, 403 or 503 faults; then nothing is held, or whatever is held is returned automatically. */
  hold(request: HoldRequest): Promise<Hold>;
  /** Charges what was used and returns the rest; never throws. */
  settle(hold: Hold, due: Due): Promise<Settlement>;
  /** Returns the hold in full; never throws. */
  release(hold: Hold): Promise<Settlement>;
  /**
   * Charges at once and creates the job it pays for in the same transaction. Throws like `hold`; then nothing is
   * charged, or whatever is charged is refunded automatically and its job fails.
   */
  charge(request: ChargeRequest, job?: CreateJob): Promise<Paid>;
  /** Refunds a charge in full and fails its job with it; never throws. */
  refund(request: RefundRequest): Promise<Refund>;
  /** Returns holds of dead owners, some at a time; resolves to how many were returned since the last time. */
  expireOrphans: Sweep;
  /** Operations that have no outcome yet. */
  size(): number;
  /** Waits for what is in flight; resolves to how many operations are left without an outcome. */
  drain(withinMs: number): Promise<number>;
}

export function createLedger(options: LedgerOptions): Ledger {
  const { store, ownerId, leaseMs, log, now = Date.now, answerWithinMs, isReal = () => false } = options;
  const queue = createQueue({
    store: store.ledger,
    ...(answerWithinMs !== undefined && { answerWithinMs }),
    onRetry: (err, operations) => log.warn({ err, operations }, 'the store did not accept a batch; retrying'),
    onParked: (err, op) =>
      log.error(
        { err, operation: operationId(op), wallet: op.wallet },
        'the store cannot apply this operation but accepts others; it is retried on its own',
      ),
  });

  async function hold(request: HoldRequest): Promise<Hold> {
    const at = now();
    const { chargeId, wallet, key, kind: chargeKind, model, prices, amount } = request;
    const { budget, repeat, owed = 0n, excess, waitedMs = 0 } = request;
    const set = { ...(repeat && { repeat }), ...(excess !== undefined && { excess }), ...(isReal() && REAL) };
    const terms = { ...termsOf(budget, at), ...set };
    const start = { chargeId, wallet, key, chargeKind, model, prices, amount, at, ...terms };
    const op = { ...start, kind: 'reserve', owner: ownerId, lease: at + leaseMs, owed } as const;
    // A hold that turns out to be applied after its call was answered 503 is returned at once.
    const onLate = ({ charge }: Outcome) => {
      if (charge?.state === 'held') void end({ kind: 'release', wallet, chargeId, at: now() });
    };
    const hold = held(await begin(op, { onLate, waitedMs }), { kind: chargeKind, amount, at, budget, owed });
    return repeat ? { ...hold, repeatId: repeat.id } : hold;
  }

  async function charge(request: ChargeRequest, job?: CreateJob): Promise<Paid> {
    const at = now();
    const { kind: chargeKind, waitedMs = 0, usage, budget, ...start } = request;
    const { chargeId, wallet, amount } = start;
    const paidFor = {
      ...start,
      chargeKind,
      usage: JSON.stringify(usage),
      ...termsOf(budget, at),
      ...(isReal() && REAL),
    };
    const op: ChargeOp = { kind: 'charge', ...paidFor, at, ...(job && { job }) };
    // Like a hold: nobody knows about a late charge, so it is refunded at once, and its job fails.
    const onLate = (outcome: Outcome) => {
      if (outcome.charge?.state !== 'settled') return;
      const fail = outcome.job && failureOf(outcome.job, now());
      void refund({ chargeId, wallet, ...(fail && { job: fail }) });
    };
    return paid(await begin(op, { onLate, waitedMs }), { kind: chargeKind, amount, at, budget });
  }

  function begin(op: HoldOp | ChargeOp, options: Omit<SubmitOptions, 'persistent'>): Promise<Outcome> {
    return queue.submit(op, { persistent: false, ...options }).catch((error: NoOutcome) => {
      throw fault('store_unavailable', { unconfirmed: error.applied === 'unknown' }, error);
    });
  }

  async function refund({ chargeId, wallet, job }: RefundRequest): Promise<Refund> {
    const op: RefundOp = { kind: 'refund', wallet, chargeId, at: now(), ...(job && { job }) };
    const outcome = await end(op, (late) => void refunded(late, op));
    return outcome ? refunded(outcome, op) : { status: 'unconfirmed' };
  }

  function refunded({ status, charge, job }: Outcome, op: RefundOp): Refund {
    const after = job && { job };
    const moved = status === 'done' && charge && { amount: charge.charged, model: charge.model };
    if (charge?.state === 'refunded') return { status: 'refunded', ...after, ...moved };
    if (status === 'stale_job') return { status, ...after };
    log.error({ charge: op.chargeId, operation: op.kind, status, state: charge?.state }, 'a refund was refused');
    return { status: 'refused', ...after };
  }

  function end(op: SettleOp | ReturnOp | RefundOp, onLate?: (outcome: Outcome) => void): Promise<Outcome | undefined> {
    return queue.submit(op, { persistent: true, ...(onLate && { onLate }) }).catch(() => {
      log.error({ charge: op.chargeId, operation: op.kind }, 'the store has not confirmed the end of a call; retrying');
      return undefined;
    });
  }

  async function finish(hold: Hold, op: SettleOp | ReturnOp): Promise<Settlement> {
    const { charge, wallet } = hold;
    const outcome = await end(op);
    const after = outcome ?? decide({ wallet, charge, prior: undefined }, op);
    const state = after.charge?.state;
    // A repeat after a lost answer finds the end it asked for; any other end was made by someone else.
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
    settle: (open, { amount, usage }) => {
      const { id: chargeId, wallet } = open.charge;
      const repeated = open.repeatId !== undefined && { repeatId: open.repeatId };
      const due = { amount, usage: JSON.stringify(usage), ...repeated };
      return finish(open, { kind: 'settle', wallet, chargeId, at: now(), ...due });
    },
    release: (open) =>
      finish(open, { kind: 'release', wallet: open.charge.wallet, chargeId: open.charge.id, at: now() }),
    expireOrphans: createSweep({ store: store.ledger, end, leaseMs, now }),
    size: queue.size,
    drain: (withinMs) => queue.drain(withinMs),
  };
}

const REAL = { real: true } as const;

/** What a call asks for. */
type Asked = Pick<HoldRequest, 'kind' | 'amount'>;

interface Begun extends Asked {
  readonly at: number;
  readonly budget: CallBudget | undefined;
}

function termsOf(budget: CallBudget | undefined, at: number): Pick<HoldOp, 'budget'> {
  if (!budget) return {};
  const { sumKey, most } = budget;
  return { budget: { ...(sumKey !== undefined && { key: sumKey }), period: periodAt(at, budget).start, limit: most } };
}

function held(
  { status, wallet, charge, exposed = 0n }: Outcome,
  { owed, ...asked }: Begun & { readonly owed: Micro },
): Hold {
  // `exists` counts as held: an earlier attempt made it and only its answer was lost.
  if (wallet && charge?.state === 'held') return { wallet, charge };
  throw refusal(status, wallet && lessOwed(wallet, owed + exposed), asked);
}

function paid({ status, wallet, charge, job, exposed = 0n }: Outcome, asked: Begun): Paid {
  // `exists` counts as paid: an earlier attempt made it and only its answer was lost.
  if (wallet && charge?.state === 'settled' && (status === 'done' || status === 'exists')) {
    return job ? { wallet, charge, job } : { wallet, charge };
  }
  throw refusal(status, wallet && lessOwed(wallet, exposed), asked);
}

function refusal(status: Outcome['status'], wallet: Wallet | undefined, asked: Begun) {
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
      return budgetFault(asked);
    // It resets at this very moment.
    case 'repeated':
      return fault('idempotency_running', { retryAfterS: 1 });
    case 'key_misused':
      return fault('idempotency_mismatch');
    default:
      return fault('internal', {}, new Error(`money for a call was answered ${status}`));
  }
}

/** Throws the 402 of a key whose budget would not cover a call. */
export function refuseOverBudget(sum: KeyBudget | undefined, asked: Begun): void {
  const { budget: terms } = termsOf(asked.budget, asked.at);
  if (terms && isOverBudget(sum, terms, asked.amount)) throw budgetFault(asked);
}

function budgetFault({ kind, amount, at, budget }: Begun) {
  if (!budget) return fault('internal', {}, new Error('a call without a budget was refused for its budget'));
  const { end } = periodAt(at, budget);
  return fault('key_budget', {
    field: budget.name,
    priceRub: formatRub(amount),
    ...(kind === 'text' && { isReserve: true }),
    budgetRub: formatRub(budget.most),
    ...(end !== null && { reset: budget.reset, resetsAt: formatMoment(end, budget.zone) }),
  });
}

/** Fails a job whose creator was told that there is none. */
function failureOf({ id, version }: Job, at: number): FailJob {
  return { kind: 'fail', id, version, at, error: 'The service was temporarily unavailable.' };
}

/** The wallet once running overshoot is paid, known or possible, which is as good as held. */
function lessOwed(wallet: Wallet, owed: Micro): Wallet {
  return { ...wallet, avail: wallet.avail - owed, held: wallet.held + owed };
}

export function neverToppedFault() {
  return fault('never_topped_up', { minimumRub: formatRub(FIRST_TOPUP_MINIMUM) });
}

export function insufficientFault(wallet: Wallet, { kind, amount }: Asked) {
  return fault('insufficient_balance', {
    priceRub: formatRub(amount),
    ...(kind === 'text' && { isReserve: true }),
    balanceRub: formatRub(wallet.avail),
    ...(wallet.held > 0n && { heldRub: formatRub(wallet.held) }),
  });
}
