// What a list of calls does not show: those that have left for an archive.
import { findLatestArchiveDate } from '../ledger/archive-find.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import type { OwnerVisit } from './visit.ts';

const WORDS = defineWords({
  en: {
    before: 'Calls that ended before',
    archived: 'are archived: ask the operator for them. Balance and usage include them.',
  },
  ru: {
    before: 'Вызовы, завершённые до',
    archived: 'в архиве: спросите оператора. В балансе и расходе они учтены.',
  },
});

/** Undefined if the account has no archived calls. */
export async function archivedNote({ services, account, language, format }: OwnerVisit): Promise<Html | undefined> {
  const before = await findLatestArchiveDate(services.store, account.id);
  if (before === undefined) return undefined;
  const words = WORDS[language];
  return html`<p>${words.before} ${format.date(before)} ${words.archived}</p>`;
}
