// Security headers of every reply, and checks of request headers that proxies may read differently.
import type { IncomingMessage } from 'node:http';

const YEAR_S = 31_536_000;

/** Headers of every reply, whatever its style. `publicUrl` is where clients reach the service. */
export function securityHeaders(publicUrl: string): Readonly<Record<string, string>> {
  const headers = { 'x-content-type-options': 'nosniff' };
  // Browsers ignore HSTS over plain http. Without includeSubDomains: other hosts of the domain may not be ours.
  return /^https:/i.test(publicUrl) ? { ...headers, 'strict-transport-security': `max-age=${YEAR_S}` } : headers;
}

/** If one of these came twice, a proxy in front might use one and the gateway the other: Node keeps the first of most. */
const SINGLE: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'x-api-key',
  'idempotency-key',
  'content-length',
  'transfer-encoding',
  'content-type',
  'content-encoding',
  'origin',
  'sec-fetch-site',
]);

/** A host name or address, IPv6 in brackets, with an optional port. */
const HOST = /^(?:[\w.~!$&'()*+;=%-]*|\[[0-9a-f:.]+\])(?::\d*)?$/i;

/** What is wrong with the headers, for the message of `bad_http`; undefined if nothing is. */
export function findHeaderProblem({ headers, httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  const { host, 'transfer-encoding': coding } = headers;
  // Node's parser also accepts 0.9, and 2.0 in the format of 1.1.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return `it is HTTP/${httpVersion}, not HTTP/1.1`;
  if (host === undefined && httpVersion === '1.1') return 'it has no host header';
  // Node's parser reads chunks where a proxy might see a body without end, or an encoded one.
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    return 'its transfer-encoding is not supported';
  }
  if (host !== undefined && !HOST.test(host)) return 'its host header is not a host';
  // hapi would read and drop it all before anybody refuses it.
  if (Number(headers['content-length'] ?? 0) > Number.MAX_SAFE_INTEGER) return 'its content-length is not plausible';
  // The usual case: no header came twice.
  if (Object.keys(headers).length * 2 === rawHeaders.length) return undefined;
  const repeated = findRepeated(rawHeaders);
  return repeated === undefined ? undefined : `it has two ${repeated} headers`;
}

function findRepeated(rawHeaders: readonly string[]): string | undefined {
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  return names.find((name, at) => SINGLE.has(name) && names.indexOf(name) < at);
}
