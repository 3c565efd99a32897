// Asks an operator for a code when a form came without a right one: everything else that was sent goes along again.
import { codeField } from './code-field.ts';
import { form, message } from './components.ts';
import type { Form } from './forms.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import type { UserVisit } from './visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Confirm with a code',
    needed: 'Nothing was changed yet: this needs a fresh code. What you entered is kept.',
    wrong: 'Nothing was changed yet: the code is wrong or already used. What you entered is kept.',
    button: 'Confirm',
  },
  ru: {
    title: 'Подтвердите кодом',
    needed: 'Пока ничего не изменено: нужен новый код. Введённое сохранилось.',
    wrong: 'Пока ничего не изменено: код неверен или уже использован. Введённое сохранилось.',
    button: 'Подтвердить',
  },
});

/** Of the form itself, and the code that was wrong. */
const OWN = ['csrf', 'code'];

interface CodePage {
  readonly title: string;
  readonly body: Html;
  readonly status: number;
}

export function codePage(visit: UserVisit, sent: Form): CodePage {
  const words = WORDS[visit.language];
  const kept = sent.entries().filter(([name]) => !OWN.includes(name));
  const fields = html`${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${codeField(visit)}`;
  const action = `${visit.request.path}${visit.request.url.search}`;
  const body = html`${message('error', sent.text('code') === '' ? words.needed : words.wrong)}
${form(visit, { action, button: words.button, fields })}`;
  return { title: words.title, body, status: 403 };
}
