// Headers that protect: those of every reply, and those that a request may send only once.
import type { IncomingMessage } from 'node:http';

const YEAR_S = 31_536_000;

/** For every reply, whatever its style. `publicUrl` is where clients reach the service. */
export function securityHeaders(publicUrl: string): Readonly<Record<string, string>> {
  const headers = { 'x-content-type-options': 'nosniff' };
  // Browsers ignore it in a reply over plain http. Other names of the domain are not ours to decide about.
  return /^https:/i.test(publicUrl) ? { ...headers, 'strict-transport-security': `max-age=${YEAR_S}` } : headers;
}

/**
 * If one of these came twice, a proxy in front might believe the one and the gateway the other. Node keeps the first of
 * most, and joins some.
 */
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

/** A name, an address, or an IPv6 address in brackets, with or without a port. */
const HOST = /^(?:[\w.~!$&'()*+;=%-]*|\[[0-9a-f:.]+\])(?::\d*)?$/i;

/** What is wrong with the headers of a request, as the end of a sentence; undefined if nothing is. */
export function findHeaderProblem({ headers, httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  const { host, 'transfer-encoding': coding } = headers;
  // The parser also takes 0.9, without headers, and 2.0 in the words of 1.1.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return `it is HTTP/${httpVersion}, not HTTP/1.1`;
  if (host === undefined && httpVersion === '1.1') return 'it has no host header';
  // The parser reads chunks also where others would see a body without end, or an encoded one.
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    return 'its transfer-encoding is not supported';
  }
  if (host !== undefined && !HOST.test(host)) return 'its host header is not a host';
  // Nearly always: no header came twice, and nothing has to be compared.
  if (Object.keys(headers).length * 2 === rawHeaders.length) return undefined;
  const repeated = findRepeated(rawHeaders);
  return repeated === undefined ? undefined : `it has two ${repeated} headers`;
}

function findRepeated(rawHeaders: readonly string[]): string | undefined {
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  return names.find((name, at) => SINGLE.has(name) && names.indexOf(name) < at);
}
