// Batches and outcomes as flat lists of values between threads: cloning objects costs four times as much.

import {
  type Charge,
  type ChargeOp,
  chargeIdOf,
  jobChangeOf,
  type Operation,
  type Outcome,
  type OutcomeStatus,
  paymentChangeOf,
  type ReserveOp,
  startOf,
  type Wallet,
} from '../../money/decide.ts';
import type { CreateJob, FailJob, Job } from '../../money/job-rules.ts';
import type {
  BookRefund,
  CreditPayment,
  PaidPaymentChange,
  Payment,
  ReversePayment,
} from '../../money/payment-rules.ts';
import { type Cell, cellsOf, PAYMENT_FIELDS, rowOf } from '../payment-rows.ts';

export type { Cell };

export function encodeOperations(operations: readonly Operation[]): Cell[] {
  const cells: Cell[] = [];
  for (const op of operations) pushOperation(cells, op);
  return cells;
}

export function decodeOperations(cells: readonly Cell[]): Operation[] {
  const reader = createReader(cells);
  const operations: Operation[] = [];
  while (reader.more()) operations.push(nextOperation(reader));
  return operations;
}

/** Outcomes without what their operations already say. */
export function encodeOutcomes(outcomes: readonly Outcome[], operations: readonly Operation[]): Cell[] {
  const cells: Cell[] = [];
  for (const [index, { status, wallet, charge, job, payment, exposed }] of outcomes.entries()) {
    const op = operations[index] as Operation;
    cells.push(status);
    if (status === 'insufficient') cells.push(exposed ?? null);
    if (paymentChangeOf(op)) pushPayment(cells, payment);
    if (jobChangeOf(op)) cells.push(jsonOf(job));
    if (wallet) pushWallet(cells, wallet);
    else cells.push(null);
    if (isStart(status, op)) {
      if (op.budget) cells.push(charge?.period ?? null);
      continue;
    }
    if (charge) pushCharge(cells, charge);
    else cells.push(null);
  }
  return cells;
}

export function decodeOutcomes(cells: readonly Cell[], operations: readonly Operation[]): Outcome[] {
  const reader = createReader(cells);
  return operations.map((op) => {
    const status = reader.next<OutcomeStatus>();
    const exposed = status === 'insufficient' ? reader.next<bigint | null>() : null;
    const payment = paymentChangeOf(op) ? nextPayment(reader) : undefined;
    const job = jobChangeOf(op) ? nextJob<Job>(reader.next) : undefined;
    const wallet = nextWallet(reader, op.wallet);
    if (!wallet) {
      reader.next();
      return { status };
    }
    const charge = isStart(status, op) ? startOf(op, op.budget ? reader.next() : null) : nextCharge(reader, op);
    const rows = charge ? { status, wallet, charge } : { status, wallet };
    const money = exposed === null ? rows : { ...rows, exposed };
    if (payment) return { ...money, payment };
    return job ? { ...money, ...job } : money;
  });
}

/** The charge that an operation made follows from the operation, except for the budget period. */
function isStart(status: OutcomeStatus, op: Operation): op is ReserveOp | ChargeOp {
  return status === 'done' && (op.kind === 'reserve' || op.kind === 'charge');
}

interface Reader {
  more(): boolean;
  /** Writer and reader of a list are the same version of this file, so the types are known. */
  next<T extends Cell>(): T;
}

function createReader(cells: readonly Cell[]): Reader {
  let index = 0;
  return {
    more: () => index < cells.length,
    next: <T extends Cell>() => cells[index++] as T,
  };
}

function pushOperation(cells: Cell[], op: Operation): void {
  // 0: its entry gets its own mark.
  cells.push(op.kind, op.wallet, op.at, op.mark === undefined ? 0 : op.mark);
  switch (op.kind) {
    case 'topup':
      cells.push(op.amount, op.paymentId, Number(op.isPlay ?? 0));
      break;
    case 'adjust':
      cells.push(op.amount, op.reason, op.adjustId, Number(op.settlesPlay ?? 0));
      break;
    case 'pay':
      cells.push(op.amount, op.paymentId, op.order, Number(op.isPlay ?? 0), jsonOf(op.payment));
      break;
    case 'payback':
    case 'dispute':
      cells.push(op.amount, op.returned ?? 0n, op.paybackId, op.order);
      cells.push(Number(op.suspend), Number(op.suspended === true), jsonOf(op.payment));
      break;
    case 'reserve':
      cells.push(op.chargeId, op.key, op.chargeKind, op.model, op.prices, op.amount, op.owner, op.lease, op.owed ?? 0n);
      cells.push(op.excess ?? null);
      pushTerms(cells, op);
      break;
    case 'charge':
      cells.push(op.chargeId, op.key, op.chargeKind, op.model, op.prices, op.amount);
      cells.push(op.usage ?? null, jsonOf(op.job));
      pushTerms(cells, op);
      break;
    case 'settle':
      cells.push(op.chargeId, op.amount, op.usage, op.repeatId ?? null);
      break;
    case 'release':
    case 'expire':
      cells.push(op.chargeId);
      break;
    case 'refund':
      cells.push(op.chargeId, jsonOf(op.job));
      break;
    case 'suspend':
    case 'resume':
      cells.push(op.changeId);
      break;
    default:
      op satisfies never;
  }
}

function nextOperation({ next }: Reader): Operation {
  const kind = next<Operation['kind']>();
  const base = { wallet: next<string>(), at: next<number>(), ...nextMark(next) };
  switch (kind) {
    case 'topup':
      return { kind, ...base, amount: next(), paymentId: next(), ...nextPlay(next) };
    case 'adjust':
      return { kind, ...base, amount: next(), reason: next(), adjustId: next(), ...nextSettled(next) };
    case 'pay':
      return { kind, ...base, ...nextPaid(next), ...nextPlay(next), ...nextChange<CreditPayment>(next) };
    case 'payback':
    case 'dispute':
      return { kind, ...base, ...nextPayback(next), ...nextChange<BookRefund | ReversePayment>(next) };
    case 'reserve':
      return {
        kind,
        ...base,
        ...nextStart(next),
        owner: next(),
        lease: next(),
        ...nextOwed(next),
        ...nextExcess(next),
        ...nextTerms(next),
      };
    case 'charge':
      return {
        kind,
        ...base,
        ...nextStart(next),
        ...nextUsage(next),
        ...nextJob<CreateJob>(next),
        ...nextTerms(next),
      };
    case 'settle':
      return { kind, ...base, chargeId: next(), amount: next(), usage: next(), ...nextRepeatId(next) };
    case 'release':
    case 'expire':
      return { kind, ...base, chargeId: next() };
    case 'refund':
      return { kind, ...base, chargeId: next(), ...nextJob<FailJob>(next) };
    case 'suspend':
    case 'resume':
      return { kind, ...base, changeId: next() };
  }
}

function nextMark(next: Reader['next']): { mark?: string | null } {
  const mark = next<string | 0 | null>();
  return mark === 0 ? {} : { mark };
}

function nextPaid(next: Reader['next']) {
  return { amount: next<bigint>(), paymentId: next<string>(), order: next<string>() };
}

function nextPlay(next: Reader['next']): { isPlay?: true } {
  return next<number>() === 1 ? { isPlay: true } : {};
}

function nextSettled(next: Reader['next']): { settlesPlay?: true } {
  return next<number>() === 1 ? { settlesPlay: true } : {};
}

function nextPayback(next: Reader['next']) {
  const money = { amount: next<bigint>(), ...nextReturned(next) };
  const asked = { ...money, paybackId: next<string>(), order: next<string>() };
  const suspend = next<number>() === 1;
  return { ...asked, suspend, ...(next<number>() === 1 && { suspended: true as const }) };
}

function nextChange<Change extends PaidPaymentChange>(next: Reader['next']): { payment?: Change } {
  const json = next<string | null>();
  return json === null ? {} : { payment: JSON.parse(json) };
}

const PAYMENT_CELLS = Object.keys(PAYMENT_FIELDS.payments).length;

function pushPayment(cells: Cell[], payment: Payment | undefined): void {
  if (payment) cells.push(...cellsOf('payments', payment));
  else cells.push(null);
}

/** Its id comes first. */
function nextPayment({ next }: Reader): Payment | undefined {
  const id = next<string | null>();
  if (id === null) return undefined;
  return rowOf('payments', [id, ...Array.from({ length: PAYMENT_CELLS - 1 }, () => next())]);
}

/** Changes of jobs and payments are rare compared to calls, so they travel as JSON. */
function jsonOf(job: object | undefined): string | null {
  return job ? JSON.stringify(job) : null;
}

function nextJob<T>(next: Reader['next']): { job?: T } {
  const json = next<string | null>();
  return json === null ? {} : { job: JSON.parse(json) };
}

function nextUsage(next: Reader['next']) {
  const usage = next<string | null>();
  return usage === null ? {} : { usage };
}

function nextReturned(next: Reader['next']) {
  const returned = next<bigint>();
  return returned > 0n ? { returned } : {};
}

function nextOwed(next: Reader['next']) {
  const owed = next<bigint>();
  return owed > 0n ? { owed } : {};
}

function nextRepeatId(next: Reader['next']) {
  const repeatId = next<string | null>();
  return repeatId === null ? {} : { repeatId };
}

function nextExcess(next: Reader['next']) {
  const excess = next<bigint | null>();
  return excess === null ? {} : { excess };
}

function pushTerms(cells: Cell[], op: ReserveOp | ChargeOp): void {
  pushBudget(cells, op);
  const { repeat, real } = op;
  cells.push(real ? 1 : 0);
  if (repeat) cells.push(repeat.id, repeat.body, Number(repeat.awaited), repeat.expiresAt);
  else cells.push(null);
}

function nextTerms(next: Reader['next']) {
  return { ...nextBudget(next), ...nextReal(next), ...nextRepeat(next) };
}

function nextReal(next: Reader['next']): { real?: true } {
  return next<number>() === 1 ? { real: true } : {};
}

function nextRepeat(next: Reader['next']) {
  const id = next<string | null>();
  if (id === null) return {};
  return {
    repeat: { id, body: next<string>(), awaited: next<number>() === 1, expiresAt: next<number>() },
  };
}

function pushBudget(cells: Cell[], { budget }: ReserveOp | ChargeOp): void {
  if (budget) cells.push(budget.period, budget.most, budget.key ?? null);
  else cells.push(null);
}

function nextBudget(next: Reader['next']) {
  const period = next<number | null>();
  if (period === null) return {};
  const [most, key] = [next<bigint | null>(), next<string | null>()];
  return { budget: { ...(key !== null && { key }), period, most } };
}

function nextStart(next: Reader['next']) {
  return {
    chargeId: next<string>(),
    key: next<string>(),
    chargeKind: next<Charge['kind']>(),
    model: next<string>(),
    prices: next<string>(),
    amount: next<bigint>(),
  };
}

function pushWallet(cells: Cell[], wallet: Wallet): void {
  const { avail, held, charged, topped, adjusted, seq, status, playMoney } = wallet;
  cells.push(status, avail, held, charged, topped, adjusted, seq, playMoney ? 1 : 0);
}

function nextWallet({ next }: Reader, id: string): Wallet | undefined {
  const status = next<Wallet['status'] | null>();
  if (status === null) return undefined;
  const wallet: Wallet = {
    id,
    avail: next(),
    held: next(),
    charged: next(),
    topped: next(),
    adjusted: next(),
    seq: next(),
    status,
  };
  return next<number>() === 1 ? { ...wallet, playMoney: true } : wallet;
}

/** Its id and wallet are the operation's. */
function pushCharge(cells: Cell[], charge: Charge): void {
  const { key, kind, state, reserved, charged, model, prices, usage, owner, lease, createdAt, endedAt } = charge;
  cells.push(state, key, kind, reserved, charged, model, prices, usage, owner, lease, createdAt, endedAt);
  cells.push(charge.period, charge.budgetKey, charge.excess ?? null);
}

function nextCharge({ next }: Reader, op: Operation): Charge | undefined {
  const state = next<Charge['state'] | null>();
  if (state === null) return undefined;
  return {
    id: chargeIdOf(op) as string,
    wallet: op.wallet,
    key: next(),
    kind: next(),
    state,
    reserved: next(),
    charged: next(),
    model: next(),
    prices: next(),
    usage: next(),
    owner: next(),
    lease: next(),
    createdAt: next(),
    endedAt: next(),
    period: next(),
    budgetKey: next(),
    ...nextExcess(next),
  };
}
