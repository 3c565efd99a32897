// The note below a list that older calls have been archived.
import { findLatestArchiveDate } from '../ledger/archive-find.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import type { OwnerVisit } from './visit.ts';

const WORDS = defineWords({
  en: {
    before: 'Calls that ended before',
    archived:
      'have been archived and are not listed here. Balance and usage include them; ask the operator for details.',
  },
  ru: {
    before: 'Запросы, завершённые до',
    archived: 'перенесены в архив и здесь не показаны. В балансе и расходах они учтены; подробности — у оператора.',
  },
});

/** Undefined if the account has no archived calls. */
export async function archivedNote({ services, account, language, format }: OwnerVisit): Promise<Html | undefined> {
  const before = await findLatestArchiveDate(services.store, account.id);
  if (before === undefined) return undefined;
  const words = WORDS[language];
  return html`<p>${words.before} ${format.date(before)} ${words.archived}</p>`;
}
