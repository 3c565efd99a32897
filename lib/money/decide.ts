// All money rules in one pure function: takes a wallet, a charge and an operation, returns the outcome and what to
// write.
import assert from 'node:assert/strict';
import type { IdempotencyRecord } from './idempotency.ts';
import type { Job } from './job-rules.ts';
import { isOverBudget, type KeyBudget, resolvePeriod, type SharesBudget } from './key-budget.ts';
import { computeMark } from './mark.ts';
import { computeShortfall, type Micro } from './money.ts';
import {
  type AdjustOp,
  type ChargeKind,
  type ChargeOp,
  type HoldOp,
  type Operation,
  operationId,
  type PaybackOp,
  type PayOp,
  type RefundOp,
  type ReturnOp,
  type SettleOp,
  type StatusOp,
  type TopupOp,
} from './operations.ts';
import type { Payment } from './payment-rules.ts';

export type * from './operations.ts';
export { CHARGE_KINDS, getChargeId, getJobChange, getPaymentChange, operationId } from './operations.ts';

/** One account's money. `avail + held + charged = topped + adjusted` at all times. */
export interface Wallet {
  /** The account's id. */
  readonly id: string;
  /** What can be spent; below zero only by recorded overshoot of calls and of payments that were taken back. */
  readonly avail: Micro;
  /** The sum over held charges. */
  readonly held: Micro;
  /** Charges less refunds. */
  readonly charged: Micro;
  /** Payments, less refunds and lost disputes. */
  readonly topped: Micro;
  /** The sum of the operator's corrections, of either sign. */
  readonly adjusted: Micro;
  /** Number of the last entry; the first entry is 1. */
  readonly seq: number;
  /** A suspended wallet takes no new hold or charge; running calls settle. */
  readonly status: 'active' | 'suspended';
  /** The wallet holds money of test payments, and pays for no real model until an operator has settled it. */
  readonly playMoney?: true;
}

/** `held → settled | released | expired`, `expired → settled`, `settled → refunded`; each once. */
export const CHARGE_STATES = ['held', 'settled', 'released', 'expired', 'refunded'] as const;
export type ChargeState = (typeof CHARGE_STATES)[number];

/**
 * What a call used: the counts of `token-usage.ts` for text; `tokens_input` for embeddings; `images`; `seconds` and
 * `resolution` of a video. Charges, log lines and the command line show it as JSON under these names, and texts add how
 * they were routed (`text/facts.ts`). `repeated_as` is the charge of the repeated call, if this call is free as a repeat.
 */
export type Usage = Readonly<Record<string, number | string>>;

/** The money of one call; `budgetKey` as of the start of the call. */
export interface Charge extends SharesBudget {
  /** The request's id. */
  readonly id: string;
  readonly wallet: string;
  /** The id of the API key. */
  readonly key: string;
  readonly kind: ChargeKind;
  readonly state: ChargeState;
  readonly reserved: Micro;
  /** What the call cost; kept after a refund, to show what was refunded. */
  readonly charged: Micro;
  /** The model that is billed. */
  readonly model: string;
  /** The prices the call was made with, as JSON of decimal micro-roubles: they outlive catalog changes. */
  readonly prices: string;
  /** What was billed, once settled, as JSON: see `Usage`. */
  readonly usage: string | null;
  /** The process that holds it; null once it is not held. */
  readonly owner: string | null;
  /** Until then the sweeper leaves the hold alone even if its owner is unknown, ms since the epoch. */
  readonly lease: number | null;
  /** ms since the epoch. */
  readonly createdAt: number;
  readonly endedAt: number | null;
  /** The period of the key's budget that the call counts in; null if it started without a budget. */
  readonly period: number | null;
  /** What the call may cost above its hold, as known at its start; absent if its output is capped. */
  readonly excess?: Micro;
}

/** One row of the append-only journal: the change of each column. The changes balance. */
export interface Entry {
  /** Unique over the whole ledger: the operation's identity. */
  readonly opId: string;
  readonly wallet: string;
  readonly seq: number;
  readonly kind: Operation['kind'];
  readonly charge: string | null;
  readonly at: number;
  readonly avail: Micro;
  readonly held: Micro;
  readonly charged: Micro;
  readonly topped: Micro;
  readonly adjusted: Micro;
  /** The part of a settlement above its hold, or the part of a payback above the balance. */
  readonly overshoot: Micro;
  /** The wallet's `charged` after this entry: the sum over a time span is the difference of two rows. */
  readonly chargedAfter: Micro;
  /** The payment id of a top-up, the reason of an adjustment, or the order that a payment or payback belongs to. */
  readonly note: string | null;
  /** The wallet's status from here on; null if it stays. */
  readonly status: Wallet['status'] | null;
  /** See `mark.ts`; null in journals of earlier versions. */
  readonly mark: string | null;
}

/**
 * `done`: applied now; `exists`: nothing changed, because this operation, or another end of the same charge, had been
 * applied before. The rest are refusals that change nothing: `insufficient`: `avail` is below the sum of the amount, the
 * debt of running calls and their exposure; `never_topped`: there was no payment yet, whatever adjustments added;
 * `suspended`; `play_money`: play money does not pay for a real model; `key_budget`: the budget of the key does not cover
 * the amount; `no_wallet`; `no_charge`; `not_settled`: a refund of a charge that is not settled; `first_topup_too_small`;
 * `id_taken`: the id belongs to an operation with other values; `stale_job`: the job has changed in the meantime or
 * ended, so neither was applied; `stale_payment`: the same for the payment; `repeated`: another call has taken the
 * idempotency key; `key_misused`: that call was a different request.
 */
export type OutcomeStatus =
  | 'done'
  | 'exists'
  | 'insufficient'
  | 'never_topped'
  | 'suspended'
  | 'play_money'
  | 'key_budget'
  | 'no_wallet'
  | 'no_charge'
  | 'not_settled'
  | 'first_topup_too_small'
  | 'id_taken'
  | 'stale_job'
  | 'stale_payment'
  | 'repeated'
  | 'key_misused';

/** The result of an operation, with the wallet and charge after it. */
export interface Outcome {
  readonly status: OutcomeStatus;
  readonly wallet?: Wallet;
  readonly charge?: Charge;
  /** The job of the operation, if it has one. */
  readonly job?: Job;
  /** The payment of the operation, if it has one. */
  readonly payment?: Payment;
  /** If `insufficient`: what running calls may cost above their holds; absent if nothing. */
  readonly exposed?: Micro;
}

/** The outcome and what to write; `entry` is present exactly when the status is `done`. */
export interface Decision extends Outcome {
  readonly entry?: Entry;
}

/** The state before an operation. */
interface StateBefore {
  readonly wallet: Wallet | undefined;
  readonly charge: Charge | undefined;
  /** What all running calls of the wallet may cost above their holds; only for operations that start a call. */
  readonly exposed?: Micro | undefined;
  /** The same for the running calls that count in the budget of the operation. */
  readonly exposedInBudget?: Micro | undefined;
  /** The budget sum that the operation counts in, if any. */
  readonly budget?: KeyBudget | undefined;
  /** The entry with the id of the operation, if any. */
  readonly prior: Entry | undefined;
  /** The idempotency record of the operation, if another call has taken the key. */
  readonly takenKey?: IdempotencyRecord | undefined;
}

/** The minimum first payment: 1000 RUB. */
export const FIRST_TOPUP_MINIMUM: Micro = 1_000_000_000n;

export function emptyWallet(id: string): Wallet {
  return { id, avail: 0n, held: 0n, charged: 0n, topped: 0n, adjusted: 0n, seq: 0, status: 'active' };
}

export function decide(known: StateBefore, op: Operation): Decision {
  const { wallet } = known;
  if (!wallet) return { status: 'no_wallet' };
  assert.equal(wallet.id, op.wallet);
  if (known.charge && known.charge.wallet !== op.wallet) return { status: 'id_taken', wallet };
  switch (op.kind) {
    case 'topup':
      return topup(wallet, known.prior, op);
    case 'adjust':
      return adjust(wallet, known.prior, op);
    case 'pay':
      return pay(wallet, known.prior, op);
    case 'payback':
    case 'dispute':
      return payBack(wallet, known.prior, op);
    case 'suspend':
    case 'resume':
      return changeStatus(wallet, known.prior, op);
    case 'reserve':
    case 'charge':
      return startCharge(wallet, known, op);
    case 'settle':
      return settle(wallet, known, op);
    case 'release':
    case 'expire':
    case 'refund':
      return returnCharge(wallet, known.charge, op);
  }
}

function topup(wallet: Wallet, prior: Entry | undefined, op: TopupOp): Decision {
  assert(op.amount > 0n);
  if (prior) return compareWithPrior(wallet, prior, { wallet: op.wallet, amount: op.amount });
  if (wallet.topped === 0n && op.amount < FIRST_TOPUP_MINIMUM) return { status: 'first_topup_too_small', wallet };
  return applyChange(flagPlayMoney(wallet, op), undefined, op, {
    avail: op.amount,
    topped: op.amount,
    note: op.paymentId,
  });
}

function flagPlayMoney(wallet: Wallet, { isPlay }: TopupOp | PayOp): Wallet {
  return isPlay ? { ...wallet, playMoney: true } : wallet;
}

function adjust(wallet: Wallet, prior: Entry | undefined, op: AdjustOp): Decision {
  if (prior) return compareWithPrior(wallet, prior, { wallet: op.wallet, amount: op.amount });
  // Another operator was faster. A replayed journal of an earlier version may not say which money was play money.
  if (op.settlesPlay && !wallet.playMoney && op.mark === undefined) return { status: 'exists', wallet };
  if (op.amount < 0n && wallet.avail + op.amount < 0n) return { status: 'insufficient', wallet };
  const { playMoney: _, ...settled } = wallet;
  const after = op.settlesPlay ? settled : wallet;
  return applyChange(after, undefined, op, { avail: op.amount, adjusted: op.amount, note: op.reason });
}

function pay(wallet: Wallet, prior: Entry | undefined, op: PayOp): Decision {
  assert(op.amount > 0n);
  if (prior) return compareWithPrior(wallet, prior, { wallet: op.wallet, amount: op.amount });
  return applyChange(flagPlayMoney(wallet, op), undefined, op, { avail: op.amount, topped: op.amount, note: op.order });
}

function payBack(wallet: Wallet, prior: Entry | undefined, op: PaybackOp): Decision {
  const { amount, returned = 0n } = op;
  // A replayed journal may contain a payback of zero.
  assert(amount >= 0n && returned >= 0n);
  if (prior) return { status: prior.wallet === op.wallet && prior.note === op.order ? 'exists' : 'id_taken', wallet };
  const wanted = amount - returned;
  // biome-ignore lint/complexity/useMathMinMax: it takes no bigint
  const taken = wanted < wallet.topped ? wanted : wallet.topped;
  const overshoot = computeShortfall(taken, wallet.avail);
  const isShort = wallet.avail - taken < 0n || taken < wanted;
  const suspends = op.suspended === true || (op.suspend && isShort);
  const status = suspends && wallet.status === 'active' ? 'suspended' : null;
  return applyChange(wallet, undefined, op, { avail: -taken, topped: -taken, overshoot, note: op.order, status });
}

function changeStatus(wallet: Wallet, prior: Entry | undefined, op: StatusOp): Decision {
  const status = op.kind === 'suspend' ? 'suspended' : 'active';
  if (prior && prior.wallet !== op.wallet) return { status: 'id_taken', wallet };
  if (prior || wallet.status === status) return { status: 'exists', wallet };
  return applyChange(wallet, undefined, op, { status });
}

function compareWithPrior(wallet: Wallet, prior: Entry, wanted: { wallet: string; amount: Micro }): Decision {
  const same = prior.wallet === wanted.wallet && prior.avail === wanted.amount;
  return { status: same ? 'exists' : 'id_taken', wallet };
}

function startCharge(wallet: Wallet, known: StateBefore, op: HoldOp | ChargeOp): Decision {
  const { charge: existing, budget, takenKey, exposed = 0n, exposedInBudget = 0n } = known;
  assert(op.amount > 0n);
  if (existing) return compareWithExisting(wallet, existing, op);
  if (takenKey) return { status: takenKey.body === op.idempotency?.body ? 'repeated' : 'key_misused', wallet };
  if (wallet.status === 'suspended') return { status: 'suspended', wallet };
  if (op.real && wallet.playMoney) return { status: 'play_money', wallet };
  // A correction is not a payment: to let someone call without paying, book a top-up.
  if (wallet.topped === 0n) return { status: 'never_topped', wallet };
  const owed = op.kind === 'reserve' ? (op.owed ?? 0n) : 0n;
  // The excess of this call does not count, so that a single call needs no more than its hold.
  if (wallet.avail < op.amount + owed + exposed)
    return { status: 'insufficient', wallet, ...(exposed > 0n && { exposed }) };
  if (op.budget && isOverBudget(budget, op.budget, op.amount + exposedInBudget))
    return { status: 'key_budget', wallet };
  const charge = createCharge(op, op.budget ? resolvePeriod(budget, op.budget) : null);
  const moved = op.kind === 'reserve' ? { held: op.amount } : { charged: op.amount };
  return applyChange(wallet, charge, op, { avail: -op.amount, ...moved });
}

/** The charge right after the operation that creates it. */
export function createCharge(op: HoldOp | ChargeOp, period: number | null): Charge {
  const holds = op.kind === 'reserve';
  return {
    id: op.chargeId,
    wallet: op.wallet,
    key: op.key,
    kind: op.chargeKind,
    state: holds ? 'held' : 'settled',
    reserved: op.amount,
    charged: holds ? 0n : op.amount,
    model: op.model,
    prices: op.prices,
    usage: (op.kind === 'charge' ? op.usage : undefined) ?? null,
    owner: holds ? op.owner : null,
    lease: holds ? op.lease : null,
    createdAt: op.at,
    endedAt: holds ? null : op.at,
    period,
    budgetKey: op.budget?.key ?? null,
    ...(op.kind === 'reserve' && op.excess !== undefined && { excess: op.excess }),
  };
}

/** A second call with a used id must not run on the money of the first one. */
function compareWithExisting(wallet: Wallet, charge: Charge, op: HoldOp | ChargeOp): Decision {
  const { kind, key, model, prices, reserved } = charge;
  const sameCall = kind === op.chargeKind && key === op.key && model === op.model && prices === op.prices;
  return sameCall && reserved === op.amount ? { status: 'exists', wallet, charge } : { status: 'id_taken', wallet };
}

function settle(wallet: Wallet, { charge, takenKey }: StateBefore, op: SettleOp): Decision {
  assert(op.amount >= 0n);
  if (!charge) return { status: 'no_charge', wallet };
  if (charge.state !== 'held' && charge.state !== 'expired') return { status: 'exists', wallet, charge };
  const isRepeated = charge.state === 'expired' && takenKey !== undefined;
  const { amount, usage } = isRepeated ? { amount: 0n, usage: markUsageRepeated(op, takenKey) } : op;
  const settled = { ...endCharge(charge, 'settled', op.at), charged: amount, usage };
  const held = charge.state === 'held' ? charge.reserved : 0n;
  const difference = held - amount;
  const overshoot = difference < 0n ? -difference : 0n;
  return applyChange(wallet, settled, op, { avail: difference, held: -held, charged: amount, overshoot });
}

/** Keeps the usage and adds `repeated_as`: the charge that has paid for the same request. */
function markUsageRepeated({ usage }: SettleOp, { charge }: IdempotencyRecord): string {
  return JSON.stringify({ ...(usage !== null && JSON.parse(usage)), repeated_as: charge });
}

function returnCharge(wallet: Wallet, charge: Charge | undefined, op: ReturnOp | RefundOp): Decision {
  if (!charge) return { status: 'no_charge', wallet };
  if (op.kind === 'refund') {
    if (charge.state === 'held') return { status: 'not_settled', wallet, charge };
    if (charge.state !== 'settled') return { status: 'exists', wallet, charge };
    const refunded = endCharge(charge, 'refunded', op.at);
    return applyChange(wallet, refunded, op, { avail: charge.charged, charged: -charge.charged });
  }
  if (charge.state !== 'held') return { status: 'exists', wallet, charge };
  const returned = endCharge(charge, op.kind === 'release' ? 'released' : 'expired', op.at);
  return applyChange(wallet, returned, op, { avail: charge.reserved, held: -charge.reserved });
}

function endCharge(charge: Charge, state: ChargeState, at: number): Charge {
  return { ...charge, state, owner: null, lease: null, endedAt: at };
}

type Change = Partial<
  Pick<Entry, 'avail' | 'held' | 'charged' | 'topped' | 'adjusted' | 'overshoot' | 'note' | 'status'>
>;

function applyChange(before: Wallet, charge: Charge | undefined, op: Operation, change: Change): Decision {
  const { avail = 0n, held = 0n, charged = 0n, topped = 0n, adjusted = 0n, overshoot = 0n, note = null } = change;
  const { status = null } = change;
  assert.equal(avail + held + charged, topped + adjusted);
  const wallet: Wallet = {
    ...before,
    avail: before.avail + avail,
    held: before.held + held,
    charged: before.charged + charged,
    topped: before.topped + topped,
    adjusted: before.adjusted + adjusted,
    seq: before.seq + 1,
    ...(status !== null && { status }),
  };
  assert(wallet.held >= 0n && wallet.charged >= 0n);
  const unmarked: Omit<Entry, 'mark'> = {
    opId: operationId(op),
    wallet: wallet.id,
    seq: wallet.seq,
    kind: op.kind,
    charge: charge?.id ?? null,
    at: op.at,
    avail,
    held,
    charged,
    topped,
    adjusted,
    overshoot,
    chargedAfter: wallet.charged,
    note,
    status,
  };
  const entry: Entry = { ...unmarked, mark: op.mark === undefined ? computeMark(op, unmarked, charge) : op.mark };
  return charge ? { status: 'done', wallet, entry, charge } : { status: 'done', wallet, entry };
}
