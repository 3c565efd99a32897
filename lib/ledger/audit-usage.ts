// The audit of folded usage: the sums of every hour must be those of the journal up to the cursor. They are added up while
// the journal is read anyway, and brought to the cursor at the end of a wallet.

import type { JournalPage } from '../store/ports/journal.ts';
import type { UsageCounts, UsageHour } from '../store/ports/usage.ts';
import type { Store } from '../store/store.ts';
import { type Found, isEntry, isUnreadable } from './audit-rules.ts';
import { addHours, labelHour } from './usage-fold.ts';

type Parts = Pick<Store, 'usage' | 'journal' | 'ledger' | 'archives'>;

export interface UsageCheck {
  /** The next page. */
  add(page: JournalPage): void;
  /** After the last page of a wallet. */
  end(wallet: string): Promise<void>;
}

interface Reading {
  readonly hours: Map<string, UsageHour>;
  /** The last entry that was added. */
  last: number;
  /** The opening that the wallet had, 0 if none. */
  opened: number;
}

const PAGE = 500;
const COUNTS = ['calls', 'charged', 'refunded', 'tokensInput', 'tokensOutput', 'images', 'seconds'] as const;

export function createUsageCheck(store: Parts, found: Found): UsageCheck {
  /** By wallet, for those that continue on the next page. */
  const readings = new Map<string, Reading>();

  function readingOf(wallet: string): Reading {
    const reading = readings.get(wallet) ?? { hours: new Map<string, UsageHour>(), last: 0, opened: 0 };
    readings.set(wallet, reading);
    return reading;
  }

  function add(page: JournalPage): void {
    const charges = new Map(page.charges.map((charge) => [charge.id, charge]));
    for (const { wallet, seq } of page.openings) readingOf(wallet).opened = seq;
    for (const [wallet, entries] of Map.groupBy(page.entries.filter(isEntry), (entry) => entry.wallet)) {
      const reading = readingOf(wallet);
      for (const { seq, kind, charged, charge: id } of entries) {
        const charge = charges.get(id ?? '');
        tryTo(() => addHours(reading.hours, [{ seq, kind, charged, ...(charge && { charge }) }]));
        reading.last = seq;
      }
    }
  }

  async function end(wallet: string): Promise<void> {
    const reading = readingOf(wallet);
    readings.delete(wallet);
    try {
      await compareWith(wallet, reading);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      found(wallet, `folded usage: it cannot be read: ${error.message}`);
    }
  }

  /** The usage of a call that cannot be read is told with the call. */
  function tryTo(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!isUnreadable(error)) throw error;
    }
  }

  async function compareWith(wallet: string, { hours, last, opened }: Reading): Promise<void> {
    const { cursor, hours: folded } = await store.usage.whole(wallet);
    if (cursor === 0) {
      if (folded.length > 0) found(wallet, 'folded usage: there are sums, but nothing says up to which entry');
      return;
    }
    const end = await bringTo(cursor, { wallet, hours, last });
    const opening = await store.archives.opening(wallet);
    // An archive has taken entries while they were read: the next audit will see.
    if ((opening?.seq ?? 0) !== opened) return;
    const most = Math.max(end, opened);
    if (cursor > most) found(wallet, `folded usage: it is at entry ${cursor}, the journal ends with ${most}`);
    const left = opening ? await leftBefore(store) : Number.NEGATIVE_INFINITY;
    const stored = new Map(folded.map((hour) => [labelHour(hour), hour]));
    for (const label of new Set([...stored.keys(), ...hours.keys()])) {
      for (const problem of compareHour(stored.get(label), hours.get(label), left)) found(wallet, problem);
    }
    if (opening) await compareSum(wallet, cursor, folded);
  }

  /**
   * What the journal has between the end of the walk and the cursor is added, or taken out again. Resolves to the last
   * entry there is.
   */
  async function bringTo(
    cursor: number,
    { wallet, hours, last }: Pick<Reading, 'hours' | 'last'> & { wallet: string },
  ) {
    let end = last;
    const [from, to, sign] = cursor < last ? ([cursor, last, -1] as const) : ([last, cursor, 1] as const);
    for (let seq = from; seq < to; ) {
      const read = await store.journal.used(wallet, seq, PAGE);
      const entries = read.filter((entry) => entry.seq <= to);
      addHours(hours, entries, sign);
      seq = read.at(-1)?.seq ?? to;
      end = Math.max(end, entries.at(-1)?.seq ?? 0);
    }
    return end;
  }

  /** Of a wallet whose calls have left, hours can only be compared with what is still there: but not their sum. */
  async function compareSum(wallet: string, cursor: number, folded: readonly UsageHour[]): Promise<void> {
    const charged = folded.reduce((sum, hour) => sum + hour.charged, 0n);
    const [entry] = await store.ledger.entries(wallet, { before: cursor + 1, limit: 1 });
    const opening = entry?.seq === cursor ? undefined : await store.archives.opening(wallet);
    const wanted = opening?.seq === cursor ? opening.charged : entry?.seq === cursor ? entry.chargedAfter : undefined;
    if (wanted === undefined || wanted === charged) return;
    found(wallet, `folded usage: ${charged} charged at entry ${cursor}, the journal has ${wanted}`);
  }

  return { add, end };
}

/** Calls that began before this may have left. */
async function leftBefore({ archives }: Parts): Promise<number> {
  const list = await archives.list();
  return Math.max(...list.map(({ before }) => before), Number.NEGATIVE_INFINITY);
}

const NOTHING: UsageCounts = {
  calls: 0,
  charged: 0n,
  refunded: 0n,
  tokensInput: 0,
  tokensOutput: 0,
  images: 0,
  seconds: 0,
};

function compareHour(stored: UsageHour | undefined, counted: UsageHour | undefined, left: number): string[] {
  const { hour, key, model, kind } = (stored ?? counted) as UsageHour;
  const has = stored ?? NOTHING;
  const wants = counted ?? NOTHING;
  const wrong = COUNTS.filter((name) => (hour >= left ? has[name] !== wants[name] : has[name] < wants[name]));
  const name = `folded usage of ${new Date(hour).toISOString()}, ${key}, ${model}, ${kind}`;
  return wrong.map((column) => `${name}: ${column} ${has[column]} instead of ${wants[column]}`);
}
