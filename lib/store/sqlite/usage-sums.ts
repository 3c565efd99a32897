// Sums of a wallet's usage in the SQLite store, from weeks, days and hours.
import type { DatabaseSync } from 'node:sqlite';
import { mapUnits, UNIT_COUNTS, UNIT_NAMES, USAGE_UNITS } from '../../money/usage-units.ts';
import type {
  UsageGrain,
  UsageGroupSum,
  UsageQuery,
  UsageSlotQuery,
  UsageSlotSum,
  UsageTotals,
} from '../ports/usage.ts';
import { isUsed, listUsageSpans, NO_END, type UsageSpan } from '../usage-grains.ts';
import { prepareBig } from './connection.ts';
import type { PortReads } from './thread-ports.ts';
import { selectSpans } from './time-spans.ts';

export const COUNTS = ['calls', 'charged', 'refunded', 'failed', 'cost', 'unpriced', ...USAGE_UNITS] as const;

type By = UsageQuery['by'];

/** SQL expressions to group by; constants, never input. */
const GROUPS: Readonly<Record<By, (time: UsageGrain) => string>> = {
  hour: (time) => `CAST(${time} AS TEXT)`,
  day: (time) => `date(${time} / 1000, 'unixepoch')`,
  model: () => 'model',
  key: () => 'key',
  kind: () => 'kind',
  names: () => "key || ' ' || kind || ' ' || model",
};

export function usageSumReads(db: DatabaseSync): Pick<PortReads<'usage'>, 'sums' | 'slots'> {
  const readSums = createReadSums(db);
  return {
    sums(wallet: string, { from = 0, to = NO_END, ...query }: UsageQuery): UsageGroupSum[] {
      return readSums(wallet, listUsageSpans({ starts: [from], to, by: query.by }), query).map(readUsageSumRow);
    },
    slots(wallet: string, { starts, to, ...query }: UsageSlotQuery): UsageSlotSum[] {
      const found = readSums(wallet, listUsageSpans({ starts, to, by: query.by }), query);
      return found.map((row) => ({ at: Number(row.start), ...readUsageSumRow(row) }));
    },
  };
}

function createReadSums(db: DatabaseSync) {
  // Each is added up by itself: the sums of all together are few.
  const part = (time: UsageGrain, by: By, sums: string) => `SELECT start, ${GROUPS[by](time)} AS label, sign, ${sums}
    FROM spans CROSS JOIN usage_${time}s ON wallet = :wallet AND ${time} >= since AND ${time} < until
    WHERE grain = '${time}' AND (:key IS NULL OR key = :key) AND (:model IS NULL OR model = :model)
      AND (:kind IS NULL OR kind = :kind) AND (:keys IS NULL OR key IN (SELECT value FROM json_each(:keys)))
    GROUP BY start, label, sign`;
  return (wallet: string, spans: readonly UsageSpan[], query: Omit<UsageQuery, 'from' | 'to'>) => {
    const { by, key = null, keys, model = null, kind = null, counts } = query;
    const columns = counts ? COUNTS.filter((name) => counts.some((count) => nameColumn(count) === name)) : COUNTS;
    const sumAll = (sign: string) => columns.map((name) => `sum(${sign}${name}) AS ${name}`).join();
    const grains = [...new Set(spans.map(({ grain }) => grain))];
    if (grains.length === 0) return [];
    const parts = grains.map((grain) => part(grain, by, sumAll('')));
    const select = prepareBig(
      db,
      `${selectSpans('spans')} SELECT start, label, ${sumAll('sign * ')}
        FROM (${parts.join(' UNION ALL ')}) GROUP BY start, label`,
    );
    const filter = { key, model, kind, keys: keys ? JSON.stringify(keys) : null };
    const found = select.all({ wallet, spans: JSON.stringify(spans), ...filter });
    return spans.some(({ sign }) => sign < 0) ? found.filter((row) => isUsed(readUsageTotals(row))) : found;
  };
}

const nameColumn = (count: keyof UsageTotals): string =>
  count in UNIT_NAMES ? UNIT_NAMES[count as keyof typeof UNIT_NAMES] : count;

function readUsageSumRow(row: Record<string, unknown>): UsageGroupSum {
  return { group: row.label as string, ...readUsageTotals(row) };
}

/** Without those that were not asked for. */
export function readUsageTotals(row: Record<string, unknown>): UsageTotals {
  return {
    calls: Number(row.calls ?? 0),
    charged: (row.charged ?? 0n) as bigint,
    refunded: (row.refunded ?? 0n) as bigint,
    failed: Number(row.failed ?? 0),
    cost: (row.cost ?? 0n) as bigint,
    unpriced: Number(row.unpriced ?? 0),
    ...mapUnits(UNIT_COUNTS, (name) => Number(row[UNIT_NAMES[name]] ?? 0)),
  };
}
