// The code field of an operator's forms, shown when the last code is too old.

import { field } from './components.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import { hasRecentCode, type UserVisit } from './visit.ts';

const WORDS = defineWords({
  en: {
    code: 'Code from your authenticator app',
    hint: 'Confirm changes with a code. One code is enough for ten minutes.',
  },
  ru: { code: 'Код из приложения-аутентификатора', hint: 'Подтвердите изменения кодом. Его хватит на десять минут.' },
});

/** Undefined while the last code is recent. `form` keeps ids unique on pages with several forms. */
export function codeField(visit: UserVisit, form = 'form'): Html | undefined {
  if (hasRecentCode(visit)) return undefined;
  const words = WORDS[visit.language];
  return html`${field({ name: 'code', id: `${form}-code`, label: words.code, hint: words.hint, inputmode: 'numeric', autocomplete: 'one-time-code' })}`;
}
