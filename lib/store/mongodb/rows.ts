// Documents of the money collections: amounts are int64 and read as bigint, other integers are read as numbers.
import type { Document } from 'mongodb';
import type { BudgetSum, CapPeriod } from '../../money/budget.ts';
import type { Charge, Entry, Wallet } from '../../money/decide.ts';
import { findNextEnd } from '../../money/grants.ts';
import type { Micro } from '../../money/money.ts';

/** A document with a text id. */
export interface Row extends Document {
  readonly _id: string;
}

/** Checks that an amount fits into int64: the driver would silently wrap it. */
export function toLong(amount: Micro): bigint {
  if (BigInt.asIntN(64, amount) !== amount) throw new RangeError(`${amount} micro-roubles do not fit into int64`);
  return amount;
}

/** Converts a sum of the server: an empty sum is an int, and one that does not fit into int64 a double. */
export function sumToMicro(value: unknown): Micro {
  if (typeof value === 'bigint') return value;
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  throw new RangeError(`a sum of ${value} micro-roubles does not fit into int64`);
}

/** The fields of a wallet that an operation changes. */
export function toBalanceFields({ avail, held, charged, topped, adjusted, seq }: Wallet): Document {
  const money = { avail: toLong(avail), held: toLong(held), charged: toLong(charged) };
  return { ...money, topped: toLong(topped), adjusted: toLong(adjusted), seq };
}

/** The fields of the grants of a wallet; `grantsDue` is when the first of them ends. */
export function toGrantFields({ granted = 0n, grants }: Pick<Wallet, 'granted' | 'grants'>): Document {
  return { granted: toLong(granted), grants: grants ?? null, grantsDue: findNextEnd({ grants }) };
}

/** Both fields are absent when there is nothing in them. */
export function readGrantFields({ granted, grants }: Document): Pick<Wallet, 'granted' | 'grants'> {
  return {
    ...(granted !== undefined && granted !== 0n && { granted }),
    ...(grants !== undefined && grants !== null && { grants }),
  };
}

export function readWalletDocument(row: Document): Wallet {
  const { _id: id, avail, held, charged, topped, adjusted, seq, status, playMoney, opened } = row;
  const wallet: Wallet = { id, avail, held, charged, topped, adjusted, seq: Number(seq), status };
  const flags = { ...(playMoney === true && { playMoney }), ...(opened === true && { opened }) };
  return { ...wallet, ...flags, ...readGrantFields(row) };
}

/**
 * Leaves out `period` without a budget, `budgetKey` for an own budget, `excess` for capped output, and absent `caps`.
 */
export function toChargeDocument({ id: _id, period, budgetKey, excess, ...charge }: Charge): Document {
  const money = { reserved: toLong(charge.reserved), charged: toLong(charge.charged) };
  const budget = { ...(period !== null && { period }), ...(budgetKey !== null && { budgetKey }) };
  return { _id, ...charge, ...money, ...budget, ...(excess !== undefined && { excess: toLong(excess) }) };
}

export function readChargeDocument(row: Document): Charge {
  const { _id: id, wallet, key, kind, state, reserved, charged, model, prices } = row;
  const { usage, owner, lease, createdAt, endedAt, period = null, budgetKey = null, excess, caps, grants } = row;
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
    ...(caps !== undefined && { caps: readCaps(caps) }),
    ...(grants !== undefined && { grants }),
  };
}

/** A damaged value is returned as it is, for the audit. */
export function readCaps(caps: Document[]): readonly CapPeriod[] {
  if (!Array.isArray(caps)) return caps;
  return caps.map(({ id, period }) => ({ id, period: Number(period) }));
}

export function readBudgetDocument({ _id: key, wallet, period, spent }: Document): BudgetSum {
  return { key, wallet, period: Number(period), spent };
}

export function toEntryDocument({ opId, ...entry }: Entry): Document {
  const { avail, held, charged, topped, adjusted, granted, overshoot, chargedAfter } = entry;
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
    ...(granted !== undefined && { granted: toLong(granted) }),
  };
}

export function readEntryDocument(row: Document): Entry {
  const { _id: opId, wallet, seq, kind, charge, at, note, status = null, mark = null } = row;
  const { avail, held, charged, topped, adjusted, overshoot, chargedAfter } = row;
  const entry: Entry = {
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
  return row.granted === undefined && row.grants === undefined ? entry : { ...entry, ...readGrantFields(row) };
}

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}

/** Reads a document without money: `_id` becomes `id`, and integers become numbers. */
export function readPlainDocument<T>({ _id: id, ...fields }: Document): T {
  return Object.fromEntries(
    Object.entries({ id, ...fields }).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  ) as T;
}
