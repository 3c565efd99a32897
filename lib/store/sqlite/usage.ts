// Folded usage in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import { mapUnits, UNIT_COUNTS, UNIT_NAMES, USAGE_UNITS } from '../../money/usage-units.ts';
import type {
  FoldedUsage,
  OpenJob,
  RouteHour,
  UsageGroupSum,
  UsageHour,
  UsageQuery,
  UsageSlotQuery,
  UsageSlotSum,
  UsageStep,
  UsageStore,
  UsageTotals,
} from '../ports/usage.ts';
import { formatOpenJobs, listServiceSums, parseOpenJobs, toWalletHour } from '../service-sums.ts';
import { type Connection, inReadTransaction, prepareBig } from './connection.ts';
import { createAddServiceSums, readRouteRow, serviceReads } from './service-sums.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';
import { TIME_COLUMNS } from './usage-schema.ts';

const COUNTS = ['calls', 'charged', 'refunded', 'failed', 'cost', 'unpriced', ...USAGE_UNITS] as const;
const ROUTE_COUNTS = ['attempts', 'failed', 'cost', 'unpriced', ...TIME_COLUMNS];
const TABLES = ['usage_hours', 'route_hours', 'usage_cursors'];

const listAdditions = (names: readonly string[]) => names.map((name) => `${name} = ${name} + excluded.${name}`).join();
const listPlaces = (names: readonly string[]) => names.map(() => '?').join();

export function usageWrites({ db, write }: Connection): PortWrites<'usage'> {
  const cursor = db.prepare('SELECT seq, jobs FROM usage_cursors WHERE wallet = ?');
  const move = db.prepare(
    'INSERT INTO usage_cursors (wallet, seq, jobs) VALUES (?1, ?2, ?3) ON CONFLICT (wallet) DO UPDATE SET seq = ?2, jobs = ?3',
  );
  const markPartial = db.prepare('UPDATE usage_cursors SET partial = 1 WHERE wallet = ?');
  const drops = TABLES.map((table) => db.prepare(`DELETE FROM ${table} WHERE wallet = ?`));
  const { readHours, readRoutes } = createReadAll(db);
  const addHours = createAddHours(db);
  const addServiceSums = createAddServiceSums(db);
  const addAll = (wallet: string, { hours, routes }: Pick<FoldedUsage, 'hours' | 'routes'>) => {
    addHours(wallet, { hours, routes });
    addServiceSums(listServiceSums({ hours: hours.map((hour) => toWalletHour(wallet, hour)), routes }));
  };
  const drop = (wallet: string) => {
    const hours = readHours(wallet).map((hour) => toWalletHour(wallet, hour));
    addServiceSums(listServiceSums({ hours, routes: readRoutes(wallet) }, -1));
    for (const each of drops) each.run(wallet);
  };
  return {
    add: ({ wallet, from, to, hours, routes = [], jobs }: UsageStep): boolean =>
      write(() => {
        const now = (cursor.get(wallet) ?? { seq: 0, jobs: '[]' }) as { readonly seq: number; readonly jobs: string };
        if (now.seq !== from || (jobs && now.jobs !== formatOpenJobs(jobs.from))) return false;
        addAll(wallet, { hours, routes });
        move.run(wallet, to, jobs ? formatOpenJobs(jobs.to) : now.jobs);
        return true;
      }),
    put: (wallet: string, usage: FoldedUsage): void =>
      write(() => {
        drop(wallet);
        if (usage.cursor === 0) return;
        addAll(wallet, usage);
        move.run(wallet, usage.cursor, formatOpenJobs(usage.jobs));
        if (usage.isPartial) markPartial.run(wallet);
      }),
    forget: (wallet: string): void => write(() => drop(wallet)),
  };
}

function createAddHours(db: DatabaseSync): (wallet: string, sums: Pick<FoldedUsage, 'hours' | 'routes'>) => void {
  const addHour = db.prepare(
    `INSERT INTO usage_hours (wallet, hour, key, model, kind, ${COUNTS.join()})
      VALUES (?, ?, ?, ?, ?, ${listPlaces(COUNTS)}) ON CONFLICT (wallet, hour, key, model, kind)
      DO UPDATE SET ${listAdditions(COUNTS)}`,
  );
  const addRoute = db.prepare(
    `INSERT INTO route_hours (wallet, hour, upstream, model, ending, reason, ${ROUTE_COUNTS.join()})
      VALUES (?, ?, ?, ?, ?, ?, ${listPlaces(ROUTE_COUNTS)}) ON CONFLICT (wallet, hour, upstream, model, ending, reason)
      DO UPDATE SET ${listAdditions(ROUTE_COUNTS)}`,
  );
  return (wallet, { hours, routes }) => {
    for (const { hour, key, model, kind, calls, charged, refunded, failed, cost, unpriced, ...units } of hours) {
      const counts = [calls, charged, refunded, failed, cost, unpriced, ...UNIT_COUNTS.map((name) => units[name])];
      addHour.run(wallet, hour, key, model, kind, ...counts);
    }
    for (const { hour, upstream, model, ending, reason, attempts, failed, cost, unpriced, first } of routes) {
      addRoute.run(wallet, hour, upstream, model, ending, reason, attempts, failed, cost, unpriced, ...first);
    }
  };
}

/** SQL expressions to group by; constants, never input. */
const GROUPS: Readonly<Record<UsageQuery['by'], string>> = {
  hour: 'CAST(hour AS TEXT)',
  day: "date(hour / 1000, 'unixepoch')",
  model: 'model',
  key: 'key',
  kind: 'kind',
};

function createReadAll(db: DatabaseSync) {
  const hours = prepareBig(db, 'SELECT * FROM usage_hours WHERE wallet = ?');
  const routes = prepareBig(db, 'SELECT * FROM route_hours WHERE wallet = ?');
  return {
    readHours: (wallet: string): UsageHour[] => hours.all(wallet).map(readUsageHourRow),
    readRoutes: (wallet: string): RouteHour[] => routes.all(wallet).map(readRouteRow),
  };
}

export function usageReads(db: DatabaseSync): PortReads<'usage'> {
  const cursor = db.prepare('SELECT seq, jobs, partial FROM usage_cursors WHERE wallet = ?');
  const wallets = db.prepare(
    `SELECT id, wallets.seq > coalesce(usage_cursors.seq, 0) OR coalesce(jobs, '[]') <> '[]' AS behind FROM wallets
      LEFT JOIN usage_cursors ON wallet = id WHERE id > ? ORDER BY id LIMIT ?`,
  );
  const sums = Object.fromEntries(
    Object.entries(GROUPS).map(([by, group]) => {
      const columns = COUNTS.map((name) => `sum(${name}) AS ${name}`).join(', ');
      const where = `wallet = ? AND hour >= ? AND hour < ? AND (?4 IS NULL OR key = ?4) AND (?5 IS NULL OR model = ?5)
        AND (?6 IS NULL OR kind = ?6) AND (?7 IS NULL OR key IN (SELECT value FROM json_each(?7)))`;
      return [
        by,
        prepareBig(db, `SELECT ${group} AS label, ${columns} FROM usage_hours WHERE ${where} GROUP BY label`),
      ];
    }),
  ) as Record<UsageQuery['by'], ReturnType<typeof prepareBig>>;
  const { readHours, readRoutes } = createReadAll(db);
  const readCursor = (wallet: string) => {
    const row = cursor.get(wallet) as { seq: number; jobs: string; partial: 0 | 1 } | undefined;
    return { cursor: row?.seq ?? 0, jobs: parseOpenJobs(row?.jobs ?? '[]'), isPartial: row?.partial === 1 };
  };
  return {
    cursor: (wallet: string): number => readCursor(wallet).cursor,
    openJobs: (wallet: string): readonly OpenJob[] => readCursor(wallet).jobs,
    readAll: (wallet: string): FoldedUsage =>
      inReadTransaction(db, () => ({ ...readCursor(wallet), hours: readHours(wallet), routes: readRoutes(wallet) })),
    findBehind: (after: string, limit: number): Awaited<ReturnType<UsageStore['findBehind']>> => {
      const rows = wallets.all(after, limit) as unknown as readonly { readonly id: string; readonly behind: 0 | 1 }[];
      const found = rows.filter(({ behind }) => behind === 1).map(({ id }) => id);
      const last = rows.length < limit ? undefined : rows.at(-1);
      return last ? { found, next: last.id } : { found };
    },
    sums: (wallet: string, query: UsageQuery): UsageGroupSum[] => {
      const { by, from = 0, to = Number.MAX_SAFE_INTEGER, key = null, model = null, kind = null } = query;
      const keys = query.keys ? JSON.stringify(query.keys) : null;
      return sums[by].all(wallet, from, to, key, model, kind, keys).map(readUsageSumRow);
    },
    slots: createReadSlots(db),
    ...serviceReads(db),
  };
}

function createReadSlots(db: DatabaseSync): (wallet: string, query: UsageSlotQuery) => UsageSlotSum[] {
  const columns = COUNTS.map((name) => `sum(${name}) AS ${name}`).join(', ');
  return (wallet, { by, starts, to, key = null, keys, model = null, kind = null }) => {
    const select = prepareBig(
      db,
      `WITH slots AS (SELECT value AS start, coalesce(lead(value) OVER (ORDER BY value), :to) AS until
        FROM json_each(:starts))
      SELECT start, ${GROUPS[by]} AS label, ${columns} FROM slots
        CROSS JOIN usage_hours ON wallet = :wallet AND hour >= start AND hour < until
      WHERE (:key IS NULL OR key = :key) AND (:model IS NULL OR model = :model) AND (:kind IS NULL OR kind = :kind)
        AND (:keys IS NULL OR key IN (SELECT value FROM json_each(:keys))) GROUP BY start, label`,
    );
    const filter = { key, model, kind, keys: keys ? JSON.stringify(keys) : null };
    const found = select.all({ wallet, starts: JSON.stringify(starts), to, ...filter });
    return found.map((row) => ({ at: Number(row.start), ...readUsageSumRow(row) }));
  };
}

function readUsageHourRow(row: Record<string, unknown>): UsageHour {
  const { key, model, kind } = row as unknown as UsageHour;
  return { hour: Number(row.hour), key, model, kind, ...readUsageTotals(row) };
}

function readUsageSumRow(row: Record<string, unknown>): UsageGroupSum {
  return { group: row.label as string, ...readUsageTotals(row) };
}

function readUsageTotals(row: Record<string, unknown>): UsageTotals {
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
