// The audit of folded usage: the sums of every hour must equal those of the journal up to the cursor, those of every day its
// hours, and those of every week its days. They are added up while the audit reads the journal, and aligned with the cursor
// at the end of a wallet.
import { UNIT_COUNTS } from '../money/usage-units.ts';
import { listEndedCharges, withUsedAttempts } from '../store/journal.ts';
import type { JournalPage, UsedEntry } from '../store/ports/journal.ts';
import type { FoldedUsage, RouteHour, UsageGrain, UsageHour, UsageOf, UsageTotals } from '../store/ports/usage.ts';
import type { Store } from '../store/store.ts';
import { getUsageKey, sumUsage } from '../store/usage-grains.ts';
import { NO_USAGE } from '../store/usage-totals.ts';
import { isEntry, isUnreadableRow, type ReportProblem } from './audit-rules.ts';
import { mayChange } from './usage-fold.ts';
import { getHourKey, getRouteKey, NO_ROUTE, UsageSums } from './usage-sums.ts';

type Parts = Pick<Store, 'attempts' | 'usage' | 'journal' | 'ledger' | 'archives'>;

interface UsageCheck {
  /** Adds the next page of the journal. */
  add(page: JournalPage): void;
  /** Compares the sums after the last page of a wallet. */
  end(wallet: string): Promise<void>;
}

interface UsageReading {
  readonly sums: UsageSums;
  /** The number of the last entry added. */
  last: number;
  /** The entry number of the opening of the wallet, 0 if none. */
  opened: number;
}

const ENTRIES_PER_PAGE = 500;
/** Jobs whose attempts are read at once. */
const JOBS_PER_PAGE = 200;
const COUNT_NAMES = ['calls', 'charged', 'refunded', ...UNIT_COUNTS] as const;
/** Those that earlier versions did not count. */
const OUTCOME_NAMES = ['failed', 'cost', 'unpriced'] as const;
const ROUTE_NAMES = ['attempts', ...OUTCOME_NAMES] as const;

export function createUsageCheck(store: Parts, report: ReportProblem): UsageCheck {
  /** By wallet; a wallet may continue on the next page. */
  const readings = new Map<string, UsageReading>();

  function getUsageReading(wallet: string): UsageReading {
    const reading = readings.get(wallet) ?? { sums: new UsageSums(), last: 0, opened: 0 };
    readings.set(wallet, reading);
    return reading;
  }

  function add(page: JournalPage): void {
    for (const { wallet, seq } of page.openings) getUsageReading(wallet).opened = seq;
    for (const [wallet, entries] of listUsedEntries(page)) {
      const reading = getUsageReading(wallet);
      for (const entry of entries) {
        skipUnreadable(() => reading.sums.addEntry(entry));
        reading.last = entry.seq;
      }
    }
  }

  async function end(wallet: string): Promise<void> {
    const reading = getUsageReading(wallet);
    readings.delete(wallet);
    try {
      await compareWallet(wallet, reading);
    } catch (error) {
      if (!isUnreadableRow(error)) throw error;
      report(wallet, `folded usage: it cannot be read: ${error.message}`);
    }
  }

  /** Unreadable usage is reported with its call. */
  function skipUnreadable(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!isUnreadableRow(error)) throw error;
    }
  }

  async function compareWallet(wallet: string, { sums, last, opened }: UsageReading): Promise<void> {
    const folded = await store.usage.readAll(wallet);
    const { cursor, hours, days, weeks, routes } = folded;
    if (cursor === 0) {
      if ([hours, days, weeks, routes].some(({ length }) => length > 0))
        report(wallet, 'folded usage: there are sums, but nothing says up to which entry');
      return;
    }
    const end = await alignWithCursor(cursor, { wallet, sums, last });
    for (const { charge } of folded.jobs.filter((job) => !sums.jobs.has(job.charge)))
      report(wallet, `folded usage: it waits for the job of ${charge}, which is not in the journal`);
    await addFoldedJobs(wallet, sums, folded);
    const opening = await store.archives.opening(wallet);
    // An archive has removed entries in the meantime: the next audit will compare.
    if ((opening?.seq ?? 0) !== opened) return;
    const most = Math.max(end, opened);
    if (cursor > most) report(wallet, `folded usage: it is at entry ${cursor}, the journal ends with ${most}`);
    const cutoff = opening ? await findArchiveCutoff(store) : Number.NEGATIVE_INFINITY;
    for (const problem of compareSums(folded, sums, cutoff)) report(wallet, problem);
    if (opening) await compareTotal(wallet, cursor, hours);
  }

  /** Adds or subtracts the entries between the last one read and the cursor. Resolves to the last entry there is. */
  async function alignWithCursor(
    cursor: number,
    { wallet, sums, last }: Pick<UsageReading, 'sums' | 'last'> & { wallet: string },
  ) {
    let end = last;
    const [from, to, sign] = cursor < last ? ([cursor, last, -1] as const) : ([last, cursor, 1] as const);
    for (let seq = from; seq < to; ) {
      const read = await store.journal.usedEntries(wallet, seq, ENTRIES_PER_PAGE);
      const entries = read.filter((entry) => entry.seq <= to);
      for (const entry of entries) sums.addEntry(entry, sign);
      seq = read.at(-1)?.seq ?? to;
      end = Math.max(end, entries.at(-1)?.seq ?? 0);
    }
    return end;
  }

  /** Jobs that are not open any more had their final attempts counted, and these do not change. */
  async function addFoldedJobs(wallet: string, sums: UsageSums, { jobs: open, isPartial }: FoldedUsage): Promise<void> {
    const isOpen = new Set(open.map(({ charge }) => charge));
    const jobs = [...sums.jobs.values()].filter(({ charge }) => !isOpen.has(charge));
    for (let from = 0; from < jobs.length; from += JOBS_PER_PAGE) {
      const some = jobs.slice(from, from + JOBS_PER_PAGE);
      const attempts = await store.attempts.list(some.map(({ charge }) => charge));
      const byCharge = Map.groupBy(attempts, ({ charge }) => charge);
      for (const job of some) {
        const rows = byCharge.get(job.charge) ?? [];
        if (!mayChange(job, rows)) skipUnreadable(() => sums.addJob(job, rows));
        else if (!isPartial) report(wallet, `folded usage: it does not wait for the job of ${job.charge}`);
      }
    }
  }

  /** If calls were archived, single hours can only be checked as lower bounds, but the total is known exactly. */
  async function compareTotal(wallet: string, cursor: number, folded: readonly UsageHour[]): Promise<void> {
    const charged = folded.reduce((sum, hour) => sum + hour.charged, 0n);
    const [entry] = await store.ledger.entries(wallet, { before: cursor + 1, limit: 1 });
    const opening = entry?.seq === cursor ? undefined : await store.archives.opening(wallet);
    const wanted = opening?.seq === cursor ? opening.charged : entry?.seq === cursor ? entry.chargedAfter : undefined;
    if (wanted === undefined || wanted === charged) return;
    report(wallet, `folded usage: ${charged} charged at entry ${cursor}, the journal has ${wanted}`);
  }

  return { add, end };
}

/** The entries of a page by wallet, with what usage counts of them. */
function listUsedEntries(page: JournalPage): Map<string, UsedEntry[]> {
  const charges = new Map(page.charges.map((charge) => [charge.id, charge]));
  const found = Map.groupBy(page.entries.filter(isEntry), (entry) => entry.wallet);
  const used = [...found].map(([wallet, entries]) => {
    const plain = entries.map(({ seq, kind, charged, held, charge: id }): UsedEntry => {
      const charge = charges.get(id ?? '');
      return { seq, kind, charged, held, ...(charge && { charge }) };
    });
    const ended = new Set(listEndedCharges(plain));
    const attempts = page.attempts.filter(({ charge }) => ended.has(charge));
    return [wallet, withUsedAttempts(plain, attempts)] as const;
  });
  return new Map(used);
}

/** Calls that started before this time may have been archived. */
async function findArchiveCutoff({ archives }: Parts): Promise<number> {
  const list = await archives.list();
  return Math.max(...list.map(({ before }) => before), Number.NEGATIVE_INFINITY);
}

function compareSums(folded: FoldedUsage, sums: UsageSums, cutoff: number): readonly string[] {
  const names = [...COUNT_NAMES, ...(folded.isPartial ? [] : OUTCOME_NAMES)];
  const hours = new Map(folded.hours.map((hour) => [getHourKey(hour), hour]));
  const ofHours = [...new Set([...hours.keys(), ...sums.hours.keys()])].flatMap((label) =>
    compareHour(hours.get(label), sums.hours.get(label), { names, cutoff }),
  );
  const known = [...ofHours, ...compareCoarser(folded)];
  if (folded.isPartial) return known;
  const routes = new Map(folded.routes.map((route) => [getRouteKey(route), route]));
  const ofRoutes = [...new Set([...routes.keys(), ...sums.routes.keys()])].flatMap((label) =>
    compareRoute(routes.get(label), sums.routes.get(label), cutoff),
  );
  return [...known, ...ofRoutes];
}

/** One problem for all columns of an hour: only so many are listed for each wallet. */
function compareHour(
  stored: UsageHour | undefined,
  counted: UsageHour | undefined,
  { names, cutoff }: { readonly names: readonly (keyof typeof NO_USAGE)[]; readonly cutoff: number },
): string[] {
  const { hour, key, model, kind } = (stored ?? counted) as UsageHour;
  const has = stored ?? NO_USAGE;
  const wants = counted ?? NO_USAGE;
  const wrong = names.filter((name) => (hour >= cutoff ? has[name] !== wants[name] : has[name] < wants[name]));
  const name = `folded usage of ${new Date(hour).toISOString()}, ${key}, ${model}, ${kind}`;
  return formatDifference(name, { has, wants, wrong });
}

/** Whatever has left for an archive, days and weeks are the sums of the hours that are kept. */
function compareCoarser({ hours, days, weeks }: FoldedUsage): string[] {
  return [
    ...compareGrain('day', days, sumUsage(hours, 'hour', 'day')),
    ...compareGrain('week', weeks, sumUsage(days, 'day', 'week')),
  ];
}

function compareGrain<Grain extends UsageGrain>(
  grain: Grain,
  stored: readonly UsageOf<Grain>[],
  added: readonly UsageOf<Grain>[],
): string[] {
  const has = new Map(stored.map((row) => [getUsageKey(row, grain), row]));
  const wants = new Map(added.map((row) => [getUsageKey(row, grain), row]));
  const labels = [...new Set([...has.keys(), ...wants.keys()])];
  return labels.flatMap((label) => comparePart(grain, has.get(label), wants.get(label)));
}

function comparePart<Grain extends UsageGrain>(
  grain: Grain,
  stored: UsageOf<Grain> | undefined,
  added: UsageOf<Grain> | undefined,
): string[] {
  const { [grain]: at, key, model, kind } = (stored ?? added) as UsageOf<Grain>;
  const has: UsageTotals = stored ?? NO_USAGE;
  const wants: UsageTotals = added ?? NO_USAGE;
  const wrong = [...COUNT_NAMES, ...OUTCOME_NAMES].filter((name) => has[name] !== wants[name]);
  const date = new Date(at).toISOString().slice(0, 10);
  return formatDifference(`folded usage of the ${grain} ${date}, ${key}, ${model}, ${kind}`, { has, wants, wrong });
}

interface Difference {
  readonly has: UsageTotals;
  readonly wants: UsageTotals;
  readonly wrong: readonly (keyof UsageTotals)[];
}

function formatDifference(name: string, { has, wants, wrong }: Difference): string[] {
  const columns = wrong.map((column) => `${column} ${has[column]} instead of ${wants[column]}`);
  return columns.length > 0 ? [`${name}: ${columns.join(', ')}`] : [];
}

function compareRoute(stored: RouteHour | undefined, counted: RouteHour | undefined, cutoff: number): string[] {
  const { hour, upstream, model, ending, reason } = (stored ?? counted) as RouteHour;
  const has = stored ?? NO_ROUTE;
  const wants = counted ?? NO_ROUTE;
  const isWrong = (left: number | bigint, right: number | bigint) => (hour >= cutoff ? left !== right : left < right);
  const columns = ROUTE_NAMES.filter((name) => isWrong(has[name], wants[name])).map(
    (column) => `${column} ${has[column]} instead of ${wants[column]}`,
  );
  const isTimeWrong = has.first.some((count, at) => isWrong(count, wants.first[at] ?? 0));
  if (isTimeWrong) columns.push(`first fragments ${has.first} instead of ${wants.first}`);
  const name = `folded attempts of ${new Date(hour).toISOString()}, ${upstream}, ${model}, ${ending} ${reason}`;
  return columns.length > 0 ? [`${name}: ${columns.join(', ')}`] : [];
}
