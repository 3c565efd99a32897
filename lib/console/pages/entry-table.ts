// The table of ledger entries, shared by calls, the wallet and the operator's ledger: what each changed.
import type { Entry } from '../../money/decide.ts';
import { shortTime, table, usual } from '../components.ts';
import type { Html } from '../html.ts';
import { defineWords, NO_CHANGE } from '../language.ts';
import type { Visit } from '../visit.ts';
import { entryWords } from './entry-words.ts';

const WORDS = defineWords({
  en: {
    title: 'Ledger entries',
    time: 'Time',
    entry: 'Entry',
    changes: ['Balance', 'Held', 'Charged'],
  },
  ru: {
    title: 'История операций',
    time: 'Время',
    entry: 'Операция',
    changes: ['Баланс', 'Резерв', 'Списано'],
  },
});

/** Changes of a wallet by one operation or, for a call, by its hold and its end. */
type Change = Pick<Entry, 'at' | 'kind' | 'note' | 'avail' | 'held' | 'charged'>;

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

/** The heading above the table. */
export function entriesTitle({ language }: Pick<Visit, 'language'>): string {
  return WORDS[language].title;
}

export function entryTable(visit: Visit, entries: readonly Change[]): Html {
  const { language, format } = visit;
  const words = WORDS[language];
  const kinds = entryWords(language);
  const changes = format.rubChanges(entries.flatMap(({ avail, held, charged }) => [avail, held, charged]));
  const width = words.changes.length;
  const rows = entries.map(({ at, kind, note }, row) => [
    shortTime(visit, at),
    kind === 'grant' && note !== null ? `${kinds[kind]}: ${note}` : kinds[kind],
    ...changes.slice(row * width, (row + 1) * width).map((change) => (change === NO_CHANGE ? usual(change) : change)),
  ]);
  const columns = [words.time, words.entry].map((title) => ({ title, narrow: 'main' as const }));
  const sums = words.changes.map((title, at) => ({ title, number: true, narrow: at === 0 ? 'sum' : 'named' }) as const);
  return table(words.title, [...columns, ...sums], rows);
}
