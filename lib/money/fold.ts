// Runs a batch of operations over what a store has loaded; every store writes exactly what this returns.

import { type Attempt, toAttemptRows } from './attempt.ts';
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
  type Decision,
  decide,
  type Entry,
  getChargeId,
  getJobChange,
  getPaymentChange,
  type HoldOp,
  type Operation,
  type Outcome,
  operationId,
  type Wallet,
} from './decide.ts';
import type { CapState } from './decision.ts';
import { getPaidBalance } from './grants.ts';
import { type IdempotencyRecord, type IdempotencyTerms, isIdempotencyKeyTaken } from './idempotency.ts';
import { decideJob, getJobId, type Job, type JobOutcome } from './job-rules.ts';
import type { Micro } from './money.ts';
import { decidePayment, type Payment, type PaymentOutcome } from './payment-rules.ts';
import { CHARGE_STARTING_KINDS } from './replay.ts';

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

/** The ids of the rows a batch needs. */
interface BatchKeys {
  readonly wallets: Set<string>;
  readonly charges: Set<string>;
  readonly entries: Set<string>;
  readonly jobs: Set<string>;
  readonly payments: Set<string>;
}

export function collectBatchKeys(operations: readonly Operation[]): BatchKeys {
  const rows = { wallets: new Set<string>(), charges: new Set<string>(), entries: new Set<string>() };
  const keys: BatchKeys = { ...rows, jobs: new Set(), payments: new Set() };
  for (const op of operations) {
    keys.wallets.add(op.wallet);
    const chargeId = getChargeId(op);
    if (chargeId === undefined) keys.entries.add(operationId(op));
    else keys.charges.add(chargeId);
    const change = getJobChange(op);
    if (change) keys.jobs.add(getJobId(change));
    const payment = getPaymentChange(op);
    if (payment) keys.payments.add(payment.id);
  }
  return keys;
}

/** The ids of keys whose budget sums a batch needs; `charges` are those loaded. */
export function collectBudgetKeys(
  operations: readonly Operation[],
  charges: Pick<ReadonlyMap<string, Charge>, 'get'>,
): Set<string> {
  const keys = new Set<string>();
  for (const op of operations) {
    const charge = charges.get(getChargeId(op) ?? '');
    const key = findBudgetKey(op, charge);
    if (key !== undefined) keys.add(key);
    for (const { id } of listCaps(op, charge)) keys.add(id);
  }
  return keys;
}

/** The wallets in which a batch starts calls: the running calls of a wallet limit what it may spend. */
export function collectExposedWallets(operations: readonly Operation[]): Set<string> {
  return new Set(operations.filter(({ kind }) => CHARGE_STARTING_KINDS.includes(kind)).map(({ wallet }) => wallet));
}

/** The amount that a charge may still cost above its hold. */
export function getExposure(charge: Charge | undefined): Micro {
  return charge?.state === 'held' ? (charge.excess ?? 0n) : 0n;
}

/** Adds an exposure (the possible cost above a hold) to the sum of its wallet and to the sum of its budget. */
export function addExposure(
  exposed: Map<string, Micro>,
  { wallet, key, budgetKey, period, caps = NO_CAPS }: Pick<Charge, 'wallet' | 'key' | 'budgetKey' | 'period' | 'caps'>,
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

/** The ids of the idempotency records that a batch needs; nearly always none. */
export function collectIdempotencyIds(operations: readonly Operation[]): Set<string> {
  const ids = new Set<string>();
  for (const op of operations) {
    const id = getIdempotencyId(op);
    if (id !== undefined) ids.add(id);
  }
  return ids;
}

function getIdempotencyId(op: Operation): string | undefined {
  if ('idempotency' in op) return op.idempotency?.id;
  return 'idempotencyId' in op ? op.idempotencyId : undefined;
}

function findBudgetKey(op: Operation, charge: Charge | undefined): string | undefined {
  if ('budget' in op && op.budget) return op.budget.key ?? op.key;
  return charge && charge.period !== null ? (charge.budgetKey ?? charge.key) : undefined;
}

const NO_CAPS: readonly CapPeriod[] = [];

/** The further budgets that an operation, or the call that it ends, counts in. */
function listCaps(op: Operation, charge: Charge | undefined): readonly { readonly id: string }[] {
  return ('caps' in op ? op.caps : charge?.caps) ?? NO_CAPS;
}

export function fold(loaded: Loaded, operations: readonly Operation[]): Folded {
  const wallets = new Map<string, Wallet>();
  const charges = new Map<string, Charge>();
  const jobs = new Map<string, Job>();
  const payments = new Map<string, Payment>();
  const budgets = new Map<string, BudgetSum>();
  const idempotencyRecords = new Map<string, IdempotencyRecord>();
  const attempts = new Map<string, readonly Attempt[]>();
  const entries: Entry[] = [];
  const exposures = new Map<string, Micro>(loaded.exposed);
  const outcomes = operations.map((op): Outcome => {
    const chargeId = getChargeId(op);
    const wallet = wallets.get(op.wallet) ?? loaded.wallets.get(op.wallet);
    const charge = chargeId === undefined ? undefined : (charges.get(chargeId) ?? loaded.charges.get(chargeId));
    const prior = chargeId === undefined ? loaded.entries.get(operationId(op)) : undefined;
    const key = findBudgetKey(op, charge);
    const budget = key === undefined ? undefined : (budgets.get(key) ?? loaded.budgets.get(key));
    const takenKey = findTakenKey(op, { idempotencyRecords, charges, loaded });
    const exposed = exposures.get(op.wallet);
    const exposedInBudget = getBudgetExposure(op, budget, exposures);
    const getSum = (id: string) => budgets.get(id) ?? loaded.budgets.get(id);
    const caps = 'caps' in op ? op.caps?.map((cap) => toCapState(cap, getSum(cap.id), exposures)) : undefined;
    const decision = decide(
      { wallet, charge, prior, budget, takenKey, exposed, exposedInBudget, ...(caps && { caps }) },
      op,
    );
    const job = decideJobChange(op, decision, { jobs, loaded });
    // Money and job change together or not at all.
    if (job && decision.entry && job.status !== 'done')
      return toOutcome({ status: 'stale_job', wallet, charge }, job.job);
    const payment = decidePaymentChange(op, { decision, prior }, { payments, loaded });
    if (payment && decision.entry && payment.status !== 'done')
      return { status: 'stale_payment', ...(wallet && { wallet }), ...pickPayment(payment) };
    if (job?.status === 'done' && job.job) jobs.set(job.job.id, job.job);
    if (payment?.status === 'done' && payment.payment) payments.set(payment.payment.id, payment.payment);
    const outcome = payment
      ? { ...toOutcome(decision, undefined), ...pickPayment(payment) }
      : toOutcome(decision, job?.job);
    if (!decision.entry) return addReason(outcome, decision);
    entries.push(decision.entry);
    if (chargeId === undefined) loaded.entries.set(decision.entry.opId, decision.entry);
    if (outcome.wallet) wallets.set(outcome.wallet.id, outcome.wallet);
    if (outcome.charge) charges.set(outcome.charge.id, outcome.charge);
    const added = getExposure(outcome.charge) - getExposure(charge);
    if (outcome.charge && added !== 0n) addExposure(exposures, outcome.charge, added);
    const sum = key === undefined ? undefined : bookIntoBudget(budget, decision);
    if (sum) budgets.set(sum.key, sum);
    for (const cap of decision.charge?.caps ?? NO_CAPS) {
      const spent = bookIntoCap(getSum(cap.id), cap, decision);
      if (spent) budgets.set(spent.key, spent);
    }
    if ('idempotency' in op && op.idempotency)
      idempotencyRecords.set(op.idempotency.id, createIdempotencyRecord(op, op.idempotency));
    if ('attempts' in op && op.attempts)
      attempts.set(op.chargeId, toAttemptRows({ charge: op.chargeId, wallet: op.wallet }, op.attempts));
    return outcome;
  });
  const changed = { wallets: [...wallets.values()], charges: [...charges.values()], jobs: [...jobs.values()] };
  const counted = { budgets: [...budgets.values()], idempotencyRecords: [...idempotencyRecords.values()] };
  const ended = { attempts: [...attempts.values()].flat() };
  return { outcomes, ...changed, payments: [...payments.values()], entries, ...counted, ...ended };
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

/** Money that a call takes or returns counts in the period in which the call started. */
function bookIntoBudget(budget: BudgetSum | undefined, { charge, entry }: Decision): BudgetSum | undefined {
  if (!charge || !entry || charge.period === null) return undefined;
  const { key, budgetKey, wallet, period } = charge;
  return addSpending(budget, { key: budgetKey ?? key, wallet, period, amount: getSpending(entry) });
}

function bookIntoCap(sum: BudgetSum | undefined, { id, period }: CapPeriod, { charge, entry }: Decision) {
  // The sum of a run that has closed may have been removed: what comes back to it is no spending of a new one.
  if (!charge || !entry || (!sum && getCapSpending(id, entry) < 0n)) return undefined;
  return addSpending(sum, { key: id, wallet: charge.wallet, period, amount: getCapSpending(id, entry) });
}

function toCapState(cap: CapTerms, sum: BudgetSum | undefined, exposures: ReadonlyMap<string, Micro>): CapState {
  return { sum, exposed: exposures.get(exposedBudgetName(cap.id, resolvePeriod(sum, cap))) ?? 0n };
}

/** What a refusal says beside its status. */
function addReason(outcome: Outcome, { exposed, cap }: Decision): Outcome {
  if (exposed !== undefined) return { ...outcome, exposed };
  return cap === undefined ? outcome : { ...outcome, cap };
}

interface IdempotencySoFar {
  readonly idempotencyRecords: ReadonlyMap<string, IdempotencyRecord>;
  readonly charges: ReadonlyMap<string, Charge>;
  readonly loaded: Loaded;
}

/** The idempotency record of an operation, if another call has taken the key. */
function findTakenKey(
  op: Operation,
  { idempotencyRecords, charges, loaded }: IdempotencySoFar,
): IdempotencyRecord | undefined {
  const id = getIdempotencyId(op);
  if (id === undefined) return undefined;
  const record = idempotencyRecords.get(id) ?? loaded.idempotencyRecords.get(id);
  if (record?.charge === getChargeId(op)) return undefined;
  const charge = record && (charges.get(record.charge) ?? loaded.charges.get(record.charge));
  return isIdempotencyKeyTaken(record, charge, op.at) ? record : undefined;
}

function createIdempotencyRecord(
  { wallet, chargeId: charge }: HoldOp | ChargeOp,
  terms: IdempotencyTerms,
): IdempotencyRecord {
  return { ...terms, wallet, charge, reply: null };
}

interface JobsSoFar {
  readonly jobs: ReadonlyMap<string, Job>;
  readonly loaded: Loaded;
}

/** Changes the job of an operation that is applied, or was before; a refused operation changes nothing. */
function decideJobChange(op: Operation, { status }: Decision, { jobs, loaded }: JobsSoFar): JobOutcome | undefined {
  const change = getJobChange(op);
  if (!change || (status !== 'done' && status !== 'exists')) return undefined;
  const id = getJobId(change);
  return decideJob(jobs.get(id) ?? loaded.jobs.get(id), change);
}

interface PaymentsSoFar {
  readonly payments: ReadonlyMap<string, Payment>;
  readonly loaded: Loaded;
}

/** As for a job; the entry, new or existing, says what the wallet gave. */
function decidePaymentChange(
  op: Operation,
  { decision, prior }: { readonly decision: Decision; readonly prior: Entry | undefined },
  { payments, loaded }: PaymentsSoFar,
): PaymentOutcome | undefined {
  const change = getPaymentChange(op);
  const entry = decision.entry ?? prior;
  if (!change || !entry || !('amount' in op) || (decision.status !== 'done' && decision.status !== 'exists'))
    return undefined;
  const paid = getPaidBalance(decision.wallet as Wallet);
  const returned = ('returned' in op && op.returned) || 0n;
  const moved = { amount: op.amount, returned, taken: -entry.avail - entry.overshoot, debt: paid < 0n ? -paid : 0n };
  return decidePayment(payments.get(change.id) ?? loaded.payments.get(change.id), change, moved);
}

function pickPayment({ payment }: PaymentOutcome): Pick<Outcome, 'payment'> {
  return payment ? { payment } : {};
}

interface Rows {
  readonly status: Outcome['status'];
  readonly wallet?: Wallet | undefined;
  readonly charge?: Charge | undefined;
}

/** Leaves the entry out. Not a rest spread, which would cost as much as deciding. */
function toOutcome({ status, wallet, charge }: Rows, job: Job | undefined): Outcome {
  if (!wallet) return { status };
  if (job) return charge ? { status, wallet, charge, job } : { status, wallet, job };
  return charge ? { status, wallet, charge } : { status, wallet };
}
