// Recovery codes, shown once after an authenticator app is set up.
import { html } from '../html.ts';
import { defineWords } from '../language.ts';
import type { Page } from '../page.ts';
import type { Visit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Recovery codes',
    text: 'Keep these codes safe. If you lose the app, each of them works once instead of a code from it. They are shown only now.',
    go: 'Continue',
  },
  ru: {
    title: 'Коды восстановления',
    text: 'Сохраните эти коды. Если приложение потеряется, каждый из них один раз заменит код из него. Больше они показаны не будут.',
    go: 'Продолжить',
  },
});

export function codesPage({ language }: Visit, codes: readonly string[], next: string): Page {
  const words = WORDS[language];
  const body = html`<p>${words.text}</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<p><a class="button" href="${next}">${words.go}</a></p>`;
  return { title: words.title, body };
}
