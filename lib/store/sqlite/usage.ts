// Folded usage in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import { UNIT_COUNTS } from '../../money/usage-units.ts';
import type {
  FoldedUsage,
  RouteHour,
  UsageGrain,
  UsageHour,
  UsageOf,
  UsageProgress,
  UsageStep,
  UsageStore,
  UsageTotals,
} from '../ports/usage.ts';
import { formatOpenJobs, listServiceSums, parseOpenJobs, toWalletHour } from '../service-sums.ts';
import { sumUsage, USAGE_GRAINS } from '../usage-grains.ts';
import { type Connection, inReadTransaction, prepareBig } from './connection.ts';
import { createAddServiceSums, readRouteRow, serviceReads } from './service-sums.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';
import { TIME_COLUMNS } from './usage-schema.ts';
import { COUNTS, readUsageTotals, usageSumReads } from './usage-sums.ts';

const ROUTE_COUNTS = ['attempts', 'failed', 'cost', 'unpriced', ...TIME_COLUMNS];
const TABLES = [...USAGE_GRAINS.map((grain) => `usage_${grain}s`), 'route_hours', 'usage_cursors'];

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
    put: (wallet: string, usage: Omit<FoldedUsage, 'days' | 'weeks'>): void =>
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
  const adds = USAGE_GRAINS.map((grain) => {
    const add = db.prepare(
      `INSERT INTO usage_${grain}s (wallet, ${grain}, key, model, kind, ${COUNTS.join()})
        VALUES (?, ?, ?, ?, ?, ${listPlaces(COUNTS)}) ON CONFLICT (wallet, ${grain}, key, model, kind)
        DO UPDATE SET ${listAdditions(COUNTS)}`,
    );
    return [grain, add] as const;
  });
  const addRoute = db.prepare(
    `INSERT INTO route_hours (wallet, hour, upstream, model, ending, reason, ${ROUTE_COUNTS.join()})
      VALUES (?, ?, ?, ?, ?, ?, ${listPlaces(ROUTE_COUNTS)}) ON CONFLICT (wallet, hour, upstream, model, ending, reason)
      DO UPDATE SET ${listAdditions(ROUTE_COUNTS)}`,
  );
  return (wallet, { hours, routes }) => {
    for (const [grain, add] of adds) {
      for (const { [grain]: at, key, model, kind, ...totals } of sumUsage(hours, 'hour', grain))
        add.run(wallet, at, key, model, kind, ...listCounts(totals));
    }
    for (const { hour, upstream, model, ending, reason, attempts, failed, cost, unpriced, first } of routes) {
      addRoute.run(wallet, hour, upstream, model, ending, reason, attempts, failed, cost, unpriced, ...first);
    }
  };
}

/** In the order of `COUNTS`. */
function listCounts({ calls, charged, refunded, failed, cost, unpriced, ...units }: UsageTotals) {
  return [calls, charged, refunded, failed, cost, unpriced, ...UNIT_COUNTS.map((name) => units[name])];
}

function createReadAll(db: DatabaseSync) {
  const routes = prepareBig(db, 'SELECT * FROM route_hours WHERE wallet = ?');
  return {
    readHours: createReadUsage(db, 'hour'),
    readDays: createReadUsage(db, 'day'),
    readWeeks: createReadUsage(db, 'week'),
    readRoutes: (wallet: string): RouteHour[] => routes.all(wallet).map(readRouteRow),
  };
}

function createReadUsage<Grain extends UsageGrain>(db: DatabaseSync, grain: Grain) {
  const rows = prepareBig(db, `SELECT * FROM usage_${grain}s WHERE wallet = ?`);
  return (wallet: string): UsageOf<Grain>[] => rows.all(wallet).map((row) => readUsageRow(row, grain));
}

export function usageReads(db: DatabaseSync): PortReads<'usage'> {
  const cursor = db.prepare('SELECT seq, jobs, partial FROM usage_cursors WHERE wallet = ?');
  const wallets = db.prepare(
    `SELECT id, wallets.seq > coalesce(usage_cursors.seq, 0) OR coalesce(jobs, '[]') <> '[]' AS behind FROM wallets
      LEFT JOIN usage_cursors ON wallet = id WHERE id > ? ORDER BY id LIMIT ?`,
  );
  const { readHours, readDays, readWeeks, readRoutes } = createReadAll(db);
  const readCursor = (wallet: string) => {
    const row = cursor.get(wallet) as { seq: number; jobs: string; partial: 0 | 1 } | undefined;
    return { cursor: row?.seq ?? 0, jobs: parseOpenJobs(row?.jobs ?? '[]'), isPartial: row?.partial === 1 };
  };
  return {
    progress: (wallet: string): UsageProgress => readCursor(wallet),
    readAll: (wallet: string): FoldedUsage =>
      inReadTransaction(db, () => ({
        ...readCursor(wallet),
        hours: readHours(wallet),
        days: readDays(wallet),
        weeks: readWeeks(wallet),
        routes: readRoutes(wallet),
      })),
    findBehind: (after: string, limit: number): Awaited<ReturnType<UsageStore['findBehind']>> => {
      const rows = wallets.all(after, limit) as unknown as readonly { readonly id: string; readonly behind: 0 | 1 }[];
      const found = rows.filter(({ behind }) => behind === 1).map(({ id }) => id);
      const last = rows.length < limit ? undefined : rows.at(-1);
      return last ? { found, next: last.id } : { found };
    },
    ...usageSumReads(db),
    ...serviceReads(db),
  };
}

function readUsageRow<Grain extends UsageGrain>(row: Record<string, unknown>, grain: Grain): UsageOf<Grain> {
  const { key, model, kind } = row as unknown as UsageHour;
  return { [grain]: Number(row[grain]), key, model, kind, ...readUsageTotals(row) } as unknown as UsageOf<Grain>;
}
