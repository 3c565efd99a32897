// Documents of the money collections: amounts are int64 and read as bigint, everything else as number.
import type { Document } from 'mongodb';
import type { Charge, Entry, Wallet } from '../../money/decide.ts';
import type { KeyBudget } from '../../money/key-budget.ts';
import type { Micro } from '../../money/money.ts';

/** A document of a collection with text ids. */
export interface Row extends Document {
  readonly _id: string;
}

/** An amount as int64. The driver would silently wrap one that does not fit. */
export function toLong(amount: Micro): bigint {
  if (BigInt.asIntN(64, amount) !== amount) throw new RangeError(`${amount} micro-roubles do not fit into int64`);
  return amount;
}

/** A sum of amounts: an empty one is an int, and one that does not fit into int64 a double. */
export function sumToMicro(value: unknown): Micro {
  if (typeof value === 'bigint') return value;
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  throw new RangeError(`a sum of ${value} micro-roubles does not fit into int64`);
}

/** What an operation changes in a wallet. */
export function toBalanceFields({ avail, held, charged, topped, adjusted, seq }: Wallet): Document {
  const money = { avail: toLong(avail), held: toLong(held), charged: toLong(charged) };
  return { ...money, topped: toLong(topped), adjusted: toLong(adjusted), seq };
}

export function readWalletDocument(row: Document): Wallet {
  const { _id: id, avail, held, charged, topped, adjusted, seq, status, playMoney } = row;
  const wallet: Wallet = { id, avail, held, charged, topped, adjusted, seq: Number(seq), status };
  return playMoney === true ? { ...wallet, playMoney } : wallet;
}

/** Without a budget there is no period to write, with one of its own no other key, and with a cap no excess. */
export function toChargeDocument({ id: _id, period, budgetKey, excess, ...charge }: Charge): Document {
  const money = { reserved: toLong(charge.reserved), charged: toLong(charge.charged) };
  const budget = { ...(period !== null && { period }), ...(budgetKey !== null && { budgetKey }) };
  return { _id, ...charge, ...money, ...budget, ...(excess !== undefined && { excess: toLong(excess) }) };
}

export function readChargeDocument(row: Document): Charge {
  const { _id: id, wallet, key, kind, state, reserved, charged, model, prices } = row;
  const { usage, owner, lease, createdAt, endedAt, period = null, budgetKey = null, excess } = row;
  return {
    id,
    wallet,
    key,
    kind,
    state,
    reserved,
    charged,
    model,
    prices,
    usage,
    owner,
    lease: numberOrNull(lease),
    createdAt: Number(createdAt),
    endedAt: numberOrNull(endedAt),
    period: numberOrNull(period),
    budgetKey,
    ...(excess !== undefined && { excess }),
  };
}

export function readBudgetDocument({ _id: key, wallet, period, spent }: Document): KeyBudget {
  return { key, wallet, period: Number(period), spent };
}

export function toEntryDocument({ opId, ...entry }: Entry): Document {
  const { avail, held, charged, topped, adjusted, overshoot, chargedAfter } = entry;
  return {
    _id: opId,
    ...entry,
    avail: toLong(avail),
    held: toLong(held),
    charged: toLong(charged),
    topped: toLong(topped),
    adjusted: toLong(adjusted),
    overshoot: toLong(overshoot),
    chargedAfter: toLong(chargedAfter),
  };
}

export function readEntryDocument(row: Document): Entry {
  const { _id: opId, wallet, seq, kind, charge, at, note, status = null, mark = null } = row;
  const { avail, held, charged, topped, adjusted, overshoot, chargedAfter } = row;
  return {
    opId,
    wallet,
    seq: Number(seq),
    kind,
    charge,
    at: Number(at),
    avail,
    held,
    charged,
    topped,
    adjusted,
    overshoot,
    chargedAfter,
    note,
    status,
    mark,
  };
}

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}

/** A document without money: `_id` is its `id`, and its integers are numbers. */
export function readPlainDocument<T>({ _id: id, ...fields }: Document): T {
  return Object.fromEntries(
    Object.entries({ id, ...fields }).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  ) as T;
}
