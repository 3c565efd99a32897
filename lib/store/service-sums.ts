// The sums of all wallets together follow from those of each: what a part of a wallet adds to them.
import { DAY_MS, WEEK_MS } from '../base/durations.ts';
import { addTimes, NO_TIMES } from '../base/time-buckets.ts';
import type {
  OpenJob,
  RouteHour,
  ServiceCount,
  ServiceDay,
  ServiceQuery,
  ServiceSum,
  ServiceTotals,
  UsageHour,
} from './ports/usage.ts';
import { GRAIN_MS, GRAINS, listTimes, splitTime, type TimeSpan } from './time-spans.ts';

/** The counts of a sum besides its times. */
export const SERVICE_COUNTS = ['calls', 'failed', 'charged', 'refunded', 'cost', 'unpriced', 'attempts'] as const;

/** Only routes have attempts, as they have times. */
const CALL_COUNTS = SERVICE_COUNTS.filter((name) => name !== 'attempts');

/** Those of a subject, or those among them that are wanted. */
export function listServiceCounts(
  subject: ServiceSum['subject'],
  wanted?: readonly ServiceCount[],
): readonly ServiceCount[] {
  const counts = subject === 'route' ? SERVICE_COUNTS : CALL_COUNTS;
  return wanted ? counts.filter((count) => wanted.includes(count)) : counts;
}

export const NO_SERVICE: ServiceTotals = {
  calls: 0,
  failed: 0,
  charged: 0n,
  refunded: 0n,
  cost: 0n,
  unpriced: 0,
  attempts: 0,
  first: NO_TIMES,
};

type Labels = Pick<ServiceSum, 'grain' | 'subject' | 'at' | 'name'>;
type WalletHour = ServiceDay['hours'][number];

interface WalletPart {
  readonly hours: readonly WalletHour[];
  readonly routes: readonly RouteHour[];
}

/** What a part of a wallet adds to the sums of all wallets, one row for each; -1 takes it away. */
export function listServiceSums({ hours, routes }: WalletPart, sign: 1 | -1 = 1): readonly ServiceSum[] {
  const sums = new Map<string, ServiceSum>();
  const add = (labels: Labels, totals: ServiceTotals) => {
    const key = getServiceKey(labels);
    sums.set(key, { ...labels, ...addServiceTotals(sums.get(key) ?? NO_SERVICE, totals, sign) });
  };
  const addAll = ({ subject, name, hour }: Pick<Labels, 'subject' | 'name'> & { hour: number }, of: ServiceTotals) => {
    for (const [grain, ms] of GRAINS) add({ grain, subject, at: hour - (hour % ms), name }, of);
  };
  for (const { wallet, hour, model, ...totals } of hours) {
    addAll({ subject: 'model', name: model, hour }, totals);
    addAll({ subject: 'account', name: wallet, hour }, totals);
  }
  for (const { hour, attempts, failed, cost, unpriced, first, ...route } of routes) {
    const totals = { ...NO_SERVICE, attempts, failed, cost, unpriced, first };
    addAll({ subject: 'route', name: formatRouteName(route), hour }, totals);
  }
  return [...sums.values()];
}

export function toWalletHour(wallet: string, row: UsageHour): WalletHour {
  const { hour, model, calls, failed, charged, refunded, cost, unpriced } = row;
  return { wallet, hour, model, calls, failed, charged, refunded, cost, unpriced, attempts: 0, first: NO_TIMES };
}

export function getServiceKey({ grain, subject, at, name }: Labels): string {
  return `${grain} ${subject} ${at} ${name}`;
}

/** The keys of the sums that some names may have in a span. */
export function listServiceKeys(span: ServiceSpan, subject: ServiceSum['subject'], names: readonly string[]): string[] {
  const { grain, from, until } = span;
  return listTimes({ from, until }, GRAIN_MS[grain]).flatMap((at) =>
    names.map((name) => getServiceKey({ grain, subject, at, name })),
  );
}

export type RouteName = Pick<RouteHour, 'upstream' | 'model' | 'ending' | 'reason'>;

export function formatRouteName({ upstream, model, ending, reason }: RouteName): string {
  return JSON.stringify([upstream, model, ending, reason]);
}

export function parseRouteName(name: string): RouteName {
  const [upstream, model, ending, reason] = JSON.parse(name);
  return { upstream, model, ending, reason };
}

export function addServiceTotals(one: ServiceTotals, other: ServiceTotals, sign: 1 | -1 = 1): ServiceTotals {
  const by = BigInt(sign);
  return {
    calls: one.calls + sign * other.calls,
    failed: one.failed + sign * other.failed,
    charged: one.charged + by * other.charged,
    refunded: one.refunded + by * other.refunded,
    cost: one.cost + by * other.cost,
    unpriced: one.unpriced + sign * other.unpriced,
    attempts: one.attempts + sign * other.attempts,
    first: addTimes(one.first, other.first, sign),
  };
}

export function findDay(at: number): number {
  return at - (at % DAY_MS);
}

export function findWeek(at: number): number {
  return at - (at % WEEK_MS);
}

export type ServiceSpan = TimeSpan<ServiceSum['grain']>;

/** What a query adds up; by its hours if it asks for each of them. */
export function listServiceSpans({ from, to, by, starts }: ServiceQuery): readonly ServiceSpan[] {
  // Summed over all of the time, it has no start.
  if (by === 'name') return splitTime([from], to, GRAINS).map((span) => ({ ...span, start: 0 }));
  return splitTime(starts ?? [from], to, starts ? GRAINS : GRAINS.slice(-1));
}

/** Always the same text for the same jobs, because it is compared. */
export function formatOpenJobs(jobs: readonly OpenJob[]): string {
  return JSON.stringify(jobs.map(({ charge, hour, key, model, kind }) => [charge, hour, key, model, kind]));
}

/** A damaged text is returned as a job that does not exist, for the audit. */
export function parseOpenJobs(text: string): readonly OpenJob[] {
  try {
    const rows: readonly [string, number, string, string, OpenJob['kind']][] = JSON.parse(text);
    return rows.map(([charge, hour, key, model, kind]) => ({ charge, hour, key, model, kind }));
  } catch {
    return [{ charge: text, hour: 0, key: '', model: '', kind: 'video' }];
  }
}
