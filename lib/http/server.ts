// The HTTP server: hapi on a listener of our own, with limits on headers and connections and one way to render errors.
import type { IncomingMessage, Server as Listener, ServerResponse } from 'node:http';
import { type AddressInfo, type ListenOptions, Server as NetServer, type Socket } from 'node:net';
import Hapi, { type Server } from '@hapi/hapi';
import { type Fault, fault } from '../base/faults.ts';
import { readProxies } from '../base/network.ts';
import { OperatorError } from '../base/operator-error.ts';
import { allowHalfOpen, createServer as createListener, STATUS_CODES } from '../platform/http-server.ts';
import { connectionsFor, readDescriptorLimit } from './descriptors.ts';
import { REQUEST_DRAIN_MS } from './early-reply.ts';
import { probeHalfClosed } from './half-closed.ts';
import { securityHeaders } from './headers.ts';
import { createRequestState } from './request-state.ts';
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

export interface BadHttp {
  readonly request_id: string;
  readonly status: number;
  readonly reason: string | undefined;
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
const KEEP_ALIVE_MS = 75_000;
/** Then the reply says `connection: close`, which frees the memory that a long-lived connection gathers. */
const REQUESTS_PER_CONNECTION_MAX = 10_000;
const STALL_MS = 60_000;
/** A last resort: bodies have their own limits. */
const REQUEST_TIMEOUT_MS = 900_000;
const PIPELINED_MAX = 16;
/** How long socket buffers may take to drain at shutdown. */
const LAST_WRITES_MS = 1000;
const HEADERS_BYTES_MAX = 32 * 1024;
/** Bytes buffered for a slow client before the upstream is paused. */
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
  let report: BadHttpAnswer['report'] = () => undefined;
  listener.on('checkExpectation', (request, response) => listener.emit('request', request, response));
  listener.removeAllListeners('clientError');
  listener.on('clientError', (error: ClientError, socket: Socket) => {
    const reply = replies.latest(socket);
    const path = readRequestPath(error, reply);
    afterReply(reply, socket, () => answerBadHttp(error, { socket, path, headers, report, styleAt }));
  });
  listener.on('connect', (_request, socket: Socket) => {
    // Node no longer handles the socket: an unhandled error would end the process, and unread bytes would delay `end`.
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

/** The replies in progress, by connection. */
interface Replies {
  /** The reply to the latest request of a connection, even if it has finished. */
  latest(socket: Socket): ServerResponse | undefined;
  /** Makes every reply close its connection from now on. */
  closeConnections(): void;
  /** Resolves when every reply is passed to the system, or its connection is lost. */
  sent(): Promise<void>;
}

/** Wraps hapi's listeners: call it after hapi has added them. */
function watchReplies(listener: Listener, stallMs: number): Replies {
  const latest = new WeakMap<Socket, ServerResponse>();
  const open = new Set<ServerResponse>();
  let closing = false;
  let onSent: (() => void) | undefined;

  /** Returns false if the request is not answered. */
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
  const onClientEnd = function (this: Socket) {
    const reply = latest.get(this);
    if (reply?.req.complete && !reply.writableFinished) probeHalfClosed(reply);
  };
  listener.on('connection', (socket: Socket) => void socket.on('end', onClientEnd));
  // Fires after `stallMs` without reads or writes. Node counts partial progress of one long write.
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

/** Requests that came before an earlier one was answered, counted by the reply that is due. */
const pipelined = new WeakMap<ServerResponse, number>();

/**
 * Pipelined requests are not answered: no known client sends them, and a packet has room for thousands. The connection
 * is closed after the reply that is due, or at once if there are many.
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

const refused = new WeakSet<Socket>();

/** Waits for the reply to a complete request, which may be a paid call, before refusing what follows it. */
function afterReply(reply: ServerResponse | undefined, socket: Socket, refuse: () => void): void {
  // Every further packet of the connection is an error, too.
  if (refused.has(socket)) return;
  refused.add(socket);
  if (!reply || reply.writableFinished) refuse();
  else if (reply.req.complete) {
    reply.once('finish', refuse);
    // Node no longer reports when this client disconnects.
    socket.once('end', () => socket.destroy());
  } else if (reply.headersSent || reply.socket !== socket) socket.destroy();
  else refuse();
}

/** Input that is not HTTP never reaches hapi, but is still answered. */
function answerBadHttp({ code }: ClientError, asker: BadHttpAnswer): void {
  answerWithoutHapi({ reason: badHttpFault(code), what: code }, asker);
}

interface ClientError extends NodeJS.ErrnoException {
  /** The last packet. */
  readonly rawPacket?: Buffer;
}

interface BadHttpAnswer {
  readonly socket: Socket;
  /** Of the request; empty if unknown. */
  readonly path: string;
  /** Sent with every reply. */
  readonly headers: Readonly<Record<string, string>>;
  readonly report: (refusal: BadHttp) => void;
  readonly styleAt: StyleAt;
}

const PATH_BYTES_MAX = 200;

/** The path of the request whose body broke off, or of the request line at the start of the packet. */
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
  // The client has reset the connection.
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
  // A socket closed with unread bytes is reset, and the client would lose the reply.
  const timer = setTimeout(() => socket.destroy(), REQUEST_DRAIN_MS);
  socket.resume().once('close', () => clearTimeout(timer));
  report({ request_id: id, status: statusCode, reason: what });
}

function badHttpFault(code: string | undefined): Fault {
  if (code === 'HPE_HEADER_OVERFLOW') return fault('headers_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fault('body_timeout');
  return fault('bad_http');
}
