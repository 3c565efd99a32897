// The HTTP server: hapi on a listener of our own, with limits on headers and connections and one way to render errors.
import type { Server as Listener } from 'node:http';
import { type AddressInfo, type ListenOptions, Server as NetServer } from 'node:net';
import Hapi, { type Server } from '@hapi/hapi';
import { readProxies } from '../base/network.ts';
import { OperatorError } from '../base/operator-error.ts';
import { allowHalfOpen, createServer as createListener } from '../platform/http-server.ts';
import { answerBadInput, type BadHttp } from './bad-input.ts';
import { computeConnectionsMax, readDescriptorLimit } from './descriptors.ts';
import { securityHeaders } from './headers.ts';
import { type Replies, watchReplies } from './replies.ts';
import type { StyleAt } from './response-style.ts';
import { stopListening } from './stop-listening.ts';

interface HttpOptions {
  readonly host: string;
  readonly port: number;
  /** Other workers of this start listen on the same port. */
  readonly sharesPort?: boolean;
  readonly headersTimeoutMs?: number | undefined;
  /** A client that reads nothing of a reply for this long is gone. */
  readonly stallMs?: number;
  /** Connections at once; further ones are closed. Defaults to what the descriptor limit allows. */
  readonly connectionsMax?: number;
  /** The style of replies to requests without a route, and to input that is not HTTP. */
  readonly styleAt: StyleAt;
  /** Where clients reach the service, if known; with https, replies send HSTS. */
  readonly publicUrl?: string;
  /** As `readProxies` takes them; none by default. */
  readonly trustedProxies?: string;
}

export interface Http {
  readonly server: Server;
  /** Registers a listener for input that was not an HTTP request, which nothing else logs. */
  onBadHttp(report: (refusal: BadHttp) => void): void;
  /** Listens; rejects with an `OperatorError` if the address is not available. */
  start(): Promise<void>;
  /** Accepts no new connections, waits for `drain`, then closes the rest. */
  close(drain: () => Promise<void>): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
/** Longer than clients keep theirs: one that closes on a request is an error to most, which must not send it again. */
const KEEP_ALIVE_MS = 130_000;
/** Of load balancers that keep theirs for 600 s, and cannot be told otherwise. They have few of them. */
const KEEP_ALIVE_BEHIND_PROXY_MS = 620_000;
/** Then the reply says `connection: close`, which frees the memory that a long-lived connection gathers. */
const REQUESTS_PER_CONNECTION_MAX = 10_000;
const STALL_MS = 60_000;
/** A last resort: bodies have their own limits. */
const REQUEST_TIMEOUT_MS = 900_000;
/** How long socket buffers may take to drain at shutdown. */
const LAST_WRITES_MS = 1000;
const HEADERS_BYTES_MAX = 32 * 1024;
/** Bytes buffered for a slow client before the upstream is paused. */
const BUFFERED_BYTES = 16 * 1024;

export function createHttp(options: HttpOptions): Http {
  const { host, port, headersTimeoutMs = HEADERS_TIMEOUT_MS, stallMs = STALL_MS, styleAt } = options;
  const {
    connectionsMax = computeConnectionsMax(readDescriptorLimit()),
    sharesPort = false,
    trustedProxies = '',
  } = options;
  const headers = securityHeaders(options.publicUrl ?? '');
  // None is trusted if the setting is empty or 0.
  const keepAliveTimeout = Number(trustedProxies) === 0 ? KEEP_ALIVE_MS : KEEP_ALIVE_BEHIND_PROXY_MS;
  const listener = openListener({ headersTimeout: headersTimeoutMs, keepAliveTimeout });
  listener.maxConnections = connectionsMax;
  listener.maxRequestsPerSocket = REQUESTS_PER_CONNECTION_MAX;
  const server = Hapi.server({
    listener,
    // hapi would validate the address with a regular expression whose compilation takes 3 % of a start.
    autoListen: false,
    app: { styleAt, headers, trustedProxies: readProxies(trustedProxies) },
    compression: false,
    router: { stripTrailingSlash: true },
    operations: { cleanStop: false },
    routes: {
      // Handlers read bodies themselves; hapi would refuse long ones before the key is checked.
      payload: {
        parse: false,
        output: 'stream',
        // hapi would read and drop the whole body, whatever its length and pace, where it cannot read the content type.
        override: 'application/octet-stream',
        maxBytes: Number.MAX_SAFE_INTEGER,
        timeout: false,
        failAction: 'ignore',
      },
      // Only routes that send files support ranges.
      response: { ranges: false },
      state: { parse: false, failAction: 'ignore' },
      log: { collect: false },
    },
  });
  const replies = watchReplies(listener, stallMs);
  let report: (refusal: BadHttp) => void = () => undefined;
  listener.on('checkExpectation', (request, response) => listener.emit('request', request, response));
  answerBadInput(listener, { replies, headers, styleAt, report: (refusal) => report(refusal) });
  return {
    server,
    onBadHttp(listener) {
      report = listener;
    },
    start: () => listen(server, listener, { host, port, sharesPort }),
    close: (drain) => closeListener(listener, { drain, replies }),
  };
}

function openListener(timeouts: { readonly headersTimeout: number; readonly keepAliveTimeout: number }): Listener {
  const listener = createListener({
    ...timeouts,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: timeouts.headersTimeout / 10,
    maxHeaderSize: HEADERS_BYTES_MAX,
    noDelay: true,
    highWaterMark: BUFFERED_BYTES,
    // Node's own refusal has neither an id nor an envelope: `onRequest` refuses the request instead.
    requireHostHeader: false,
  });
  // Unlimited, as the bytes are: Node would silently drop headers beyond the 2000th, which a proxy may have read.
  listener.maxHeadersCount = 0;
  allowHalfOpen(listener);
  return listener;
}

type Address = Pick<HttpOptions, 'host' | 'port' | 'sharesPort'>;

/**
 * Where the kernel distributes connections among the processes of a port. Elsewhere the cluster's primary does, which
 * leaves a connection unanswered that arrives while the last worker stops (lib/internal/cluster/round_robin_handle.js).
 */
const REUSE_PORT_PLATFORMS: ReadonlySet<string> = new Set(['linux', 'freebsd']);

async function listen(server: Server, listener: Listener, { host, port, sharesPort = false }: Address): Promise<void> {
  await server.start();
  const reusePort = sharesPort && REUSE_PORT_PLATFORMS.has(process.platform);
  await listenOn(listener, { host, port, reusePort });
}

function listenOn(listener: NetServer, at: ListenOptions & { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error) => reject(cannotListen(error, at));
    listener.once('error', onError).listen(at, () => {
      listener.off('error', onError);
      resolve();
    });
  });
}

/** Resolves to the port that the workers will share. Rejects with an `OperatorError` if it is not available. */
export async function findPort({ host, port }: Address): Promise<number> {
  const probe = new NetServer();
  await listenOn(probe, { host, port });
  const found = (probe.address() as AddressInfo).port;
  await new Promise((resolve) => probe.close(resolve));
  return found;
}

/** The operator's error message; `variable` is the setting to check, if it is not `PORT` or `HOST`. */
export function cannotListen(error: unknown, at: { host: string; port: number; variable?: string }): OperatorError {
  const { code } = error as NodeJS.ErrnoException;
  const reason = code === 'EADDRINUSE' ? 'the port is in use' : code === 'EACCES' ? 'permission denied' : code;
  const { variable = code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' ? 'HOST' : 'PORT' } = at;
  return new OperatorError(`Cannot listen on ${at.host}:${at.port} (${variable}): ${reason}`);
}

interface Closing {
  readonly drain: () => Promise<void>;
  readonly replies: Replies;
}

async function closeListener(listener: Listener, { drain, replies }: Closing): Promise<void> {
  // Idle connections stay open: a request from a proxy may be under way.
  const closed = stopListening(listener);
  replies.closeConnections();
  await drain();
  const forced = setTimeout(() => listener.closeAllConnections(), LAST_WRITES_MS);
  await replies.sent();
  // Closes idle connections and the timer for late headers. A request whose head is still arriving is answered.
  listener.close();
  await closed;
  clearTimeout(forced);
}
