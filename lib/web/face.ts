// How pages answer: errors as a page, no scripts or frames of others, nothing kept by a cache.
import type { Face } from '../http/face.ts';
import { html } from './html.ts';

/** Chrome applies `form-action` to redirects after a POST as well: a form that leads elsewhere links to it instead. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const pageFace: Face = {
  headers: {
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  },
  renderFault: ({ message, output, data }) => {
    const words = WORDS[data?.code ?? ''] ?? [message];
    const lines = words.map((line, at) => html`<p${at > 0 && html` lang="ru"`}>${line}</p>`);
    const page = html`<html lang="en"><head><meta charset="utf-8"><title>${output.statusCode} · Tollgate</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/static/style.css">
</head><body><header><a class="brand" href="/account">Tollgate</a></header><main><h1>${output.statusCode}</h1>
${lines}</main></body></html>`;
    return { type: 'text/html; charset=utf-8', body: `<!doctype html>\n${page.text}\n` };
  },
};

/** What visitors of pages see most, in both languages: an error does not know theirs. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  not_found: ['This page does not exist.', 'Такой страницы нет.'],
  stale_form: ['The form is out of date. Open the page again.', 'Форма устарела. Откройте страницу снова.'],
  foreign_form: ['The form was sent by another site.', 'Форма отправлена с другого сайта.'],
  code_needed: [
    'This needs a fresh code of your authenticator app. Go back and enter one.',
    'Нужен свежий код из приложения. Вернитесь и введите его.',
  ],
  store_unavailable: ['The service is temporarily unavailable.', 'Сервис временно недоступен.'],
  internal: ['Something failed on our side.', 'Ошибка на нашей стороне.'],
};

const PAGE_PATH = /^\/(?:account|admin|login|logout|setup|reset|register|static)(?:\/|$)/;

/** Whether a path belongs to the pages, even where there is none. */
export function isPagePath(path: string): boolean {
  return PAGE_PATH.test(path);
}
