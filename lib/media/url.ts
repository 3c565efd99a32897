// Checks by its text whether a URL may be fetched: cheap checks first, one parse, then the rules for hosts. The fetcher
// also checks the addresses of names.
import { isIP } from 'node:net';
import { fault } from '../base/faults.ts';
import { OperatorError } from '../base/operator-error.ts';
import { isPublicAddress } from './address.ts';

export const URL_LENGTH_MAX = 2048;

/** The parsed parts of a URL; the text of the URL is not used again. */
export interface Target {
  /** As `URL` writes it. */
  readonly origin: string;
  readonly secure: boolean;
  /** A lower-case name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Path and query. */
  readonly path: string;
  /** Exempt from the rules for scheme, port and address. */
  readonly trusted: boolean;
}

export interface UrlRules {
  /** Origins as returned by `readOrigins`. */
  readonly trustedOrigins?: ReadonlySet<string>;
  /** Base URL of the gateway's own links: nothing on its host is fetched. */
  readonly ownOrigin?: string;
  readonly lengthMax?: number;
  /** An http URL is fetched by https: vendors write links by http to files that are there by both. */
  readonly upgradesHttp?: boolean;
}

/** Why a URL is refused by its text. */
export type UrlRefusal = 'scheme' | 'length' | 'characters' | 'credentials' | 'port' | 'host' | 'not-public';

const HINTS: Readonly<Record<Exclude<UrlRefusal, 'not-public'>, string>> = {
  scheme: 'must be an https URL or a data URI of an image',
  length: 'must be a URL of at most 2,048 characters',
  characters: 'must be a URL without spaces, control characters and backslashes',
  credentials: 'must be a URL without a user name and a password',
  port: 'must be a URL on port 443',
  host: 'must be a URL whose host is a plain name in ASCII (punycode for other letters) or a plain address',
};

/** The 400 fault for the image URL that a client sent in `field`; it does not contain the URL. */
export function urlFault(refusal: UrlRefusal, field: string) {
  if (refusal === 'not-public') return fault('image_unreachable', { field });
  return fault('invalid_field', { field, hint: HINTS[refusal] });
}

const SCHEME_AND_AUTHORITY = /^(https?):\/\/([^/?#]*)/i;
const FORBIDDEN = /[\s\p{Cc}\p{Cf}\p{Cs}\\]/u;
/** The longest name, including brackets of an address and a port. */
const AUTHORITY = /^[\x21-\x7e]{1,261}$/;

/**
 * Refuses before parsing what no rule could allow. Throws a 400 fault that does not contain the URL.
 */
export function checkText(text: string, field: string): void {
  const refusal = findTextRefusal(text, URL_LENGTH_MAX);
  if (refusal) throw urlFault(refusal, field);
}

function findTextRefusal(text: string, lengthMax: number): UrlRefusal | undefined {
  // An image in plain base64 is long, but that is not what is wrong with it.
  if (text.length > lengthMax) return /^https?:/i.test(text) ? 'length' : 'scheme';
  if (FORBIDDEN.test(text)) return 'characters';
  const [, scheme = '', authority = ''] = SCHEME_AND_AUTHORITY.exec(text) ?? [];
  if (scheme === '') return 'scheme';
  if (authority.includes('@')) return 'credentials';
  return AUTHORITY.test(authority) ? undefined : 'host';
}

export function readUrl(text: string, rules: UrlRules = {}): Target | UrlRefusal {
  const early = findTextRefusal(text, rules.lengthMax ?? URL_LENGTH_MAX);
  if (early) return early;
  const [, , authority = ''] = SCHEME_AND_AUTHORITY.exec(text) ?? [];
  const url = URL.parse(text);
  if (!url) return 'host';
  const isTrusted = () => rules.trustedOrigins?.has(url.origin) ?? false;
  if (rules.upgradesHttp && url.protocol === 'http:' && url.port === '' && !isTrusted()) url.protocol = 'https:';
  const trusted = isTrusted();
  const refusal = isOwn(url, trusted, rules.ownOrigin) ? 'not-public' : trusted ? undefined : checkHost(url, authority);
  return refusal ?? toTarget(url, trusted);
}

/** The gateway itself is never requested; a trusted service may run on another port of its host. */
function isOwn(url: URL, trusted: boolean, ownOrigin: string | undefined): boolean {
  const own = ownOrigin === undefined ? null : URL.parse(ownOrigin);
  return own !== null && (trusted ? url.origin === own.origin : url.hostname === own.hostname);
}

const PLAIN = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:443)?$/;

/** Checks an untrusted host. */
function checkHost(url: URL, authority: string): UrlRefusal | undefined {
  if (url.protocol !== 'https:') return 'scheme';
  if (url.port !== '') return 'port';
  const [, host = ''] = PLAIN.exec(authority.toLowerCase()) ?? [];
  if (host.startsWith('[')) return isPublicAddress(stripBrackets(url)) ? undefined : 'not-public';
  // The parser converts 2130706433, 0x7f.1 and 0177.1 to addresses and decodes percent signs: such hosts are refused.
  if (host === '' || url.hostname !== host) return 'host';
  if (isIP(host) !== 0) return isPublicAddress(host) ? undefined : 'not-public';
  return checkName(host);
}

/** Top-level domains that are reserved or used in internal networks. */
const LOCAL_NAMES = new Set([
  'alt',
  'arpa',
  'corp',
  'example',
  'home',
  'internal',
  'intranet',
  'invalid',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'onion',
  'private',
  'test',
]);

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

function checkName(name: string): UrlRefusal | undefined {
  const labels = name.split('.');
  if (name.length > 253 || !labels.every((label) => LABEL.test(label))) return 'host';
  return labels.length === 1 || LOCAL_NAMES.has(labels.at(-1) ?? '') ? 'not-public' : undefined;
}

function toTarget(url: URL, trusted: boolean): Target {
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  return { origin: url.origin, secure, host: stripBrackets(url), port, path: url.pathname + url.search, trusted };
}

function stripBrackets({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** Parses a comma-separated list of origins; throws an `OperatorError` for anything that is not exactly an origin. */
export function readOrigins(list: string, variable = 'IMAGE_TRUSTED_ORIGINS'): ReadonlySet<string> {
  const origins = new Set<string>();
  for (const item of list.split(',').map((part) => part.trim())) {
    if (item === '') continue;
    const url = URL.parse(item);
    const bare = url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
    if (!bare) throw new OperatorError(`${variable}: not an origin (scheme, host, port and nothing else): ${item}`);
    origins.add(url.origin);
  }
  return origins;
}
