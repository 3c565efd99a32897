// The token of a one-time link: from its URL, as it was printed or mailed; or, in a browser, from the cookie that its
// first visit moves it to, so that it stays neither in the history nor in any later request's URL.
import { hashToken, isToken } from '../users/token.ts';
import { readCookie } from './cookie.ts';
import type { Redirect } from './page.ts';
import type { Visit } from './visit.ts';

/** As long as most links live: whoever takes longer opens the link again. */
const COOKIE_S = 3600;
const NAME_CHARS = 12;
const NAME = new RegExp(`^[0-9a-f]{${NAME_CHARS}}$`);

/** Of the link that is visited; empty without one. */
export function readLinkToken({ query, request, secure }: Visit): string {
  const name = query.get('link') ?? '';
  if (query.has('token') || !NAME.test(name)) return query.get('token') ?? '';
  return readCookie(request, `link-${name}`, secure) ?? '';
}

export function hasLinkToken({ query }: Visit): boolean {
  return query.has('token') || query.has('link');
}

/** Where the form of the page leads: several tabs may have links of their own. */
export function linkAction({ path, query }: Visit): string {
  const name = query.has('token') ? 'token' : 'link';
  return `${path}?${name}=${encodeURIComponent(query.get(name) ?? '')}`;
}

/** Moves the token out of the URL, if this is a browser that shows the page to somebody: others may keep no cookies. */
export function hideLinkToken({ path, query, request }: Visit): Redirect | undefined {
  const token = query.get('token');
  if (token === null || !isToken(token) || request.raw.req.headers['sec-fetch-mode'] !== 'navigate') return undefined;
  const name = hashToken(token).slice(0, NAME_CHARS);
  return { to: `${path}?link=${name}`, cookie: { name: `link-${name}`, value: token, maxAgeS: COOKIE_S } };
}
