// How pages answer: errors as a page, no scripts or frames of others, nothing kept by a cache.
import type { Face } from '../http/face.ts';
import { faultWords } from './fault-words.ts';
import { html } from './html.ts';
import { LANGUAGES } from './language.ts';

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
  renderFault: (reason) => {
    const status = reason.output.statusCode;
    // An error does not know the language of its visitor.
    const lines = LANGUAGES.map(
      (language) => html`<p${language !== 'en' && html` lang="${language}"`}>${faultWords(reason, language)}</p>`,
    );
    const page = html`<html lang="en"><head><meta charset="utf-8"><title>${status} · Tollgate</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/static/style.css">
</head><body><header><a class="brand" href="/account">Tollgate</a></header><main><h1>${status}</h1>
${lines}</main></body></html>`;
    return { type: 'text/html; charset=utf-8', body: `<!doctype html>\n${page.text}\n` };
  },
};

const PAGE_PATH = /^\/(?:account|admin|login|logout|setup|reset|register|static|payments)(?:\/|$)/;

/** Whether a path belongs to the pages, even where there is none. */
export function isPagePath(path: string): boolean {
  return PAGE_PATH.test(path);
}
