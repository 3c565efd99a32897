// The audit of folded usage: the sums of every hour must equal those of the journal up to the cursor. They are added up
// while the audit reads the journal, and aligned with the cursor at the end of a wallet.
import { UNIT_COUNTS } from '../money/usage-units.ts';
import type { JournalPage } from '../store/ports/journal.ts';
import type { UsageHour } from '../store/ports/usage.ts';
import type { Store } from '../store/store.ts';
import { isEntry, isUnreadableRow, type ReportProblem } from './audit-rules.ts';
import { addHours, getHourKey, NO_USAGE } from './usage-fold.ts';

type Parts = Pick<Store, 'usage' | 'journal' | 'ledger' | 'archives'>;

interface UsageCheck {
  /** Adds the next page of the journal. */
  add(page: JournalPage): void;
  /** Compares the sums after the last page of a wallet. */
  end(wallet: string): Promise<void>;
}

interface UsageReading {
  readonly hours: Map<string, UsageHour>;
  /** The number of the last entry added. */
  last: number;
  /** The entry number of the opening of the wallet, 0 if none. */
  opened: number;
}

const ENTRIES_PER_PAGE = 500;
const COUNT_NAMES = ['calls', 'charged', 'refunded', ...UNIT_COUNTS] as const;

export function createUsageCheck(store: Parts, report: ReportProblem): UsageCheck {
  /** By wallet; a wallet may continue on the next page. */
  const readings = new Map<string, UsageReading>();

  function getUsageReading(wallet: string): UsageReading {
    const reading = readings.get(wallet) ?? { hours: new Map<string, UsageHour>(), last: 0, opened: 0 };
    readings.set(wallet, reading);
    return reading;
  }

  function add(page: JournalPage): void {
    const charges = new Map(page.charges.map((charge) => [charge.id, charge]));
    for (const { wallet, seq } of page.openings) getUsageReading(wallet).opened = seq;
    for (const [wallet, entries] of Map.groupBy(page.entries.filter(isEntry), (entry) => entry.wallet)) {
      const reading = getUsageReading(wallet);
      for (const { seq, kind, charged, charge: id } of entries) {
        const charge = charges.get(id ?? '');
        skipUnreadable(() => addHours(reading.hours, [{ seq, kind, charged, ...(charge && { charge }) }]));
        reading.last = seq;
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

  async function compareWallet(wallet: string, { hours, last, opened }: UsageReading): Promise<void> {
    const { cursor, hours: folded } = await store.usage.readAll(wallet);
    if (cursor === 0) {
      if (folded.length > 0) report(wallet, 'folded usage: there are sums, but nothing says up to which entry');
      return;
    }
    const end = await alignWithCursor(cursor, { wallet, hours, last });
    const opening = await store.archives.opening(wallet);
    // An archive has removed entries in the meantime: the next audit will compare.
    if ((opening?.seq ?? 0) !== opened) return;
    const most = Math.max(end, opened);
    if (cursor > most) report(wallet, `folded usage: it is at entry ${cursor}, the journal ends with ${most}`);
    const cutoff = opening ? await findArchiveCutoff(store) : Number.NEGATIVE_INFINITY;
    const stored = new Map(folded.map((hour) => [getHourKey(hour), hour]));
    for (const label of new Set([...stored.keys(), ...hours.keys()])) {
      for (const problem of compareHour(stored.get(label), hours.get(label), cutoff)) report(wallet, problem);
    }
    if (opening) await compareTotal(wallet, cursor, folded);
  }

  /** Adds or subtracts the entries between the last one read and the cursor. Resolves to the last entry there is. */
  async function alignWithCursor(
    cursor: number,
    { wallet, hours, last }: Pick<UsageReading, 'hours' | 'last'> & { wallet: string },
  ) {
    let end = last;
    const [from, to, sign] = cursor < last ? ([cursor, last, -1] as const) : ([last, cursor, 1] as const);
    for (let seq = from; seq < to; ) {
      const read = await store.journal.usedEntries(wallet, seq, ENTRIES_PER_PAGE);
      const entries = read.filter((entry) => entry.seq <= to);
      addHours(hours, entries, sign);
      seq = read.at(-1)?.seq ?? to;
      end = Math.max(end, entries.at(-1)?.seq ?? 0);
    }
    return end;
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

/** Calls that started before this time may have been archived. */
async function findArchiveCutoff({ archives }: Parts): Promise<number> {
  const list = await archives.list();
  return Math.max(...list.map(({ before }) => before), Number.NEGATIVE_INFINITY);
}

/** One problem for all columns of an hour: only so many are listed for each wallet. */
function compareHour(stored: UsageHour | undefined, counted: UsageHour | undefined, cutoff: number): string[] {
  const { hour, key, model, kind } = (stored ?? counted) as UsageHour;
  const has = stored ?? NO_USAGE;
  const wants = counted ?? NO_USAGE;
  const wrong = COUNT_NAMES.filter((name) => (hour >= cutoff ? has[name] !== wants[name] : has[name] < wants[name]));
  const name = `folded usage of ${new Date(hour).toISOString()}, ${key}, ${model}, ${kind}`;
  const columns = wrong.map((column) => `${column} ${has[column]} instead of ${wants[column]}`);
  return columns.length > 0 ? [`${name}: ${columns.join(', ')}`] : [];
}
