// The token of a one-time link. A browser's first visit moves it from the URL into a cookie, so that it stays neither in
// the history nor in later URLs.
import { hashToken, isToken } from '../users/token.ts';
import { readCookie } from './cookie.ts';
import type { Redirect } from './page.ts';
import type { Visit } from './visit.ts';

/** Most links live this long; after that the link has to be opened again. */
const COOKIE_S = 3600;
const NAME_CHARS = 12;
const NAME = new RegExp(`^[0-9a-f]{${NAME_CHARS}}$`);

/** Empty without a link. */
export function readLinkToken({ query, request, secure }: Visit): string {
  const name = query.get('link') ?? '';
  if (query.has('token') || !NAME.test(name)) return query.get('token') ?? '';
  return readCookie(request, `link-${name}`, secure) ?? '';
}

export function hasLinkToken({ query }: Visit): boolean {
  return query.has('token') || query.has('link');
}

/** The action of the page's form; it names the link, because other tabs may have other links. */
export function linkAction({ path, query }: Visit): string {
  const name = query.has('token') ? 'token' : 'link';
  return `${path}?${name}=${encodeURIComponent(query.get(name) ?? '')}`;
}

/** Moves the token out of the URL, but only for browsers: other clients may keep no cookies. */
export function hideLinkToken({ path, query, request }: Visit): Redirect | undefined {
  const token = query.get('token');
  if (token === null || !isToken(token) || request.raw.req.headers['sec-fetch-mode'] !== 'navigate') return undefined;
  const name = hashToken(token).slice(0, NAME_CHARS);
  return { to: `${path}?link=${name}`, cookie: { name: `link-${name}`, value: token, maxAgeS: COOKIE_S } };
}
