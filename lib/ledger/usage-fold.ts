// Usage reports from hourly sums instead of from every call: the journal is folded into sums up to a cursor, in the
// background, and a reader folds only a short rest.
import assert from 'node:assert/strict';
import { addDays, findDayStartHour, findHourDay } from '../money/days.ts';
import type { Usage } from '../money/decide.ts';
import { mapUnits, UNIT_COUNTS, UNIT_NAMES, USAGE_UNITS } from '../money/usage-units.ts';
import type { UsedEntry } from '../store/ports/journal.ts';
import type { ChargeFilter } from '../store/ports/ledger.ts';
import type { UsageGroupSum, UsageHour, UsageTotals } from '../store/ports/usage.ts';
import type { Store } from '../store/store.ts';
import {
  sortUsageRows,
  type UsageReport,
  type UsageQuery as UsageReportQuery,
  type UsageRow,
  type UsageSum,
} from './usage.ts';

type UsageParts = Pick<Store, 'journal' | 'ledger' | 'usage'>;

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

const HOUR_MS = 3_600_000;
/** Entries per transaction of the fold, and the most that a reader waits for: 1,000 delayed pages by up to 50 ms. */
const ENTRIES_PER_STEP = 400;

/** Like `reportUsage`, but its time grows with hours instead of calls. Reports `behind` instead of waiting for a long fold. */
export async function readUsage(store: UsageParts, wallet: string, query: UsageQuery): Promise<CountedUsage> {
  const { by, zone, filter } = query;
  const isZoned = by === 'day' && zone !== undefined;
  const { from, to, key, keys, model, kind } = filter;
  assert([from, to].every((at) => at === undefined || at % HOUR_MS === 0));
  const behind = await catchUp(store, wallet);
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
async function catchUp(store: UsageParts, wallet: string): Promise<UsageBehind | undefined> {
  const { ledger, usage } = store;
  const entries = (await ledger.wallet(wallet))?.seq ?? 0;
  const counted = await usage.cursor(wallet);
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
export async function* foldSteps({ journal, ledger, usage }: UsageParts, wallet: string): AsyncGenerator<void> {
  const end = (await ledger.wallet(wallet))?.seq ?? 0;
  for (let cursor = await usage.cursor(wallet); cursor < end; cursor = await usage.cursor(wallet)) {
    const entries = await journal.usedEntries(wallet, cursor, ENTRIES_PER_STEP);
    const last = entries.at(-1);
    if (!last) return;
    // If another fold moved the cursor, the next read starts after it.
    await usage.add({ wallet, from: cursor, to: last.seq, hours: sumByHour(entries) });
    yield;
  }
}

function sumByHour(entries: readonly UsedEntry[]): readonly UsageHour[] {
  const hours = new Map<string, UsageHour>();
  addHours(hours, entries);
  return [...hours.values()];
}

/** Adds the usage of entries to the sums by hour, key, model and kind. */
export function addHours(hours: Map<string, UsageHour>, entries: readonly UsedEntry[], sign: 1 | -1 = 1): void {
  for (const { charge, ...entry } of entries) {
    if (!charge) continue;
    const { createdAt, key, model, kind } = charge;
    const hour = createdAt - (createdAt % HOUR_MS);
    const label = getHourKey({ hour, key, model, kind });
    const counts = countEntryUsage(entry, charge.usage, sign);
    const found = hours.get(label);
    hours.set(label, { hour, key, model, kind, ...(found ? addUsageTotals(found, counts) : counts) });
  }
}

/** The key of an hour in a map. */
export function getHourKey({ hour, key, model, kind }: Pick<UsageHour, 'hour' | 'key' | 'model' | 'kind'>): string {
  return JSON.stringify([hour, key, model, kind]);
}

/** The counts of one entry. A charge has its usage once settled, and keeps it after a refund. */
function countEntryUsage({ kind, charged }: UsedEntry, usage: string | null, by: 1 | -1): UsageTotals {
  const once = kind === 'settle' || kind === 'charge' ? 1 : kind === 'refund' ? -1 : 0;
  const sign = once * by;
  const used: Usage = usage === null || sign === 0 ? {} : JSON.parse(usage);
  return {
    calls: kind === 'reserve' || kind === 'charge' ? by : 0,
    charged: charged * BigInt(by),
    refunded: kind === 'refund' ? -charged * BigInt(by) : 0n,
    ...mapUnits(UNIT_COUNTS, (name) => sign * Number(used[UNIT_NAMES[name]] ?? 0)),
  };
}

function addUsageTotals(left: UsageTotals, right: UsageTotals): UsageTotals {
  return {
    calls: left.calls + right.calls,
    charged: left.charged + right.charged,
    refunded: left.refunded + right.refunded,
    ...mapUnits(UNIT_COUNTS, (name) => left[name] + right[name]),
  };
}

export const NO_USAGE: UsageTotals = {
  calls: 0,
  charged: 0n,
  refunded: 0n,
  ...mapUnits(UNIT_COUNTS, () => 0),
};

function toUsageReport(sums: readonly UsageGroupSum[], by: UsageReportQuery['by']): UsageReport {
  const rows: UsageRow[] = sums.map(({ group, ...counts }) => ({ group, ...toUsageSum(counts) }));
  const total = toUsageSum(sums.reduce(addUsageTotals, NO_USAGE));
  return { rows: sortUsageRows(rows, by), total };
}

function toUsageSum({ calls, charged, refunded, ...counts }: UsageTotals): UsageSum {
  const named = new Map(UNIT_COUNTS.map((name) => [UNIT_NAMES[name], counts[name]]));
  return { calls, charged, refunded, units: mapUnits(USAGE_UNITS, (unit) => named.get(unit) ?? 0) };
}
