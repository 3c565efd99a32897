// Adds up what calls used, cost and failed by, from the entries of their journal and their attempts: the same for the fold
// and for its audit.
import { HOUR_MS } from '../base/durations.ts';
import { addTimes, BUCKET_COUNT, findBucket, NO_TIMES } from '../base/time-buckets.ts';
import type { Usage } from '../money/decide.ts';
import { mapUnits, UNIT_COUNTS, UNIT_NAMES } from '../money/usage-units.ts';
import type { UsedAttempt, UsedEntry } from '../store/ports/journal.ts';
import type { OpenJob, RouteHour, RouteTotals, UsageHour, UsageTotals } from '../store/ports/usage.ts';
import { addUsageTotals, NO_USAGE } from '../store/usage-totals.ts';

type Labels = Pick<UsageHour, 'hour' | 'key' | 'model' | 'kind'>;
type RouteLabels = Omit<RouteHour, keyof RouteTotals>;
type UsedCharge = NonNullable<UsedEntry['charge']>;

export class UsageSums {
  readonly hours = new Map<string, UsageHour>();
  readonly routes = new Map<string, RouteHour>();
  /** The jobs that entries have started, by charge: their attempts are added once they are final. */
  readonly jobs = new Map<string, OpenJob>();

  /** Adds an entry, or takes it away again. */
  addEntry(entry: UsedEntry, sign: 1 | -1 = 1): void {
    const { charge, kind, attempts = [] } = entry;
    if (!charge) return;
    const labels = { hour: charge.createdAt - (charge.createdAt % HOUR_MS), ...pickLabels(charge) };
    this.#addHour(labels, multiplyUsage(countEntryUsage(entry, charge), sign));
    this.#addAttempts(labels, attempts, sign);
    const failures = countFailures(entry, charge);
    if (failures !== 0) this.#addRoute(findFailedRoute(entry, labels), { failed: failures * sign });
    if (kind !== 'charge') return;
    if (sign === 1) this.jobs.set(charge.id, { charge: charge.id, ...labels });
    else this.jobs.delete(charge.id);
  }

  /** Adds the final attempts of a job. */
  addJob(job: OpenJob, attempts: readonly UsedAttempt[]): void {
    const { charge: _, ...labels } = job;
    this.#addAttempts(labels, attempts, 1);
  }

  #addAttempts(labels: Labels, attempts: readonly UsedAttempt[], sign: 1 | -1): void {
    for (const attempt of attempts) {
      const { ending, reason = '', firstMs } = attempt;
      const cost = getCertainCost(attempt) * BigInt(sign);
      const unpriced = attempt.cost === null && attempt.certainty !== 'none' ? sign : 0;
      if (cost !== 0n || unpriced !== 0) this.#addHour(labels, { ...NO_USAGE, cost, unpriced });
      const route = { hour: labels.hour, upstream: attempt.upstream ?? '', model: attempt.model, ending, reason };
      const first = firstMs === null ? NO_TIMES : countTime(firstMs, sign);
      this.#addRoute(route, { attempts: sign, cost, unpriced, first });
    }
  }

  #addHour(labels: Labels, totals: UsageTotals): void {
    const key = getHourKey(labels);
    this.hours.set(key, { ...labels, ...addUsageTotals(this.hours.get(key) ?? NO_USAGE, totals) });
  }

  #addRoute(labels: RouteLabels, totals: Partial<RouteTotals>): void {
    const key = getRouteKey(labels);
    this.routes.set(key, { ...labels, ...addRouteTotals(this.routes.get(key) ?? NO_ROUTE, totals) });
  }
}

function pickLabels({ key, model, kind }: Pick<Labels, 'key' | 'model' | 'kind'>) {
  return { key, model, kind };
}

/** The key of an hour in a map. */
export function getHourKey({ hour, key, model, kind }: Labels): string {
  return JSON.stringify([hour, key, model, kind]);
}

/** The key of an hour of a route in a map. */
export function getRouteKey({ hour, upstream, model, ending, reason }: RouteLabels): string {
  return JSON.stringify([hour, upstream, model, ending, reason]);
}

/** The counts of one entry. A charge has its usage once settled, and keeps it after a refund. */
function countEntryUsage(entry: UsedEntry, charge: UsedCharge): UsageTotals {
  const { kind, charged } = entry;
  const { usage } = charge;
  const sign = kind === 'settle' || kind === 'charge' ? 1 : kind === 'refund' ? -1 : 0;
  const used: Usage = usage === null || sign === 0 ? {} : JSON.parse(usage);
  return {
    calls: kind === 'reserve' || kind === 'charge' ? 1 : 0,
    charged,
    refunded: kind === 'refund' ? -charged : 0n,
    failed: countFailures(entry, charge),
    cost: 0n,
    unpriced: 0,
    ...mapUnits(UNIT_COUNTS, (name) => sign * Number(used[UNIT_NAMES[name]] ?? 0)),
  };
}

/** A settlement after its hold had expired shows that the call had not failed. */
function countFailures({ kind, held }: UsedEntry, charge: UsedCharge): number {
  switch (kind) {
    case 'release':
    case 'expire':
      return 1;
    case 'settle':
      return held === 0n ? -1 : 0;
    case 'refund':
      return charge.kind === 'video' ? 1 : 0;
    default:
      return 0;
  }
}

/** Where a failed call counts as failed. */
function findFailedRoute({ kind, attempts = [] }: UsedEntry, { hour, model }: Labels): RouteLabels {
  const last = attempts.at(-1);
  const nowhere = { hour, upstream: '', model, reason: '' };
  if (kind === 'refund') return { ...nowhere, ending: 'failed' };
  if (kind !== 'release') return { ...nowhere, ending: 'lost' };
  if (!last) return { ...nowhere, ending: 'unasked' };
  const { upstream, ending, reason = '' } = last;
  return { hour, upstream: upstream ?? '', model: last.model, ending, reason };
}

function getCertainCost({ certainty, cost }: UsedAttempt): bigint {
  return certainty === 'reported' || certainty === 'estimated' ? (cost?.costRub ?? 0n) : 0n;
}

function countTime(ms: number, count: number): readonly number[] {
  const bucket = findBucket(ms);
  return Array.from({ length: BUCKET_COUNT }, (_, at) => (at === bucket ? count : 0));
}

function multiplyUsage(totals: UsageTotals, by: 1 | -1): UsageTotals {
  if (by === 1) return totals;
  const { charged, refunded, cost } = totals;
  const counts = ['calls', 'failed', 'unpriced', ...UNIT_COUNTS] as const;
  const negated = Object.fromEntries(counts.map((name) => [name, 0 - totals[name]]));
  return { ...totals, ...negated, charged: -charged, refunded: -refunded, cost: -cost };
}

export const NO_ROUTE: RouteTotals = { attempts: 0, failed: 0, cost: 0n, unpriced: 0, first: NO_TIMES };

function addRouteTotals(left: RouteTotals, right: Partial<RouteTotals>): RouteTotals {
  return {
    attempts: left.attempts + (right.attempts ?? 0),
    failed: left.failed + (right.failed ?? 0),
    cost: left.cost + (right.cost ?? 0n),
    unpriced: left.unpriced + (right.unpriced ?? 0),
    first: right.first ? addTimes(left.first, right.first) : left.first,
  };
}
