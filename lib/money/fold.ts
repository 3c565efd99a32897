// Runs a batch of operations over what a store has loaded; every store writes exactly what this returns.

import { type Attempt, toAttemptRows } from './attempt.ts';
import { findBudgetKey, getIdempotencyId } from './batch-keys.ts';
import {
  addSpending,
  type BudgetSum,
  type CapPeriod,
  type CapTerms,
  getCapSpending,
  getSpending,
  isCallCount,
  resolvePeriod,
} from './budget.ts';
import {
  type Charge,
  type ChargeOp,
  decide,
  type Entry,
  getChargeId,
  getJobChange,
  getOperationId,
  getPaymentChange,
  type HoldOp,
  type Operation,
  type Outcome,
  type Wallet,
} from './decide.ts';
import type { CapState, StateBefore } from './decision.ts';
import { getPaidBalance } from './grants.ts';
import { type IdempotencyRecord, type IdempotencyTerms, isIdempotencyKeyTaken } from './idempotency.ts';
import { decideJob, getJobId, type Job, type JobOutcome } from './job-rules.ts';
import { type Micro, maxMicro } from './money.ts';
import { decidePayment, type Payment, type PaymentOutcome } from './payment-rules.ts';

/** What a store loads for a batch: the rows listed by `collectBatchKeys`, if they exist. */
export interface Loaded {
  readonly wallets: Map<string, Wallet>;
  readonly charges: Map<string, Charge>;
  /** Entries by operation id, only for operations without a charge. */
  readonly entries: Map<string, Entry>;
  readonly jobs: Map<string, Job>;
  readonly payments: Map<string, Payment>;
  /** By key id: those listed by `collectBudgetKeys`. */
  readonly budgets: Map<string, BudgetSum>;
  /** By id: those listed by `collectIdempotencyIds`; their charges are among `charges`. */
  readonly idempotencyRecords: Map<string, IdempotencyRecord>;
  /** Built by `addExposure` from all charges of the wallets in `collectExposedWallets`; sums of 0 are left out. */
  readonly exposed?: ReadonlyMap<string, Micro>;
}

/** What a store writes, in one transaction; the outcomes are in the order of the operations. */
export interface Folded {
  readonly outcomes: readonly Outcome[];
  /** Changed wallets, in their final state. `seq` before the batch is `seq` less the number of new entries. */
  readonly wallets: readonly Wallet[];
  /** New and changed charges, in their final state. */
  readonly charges: readonly Charge[];
  /** New entries, in order. */
  readonly entries: readonly Entry[];
  /** New and changed jobs, in their final state. */
  readonly jobs: readonly Job[];
  /** Changed payments, in their final state. */
  readonly payments: readonly Payment[];
  /** New and changed sums of keys, in their final state. */
  readonly budgets: readonly BudgetSum[];
  /** New and changed idempotency records, in their final state. */
  readonly idempotencyRecords: readonly IdempotencyRecord[];
  /** Attempts of the calls that ended; those of one whose hold had ended before replace its earlier ones. */
  readonly attempts: readonly Attempt[];
}

export function fold(loaded: Loaded, operations: readonly Operation[]): Folded {
  const batch = openBatch(loaded);
  const outcomes = operations.map((op) => applyOperation(op, batch));
  return {
    outcomes,
    wallets: batch.wallets.listChanged(),
    charges: batch.charges.listChanged(),
    entries: batch.entries,
    jobs: batch.jobs.listChanged(),
    payments: batch.payments.listChanged(),
    budgets: batch.budgets.listChanged(),
    idempotencyRecords: batch.idempotencyRecords.listChanged(),
    attempts: [...batch.attempts.values()].flat(),
  };
}

/** Rows as they are so far: what an operation of the batch has changed, and otherwise what was loaded. */
class Table<Row> {
  readonly #loaded: ReadonlyMap<string, Row>;
  readonly #changed = new Map<string, Row>();

  constructor(loaded: ReadonlyMap<string, Row>) {
    this.#loaded = loaded;
  }

  get(id: string | undefined): Row | undefined {
    return id === undefined ? undefined : (this.#changed.get(id) ?? this.#loaded.get(id));
  }

  set(id: string, row: Row): void {
    this.#changed.set(id, row);
  }

  listChanged(): readonly Row[] {
    return [...this.#changed.values()];
  }
}

/** The books while a batch runs. */
type Batch = ReturnType<typeof openBatch>;

function openBatch(loaded: Loaded) {
  return {
    wallets: new Table(loaded.wallets),
    charges: new Table(loaded.charges),
    /** Of operations without a charge. */
    priorEntries: new Table(loaded.entries),
    jobs: new Table(loaded.jobs),
    payments: new Table(loaded.payments),
    budgets: new Table(loaded.budgets),
    idempotencyRecords: new Table(loaded.idempotencyRecords),
    exposures: new Map<string, Micro>(loaded.exposed),
    /** All new ones. */
    entries: [] as Entry[],
    /** By charge. */
    attempts: new Map<string, readonly Attempt[]>(),
  };
}

function applyOperation(op: Operation, batch: Batch): Outcome {
  const before = findStateBefore(op, batch);
  const { wallet, charge } = before;
  const { entry, ...outcome } = decide(before, op);
  const job = decideJobChange(op, outcome, batch);
  // Money and job change together or not at all.
  if (job && entry && job.status !== 'done')
    return { status: 'stale_job', wallet, ...(charge && { charge }), ...(job.job && { job: job.job }) };
  const payment = decidePaymentChange(op, { outcome, entry: entry ?? before.prior }, batch);
  if (payment && entry && payment.status !== 'done')
    return { status: 'stale_payment', wallet, ...pickPayment(payment) };
  if (job?.status === 'done' && job.job) batch.jobs.set(job.job.id, job.job);
  if (payment?.status === 'done' && payment.payment) batch.payments.set(payment.payment.id, payment.payment);
  if (entry) book(op, { before, outcome, entry }, batch);
  return { ...outcome, ...(job?.job && { job: job.job }), ...(payment && pickPayment(payment)) };
}

function findStateBefore(op: Operation, batch: Batch): StateBefore {
  const { budgets, exposures } = batch;
  const chargeId = getChargeId(op);
  const charge = batch.charges.get(chargeId);
  const budget = budgets.get(findBudgetKey(op, charge));
  const caps = 'caps' in op ? op.caps?.map((cap) => toCapState(cap, budgets.get(cap.id), exposures)) : undefined;
  return {
    wallet: batch.wallets.get(op.wallet),
    charge,
    prior: chargeId === undefined ? batch.priorEntries.get(getOperationId(op)) : undefined,
    budget,
    takenKey: findTakenKey(op, batch),
    exposed: exposures.get(op.wallet),
    exposedInBudget: getBudgetExposure(op, budget, exposures),
    ...(caps && { caps }),
  };
}

interface Accepted {
  readonly before: StateBefore;
  readonly outcome: Outcome;
  readonly entry: Entry;
}

/** Writes an accepted operation into the books. */
function book(op: Operation, { before, outcome, entry }: Accepted, batch: Batch): void {
  const { wallet, charge } = outcome;
  const { budgets } = batch;
  batch.entries.push(entry);
  if (getChargeId(op) === undefined) batch.priorEntries.set(entry.opId, entry);
  if (wallet) batch.wallets.set(wallet.id, wallet);
  if (charge) {
    batch.charges.set(charge.id, charge);
    const added = getExposure(charge) - getExposure(before.charge);
    if (added !== 0n) addExposure(batch.exposures, charge, added);
    const sum = bookIntoBudget(before.budget, charge, entry);
    if (sum) budgets.set(sum.key, sum);
    for (const cap of charge.caps ?? []) {
      const spent = bookIntoCap(budgets.get(cap.id), cap, { charge, entry });
      if (spent) budgets.set(spent.key, spent);
    }
  }
  if ('idempotency' in op && op.idempotency)
    batch.idempotencyRecords.set(op.idempotency.id, createIdempotencyRecord(op, op.idempotency));
  if ('attempts' in op && op.attempts)
    batch.attempts.set(op.chargeId, toAttemptRows({ charge: op.chargeId, wallet: op.wallet }, op.attempts));
}

/** The amount that a charge may still cost above its hold. */
export function getExposure(charge: Charge | undefined): Micro {
  return charge?.state === 'held' ? (charge.excess ?? 0n) : 0n;
}

/** Adds an exposure (the possible cost above a hold) to the sum of its wallet and to the sum of its budget. */
export function addExposure(
  exposed: Map<string, Micro>,
  { wallet, key, budgetKey, period, caps = [] }: Pick<Charge, 'wallet' | 'key' | 'budgetKey' | 'period' | 'caps'>,
  amount: Micro,
): void {
  const names = [wallet];
  for (const cap of caps) if (!isCallCount(cap.id)) names.push(exposedBudgetName(cap.id, cap.period));
  if (period !== null) names.push(exposedBudgetName(budgetKey ?? key, period));
  for (const name of names) exposed.set(name, (exposed.get(name) ?? 0n) + amount);
}

function exposedBudgetName(key: string, period: number): string {
  return `${key} ${period}`;
}

/**
 * The calls of a batch that may have earlier attempts in the store: their hold had ended before, or they never had one.
 */
export function listReplacedAttempts({ charges }: Pick<Loaded, 'charges'>, { attempts }: Folded): readonly string[] {
  const ids = attempts.filter(({ number }) => number === 1).map(({ charge }) => charge);
  return ids.filter((id) => (charges.get(id)?.state ?? 'held') !== 'held');
}

/** The exposure of the running calls that count in the budget of an operation. */
function getBudgetExposure(op: Operation, budget: BudgetSum | undefined, exposures: ReadonlyMap<string, Micro>) {
  if (!('budget' in op) || !op.budget) return undefined;
  return exposures.get(exposedBudgetName(op.budget.key ?? op.key, resolvePeriod(budget, op.budget)));
}

function toCapState(cap: CapTerms, sum: BudgetSum | undefined, exposures: ReadonlyMap<string, Micro>): CapState {
  return { sum, exposed: exposures.get(exposedBudgetName(cap.id, resolvePeriod(sum, cap))) ?? 0n };
}

/** Money that a call takes or returns counts in the period in which the call started. */
function bookIntoBudget(budget: BudgetSum | undefined, charge: Charge, entry: Entry): BudgetSum | undefined {
  const { key, budgetKey, wallet, period } = charge;
  if (period === null) return undefined;
  return addSpending(budget, { key: budgetKey ?? key, wallet, period, amount: getSpending(entry) });
}

interface BookedCall {
  readonly charge: Charge;
  readonly entry: Entry;
}

function bookIntoCap(sum: BudgetSum | undefined, { id, period }: CapPeriod, { charge, entry }: BookedCall) {
  const amount = getCapSpending(id, entry);
  // The sum of a run that has closed may have been removed: what comes back to it is no spending of a new one.
  if (!sum && amount < 0n) return undefined;
  return addSpending(sum, { key: id, wallet: charge.wallet, period, amount });
}

/** The idempotency record of an operation, if another call has taken the key. */
function findTakenKey(op: Operation, { idempotencyRecords, charges }: Batch): IdempotencyRecord | undefined {
  const record = idempotencyRecords.get(getIdempotencyId(op));
  if (!record || record.charge === getChargeId(op)) return undefined;
  return isIdempotencyKeyTaken(record, charges.get(record.charge), op.at) ? record : undefined;
}

function createIdempotencyRecord(
  { wallet, chargeId: charge }: HoldOp | ChargeOp,
  terms: IdempotencyTerms,
): IdempotencyRecord {
  return { ...terms, wallet, charge, reply: null };
}

/** Changes the job of an operation that is applied, or was before; a refused operation changes nothing. */
function decideJobChange(op: Operation, { status }: Outcome, { jobs }: Batch): JobOutcome | undefined {
  const change = getJobChange(op);
  if (!change || (status !== 'done' && status !== 'exists')) return undefined;
  return decideJob(jobs.get(getJobId(change)), change);
}

/** As for a job; the entry, new or prior, says what the wallet gave. */
function decidePaymentChange(
  op: Operation,
  { outcome, entry }: { readonly outcome: Outcome; readonly entry: Entry | undefined },
  { payments }: Batch,
): PaymentOutcome | undefined {
  const { status, wallet } = outcome;
  const change = getPaymentChange(op);
  if (!change || !entry || !('amount' in op) || (status !== 'done' && status !== 'exists')) return undefined;
  const paid = getPaidBalance(wallet as Wallet);
  const returned = ('returned' in op && op.returned) || 0n;
  const moved = { amount: op.amount, returned, taken: -entry.avail - entry.overshoot, debt: maxMicro(-paid, 0n) };
  return decidePayment(payments.get(change.id), change, moved);
}

function pickPayment({ payment }: PaymentOutcome): Pick<Outcome, 'payment'> {
  return payment ? { payment } : {};
}
