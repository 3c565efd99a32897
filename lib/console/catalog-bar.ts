// The warning on operator pages while the catalog files fail to load.

import { message } from './components.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import type { UserVisit } from './visit.ts';

const WORDS = defineWords({
  en: {
    failed: (at: string) => `The catalog was not reloaded (${at}): the previous models and prices stay in force.`,
    mend: 'Fix the file: it is reloaded automatically.',
  },
  ru: {
    failed: (at: string) => `Каталог не обновлён (${at}): действуют прежние модели и цены.`,
    mend: 'Исправьте файл: он перечитается автоматически.',
  },
});

/** Undefined if the last reload succeeded. */
export function catalogBar({ services, language, format }: UserVisit): Html | undefined {
  const failure = services.catalogFailure();
  if (!failure) return undefined;
  const words = WORDS[language];
  const when = words.failed(format.time(failure.at));
  return message('error', html`${when} <code>${failure.reason}</code> ${words.mend}`);
}
