// Sums of a wallet's usage in the SQLite store, from days and the hours around them.
import type { DatabaseSync } from 'node:sqlite';
import { mapUnits, UNIT_COUNTS, UNIT_NAMES, USAGE_UNITS } from '../../money/usage-units.ts';
import type { UsageGroupSum, UsageQuery, UsageSlotQuery, UsageSlotSum, UsageTotals } from '../ports/usage.ts';
import { isUsed, listUsageSpans, type UsageSpans } from '../usage-days.ts';
import { prepareBig } from './connection.ts';
import type { PortReads } from './thread-ports.ts';

export const COUNTS = ['calls', 'charged', 'refunded', 'failed', 'cost', 'unpriced', ...USAGE_UNITS] as const;

type Time = 'hour' | 'day';
type By = UsageQuery['by'];

/** SQL expressions to group by; constants, never input. */
const GROUPS: Readonly<Record<By, (time: Time) => string>> = {
  hour: (time) => `CAST(${time} AS TEXT)`,
  day: (time) => `date(${time} / 1000, 'unixepoch')`,
  model: () => 'model',
  key: () => 'key',
  kind: () => 'kind',
};

export function usageSumReads(db: DatabaseSync): Pick<PortReads<'usage'>, 'sums' | 'slots'> {
  const readSums = createReadSums(db);
  return {
    sums(wallet: string, { from = 0, to = Number.MAX_SAFE_INTEGER, ...query }: UsageQuery): UsageGroupSum[] {
      const spans =
        query.by === 'hour'
          ? { hours: [{ start: from, from, until: to }], days: [], less: [] }
          : listUsageSpans([from], to);
      return readSums(wallet, spans, query).map(readUsageSumRow);
    },
    slots(wallet: string, { starts, to, ...query }: UsageSlotQuery): UsageSlotSum[] {
      const found = readSums(wallet, listUsageSpans(starts, to), query);
      return found.map((row) => ({ at: Number(row.start), ...readUsageSumRow(row) }));
    },
  };
}

function createReadSums(db: DatabaseSync) {
  const sum = (sign = '') => COUNTS.map((name) => `${sign}sum(${name}) AS ${name}`).join();
  // Materialized, because the JSON would otherwise be read again for every row.
  const spans = (name: keyof UsageSpans) => `${name}_spans AS MATERIALIZED (SELECT value ->> 'start' AS start,
    value ->> 'from' AS since, value ->> 'until' AS until FROM json_each(:${name}))`;
  // Each is added up by itself: the sums of all together are few.
  const part = (name: keyof UsageSpans, time: Time, by: By) => `SELECT start, ${GROUPS[by](time)} AS label,
      ${sum(name === 'less' ? '-' : '')}
    FROM ${name}_spans CROSS JOIN usage_${time}s ON wallet = :wallet AND ${time} >= since AND ${time} < until
    WHERE (:key IS NULL OR key = :key) AND (:model IS NULL OR model = :model) AND (:kind IS NULL OR kind = :kind)
      AND (:keys IS NULL OR key IN (SELECT value FROM json_each(:keys))) GROUP BY start, label`;
  return (wallet: string, { hours, days, less }: UsageSpans, query: Omit<UsageQuery, 'from' | 'to'>) => {
    const { by, key = null, keys, model = null, kind = null } = query;
    const select = prepareBig(
      db,
      `WITH ${spans('hours')}, ${spans('days')}, ${spans('less')}
      SELECT start, label, ${sum()} FROM (${part('hours', 'hour', by)} UNION ALL ${part('days', 'day', by)}
        UNION ALL ${part('less', 'hour', by)}) GROUP BY start, label`,
    );
    const filter = { key, model, kind, keys: keys ? JSON.stringify(keys) : null };
    const texts = { hours: JSON.stringify(hours), days: JSON.stringify(days), less: JSON.stringify(less) };
    const found = select.all({ wallet, ...texts, ...filter });
    return less.length === 0 ? found : found.filter((row) => isUsed(readUsageTotals(row)));
  };
}

function readUsageSumRow(row: Record<string, unknown>): UsageGroupSum {
  return { group: row.label as string, ...readUsageTotals(row) };
}

export function readUsageTotals(row: Record<string, unknown>): UsageTotals {
  return {
    calls: Number(row.calls),
    charged: row.charged as bigint,
    refunded: row.refunded as bigint,
    failed: Number(row.failed),
    cost: row.cost as bigint,
    unpriced: Number(row.unpriced),
    ...mapUnits(UNIT_COUNTS, (name) => Number(row[UNIT_NAMES[name]])),
  };
}
