// The usage report: the calls of an account added up by day, model, key or kind, to the micro-rouble.
import type { Charge, Usage } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { mapUnits, USAGE_UNITS, type UsageUnit } from '../money/usage-units.ts';
import type { ChargeFilter, LedgerStore } from '../store/ports/ledger.ts';
import { walkFrom } from '../store/walks.ts';

export const USAGE_GROUPS = ['day', 'model', 'key', 'kind'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageSum {
  /** Calls that started, whatever their outcome. */
  readonly calls: number;
  /** Less refunds: over all calls it equals the wallet's `charged`. */
  readonly charged: Micro;
  readonly refunded: Micro;
  /** Calls whose hold was returned, and refunded videos. */
  readonly failed: number;
  /** The units that `charged` paid for. */
  readonly units: Readonly<Record<UsageUnit, number>>;
}

export interface UsageRow extends UsageSum {
  /** The UTC day on which the calls started, the model, the id of the key, or the kind. */
  readonly group: string;
}

export interface UsageReport {
  /** Days in order; models, keys and kinds with the highest charge first. */
  readonly rows: readonly UsageRow[];
  readonly total: UsageSum;
}

export interface UsageQuery {
  readonly by: UsageGroup;
  readonly filter: ChargeFilter;
  /** How many charges are in memory at once. */
  readonly pageSize?: number;
}

const PAGE_SIZE = 1000;
const ZERO_USAGE: UsageSum = {
  calls: 0,
  charged: 0n,
  refunded: 0n,
  failed: 0,
  units: mapUnits(USAGE_UNITS, () => 0),
};

export async function reportUsage(
  ledger: Pick<LedgerStore, 'charges'>,
  wallet: string,
  { by, filter, pageSize = PAGE_SIZE }: UsageQuery,
): Promise<UsageReport> {
  const sums = new Map<string, UsageSum>();
  const read = (last?: Charge) => ledger.charges(wallet, { limit: pageSize, filter, before: last?.id });
  for await (const page of walkFrom(pageSize, read)) {
    for (const charge of page) {
      const group = getUsageGroup(charge, by);
      sums.set(group, addUsageSums(sums.get(group) ?? ZERO_USAGE, sumCharge(charge)));
    }
  }
  const rows = [...sums].map(([group, sum]) => ({ group, ...sum }));
  return { rows: sortUsageRows(rows, by), total: [...sums.values()].reduce(addUsageSums, ZERO_USAGE) };
}

function getUsageGroup(charge: Charge, by: UsageGroup): string {
  return by === 'day' ? new Date(charge.createdAt).toISOString().slice(0, 10) : charge[by];
}

function sumCharge({ state, kind, charged, usage }: Charge): UsageSum {
  const settled = state === 'settled';
  const failed = state === 'released' || state === 'expired' || (state === 'refunded' && kind === 'video');
  const used: Usage = settled && usage !== null ? JSON.parse(usage) : {};
  return {
    calls: 1,
    charged: settled ? charged : 0n,
    refunded: state === 'refunded' ? charged : 0n,
    failed: failed ? 1 : 0,
    units: mapUnits(USAGE_UNITS, (unit) => Number(used[unit] ?? 0)),
  };
}

function addUsageSums(left: UsageSum, right: UsageSum): UsageSum {
  return {
    calls: left.calls + right.calls,
    charged: left.charged + right.charged,
    refunded: left.refunded + right.refunded,
    failed: left.failed + right.failed,
    units: mapUnits(USAGE_UNITS, (unit) => left.units[unit] + right.units[unit]),
  };
}

/** Days in order; models, keys and kinds with the highest charge first. */
export function sortUsageRows(rows: readonly UsageRow[], by: UsageGroup): readonly UsageRow[] {
  return rows.toSorted(by === 'day' ? byName : byCharged);
}

function byName(left: UsageRow, right: UsageRow): number {
  return left.group < right.group ? -1 : 1;
}

function byCharged(left: UsageRow, right: UsageRow): number {
  if (left.charged !== right.charged) return left.charged > right.charged ? -1 : 1;
  return byName(left, right);
}
