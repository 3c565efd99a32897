// Usage reports from hourly sums instead of from every call: the journal is folded into sums up to a cursor, in the
// background, and a reader folds only a short rest.
import assert from 'node:assert/strict';
import { HOUR_MS } from '../base/durations.ts';
import type { Attempt } from '../money/attempt.ts';
import { addDays, findDayStartHour, findHourDay } from '../money/days.ts';
import { mapUnits, UNIT_COUNTS, UNIT_NAMES, USAGE_UNITS } from '../money/usage-units.ts';
import type { ChargeFilter } from '../store/ports/ledger.ts';
import type { OpenJob, UsageGroupSum, UsageTotals } from '../store/ports/usage.ts';
import type { Store } from '../store/store.ts';
import { addUsageTotals, NO_USAGE } from '../store/usage-totals.ts';
import {
  sortUsageRows,
  type UsageReport,
  type UsageQuery as UsageReportQuery,
  type UsageRow,
  type UsageSum,
} from './usage.ts';
import { UsageSums } from './usage-sums.ts';

type UsageParts = Pick<Store, 'attempts' | 'journal' | 'ledger' | 'usage'>;

interface UsageQuery {
  readonly by: UsageReportQuery['by'];
  /** The time zone of days if `by` is `day`; UTC by default. */
  readonly zone?: string;
  /** Only whole hours, and no states of calls: the sums are not finer. */
  readonly filter: Omit<UsageReportQuery['filter'], 'state'>;
}

export interface CountedUsage extends UsageReport {
  /** Absent if the sums cover the whole journal. */
  readonly behind?: UsageBehind;
}

/** How far the sums cover the journal, oldest entries first. */
export interface UsageBehind {
  /** The number of entries in the journal, and how many of them are in the sums. */
  readonly entries: number;
  readonly counted: number;
  /** The time of the last entry in the sums, ms since the epoch; undefined if there is none yet. */
  readonly until: number | undefined;
}

/** Entries per transaction of the fold, and the most that a reader waits for: 1,000 delayed pages by up to 50 ms. */
const ENTRIES_PER_STEP = 400;

/** Like `reportUsage`, but its time grows with hours instead of calls. Reports `behind` instead of waiting for a long fold. */
export async function readUsage(store: UsageParts, wallet: string, query: UsageQuery): Promise<CountedUsage> {
  const { by, zone, filter } = query;
  const isZoned = by === 'day' && zone !== undefined;
  const { from, to, key, keys, model, kind } = filter;
  assert([from, to].every((at) => at === undefined || at % HOUR_MS === 0));
  const behind = await catchUpUsage(store, wallet);
  const sums = await store.usage.sums(wallet, {
    by: isZoned ? 'hour' : by,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(key !== undefined && { key }),
    ...(keys !== undefined && { keys }),
    ...(model !== undefined && { model }),
    ...(kind !== undefined && { kind }),
  });
  return { ...toUsageReport(isZoned ? groupByDay(sums, zone) : sums, by), ...(behind && { behind }) };
}

/** Converts hourly sums to days of a zone. */
function groupByDay(hours: readonly UsageGroupSum[], zone: string): readonly UsageGroupSum[] {
  const days = new Map<string, UsageGroupSum>();
  let day = '';
  let end = Number.NEGATIVE_INFINITY;
  for (const { group, ...counts } of hours.toSorted((one, other) => Number(one.group) - Number(other.group))) {
    const hour = Number(group);
    if (hour >= end) {
      day = findHourDay(hour, zone);
      end = findDayStartHour(addDays(day, 1), zone);
    }
    days.set(day, { group: day, ...addUsageTotals(days.get(day) ?? NO_USAGE, counts) });
  }
  return [...days.values()];
}

/** Folds the rest of the journal if it is short; otherwise resolves to how far behind the sums are. */
export async function catchUpUsage(store: UsageParts, wallet: string): Promise<UsageBehind | undefined> {
  const { ledger, usage } = store;
  const [state, { cursor: counted, jobs: open }] = await Promise.all([ledger.wallet(wallet), usage.progress(wallet)]);
  const entries = state?.seq ?? 0;
  if (entries === counted && open.length === 0) return undefined;
  if (entries - counted <= ENTRIES_PER_STEP) {
    await foldUsage(store, wallet);
    return undefined;
  }
  const [last] = counted === 0 ? [] : await ledger.entries(wallet, { before: counted + 1, limit: 1 });
  return { entries, counted, until: last?.at };
}

/** Whether the hourly sums can answer a query. Otherwise calls are added up one by one, without archived calls. */
export function canUseHourlySums({ state, from, to }: ChargeFilter): boolean {
  return state === undefined && [from, to].every((at) => at === undefined || at % HOUR_MS === 0);
}

/** Adds the entries after the cursor to the sums; concurrent folds add each part only once. */
export async function foldUsage(store: UsageParts, wallet: string): Promise<void> {
  for await (const _ of foldSteps(store, wallet));
}

/** Like `foldUsage`, in steps of bounded length, for callers that pause in between or stop early. */
export async function* foldSteps(store: UsageParts, wallet: string): AsyncGenerator<void> {
  const { journal, ledger, usage } = store;
  const end = (await ledger.wallet(wallet))?.seq ?? 0;
  for (;;) {
    const { cursor, jobs: open } = await usage.progress(wallet);
    const entries = cursor < end ? await journal.usedEntries(wallet, cursor, ENTRIES_PER_STEP) : [];
    const sums = new UsageSums();
    for (const entry of entries) sums.addEntry(entry);
    const known = [...open, ...sums.jobs.values()];
    const waiting = await addEndedJobs(store, sums, known);
    const to = entries.at(-1)?.seq ?? cursor;
    if (to === cursor && waiting.length === open.length) return;
    const rows = { hours: [...sums.hours.values()], routes: [...sums.routes.values()] };
    const jobs = known.length > 0 ? { jobs: { from: open, to: waiting } } : {};
    // If another fold moved the cursor, the next read starts after it.
    const isAdded = await usage.add({ wallet, from: cursor, to, ...rows, ...jobs });
    // Damaged rows would be refused again and again.
    if (!isAdded && (await usage.progress(wallet)).cursor === cursor) return;
    yield;
  }
}

/** A job is started within minutes, so one without attempts after this time never gets any: it is of an earlier version. */
const ATTEMPTLESS_MS = 3 * 24 * HOUR_MS;

/** Adds the jobs whose attempts are final; resolves to the others. */
async function addEndedJobs(
  { attempts }: Pick<UsageParts, 'attempts'>,
  sums: UsageSums,
  jobs: readonly OpenJob[],
): Promise<readonly OpenJob[]> {
  if (jobs.length === 0) return [];
  const found = await attempts.list(jobs.map(({ charge }) => charge));
  const byCharge = Map.groupBy(found, ({ charge }) => charge);
  return jobs.filter((job) => {
    const rows = byCharge.get(job.charge) ?? [];
    if (mayChange(job, rows)) return true;
    sums.addJob(job, rows);
    return false;
  });
}

/** Whether a later attempt of the job, or a change of one, can follow. */
export function mayChange({ hour }: OpenJob, attempts: readonly Attempt[]): boolean {
  if (attempts.length === 0) return Date.now() - hour < ATTEMPTLESS_MS;
  return attempts.some(({ ending }) => ending === 'running');
}

function toUsageReport(sums: readonly UsageGroupSum[], by: UsageReportQuery['by']): UsageReport {
  const rows: UsageRow[] = sums.map(({ group, ...counts }) => ({ group, ...toUsageSum(counts) }));
  const total = toUsageSum(sums.reduce(addUsageTotals, NO_USAGE));
  return { rows: sortUsageRows(rows, by), total };
}

function toUsageSum({ calls, charged, refunded, failed, ...counts }: UsageTotals): UsageSum {
  const named = new Map(UNIT_COUNTS.map((name) => [UNIT_NAMES[name], counts[name]]));
  return { calls, charged, refunded, failed, units: mapUnits(USAGE_UNITS, (unit) => named.get(unit) ?? 0) };
}
