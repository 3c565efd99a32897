// Batches and outcomes as flat lists of values between threads: cloning objects costs four times as much.
import type { Charge, Operation, Outcome, OutcomeStatus, Wallet } from '../../ledger/decide.ts';

export type Cell = string | number | bigint | null;

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

export function encodeOutcomes(outcomes: readonly Outcome[]): Cell[] {
  const cells: Cell[] = [];
  for (const { status, wallet, charge } of outcomes) {
    cells.push(status);
    if (wallet) pushWallet(cells, wallet);
    else cells.push(null);
    if (charge) pushCharge(cells, charge);
    else cells.push(null);
  }
  return cells;
}

export function decodeOutcomes(cells: readonly Cell[]): Outcome[] {
  const reader = createReader(cells);
  const outcomes: Outcome[] = [];
  while (reader.more()) {
    const status = reader.next<OutcomeStatus>();
    const wallet = nextWallet(reader);
    const charge = nextCharge(reader);
    outcomes.push({ status, ...(wallet && { wallet }), ...(charge && { charge }) });
  }
  return outcomes;
}

interface Reader {
  more(): boolean;
  /** The writer and the reader of a list are the same version of this file, so the type is known. */
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
  cells.push(op.kind, op.wallet, op.at);
  switch (op.kind) {
    case 'topup':
      cells.push(op.amount, op.paymentId);
      break;
    case 'adjust':
      cells.push(op.amount, op.reason, op.adjustId);
      break;
    case 'reserve':
      cells.push(op.chargeId, op.key, op.chargeKind, op.model, op.prices, op.amount, op.owner, op.lease);
      break;
    case 'charge':
      cells.push(op.chargeId, op.key, op.chargeKind, op.model, op.prices, op.amount);
      break;
    case 'settle':
      cells.push(op.chargeId, op.amount, op.tokensInput, op.tokensOutput);
      break;
    case 'release':
    case 'expire':
    case 'refund':
      cells.push(op.chargeId);
      break;
    default:
      op satisfies never;
  }
}

function nextOperation({ next }: Reader): Operation {
  const kind = next<Operation['kind']>();
  const base = { wallet: next<string>(), at: next<number>() };
  switch (kind) {
    case 'topup':
      return { kind, ...base, amount: next(), paymentId: next() };
    case 'adjust':
      return { kind, ...base, amount: next(), reason: next(), adjustId: next() };
    case 'reserve':
      return { kind, ...base, ...nextStart(next), owner: next(), lease: next() };
    case 'charge':
      return { kind, ...base, ...nextStart(next) };
    case 'settle':
      return { kind, ...base, chargeId: next(), amount: next(), tokensInput: next(), tokensOutput: next() };
    case 'release':
    case 'expire':
    case 'refund':
      return { kind, ...base, chargeId: next() };
  }
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
  const { id, avail, held, charged, topped, adjusted, seq, status } = wallet;
  cells.push(id, avail, held, charged, topped, adjusted, seq, status);
}

function nextWallet({ next }: Reader): Wallet | undefined {
  const id = next<string | null>();
  if (id === null) return undefined;
  return {
    id,
    avail: next(),
    held: next(),
    charged: next(),
    topped: next(),
    adjusted: next(),
    seq: next(),
    status: next(),
  };
}

function pushCharge(cells: Cell[], charge: Charge): void {
  const { id, wallet, key, kind, state, reserved, charged, model, prices } = charge;
  const { tokensInput, tokensOutput, owner, lease, createdAt, endedAt } = charge;
  cells.push(id, wallet, key, kind, state, reserved, charged, model, prices);
  cells.push(tokensInput, tokensOutput, owner, lease, createdAt, endedAt);
}

function nextCharge({ next }: Reader): Charge | undefined {
  const id = next<string | null>();
  if (id === null) return undefined;
  return {
    id,
    wallet: next(),
    key: next(),
    kind: next(),
    state: next(),
    reserved: next(),
    charged: next(),
    model: next(),
    prices: next(),
    tokensInput: next(),
    tokensOutput: next(),
    owner: next(),
    lease: next(),
    createdAt: next(),
    endedAt: next(),
  };
}
