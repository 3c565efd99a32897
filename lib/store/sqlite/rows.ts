// Rows of the money tables, whose integers are read as bigint.

import type { BudgetSum, CapPeriod } from '../../money/budget.ts';
import type { Charge, Entry, Wallet } from '../../money/decide.ts';
import type { Reset } from '../../money/key-limits.ts';
import type { Membership } from '../ports/users.ts';

/** Integers are bigint, texts are strings, absent values null. */
type Row = Record<string, unknown>;

export const WALLET_COLUMNS =
  'id, avail, held, charged, topped, adjusted, seq, status, play_money, opened, granted, grants';

export const CHARGE_COLUMNS =
  'id, wallet, key, kind, state, reserved, charged, model, prices, usage, owner, lease, created_at, ended_at, period, budget_key, excess, caps, grants';

export const BUDGET_COLUMNS = 'key, wallet, period, spent';

export const ENTRY_COLUMNS =
  'op_id, wallet, seq, kind, charge, at, avail, held, charged, topped, adjusted, overshoot, charged_after, note, status, mark, granted, grants';

export function readWalletRow(row: Row): Wallet {
  const wallet: Wallet = {
    id: row.id as string,
    avail: row.avail as bigint,
    held: row.held as bigint,
    charged: row.charged as bigint,
    topped: row.topped as bigint,
    adjusted: row.adjusted as bigint,
    seq: Number(row.seq),
    status: row.status as Wallet['status'],
  };
  return {
    ...wallet,
    ...(row.play_money === 1n && { playMoney: true }),
    ...(row.opened === 1n && { opened: true }),
    ...readGrantCells(row),
  };
}

/** The columns of grants, absent when there is nothing in them. */
export function readGrantCells({ granted, grants }: Row): Pick<Wallet, 'granted' | 'grants'> {
  return {
    ...(granted !== 0n && { granted: granted as bigint }),
    ...(grants !== null && { grants: grants as string }),
  };
}

export function readChargeRow(row: Row): Charge {
  return {
    id: row.id as string,
    wallet: row.wallet as string,
    kind: row.kind as Charge['kind'],
    state: row.state as Charge['state'],
    reserved: row.reserved as bigint,
    charged: row.charged as bigint,
    model: row.model as string,
    prices: row.prices as string,
    usage: row.usage as string | null,
    owner: row.owner as string | null,
    lease: numberOrNull(row.lease),
    createdAt: Number(row.created_at),
    endedAt: numberOrNull(row.ended_at),
    ...readBudgetCells(row),
    ...(row.excess !== null && { excess: row.excess as bigint }),
    ...(row.grants !== null && { grants: row.grants as string }),
  };
}

/** The part of a charge that says which budgets it counts in. */
export function readBudgetCells(row: Row): Pick<Charge, 'key' | 'budgetKey' | 'period' | 'caps'> {
  const { key, budget_key, period, caps } = row;
  const own = { key: key as string, period: numberOrNull(period), budgetKey: budget_key as string | null };
  return caps === null ? own : { ...own, caps: parseCaps(caps) };
}

export function readBudgetRow(row: Row): BudgetSum {
  const { key, wallet, period, spent } = row;
  return { key: key as string, wallet: wallet as string, period: Number(period), spent: spent as bigint };
}

export function readEntryRow(row: Row): Entry {
  const entry: Entry = {
    opId: row.op_id as string,
    wallet: row.wallet as string,
    seq: Number(row.seq),
    kind: row.kind as Entry['kind'],
    charge: row.charge as string | null,
    at: Number(row.at),
    avail: row.avail as bigint,
    held: row.held as bigint,
    charged: row.charged as bigint,
    topped: row.topped as bigint,
    adjusted: row.adjusted as bigint,
    overshoot: row.overshoot as bigint,
    chargedAfter: row.charged_after as bigint,
    note: row.note as string | null,
    status: row.status as Entry['status'],
    mark: row.mark as string | null,
  };
  return row.granted === 0n && row.grants === null ? entry : { ...entry, ...readGrantCells(row) };
}

/** A damaged value counts as none, which the mark of the charge's entry reports. */
function parseCaps(json: unknown): readonly CapPeriod[] {
  try {
    return JSON.parse(json as string);
  } catch {
    return [];
  }
}

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}

/** Numbers up to 2^53 are exact, and no amount is larger. */
export function readCapCells({ cap, cap_reset: reset, cap_zone: zone }: Record<string, unknown>): Membership['cap'] {
  if (cap === null || cap === undefined) return undefined;
  return { limit: BigInt(cap as number), reset: reset as Reset, zone: zone as string };
}
