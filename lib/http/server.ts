// The HTTP server: hapi on a listener of our own, with limits on headers and connections and one way to render errors.
import {
  createServer as createListener,
  type IncomingMessage,
  type Server as Listener,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { type AddressInfo, type ListenOptions, Server as NetServer, type Socket } from 'node:net';
import Hapi, { type Server } from '@hapi/hapi';
import { type Fault, fault } from '../base/faults.ts';
import { readProxies } from '../base/network.ts';
import { OperatorError } from '../base/operator-error.ts';
import { stopListening } from '../platform/stop-listening.ts';
import { createRequestState } from './context.ts';
import { connectionsFor, readDescriptorLimit } from './descriptors.ts';
import { REQUEST_DRAIN_MS } from './early-reply.ts';
import { securityHeaders } from './headers.ts';
import type { StyleAt } from './response-style.ts';

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  /** Other processes of this start listen there too. */
  readonly sharesPort?: boolean;
  readonly headersTimeoutMs?: number | undefined;
  /** A client that reads nothing of a reply for this long is gone. */
  readonly stallMs?: number;
  /** Connections at once; further ones are closed. Defaults to what the descriptor limit allows. */
  readonly connectionsMax?: number;
  /** How requests without a route, and input that is not HTTP, are answered. */
  readonly styleAt: StyleAt;
  /** Where clients reach the service, if that is known: over https, browsers are told to stay there. */
  readonly publicUrl?: string;
  /** As `readProxies` takes them; none by default. */
  readonly trustedProxies?: string;
}

export interface BadHttp {
  readonly request_id: string;
  readonly status: number;
  readonly reason: string | undefined;
}

export interface Http {
  readonly server: Server;
  /** Registers what is called for input that was not an HTTP request, which nothing else logs. */
  onBadHttp(report: (refusal: BadHttp) => void): void;
  /** Listens; rejects with an `OperatorError` if the address is not available. */
  start(): Promise<void>;
  /** Accepts no new connections, waits for `drain`, then closes the rest. */
  close(drain: () => Promise<void>): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 75_000;
/** Then the reply says `connection: close`: what a connection has gathered is freed now and then. */
const REQUESTS_PER_CONNECTION_MAX = 10_000;
const STALL_MS = 60_000;
/** Bodies have their own limits; this is the last resort. */
const REQUEST_TIMEOUT_MS = 900_000;
const PIPELINED_MAX = 16;
/** How long socket buffers may take to drain at shutdown. */
const LAST_WRITES_MS = 1000;
const HEADERS_BYTES_MAX = 32 * 1024;
/** How much may wait for a slow client before its upstream is paused. */
const BUFFERED_BYTES = 16 * 1024;

export function createHttp(options: HttpOptions): Http {
  const { host, port, headersTimeoutMs = HEADERS_TIMEOUT_MS, stallMs = STALL_MS, styleAt } = options;
  const { connectionsMax = connectionsFor(readDescriptorLimit()), sharesPort = false, trustedProxies = '' } = options;
  const headers = securityHeaders(options.publicUrl ?? '');
  const listener = openListener(headersTimeoutMs);
  listener.maxConnections = connectionsMax;
  listener.maxRequestsPerSocket = REQUESTS_PER_CONNECTION_MAX;
  const server = Hapi.server({
    listener,
    // It would check the address with an expression that takes a thirtieth of a start to compile.
    autoListen: false,
    app: { styleAt, headers, trustedProxies: readProxies(trustedProxies) },
    compression: false,
    router: { stripTrailingSlash: true },
    operations: { cleanStop: false },
    routes: {
      // Handlers read bodies themselves; hapi's limit would answer before the key is checked.
      payload: {
        parse: false,
        output: 'stream',
        maxBytes: Number.MAX_SAFE_INTEGER,
        timeout: false,
        failAction: 'ignore',
      },
      // Ranges of JSON are useless; a route that sends files enables them itself.
      response: { ranges: false },
      state: { parse: false, failAction: 'ignore' },
      log: { collect: false },
    },
  });
  const replies = watchReplies(listener, stallMs);
  let report: BadHttpAnswer['report'] = () => undefined;
  listener.on('checkExpectation', (request, response) => listener.emit('request', request, response));
  listener.removeAllListeners('clientError');
  listener.on('clientError', (error: ClientError, socket: Socket) => {
    const reply = replies.latest(socket);
    const path = readRequestPath(error, reply);
    afterReply(reply, socket, () => answerBadHttp(error, { socket, path, headers, report, styleAt }));
  });
  listener.on('connect', (_request, socket: Socket) => {
    // Node has abandoned the socket: an unhandled error would end the process, and unread bytes hide its end.
    socket.on('error', () => undefined).resume();
    const reason = fault('method_not_allowed', { hint: 'GET or POST' });
    const refusal = { reason, what: 'CONNECT' };
    const asker = { socket, path: '', headers, report, styleAt };
    afterReply(replies.latest(socket), socket, () => answerWithoutHapi(refusal, asker));
  });
  return {
    server,
    onBadHttp(listener) {
      report = listener;
    },
    start: () => listen(server, listener, { host, port, sharesPort }),
    close: (drain) => closeListener(listener, { drain, replies }),
  };
}

function openListener(headersTimeoutMs: number): Listener {
  const listener = createListener({
    headersTimeout: headersTimeoutMs,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: headersTimeoutMs / 10,
    maxHeaderSize: HEADERS_BYTES_MAX,
    noDelay: true,
    highWaterMark: BUFFERED_BYTES,
    // Node's own answer has neither an id nor an envelope: `onRequest` refuses it.
    requireHostHeader: false,
  });
  // Node would pass over headers beyond the 2000th, which others read; their bytes are bounded.
  listener.maxHeadersCount = 0;
  return listener;
}

type Address = Pick<HttpOptions, 'host' | 'port' | 'sharesPort'>;

/**
 * Where the kernel distributes the connections of a port by itself; elsewhere a cluster's primary does, which leaves a
 * connection unanswered if it arrives while the last worker stops (lib/internal/cluster/round_robin_handle.js).
 */
const REUSE_PORT_PLATFORMS: ReadonlySet<string> = new Set(['linux', 'freebsd']);

async function listen(server: Server, listener: Listener, { host, port, sharesPort = false }: Address): Promise<void> {
  await server.start();
  const reusePort = sharesPort && REUSE_PORT_PLATFORMS.has(process.platform);
  await listening(listener, { host, port, reusePort });
}

function listening(listener: NetServer, at: ListenOptions & { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error) => reject(cannotListen(error, at));
    listener.once('error', onError).listen(at, () => {
      listener.off('error', onError);
      resolve();
    });
  });
}

/** The port that processes may share, if it is free. Rejects with an `OperatorError` otherwise. */
export async function findPort({ host, port }: Address): Promise<number> {
  const probe = new NetServer();
  await listening(probe, { host, port });
  const found = (probe.address() as AddressInfo).port;
  await new Promise((resolve) => probe.close(resolve));
  return found;
}

/** What the operator is told; `variable` is the setting to check, if it is not `PORT` or `HOST`. */
export function cannotListen(error: unknown, at: { host: string; port: number; variable?: string }): OperatorError {
  const { code } = error as NodeJS.ErrnoException;
  const reason = code === 'EADDRINUSE' ? 'the port is in use' : code === 'EACCES' ? 'permission denied' : code;
  const { variable = code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' ? 'HOST' : 'PORT' } = at;
  return new OperatorError(`Cannot listen on ${at.host}:${at.port} (${variable}): ${reason}`);
}

/** The replies that have begun or are due, by connection. */
interface Replies {
  /** The reply to the latest request of a connection, also a finished one. */
  latest(socket: Socket): ServerResponse | undefined;
  /** From now on each reply closes its connection. */
  closeConnections(): void;
  /** Resolves when every reply is with the system, or its connection is lost. */
  sent(): Promise<void>;
}

/** Stands before hapi's listeners, so call it once they are there. */
function watchReplies(listener: Listener, stallMs: number): Replies {
  const latest = new WeakMap<Socket, ServerResponse>();
  const open = new Set<ServerResponse>();
  let closing = false;
  let onSent: (() => void) | undefined;

  /** False if the request is not to be answered. */
  const begin = ({ socket }: IncomingMessage, response: ServerResponse): boolean => {
    const before = latest.get(socket);
    if (before && !before.writableEnded) {
      refusePipelined(before, socket);
      return false;
    }
    latest.set(socket, response);
    open.add(response);
    if (closing) response.shouldKeepAlive = false;
    response.on('close', () => {
      open.delete(response);
      if (open.size === 0) onSent?.();
    });
    return true;
  };
  for (const event of ['request', 'checkContinue']) {
    const handlers = listener.listeners(event);
    listener.removeAllListeners(event);
    listener.on(event, (request: IncomingMessage, response: ServerResponse) => {
      if (begin(request, response)) for (const handle of handlers) handle.call(listener, request, response);
    });
  }
  // Nothing was read or written for so long. Node knows about partial reads of one long write.
  listener.setTimeout(stallMs, (socket) => {
    const reply = latest.get(socket);
    const waitsForUs = reply !== undefined && !reply.writableFinished;
    if (!waitsForUs || socket.writableLength > 0) socket.destroy();
  });
  return {
    latest: (socket) => latest.get(socket),
    closeConnections() {
      closing = true;
    },
    async sent() {
      if (open.size === 0) return;
      await new Promise<void>((resolve) => {
        onSent = resolve;
      });
    },
  };
}

/** Requests that came before an earlier one was answered. */
const pipelined = new WeakMap<ServerResponse, number>();

/**
 * No client of ours pipelines, and a packet has room for thousands of requests: they are not answered, and the connection ends
 * with the reply that is due, or at once if there are many.
 */
function refusePipelined(due: ServerResponse, socket: Socket): void {
  const count = (pipelined.get(due) ?? 0) + 1;
  pipelined.set(due, count);
  if (count > PIPELINED_MAX) socket.destroy();
  else if (count === 1) {
    due.shouldKeepAlive = false;
    due.once('finish', () => socket.destroySoon());
  }
}

interface Closing {
  readonly drain: () => Promise<void>;
  readonly replies: Replies;
}

async function closeListener(listener: Listener, { drain, replies }: Closing): Promise<void> {
  // Idle connections stay open: a call from a proxy may be on its way.
  const closed = stopListening(listener);
  replies.closeConnections();
  await drain();
  const forced = setTimeout(() => listener.closeAllConnections(), LAST_WRITES_MS);
  await replies.sent();
  // The idle ones, and the timer that looks for late headers. A request whose head is still arriving gets its answer.
  listener.close();
  await closed;
  clearTimeout(forced);
}

const refused = new WeakSet<Socket>();

/** A complete request gets its reply before what follows it is refused: it may be a paid one. */
function afterReply(reply: ServerResponse | undefined, socket: Socket, refuse: () => void): void {
  // Anything else that arrives on the connection fails again.
  if (refused.has(socket)) return;
  refused.add(socket);
  if (!reply || reply.writableFinished) refuse();
  else if (reply.req.complete) {
    reply.once('finish', refuse);
    // Node has given up on the connection and would not report that the client left.
    socket.once('end', () => socket.destroy());
  } else if (reply.headersSent || reply.socket !== socket) socket.destroy();
  else refuse();
}

/** Input that is not HTTP never reaches hapi, but still gets an answer. */
function answerBadHttp({ code }: ClientError, asker: BadHttpAnswer): void {
  answerWithoutHapi({ reason: badHttpFault(code), what: code }, asker);
}

interface ClientError extends NodeJS.ErrnoException {
  /** What arrived last. */
  readonly rawPacket?: Buffer;
}

interface BadHttpAnswer {
  readonly socket: Socket;
  /** Empty if unknown. */
  readonly path: string;
  /** Of every reply. */
  readonly headers: Readonly<Record<string, string>>;
  readonly report: (refusal: BadHttp) => void;
  readonly styleAt: StyleAt;
}

const PATH_BYTES_MAX = 200;

/** The path of a request whose body breaks off, or of a packet that starts with a request line. */
function readRequestPath({ rawPacket }: ClientError, reply: ServerResponse | undefined): string {
  const unfinished = reply && !reply.req.complete ? `${reply.req.method} ${reply.req.url}` : undefined;
  const line = unfinished ?? rawPacket?.toString('latin1', 0, PATH_BYTES_MAX) ?? '';
  return /^[A-Z]+ ([^ ?]+)/.exec(line)?.[1] ?? '';
}

interface Refusal {
  readonly reason: Fault;
  readonly what: string | undefined;
}

function answerWithoutHapi({ reason, what }: Refusal, { socket, path, headers, report, styleAt }: BadHttpAnswer): void {
  // Its client has reset it.
  if (!socket.writable) return void socket.destroy();
  const { statusCode } = reason.output;
  const { id } = createRequestState();
  const style = styleAt(path);
  const { body, type } = style.renderFault(reason);
  const shared = Object.entries({ ...headers, ...style.headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const retry = reason.data?.retryable === false ? 'x-should-retry: false\r\n' : '';
  const advice = statusCode === 405 ? `${retry}allow: GET, POST, OPTIONS\r\n` : retry;
  socket.end(
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\nconnection: close\r\ncontent-type: ${type}\r\n` +
      `x-request-id: ${id}\r\nrequest-id: ${id}\r\n${shared.join('')}${advice}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  // A socket closed with unread bytes is reset, and the answer lost.
  const timer = setTimeout(() => socket.destroy(), REQUEST_DRAIN_MS);
  socket.resume().once('close', () => clearTimeout(timer));
  report({ request_id: id, status: statusCode, reason: what });
}

function badHttpFault(code: string | undefined): Fault {
  if (code === 'HPE_HEADER_OVERFLOW') return fault('headers_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fault('body_timeout');
  return fault('bad_http');
}
