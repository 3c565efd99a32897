// The sums of all wallets together in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import { DAY_MS, WEEK_MS } from '../../base/durations.ts';
import { NO_TIMES } from '../../base/time-buckets.ts';
import {
  type RouteHour,
  SERVICE_SUBJECTS,
  type ServiceDay,
  type ServiceQuery,
  type ServiceRow,
  type ServiceSum,
  type ServiceTotals,
  type ServiceWeek,
} from '../ports/usage.ts';
import { findDay, findWeek, listServiceCounts, listServiceSpans, SERVICE_COUNTS } from '../service-sums.ts';
import { inReadTransaction, prepareBig } from './connection.ts';
import type { PortReads } from './thread-ports.ts';
import { selectSpans } from './time-spans.ts';
import { TIME_COLUMNS } from './usage-schema.ts';

const COUNTS = [...SERVICE_COUNTS, ...TIME_COLUMNS];

export function createAddServiceSums(db: DatabaseSync): (sums: readonly ServiceSum[]) => void {
  const add = db.prepare(
    `INSERT INTO service_sums (subject, grain, at, name, ${COUNTS.join()})
      VALUES (?, ?, ?, ?, ${COUNTS.map(() => '?').join()}) ON CONFLICT (subject, grain, at, name)
      DO UPDATE SET ${COUNTS.map((name) => `${name} = ${name} + excluded.${name}`).join()}`,
  );
  return (sums) => {
    for (const { subject, grain, at, name, first, ...counts } of sums) {
      add.run(subject, grain, at, name, ...SERVICE_COUNTS.map((count) => counts[count]), ...first);
    }
  };
}

type ServiceReads = Pick<PortReads<'usage'>, 'serviceSums' | 'serviceDay' | 'serviceWeek'>;

export function serviceReads(db: DatabaseSync): ServiceReads {
  return {
    serviceSums: (query: ServiceQuery): ServiceRow[] =>
      selectSums(db, query).map((row) => ({
        at: Number(row.at),
        name: row.name as string,
        ...readServiceTotals(row),
      })),
    serviceDay: createReadServiceDay(db),
    serviceWeek: createReadServiceWeek(db),
  };
}

/** Only routes have times. */
function listCounts({ subject, counts }: Pick<ServiceQuery, 'subject' | 'counts'>): readonly string[] {
  return subject === 'route' && !counts ? COUNTS : listServiceCounts(subject, counts);
}

function selectSums(db: DatabaseSync, query: ServiceQuery): readonly Record<string, unknown>[] {
  const { subject, by, names, starts } = query;
  const counts = listCounts(query);
  const sumAll = (sign: string) => counts.map((count) => `sum(${sign}${count}) AS ${count}`).join();
  const at = by === 'name' || starts ? 'start' : 'at';
  const label = by === 'at' ? "''" : 'name';
  // Some are taken away from others, and leave nothing.
  const isUsed = listServiceCounts(subject, query.counts)
    .map((count) => `sum(sign * ${count})`)
    .join(' OR ');
  const highest = ['charged', 'failed', 'attempts'].filter((count) => counts.includes(count));
  const order = by === 'name' ? [...highest.map((count) => `sum(sign * ${count}) DESC`), 'name'] : ['time'];
  const select = prepareBig(
    db,
    `${selectSpans('spans')} SELECT time AS at, label AS name, ${sumAll('sign * ')} FROM (
      SELECT ${at} AS time, ${label} AS label, sign, ${sumAll('')} FROM spans CROSS JOIN service_sums AS sums
        ON subject = :subject AND sums.grain = spans.grain AND at >= since AND at < until
        ${names === undefined ? '' : 'WHERE name IN (SELECT value FROM json_each(:names))'} GROUP BY time, label, sign)
    GROUP BY time, label HAVING ${isUsed} ORDER BY ${order.join()}`,
  );
  const spans = JSON.stringify(listServiceSpans(query));
  return select.all({ spans, subject, ...(names && { names: JSON.stringify(names) }) });
}

/** The first time of sums by each grain, found by the key. */
function selectFirst(grains: readonly ServiceSum['grain'][]): string {
  const each = SERVICE_SUBJECTS.flatMap((subject) =>
    grains.map(
      (grain) =>
        `SELECT min(at) AS at FROM service_sums WHERE subject = '${subject}' AND grain = '${grain}' AND at >= ?1`,
    ),
  );
  return each.join(' UNION ALL ');
}

function createReadServiceDay(db: DatabaseSync): (from: number) => ServiceDay | undefined {
  const next = db.prepare(
    `SELECT min(at) AS at FROM (
      SELECT min(hour) AS at FROM usage_hours WHERE hour >= ?1 UNION ALL
      SELECT min(hour) FROM route_hours WHERE hour >= ?1 UNION ALL
      ${selectFirst(['hour', 'day'])})`,
  );
  const stored = prepareBig(
    db,
    `SELECT * FROM service_sums WHERE subject = ? AND grain IN ('hour', 'day') AND at >= ? AND at < ?`,
  );
  const hours = prepareBig(
    db,
    `SELECT wallet, hour, model, sum(calls) AS calls, sum(failed) AS failed, sum(charged) AS charged,
      sum(refunded) AS refunded, sum(cost) AS cost, sum(unpriced) AS unpriced
    FROM usage_hours WHERE hour >= ? AND hour < ? GROUP BY wallet, hour, model`,
  );
  const sums = ['attempts', 'failed', 'cost', 'unpriced', ...TIME_COLUMNS].map((name) => `sum(${name}) AS ${name}`);
  const routes = prepareBig(
    db,
    `SELECT hour, upstream, model, ending, reason, ${sums.join()} FROM route_hours WHERE hour >= ? AND hour < ?
      GROUP BY hour, upstream, model, ending, reason`,
  );
  return (from) =>
    inReadTransaction(db, () => {
      const at = next.get(from)?.at as number | null | undefined;
      if (at === null || at === undefined) return undefined;
      const day = findDay(at);
      const span = [day, day + DAY_MS] as const;
      return {
        day,
        stored: SERVICE_SUBJECTS.flatMap((subject) => stored.all(subject, ...span).map(readServiceSum)),
        hours: hours.all(...span).map((row) => ({
          wallet: row.wallet as string,
          hour: Number(row.hour),
          model: row.model as string,
          ...readServiceTotals(row),
        })),
        routes: routes.all(...span).map(readRouteRow),
      };
    });
}

function createReadServiceWeek(db: DatabaseSync): (from: number) => ServiceWeek | undefined {
  const next = db.prepare(`SELECT min(at) AS at FROM (${selectFirst(['day', 'week'])})`);
  const sums = prepareBig(
    db,
    `SELECT * FROM service_sums WHERE subject = ? AND grain IN ('day', 'week') AND at >= ? AND at < ?`,
  );
  return (from) =>
    inReadTransaction(db, () => {
      const at = next.get(from)?.at as number | null | undefined;
      if (at === null || at === undefined) return undefined;
      const week = findWeek(at);
      const found = SERVICE_SUBJECTS.flatMap((subject) => sums.all(subject, week, week + WEEK_MS));
      return { week, sums: found.map(readServiceSum) };
    });
}

function readServiceSum(row: Record<string, unknown>): ServiceSum {
  const { subject, grain, name } = row as unknown as ServiceSum;
  return { subject, grain, at: Number(row.at), name, ...readServiceTotals(row) };
}

function readServiceTotals(row: Record<string, unknown>): ServiceTotals {
  return {
    calls: Number(row.calls ?? 0),
    failed: Number(row.failed ?? 0),
    charged: (row.charged ?? 0n) as bigint,
    refunded: (row.refunded ?? 0n) as bigint,
    cost: (row.cost ?? 0n) as bigint,
    unpriced: Number(row.unpriced ?? 0),
    attempts: Number(row.attempts ?? 0),
    first: TIME_COLUMNS[0] !== undefined && TIME_COLUMNS[0] in row ? readTimes(row) : NO_TIMES,
  };
}

export function readRouteRow(row: Record<string, unknown>): RouteHour {
  const { upstream, model, ending, reason, cost } = row as unknown as RouteHour;
  const counts = { attempts: Number(row.attempts), failed: Number(row.failed), unpriced: Number(row.unpriced) };
  return { hour: Number(row.hour), upstream, model, ending, reason, ...counts, cost, first: readTimes(row) };
}

function readTimes(row: Record<string, unknown>): readonly number[] {
  return TIME_COLUMNS.map((name) => Number(row[name] ?? 0));
}
