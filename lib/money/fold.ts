// Runs a batch of operations over what a store has loaded; every store writes exactly what this returns.

import {
  type Charge,
  type ChargeOp,
  chargeIdOf,
  type Decision,
  decide,
  type Entry,
  jobChangeOf,
  type Operation,
  type Outcome,
  operationId,
  paymentChangeOf,
  type ReserveOp,
  type Wallet,
} from './decide.ts';
import { type IdempotencyTerms, isTaken, type Repeat } from './idempotency.ts';
import { decideJob, type Job, type JobOutcome, jobIdOf } from './job-rules.ts';
import { book, type KeyBudget, periodOf } from './key-budget.ts';
import type { Micro } from './money.ts';
import { decidePayment, type Payment, type PaymentOutcome } from './payment-rules.ts';
import { BEGINNINGS } from './replay.ts';

/** What a store loads for a batch: the rows listed by `keysOf`, if they exist. */
export interface Loaded {
  readonly wallets: Map<string, Wallet>;
  readonly charges: Map<string, Charge>;
  /** Entries by operation id, only for operations without a charge. */
  readonly entries: Map<string, Entry>;
  readonly jobs: Map<string, Job>;
  readonly payments: Map<string, Payment>;
  /** By key: those listed by `budgetKeysOf`. */
  readonly budgets: Map<string, KeyBudget>;
  /** By id: those listed by `repeatIdsOf`; the charges they belong to are among the charges. */
  readonly repeats: Map<string, Repeat>;
  /** Made by `addExposure` from all charges of the wallets listed by `exposedWalletsOf`, those of 0 left out. */
  readonly exposed?: ReadonlyMap<string, Micro>;
}

/** What a store writes, in one transaction; the outcomes are in the order of the operations. */
export interface Folded {
  readonly outcomes: readonly Outcome[];
  /**
   * Changed wallets, in their final state. `seq` before the batch is the last entry's less the wallet's new entries.
   */
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
  readonly budgets: readonly KeyBudget[];
  /** Taken idempotency keys, in their final state. */
  readonly repeats: readonly Repeat[];
}

/** The ids of the rows a batch needs. */
export interface BatchKeys {
  readonly wallets: Set<string>;
  readonly charges: Set<string>;
  readonly entries: Set<string>;
  readonly jobs: Set<string>;
  readonly payments: Set<string>;
}

export function keysOf(operations: readonly Operation[]): BatchKeys {
  const rows = { wallets: new Set<string>(), charges: new Set<string>(), entries: new Set<string>() };
  const keys: BatchKeys = { ...rows, jobs: new Set(), payments: new Set() };
  for (const op of operations) {
    keys.wallets.add(op.wallet);
    const chargeId = chargeIdOf(op);
    if (chargeId === undefined) keys.entries.add(operationId(op));
    else keys.charges.add(chargeId);
    const change = jobChangeOf(op);
    if (change) keys.jobs.add(jobIdOf(change));
    const payment = paymentChangeOf(op);
    if (payment) keys.payments.add(payment.id);
  }
  return keys;
}

/** The keys whose sums a batch needs; `charges` are those loaded. Calls without a budget need none. */
export function budgetKeysOf(
  operations: readonly Operation[],
  charges: Pick<ReadonlyMap<string, Charge>, 'get'>,
): Set<string> {
  const keys = new Set<string>();
  for (const op of operations) {
    const key = budgetKeyOf(op, charges.get(chargeIdOf(op) ?? ''));
    if (key !== undefined) keys.add(key);
  }
  return keys;
}

/** The wallets in which a batch starts calls: what may be spent there depends on what runs. */
export function exposedWalletsOf(operations: readonly Operation[]): Set<string> {
  return new Set(operations.filter(({ kind }) => BEGINNINGS.includes(kind)).map(({ wallet }) => wallet));
}

/** What a charge may still cost above its hold. */
export function exposureOf(charge: Charge | undefined): Micro {
  return charge?.state === 'held' ? (charge.excess ?? 0n) : 0n;
}

/** Adds to what the running calls of a wallet may cost above their holds, and to those that count in the same budget. */
export function addExposure(
  exposed: Map<string, Micro>,
  { wallet, key, budgetKey, period }: Pick<Charge, 'wallet' | 'key' | 'budgetKey' | 'period'>,
  amount: Micro,
): void {
  const names = period === null ? [wallet] : [wallet, exposedBudget(budgetKey ?? key, period)];
  for (const name of names) exposed.set(name, (exposed.get(name) ?? 0n) + amount);
}

function exposedBudget(key: string, period: number): string {
  return `${key} ${period}`;
}

/** The idempotency keys that a batch needs; nearly always none. */
export function repeatIdsOf(operations: readonly Operation[]): Set<string> {
  const ids = new Set<string>();
  for (const op of operations) {
    const id = repeatIdOf(op);
    if (id !== undefined) ids.add(id);
  }
  return ids;
}

function repeatIdOf(op: Operation): string | undefined {
  if ('repeat' in op) return op.repeat?.id;
  return 'repeatId' in op ? op.repeatId : undefined;
}

function budgetKeyOf(op: Operation, charge: Charge | undefined): string | undefined {
  if ('budget' in op && op.budget) return op.budget.key ?? op.key;
  return charge && charge.period !== null ? (charge.budgetKey ?? charge.key) : undefined;
}

export function fold(loaded: Loaded, operations: readonly Operation[]): Folded {
  const wallets = new Map<string, Wallet>();
  const charges = new Map<string, Charge>();
  const jobs = new Map<string, Job>();
  const payments = new Map<string, Payment>();
  const budgets = new Map<string, KeyBudget>();
  const repeats = new Map<string, Repeat>();
  const entries: Entry[] = [];
  const exposures = new Map<string, Micro>(loaded.exposed);
  const outcomes = operations.map((op): Outcome => {
    const chargeId = chargeIdOf(op);
    const wallet = wallets.get(op.wallet) ?? loaded.wallets.get(op.wallet);
    const charge = chargeId === undefined ? undefined : (charges.get(chargeId) ?? loaded.charges.get(chargeId));
    const prior = chargeId === undefined ? loaded.entries.get(operationId(op)) : undefined;
    const key = budgetKeyOf(op, charge);
    const budget = key === undefined ? undefined : (budgets.get(key) ?? loaded.budgets.get(key));
    const taken = takenBy(op, { repeats, charges, loaded });
    const exposed = exposures.get(op.wallet);
    const inBudget = exposedIn(op, budget, exposures);
    const decision = decide({ wallet, charge, prior, budget, taken, exposed, exposedInBudget: inBudget }, op);
    const job = outcomeOfJob(op, decision, { jobs, loaded });
    // Money and job change together or not at all.
    if (job && decision.entry && job.status !== 'done')
      return outcomeOf({ status: 'stale_job', wallet, charge }, job.job);
    const payment = outcomeOfPayment(op, { decision, prior }, { payments, loaded });
    if (payment && decision.entry && payment.status !== 'done')
      return { status: 'stale_payment', ...(wallet && { wallet }), ...withPayment(payment) };
    if (job?.status === 'done' && job.job) jobs.set(job.job.id, job.job);
    if (payment?.status === 'done' && payment.payment) payments.set(payment.payment.id, payment.payment);
    const outcome = payment
      ? { ...outcomeOf(decision, undefined), ...withPayment(payment) }
      : outcomeOf(decision, job?.job);
    if (!decision.entry) return decision.exposed === undefined ? outcome : { ...outcome, exposed: decision.exposed };
    entries.push(decision.entry);
    if (chargeId === undefined) loaded.entries.set(decision.entry.opId, decision.entry);
    if (outcome.wallet) wallets.set(outcome.wallet.id, outcome.wallet);
    if (outcome.charge) charges.set(outcome.charge.id, outcome.charge);
    const more = exposureOf(outcome.charge) - exposureOf(charge);
    if (outcome.charge && more !== 0n) addExposure(exposures, outcome.charge, more);
    const sum = key === undefined ? undefined : bookedOf(budget, decision);
    if (sum) budgets.set(sum.key, sum);
    if ('repeat' in op && op.repeat) repeats.set(op.repeat.id, repeatOf(op, op.repeat));
    return outcome;
  });
  const changed = { wallets: [...wallets.values()], charges: [...charges.values()], jobs: [...jobs.values()] };
  const counted = { budgets: [...budgets.values()], repeats: [...repeats.values()] };
  return { outcomes, ...changed, payments: [...payments.values()], entries, ...counted };
}

/** What the running calls that count in an operation's budget may cost above their holds. */
function exposedIn(op: Operation, budget: KeyBudget | undefined, exposures: ReadonlyMap<string, Micro>) {
  if (!('budget' in op) || !op.budget) return undefined;
  return exposures.get(exposedBudget(op.budget.key ?? op.key, periodOf(budget, op.budget)));
}

/** What a call takes from the wallet or returns counts in the period it started in. */
function bookedOf(budget: KeyBudget | undefined, { charge, entry }: Decision): KeyBudget | undefined {
  if (!charge || !entry || charge.period === null) return undefined;
  const { key, budgetKey, wallet, period } = charge;
  return book(budget, { key: budgetKey ?? key, wallet, period, amount: -entry.avail });
}

interface RepeatsSoFar {
  readonly repeats: ReadonlyMap<string, Repeat>;
  readonly charges: ReadonlyMap<string, Charge>;
  readonly loaded: Loaded;
}

/** An operation's idempotency key, if another call has taken it. */
function takenBy(op: Operation, { repeats, charges, loaded }: RepeatsSoFar): Repeat | undefined {
  const id = repeatIdOf(op);
  if (id === undefined) return undefined;
  const repeat = repeats.get(id) ?? loaded.repeats.get(id);
  if (repeat?.charge === chargeIdOf(op)) return undefined;
  const charge = repeat && (charges.get(repeat.charge) ?? loaded.charges.get(repeat.charge));
  return isTaken(repeat, charge, op.at) ? repeat : undefined;
}

function repeatOf({ wallet, chargeId: charge }: ReserveOp | ChargeOp, terms: IdempotencyTerms): Repeat {
  return { ...terms, wallet, charge, reply: null };
}

interface JobsSoFar {
  readonly jobs: ReadonlyMap<string, Job>;
  readonly loaded: Loaded;
}

/** The change of an operation's job, if the operation is applied or was before; a refused one changes nothing. */
function outcomeOfJob(op: Operation, { status }: Decision, { jobs, loaded }: JobsSoFar): JobOutcome | undefined {
  const change = jobChangeOf(op);
  if (!change || (status !== 'done' && status !== 'exists')) return undefined;
  const id = jobIdOf(change);
  return decideJob(jobs.get(id) ?? loaded.jobs.get(id), change);
}

interface PaymentsSoFar {
  readonly payments: ReadonlyMap<string, Payment>;
  readonly loaded: Loaded;
}

/** As for a job; what the wallet gave is in the entry, new or existing. */
function outcomeOfPayment(
  op: Operation,
  { decision, prior }: { readonly decision: Decision; readonly prior: Entry | undefined },
  { payments, loaded }: PaymentsSoFar,
): PaymentOutcome | undefined {
  const change = paymentChangeOf(op);
  const entry = decision.entry ?? prior;
  if (!change || !entry || !('amount' in op) || (decision.status !== 'done' && decision.status !== 'exists'))
    return undefined;
  const { avail } = decision.wallet as Wallet;
  const returned = ('returned' in op && op.returned) || 0n;
  const moved = { amount: op.amount, returned, taken: -entry.avail - entry.overshoot, debt: avail < 0n ? -avail : 0n };
  return decidePayment(payments.get(change.id) ?? loaded.payments.get(change.id), change, moved);
}

function withPayment({ payment }: PaymentOutcome): Pick<Outcome, 'payment'> {
  return payment ? { payment } : {};
}

interface Rows {
  readonly status: Outcome['status'];
  readonly wallet?: Wallet | undefined;
  readonly charge?: Charge | undefined;
}

/** Without the entry; spreading the rest of an object would cost as much as deciding. */
function outcomeOf({ status, wallet, charge }: Rows, job: Job | undefined): Outcome {
  if (!wallet) return { status };
  if (job) return charge ? { status, wallet, charge, job } : { status, wallet, job };
  return charge ? { status, wallet, charge } : { status, wallet };
}
