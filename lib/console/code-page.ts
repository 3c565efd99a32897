// Asks an operator for a code when a form came without a right one: everything else that was sent goes along again.
import { hideAddressSecrets } from '../base/address-secrets.ts';
import { UPSTREAM_WORDS } from './catalog/upstream-words.ts';
import { codeField } from './code-field.ts';
import { field, form, hiddenInputs, message } from './components.ts';
import type { Form } from './forms.ts';
import { html } from './html.ts';
import { defineWords } from './language.ts';
import type { UserVisit } from './visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Confirm with a code',
    needed: 'Nothing was changed yet: this needs a fresh code. What you entered is kept.',
    wrong: 'Nothing was changed yet: the code is wrong or already used. What you entered is kept.',
    wait: (seconds: number) =>
      `Nothing was changed yet: too many wrong codes. Try again in ${seconds} s. What you entered is kept.`,
    button: 'Confirm',
  },
  ru: {
    title: 'Подтвердите кодом',
    needed: 'Пока ничего не изменено: нужен новый код. Введённое сохранилось.',
    wrong: 'Пока ничего не изменено: код неверен или уже использован. Введённое сохранилось.',
    wait: (seconds: number) =>
      `Пока ничего не изменено: слишком много неверных кодов. Повторите через ${seconds}\u00a0с. Введённое сохранилось.`,
    button: 'Подтвердить',
  },
});

/** An upstream's key, which no page may show: it is asked for again. */
const SECRET = 'key';
/** An upstream's address, in which somebody may have typed a key. */
const ADDRESS = 'url';
/** Of the form itself, the code that was wrong, and the secret. */
const OWN = ['csrf', 'code', SECRET];

/** Why a form's code does not count. */
export interface CodeProblem {
  /** Until another may be tried, s; absent if one may be tried at once. */
  readonly retryAfterS?: number;
}

export function codePage(visit: UserVisit, sent: Form, { retryAfterS }: CodeProblem) {
  const words = WORDS[visit.language];
  const kept = sent
    .entries()
    .filter(([name]) => !OWN.includes(name))
    .map(([name, value]) => [name, name === ADDRESS ? hideAddressSecrets(value) : value] as const);
  const { key, keyLost } = UPSTREAM_WORDS[visit.language];
  const secret = { name: SECRET, label: key, hint: keyLost, type: 'password' } as const;
  const fields = html`${hiddenInputs(kept)}
${sent.text(SECRET) === '' ? undefined : field(secret)}
${codeField(visit)}`;
  const action = `${visit.request.path}${visit.request.url.search}`;
  const unproven = sent.text('code') === '' ? words.needed : words.wrong;
  const body = html`${message('error', retryAfterS === undefined ? unproven : words.wait(retryAfterS))}
${form(visit, { action, button: words.button, fields })}`;
  return { title: words.title, body, ...(retryAfterS === undefined ? { status: 403 } : { status: 429, retryAfterS }) };
}
