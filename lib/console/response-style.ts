// How pages answer: errors as HTML, no foreign scripts or frames, nothing cached.
import type { Fault } from '../base/faults.ts';
import type { RenderedFault, ResponseStyle } from '../http/response-style.ts';
import { faultWords, homeWords, type SandboxState, sandboxWords } from './fault-words.ts';
import { html } from './html.ts';
import { LANGUAGES } from './language.ts';

/** Chrome applies `form-action` to redirects after a POST too, so a form that leads elsewhere shows a link instead. */
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

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Every page of a sandbox says that it is one. */
export function choosePageStyle(state: SandboxState): ResponseStyle {
  return { headers: HEADERS, renderFault: (reason) => renderFault(reason, state) };
}

function renderFault(reason: Fault, state: SandboxState): RenderedFault {
  const status = reason.output.statusCode;
  // The visitor's language is not known here.
  const lines = LANGUAGES.map((language) => {
    const lang = language !== 'en' && html` lang="${language}"`;
    return html`<p${lang}>${faultWords(reason, language)} <a href="/account">${homeWords(language)}</a></p>`;
  });
  const page = html`<html lang="en"><head><meta charset="utf-8"><title>${status} · Tollgate</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/static/style.css">
</head><body>${state.sandbox && html`<aside class="sandbox">${LANGUAGES.map((language) => html`${sandboxWords(language, state)} `)}</aside>`}<header><a class="brand" href="/account">Tollgate</a></header><main><h1>${status}</h1>
${lines}</main></body></html>`;
  return { type: 'text/html; charset=utf-8', body: `<!doctype html>\n${page.text}\n` };
}

const PAGE_PATH = /^\/(?:account|admin|login|logout|setup|reset|register|status|static|payments)(?:\/|$)/;

/** Whether a path belongs to the pages, even if no page is there. */
export function isPagePath(path: string): boolean {
  return PAGE_PATH.test(path);
}
