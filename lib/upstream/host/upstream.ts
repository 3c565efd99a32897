// HTTP to one upstream: its own connections, only its origins, no redirects, and faults instead of network errors.
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { Dispatcher, buildConnector as Undici, Pool as UndiciPool } from 'undici';
import {
  Agent,
  buildConnector,
  failedAfterReuse,
  failedToConnect,
  Pool,
  ProxyAgent,
  trackErrors,
  withSmallBuffers,
} from '../../platform/undici.ts';
import { LimitError } from '../../stream/bytes.ts';
import type { UpstreamFault, UpstreamFaultKind } from '../contract/fault.ts';
import type { HostResponse } from '../contract/host.ts';
import type { HeaderFields, HostRequest } from '../contract/request.ts';
import { UpstreamBody } from './body.ts';
import { decodeSource } from './decoding.ts';
import { exchange } from './exchange.ts';
import { isUpstreamFault, upstreamFault } from './fault.ts';
import type { Key } from './key-ring.ts';
import { encodePayload } from './payload.ts';
import { readRetryAfter } from './retry-after.ts';
import { scrub } from './secret.ts';

export interface UpstreamOptions {
  /** Scheme, host and port of every URL that may be requested. */
  readonly allowedOrigins: readonly string[];
  /** URL of an HTTP proxy. Otherwise requests go directly: proxy variables of the environment are not read. */
  readonly proxy?: string;
  /** Additional trusted certificates, as PEM. */
  readonly ca?: string;
  /** Never shown in the detail of a fault. */
  readonly secrets?: readonly string[];
  readonly connectTimeoutMs?: number;
}

export interface UpstreamResponse extends HostResponse {
  readonly body: UpstreamBody;
}

/**
 * How a request uses connections that others have left open, which the upstream may be closing just then. `repeat`: if
 * so, it is sent again. `never`: it must not be sent twice, so it gets a connection of its own. `any`: it fails.
 */
export type Reuse = 'repeat' | 'never' | 'any';

export interface Upstream {
  /** Sends one request, with the headers that `auth` makes from the key if there is one. */
  request(url: string, init: HostRequest, key: Key | undefined, reuse: Reuse): Promise<UpstreamResponse>;
  /** Closes all connections, even those in use. */
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Shorter than the 5 s after which uvicorn, used by many self-hosted models, closes without warning. */
const KEEP_ALIVE_MS = 4_000;
/** A handshake of TLS takes two round trips, perhaps to another continent, and vendors keep connections for 30 s or more. */
const KEEP_ALIVE_TLS_MS = 25_000;

/** An upstream that was closing its connection says so within a round trip; later, it had begun to work. */
const STALE_MS = 1_000;

export function createUpstream(options: UpstreamOptions): Upstream {
  const shared = createDispatcher(options);
  /** Gives each request a connection of its own, which is not used again. */
  const own = createDispatcher(options);
  const origins = new Set(options.allowedOrigins);
  const secrets = options.secrets ?? [];

  async function send(sending: Sending): Promise<UpstreamResponse> {
    const { target, init, key, reuse } = sending;
    const { signal } = init;
    signal.throwIfAborted();
    const request = writeRequest(sending);
    const toError = (error: Error) => toUpstreamFault(error, target.origin, secrets);
    const startedAt = performance.now();
    try {
      const { status, headers, source } = await (reuse === 'never'
        ? exchange(own, { ...request, reset: true }, signal)
        : exchange(shared, request, signal));
      const coding = headers['content-encoding'];
      const body = { source: coding === undefined ? source : decodeSource(source, coding), signal, toError, secrets };
      return { status, headers, keyId: key?.id, retryAfterMs: readRetryAfter(headers), body: new UpstreamBody(body) };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Error)) throw toError(new Error(String(error)));
      const isStale = reuse === 'repeat' && failedAfterReuse(error) && performance.now() - startedAt < STALE_MS;
      if (!isStale) throw toError(error);
      return send({ ...sending, reuse: 'never' });
    }
  }

  return {
    async request(url, init, key, reuse) {
      const target = parseTarget(url, origins);
      const { auth, signal } = init;
      signal.throwIfAborted();
      if (!auth || !key) return send({ target, init, fields: NO_FIELDS, key, reuse });
      const fields = await auth(key.value, signal);
      const response = await send({ target, init, fields, key, reuse });
      if (response.status !== UNAUTHORIZED || !('refuse' in auth)) return response;
      // Refused before anything was done, so it may be sent again.
      response.body.drop();
      auth.refuse(key.value, fields);
      return send({ target, init, fields: await auth(key.value, signal), key, reuse });
    },
    async close() {
      await Promise.all([shared.destroy(), own.destroy()]);
    },
  };
}

const UNAUTHORIZED = 401;
const NO_FIELDS: HeaderFields = {};

/** HTTP/1.1 only: aborting a call then closes a socket, which every upstream notices. */
function createDispatcher(options: UpstreamOptions): Dispatcher {
  const timeout = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  const isTls = options.allowedOrigins.every((origin) => origin.startsWith('https:'));
  const pool = {
    connections: null,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: isTls ? KEEP_ALIVE_TLS_MS : KEEP_ALIVE_MS,
    // The caller's own timers watch the first and every further fragment; comments would re-arm these.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const tls = trusting(options.ca);
  if (options.proxy === undefined) {
    return new Agent({
      ...pool,
      connect: trackErrors(buildConnector(withSmallBuffers({ timeout, allowH2: false, ...tls }))),
    });
  }
  // Otherwise a proxy could take five minutes to make a tunnel, and without one there would be pools of undici's own.
  const clientFactory = (origin: URL, others: object) => new Pool(origin, { ...others, headersTimeout: timeout });
  const factory = (origin: URL | string, { connect, ...others }: UndiciPool.Options) =>
    new Pool(origin, { ...pool, ...others, connect: trackErrors(connect as Undici.connector) });
  return new ProxyAgent({
    ...pool,
    clientFactory,
    factory,
    uri: options.proxy,
    connectTimeout: timeout,
    requestTls: tls,
  });
}

/** One context for all connections: reading all the world's certificates takes milliseconds. */
function trusting(ca: string | undefined): { readonly secureContext?: SecureContext } {
  return ca === undefined ? {} : { secureContext: createSecureContext({ ca: [...getCACertificates('default'), ca] }) };
}

/** One request on its way. */
interface Sending {
  readonly target: Target;
  readonly init: HostRequest;
  /** The headers that carry the key. */
  readonly fields: HeaderFields;
  readonly key: Key | undefined;
  readonly reuse: Reuse;
}

interface Target {
  readonly origin: string;
  readonly path: string;
}

/** The target of a URL, if it is allowed. */
function parseTarget(url: string, origins: ReadonlySet<string>): Target {
  const parsed = URL.parse(url);
  if (!parsed || !origins.has(parsed.origin)) {
    const named = parsed?.origin ?? 'something that is not a URL';
    throw upstreamFault('protocol', `the settings do not allow requests to ${named}`, { unsent: true });
  }
  return { origin: parsed.origin, path: parsed.pathname + parsed.search };
}

function writeRequest({ target, init, fields }: Sending): Dispatcher.DispatchOptions {
  const headers = ownHeaders(init.headers);
  addHeaders(headers, fields);
  const payload = encodePayload(init.body);
  if (payload?.type !== undefined) headers['content-type'] = payload.type;
  if (payload?.length !== undefined) headers['content-length'] = String(payload.length);
  return { ...target, method: init.method, headers, ...(payload && { body: payload.body as Sent }) };
}

/** undici accepts any iterable of bytes; its types only know Node's streams. */
type Sent = Exclude<Dispatcher.DispatchOptions['body'], undefined>;

type OwnHeaders = Record<string, string>;

function ownHeaders(given: HostRequest['headers']): OwnHeaders {
  const headers: OwnHeaders = { 'user-agent': 'tollgate', 'accept-encoding': 'identity' };
  if (given) addHeaders(headers, given);
  return headers;
}

function addHeaders(headers: OwnHeaders, given: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(given)) headers[name.toLowerCase()] = value;
  headers['accept-encoding'] = 'identity';
}

function toUpstreamFault(error: Error, origin: string, secrets: readonly string[]): UpstreamFault {
  if (isUpstreamFault(error)) return error;
  if (error instanceof LimitError) return upstreamFault('protocol', error.message);
  const code = readErrorCode(error);
  const detail = `${origin}: ${error.message}${error.message.includes(code) ? '' : ` (${code})`}`;
  return upstreamFault(classifyErrorCode(code), scrub(detail, secrets), failedToConnect(error) ? { unsent: true } : {});
}

/** The name if there is no code; connecting to several addresses fails with a code but an empty message. */
function readErrorCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

function classifyErrorCode(code: string): UpstreamFaultKind {
  if (code === 'ETIMEDOUT' || /^UND_ERR_\w*TIMEOUT$/.test(code)) return 'timeout';
  if (code.startsWith('HPE_') || PROTOCOL_CODES.has(code)) return 'protocol';
  return 'network';
}

const PROTOCOL_CODES = new Set(['HTTPParserError', 'UND_ERR_HEADERS_OVERFLOW']);
