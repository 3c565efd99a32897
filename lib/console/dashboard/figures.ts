// The figures of the operator's start page: sums of all accounts over a day by hour, or over 7 or 30 days by day.
import { HOUR_MS } from '../../base/durations.ts';
import { addTimes, NO_TIMES } from '../../base/time-buckets.ts';
import { FAULT_ENDINGS } from '../../money/attempt.ts';
import { addDays, findDayStart, findDayStartHour, findHourDay, formatDay, parseDay } from '../../money/days.ts';
import type { Micro } from '../../money/money.ts';
import type { PaymentSum } from '../../store/ports/ledger.ts';
import type { RouteEnding, ServiceRow, ServiceTotals, UsageStore } from '../../store/ports/usage.ts';
import { addServiceTotals, NO_SERVICE, parseRouteName } from '../../store/service-sums.ts';
import type { Store } from '../../store/store.ts';
import type { CustomerRanks } from '../customer-ranks.ts';
import { listDaySlots, listHourSlots, type TimeSlot } from '../time-slots.ts';

const SPAN_DAYS = { week: 7, month: 30 } as const;
const TOP = 10;

export interface DashboardRange {
  readonly span: 'day' | keyof typeof SPAN_DAYS;
  /** The day that was chosen; undefined for the last 24 hours. */
  readonly day: string | undefined;
  readonly slots: readonly TimeSlot[];
  readonly from: number;
  readonly to: number;
  /** When the same length of time before it began. */
  readonly before: number;
}

/** Of a query: `day=2026-11-25`, `span=week` or `span=month`; else the last 24 hours. */
export function readDashboardRange(query: URLSearchParams, zone: string, now: number): DashboardRange {
  const today = findHourDay(now, zone);
  const chosen = parseDay(query.get('day') ?? '');
  const day = chosen !== undefined && chosen <= today ? chosen : undefined;
  const span = (['week', 'month'] as const).find((name) => name === query.get('span'));
  if (span !== undefined && day === undefined) {
    const days = SPAN_DAYS[span];
    const slots = listDaySlots(addDays(today, 1 - days), today, zone);
    const from = slots[0]?.from ?? now;
    return {
      span,
      day,
      slots,
      from,
      to: slots.at(-1)?.to ?? now,
      before: findDayStartHour(addDays(today, 1 - 2 * days), zone),
    };
  }
  const end = now - (now % HOUR_MS) + HOUR_MS;
  const [from, to] =
    day === undefined
      ? [end - 24 * HOUR_MS, end]
      : [findDayStartHour(day, zone), findDayStartHour(addDays(day, 1), zone)];
  return { span: 'day', day, slots: listHourSlots(from, to, zone), from, to, before: from - (to - from) };
}

export interface NamedSum extends ServiceTotals {
  readonly name: string;
}

export interface FailureSum {
  readonly ending: RouteEnding;
  readonly reason: string;
  readonly failed: number;
}

export interface UpstreamSum {
  readonly upstream: string;
  readonly attempts: number;
  readonly faults: number;
  readonly cost: Micro;
  readonly first: readonly number[];
}

export interface DashboardFigures {
  readonly total: ServiceTotals;
  readonly before: ServiceTotals;
  /** By slot and model. */
  readonly rows: readonly ServiceRow[];
  readonly models: readonly NamedSum[];
  readonly accounts: readonly (NamedSum & { readonly title: string })[];
  /** Accounts with calls in this time, and those that were created in it. */
  readonly active: number;
  readonly created: number;
  readonly failures: readonly FailureSum[];
  /** Over the last hour, and the part of the one that is not over. */
  readonly upstreams: readonly UpstreamSum[];
  readonly upstreamsSince: number;
  readonly paidToday: Micro;
  readonly returnedToday: Micro;
}

export async function readDashboard(
  {
    store: { usage, ledger, accounts },
    customerRanks,
  }: {
    readonly store: Pick<Store, 'usage' | 'ledger' | 'accounts'>;
    readonly customerRanks: CustomerRanks;
  },
  range: DashboardRange,
  { now, zone }: { readonly now: number; readonly zone: string },
): Promise<DashboardFigures> {
  const { from, to, before, slots } = range;
  const upstreamsSince = now - (now % HOUR_MS) - HOUR_MS;
  const dayStart = findDayStart(formatDay(now, zone), zone);
  const starts = slots.map((slot) => slot.from);
  const [rows, past, ranks, routes, recent, payments, created] = await Promise.all([
    usage.serviceSums({ subject: 'model', from, to, by: 'both', starts }),
    usage.serviceSums({ subject: 'model', from: before, to: from, by: 'name', counts: ['charged', 'cost', 'calls'] }),
    customerRanks(range),
    usage.serviceSums({ subject: 'route', from, to, by: 'name', counts: ['failed'] }),
    usage.serviceSums({ subject: 'route', from: upstreamsSince, to: now + HOUR_MS, by: 'name' }),
    ledger.paymentSums({ from: dayStart, to: now + HOUR_MS }),
    accounts.countCreated(range),
  ]);
  const largest = await readLargest(usage, range, ranks);
  const names = new Map((await accounts.names(largest.map(({ name }) => name))).map(({ id, name }) => [id, name]));
  const named = largest.map((row) => ({ ...row, title: names.get(row.name) ?? row.name }));
  const { received, returned } = splitPayments(payments);
  return {
    total: rows.reduce<ServiceTotals>(addUp, NO_SERVICE),
    before: past.reduce<ServiceTotals>(addUp, NO_SERVICE),
    rows,
    models: groupByName(rows),
    accounts: named,
    active: ranks.filter(({ calls }) => calls > 0).length,
    created,
    failures: listFailures(routes),
    upstreams: listUpstreams(recent),
    upstreamsSince,
    paidToday: received,
    returnedToday: returned,
  };
}

/** What came in and what went back, both positive. */
export function splitPayments(sums: readonly PaymentSum[]): { readonly received: Micro; readonly returned: Micro } {
  const add = (amounts: readonly Micro[]) => amounts.reduce((sum, amount) => sum + amount, 0n);
  const amounts = sums.map(({ amount }) => amount);
  return {
    received: add(amounts.filter((amount) => amount > 0n)),
    returned: -add(amounts.filter((amount) => amount < 0n)),
  };
}

/** All accounts are added up only by what makes them large. */
async function readLargest(
  usage: Pick<UsageStore, 'serviceSums'>,
  { from, to }: DashboardRange,
  ranks: readonly ServiceRow[],
): Promise<readonly ServiceRow[]> {
  const names = ranks.slice(0, TOP).map(({ name }) => name);
  return names.length === 0 ? [] : usage.serviceSums({ subject: 'account', from, to, by: 'name', names });
}

const addUp = (one: ServiceTotals, other: ServiceTotals) => addServiceTotals(one, other);

function groupByName(rows: readonly ServiceRow[]): readonly NamedSum[] {
  const sums = new Map<string, ServiceTotals>();
  for (const row of rows) sums.set(row.name, addServiceTotals(sums.get(row.name) ?? NO_SERVICE, row));
  const named = [...sums].map(([name, totals]) => ({ ...totals, name }));
  return named.sort((one, other) => Number(other.charged - one.charged) || other.calls - one.calls).slice(0, TOP);
}

/** What failed calls failed by, most often first. */
export function listFailures(rows: readonly ServiceRow[]): readonly FailureSum[] {
  const sums = new Map<string, FailureSum>();
  for (const { name, failed } of rows) {
    if (failed === 0) continue;
    const { ending, reason } = parseRouteName(name);
    const key = `${ending} ${reason}`;
    sums.set(key, { ending, reason, failed: (sums.get(key)?.failed ?? 0) + failed });
  }
  return [...sums.values()].sort((one, other) => other.failed - one.failed).slice(0, TOP);
}

export const NO_UPSTREAM_SUM: UpstreamSum = { upstream: '', attempts: 0, faults: 0, cost: 0n, first: NO_TIMES };

/** Under the name of the first. */
export function addUpstreamSums(one: UpstreamSum, other: UpstreamSum): UpstreamSum {
  return {
    upstream: one.upstream,
    attempts: one.attempts + other.attempts,
    faults: one.faults + other.faults,
    cost: one.cost + other.cost,
    first: addTimes(one.first, other.first),
  };
}

/** By attempts, the busiest first. */
export function listUpstreams(rows: readonly ServiceRow[]): readonly UpstreamSum[] {
  const sums = new Map<string, UpstreamSum>();
  for (const { name, attempts, cost, first } of rows) {
    const { upstream, ending } = parseRouteName(name);
    if (upstream === '' || attempts === 0) continue;
    const sum = sums.get(upstream) ?? { ...NO_UPSTREAM_SUM, upstream };
    const isFault = FAULT_ENDINGS.some((fault) => fault === ending);
    sums.set(upstream, addUpstreamSums(sum, { upstream, attempts, faults: isFault ? attempts : 0, cost, first }));
  }
  return [...sums.values()].sort((one, other) => other.attempts - one.attempts);
}
