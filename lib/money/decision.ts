// What an operation comes to: its outcome, and the wallet, charge and entry to write.
import assert from 'node:assert/strict';
import type { BudgetSum } from './budget.ts';
import { type GrantBook, serializeGrantBook } from './grants.ts';
import type { IdempotencyRecord } from './idempotency.ts';
import type { Job } from './job-rules.ts';
import { computeMark } from './mark.ts';
import type { Micro } from './money.ts';
import { getOperationId, type Operation } from './operations.ts';
import type { Payment } from './payment-rules.ts';
import type { Charge, Entry, Wallet } from './wallet.ts';

/**
 * `done`: applied now; `exists`: nothing changed, because this operation, or another end of the same charge, had been
 * applied before. The rest are refusals that change nothing: `insufficient`: `avail` is below the sum of the amount,
 * the debt of running calls and their exposure; `never_topped`: there was no payment yet, whatever adjustments added;
 * `suspended`; `play_money`: play money does not pay for a real model; `key_budget`: the budget of the key does not
 * cover the amount; `cap`: another budget does not; `no_wallet`; `no_charge`; `not_settled`: a refund of a charge that
 * is not settled; `first_topup_too_small`; `no_grant`; `too_many_grants`; `id_taken`: the id belongs to an operation with
 * other values; `stale_job`: the job has changed in the meantime or ended, so neither was applied; `stale_payment`: the
 * same for the payment; `stale_wallet`: the wallet has changed since the operation was decided on;
 * `repeated`: another call has taken the idempotency key; `key_misused`: that call was a different request.
 */
export type OutcomeStatus =
  | 'done'
  | 'exists'
  | 'insufficient'
  | 'never_topped'
  | 'suspended'
  | 'play_money'
  | 'key_budget'
  | 'cap'
  | 'no_wallet'
  | 'no_charge'
  | 'not_settled'
  | 'first_topup_too_small'
  | 'no_grant'
  | 'too_many_grants'
  | 'id_taken'
  | 'stale_job'
  | 'stale_payment'
  | 'stale_wallet'
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
  /** If `cap`: the id of the budget that does not cover the amount. */
  readonly cap?: string;
  /** If `key_budget`, or a `cap` of money: what a call may still cost; never negative. */
  readonly left?: Micro;
}

/** The outcome and what to write; `entry` is present exactly when the status is `done`. */
export interface Decision extends Outcome {
  readonly entry?: Entry;
}

/** A further budget of an operation: its sum, if any, and what the running calls in it may cost above their holds. */
export interface CapState {
  readonly sum: BudgetSum | undefined;
  readonly exposed: Micro;
}

/** The state before an operation. */
export interface StateBefore {
  readonly wallet: Wallet | undefined;
  readonly charge: Charge | undefined;
  /** What all running calls of the wallet may cost above their holds; only for operations that start a call. */
  readonly exposed?: Micro | undefined;
  /** The same for the running calls that count in the budget of the operation. */
  readonly exposedInBudget?: Micro | undefined;
  /** The budget sum that the operation counts in, if any. */
  readonly budget?: BudgetSum | undefined;
  /** The same for each of its further budgets, in their order. */
  readonly caps?: readonly CapState[];
  /** The entry with the id of the operation, if any. */
  readonly prior: Entry | undefined;
  /** The idempotency record of the operation, if another call has taken the key. */
  readonly takenKey?: IdempotencyRecord | undefined;
}

type Change = Partial<
  Pick<Entry, 'avail' | 'held' | 'charged' | 'topped' | 'adjusted' | 'granted' | 'overshoot' | 'note' | 'status'>
> & { readonly given?: GrantChange };

/** The grants of the wallet after a change, and the change as the entry keeps it. */
interface GrantChange {
  readonly book: GrantBook;
  readonly entry: string | undefined;
}

/** The books after a change that every rule allows: one balanced entry. */
export function applyChange(before: Wallet, charge: Charge | undefined, op: Operation, change: Change): Decision {
  const { avail = 0n, held = 0n, charged = 0n, topped = 0n, adjusted = 0n, overshoot = 0n, note = null } = change;
  const { status = null, granted = 0n, given } = change;
  assert.equal(avail + held + charged, topped + adjusted + granted);
  const moved: Wallet = {
    ...before,
    avail: before.avail + avail,
    held: before.held + held,
    charged: before.charged + charged,
    topped: before.topped + topped,
    adjusted: before.adjusted + adjusted,
    seq: before.seq + 1,
    ...(status !== null && { status }),
  };
  const wallet = given || granted !== 0n ? changeGranted(moved, granted, given) : moved;
  assert(wallet.held >= 0n && wallet.charged >= 0n);
  const unmarked: Omit<Entry, 'mark'> = {
    opId: getOperationId(op),
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
    ...(granted !== 0n && { granted }),
    ...(given?.entry !== undefined && { grants: given.entry }),
  };
  const entry: Entry = { ...unmarked, mark: op.mark === undefined ? computeMark(op, unmarked, charge) : op.mark };
  return charge ? { status: 'done', wallet, entry, charge } : { status: 'done', wallet, entry };
}

/** Both columns are absent when there is nothing in them. */
function changeGranted(
  { granted: before = 0n, grants, ...wallet }: Wallet,
  granted: Micro,
  given: GrantChange | undefined,
): Wallet {
  const after = before + granted;
  const book = given ? serializeGrantBook(given.book) : grants;
  return { ...wallet, ...(after !== 0n && { granted: after }), ...(book !== undefined && { grants: book }) };
}
