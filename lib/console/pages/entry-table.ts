// The table of ledger entries, shared by calls, the wallet and the operator's ledger: what each changed.

import { formatDay } from '../../money/days.ts';
import type { Entry } from '../../money/decide.ts';
import { shortClock, shortTime, table, usual } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords, NO_CHANGE } from '../language.ts';
import type { Visit } from '../visit.ts';
import { entryWords } from './entry-words.ts';

const WORDS = defineWords({
  en: {
    title: 'Ledger entries',
    time: 'Time',
    entry: 'Entry',
    changes: ['Balance', 'Held', 'Charged'],
    calls: (count: string) => `calls: ${count}`,
  },
  ru: {
    title: 'История операций',
    time: 'Время',
    entry: 'Операция',
    changes: ['Баланс', 'Резерв', 'Списано'],
    calls: (count: string) => `запросов: ${count}`,
  },
});

/** Changes of a wallet by one operation or, for a call, by its hold and its end. */
type Change = Pick<Entry, 'at' | 'kind' | 'note' | 'charge' | 'avail' | 'held' | 'charged'>;

/** Changes by several calls of a day, with nothing else between them. */
interface DayOfCalls extends Change {
  /** When the first of them changed the wallet; `at` is when the last did. */
  readonly from: number;
  readonly day: string;
  readonly calls: ReadonlySet<string>;
}

/** Newest first: the end of a call takes up its hold, if both are here, so that a call is one row. */
export function foldEntries(entries: readonly Entry[]): readonly Change[] {
  const ends = new Map<string, number>();
  const folded: Change[] = [];
  for (const entry of entries) {
    const place = entry.charge === null ? undefined : ends.get(entry.charge);
    const end = place === undefined ? undefined : folded[place];
    if (place !== undefined && end && entry.kind === 'reserve') {
      const { avail, held, charged } = entry;
      folded[place] = { ...end, avail: end.avail + avail, held: end.held + held, charged: end.charged + charged };
    } else {
      if (entry.charge !== null && entry.kind !== 'refund') ends.set(entry.charge, folded.length);
      folded.push(entry);
    }
  }
  return folded;
}

/** Newest first: the calls of a day are one row, unless something else came between them, such as a refund of a call. */
export function foldDays(changes: readonly Change[], zone: string): readonly (Change | DayOfCalls)[] {
  const folded: (Change | DayOfCalls)[] = [];
  for (const change of changes) {
    if (change.charge === null || change.kind === 'refund') {
      folded.push(change);
      continue;
    }
    const day = formatDay(change.at, zone);
    const last = folded.at(-1);
    if (last && 'calls' in last && last.day === day) {
      const { avail, held, charged } = change;
      const sums = { avail: last.avail + avail, held: last.held + held, charged: last.charged + charged };
      folded[folded.length - 1] = { ...last, ...sums, from: change.at, calls: new Set([...last.calls, change.charge]) };
    } else folded.push({ ...change, from: change.at, day, calls: new Set([change.charge]) });
  }
  return folded;
}

/** The heading above the table. */
export function entriesTitle({ language }: Pick<Visit, 'language'>): string {
  return WORDS[language].title;
}

interface EntryTable {
  /** Where the calls of a day are. */
  readonly linkToDay?: (day: string) => string;
}

/** In kopecks where it links to days of calls, else with every digit. */
export function entryTable(
  visit: Visit,
  entries: readonly (Change | DayOfCalls)[],
  { linkToDay }: EntryTable = {},
): Html {
  const { language, format } = visit;
  const words = WORDS[language];
  const kinds = entryWords(language);
  const amounts = entries.flatMap(({ avail, held, charged }) => [avail, held, charged]);
  const changes = linkToDay ? amounts.map(format.rubChange) : format.rubChanges(amounts);
  const width = words.changes.length;
  const nameEntry = (entry: Change | DayOfCalls) => {
    const { kind, note } = entry;
    if ('calls' in entry && entry.calls.size > 1) {
      const text = words.calls(format.number(entry.calls.size));
      return linkToDay ? html`<a href="${linkToDay(entry.day)}">${text}</a>` : text;
    }
    return kind === 'grant' && note !== null ? `${kinds[kind]}: ${note}` : kinds[kind];
  };
  const rows = entries.map((entry, row) => [
    'from' in entry && entry.from < entry.at
      ? html`${shortTime(visit, entry.from)} – ${shortClock(visit, entry.at)}`
      : shortTime(visit, entry.at),
    nameEntry(entry),
    ...changes.slice(row * width, (row + 1) * width).map((change) => (change === NO_CHANGE ? usual(change) : change)),
  ]);
  const columns = [words.time, words.entry].map((title) => ({ title, narrow: 'main' as const }));
  const sums = words.changes.map((title, at) => ({ title, number: true, narrow: at === 0 ? 'sum' : 'named' }) as const);
  return table(words.title, [...columns, ...sums], rows);
}
