// The cookies of the pages: session, form guard before sign-in, language, device, and the tokens of opened one-time
// links.
import type { Request, ResponseObject } from '@hapi/hapi';

type CookieName = 'session' | 'form' | 'lang' | 'device' | `link-${string}`;

export interface NewCookie {
  readonly name: CookieName;
  readonly value: string;
  readonly maxAgeS: number;
}

/**
 * SameSite=Lax keeps the user signed in on return from a payment page. Browsers refuse the `__Host-` prefix over plain
 * http (loopback).
 */
export function setCookie(
  response: ResponseObject,
  name: CookieName,
  value: string,
  secure: boolean,
  maxAgeS?: number,
): void {
  const age = maxAgeS === undefined ? '' : `; Max-Age=${maxAgeS}`;
  const attributes = `; Path=/; HttpOnly; SameSite=Lax${age}${secure ? '; Secure' : ''}`;
  response.header('set-cookie', `${fullName(name, secure)}=${value}${attributes}`, { append: true });
}

export function dropCookie(response: ResponseObject, name: CookieName, secure: boolean): void {
  const attributes = `; Path=/; HttpOnly; SameSite=Lax; Max-Age=0${secure ? '; Secure' : ''}`;
  response.header('set-cookie', `${fullName(name, secure)}=${attributes}`, { append: true });
}

const HEADER_LENGTH_MAX = 8192;

/** Undefined unless it was sent exactly once: two are ambiguous. */
export function readCookie(request: Request, name: CookieName, secure: boolean): string | undefined {
  const header = request.raw.req.headers.cookie;
  if (header === undefined || header.length > HEADER_LENGTH_MAX) return undefined;
  const start = `${fullName(name, secure)}=`;
  const values = header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start));
  return values.length === 1 ? values[0]?.slice(start.length) : undefined;
}

function fullName(name: CookieName, secure: boolean): string {
  return secure ? `__Host-${name}` : name;
}
