// The HTTP server: hapi on a listener of our own, with limits on headers and connections and one way to render errors.
import type { Server as Listener, ServerResponse } from 'node:http';
import { type AddressInfo, type ListenOptions, Server as NetServer, type Socket } from 'node:net';
import Hapi, { type Server } from '@hapi/hapi';
import { type Fault, fault } from '../faults.ts';
import { readProxies } from '../network.ts';
import { OperatorError } from '../operator-error.ts';
import { createServer as createListener, STATUS_CODES } from '../platform/node-http.ts';
import { stopListening } from '../platform/stop-listening.ts';
import { type Connections, placesFor, readDescriptorLimit, watchConnections } from './connections.ts';
import { openState } from './context.ts';
import type { FaceAt } from './face.ts';
import { securityHeaders } from './headers.ts';
import { destroyLater } from './linger.ts';

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  /** Other processes of this start listen there too. */
  readonly sharesPort?: boolean;
  readonly headersTimeoutMs?: number | undefined;
  /** A client that reads nothing of a reply for this long is gone. */
  readonly stallMs?: number;
  /** For connections; defaults to what the descriptor limit allows. */
  readonly placesMax?: number;
  /** Called for input that was not an HTTP request, which nothing else logs. */
  readonly onBadHttp?: (refusal: BadHttp) => void;
  /** How requests without a route, and input that is not HTTP, are answered. */
  readonly faceAt: FaceAt;
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
  /** Listens; rejects with an `OperatorError` if the address is not available. */
  start(): Promise<void>;
  /** Accepts no new connections, waits for `drain`, then closes the rest. */
  close(drain: () => Promise<void>): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 75_000;
const STALL_MS = 60_000;
/** Bodies have their own limits; this is the last resort. */
const REQUEST_TIMEOUT_MS = 900_000;
/** How long socket buffers may take to drain at shutdown. */
const LAST_WRITES_MS = 1000;
const HEADERS_BYTES_MAX = 32 * 1024;
/** How much may wait for a slow client before its upstream is paused. */
const BUFFERED_BYTES = 16 * 1024;

export function createHttp(options: HttpOptions): Http {
  const { host, port, headersTimeoutMs = HEADERS_TIMEOUT_MS, stallMs = STALL_MS, onBadHttp, faceAt } = options;
  const { placesMax = placesFor(readDescriptorLimit()), sharesPort = false, trustedProxies = '' } = options;
  const headers = securityHeaders(options.publicUrl ?? '');
  const listener = openListener(headersTimeoutMs);
  const connections = watchConnections(listener, { placesMax, stallMs });
  const server = Hapi.server({
    listener,
    // It would check the address with an expression that takes a thirtieth of a start to compile.
    autoListen: false,
    app: { faceAt, headers, trustedProxies: readProxies(trustedProxies) },
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
  let draining = false;
  /** The reply to the latest request of each connection. */
  const latest = new WeakMap<Socket, ServerResponse>();
  listener.prependListener('request', (request, response) => {
    latest.set(request.socket, response);
    // A connection that outlives the shutdown is told to close with its reply.
    if (draining) response.shouldKeepAlive = false;
  });
  listener.on('checkExpectation', (request, response) => listener.emit('request', request, response));
  listener.removeAllListeners('clientError');
  listener.on('clientError', (error: ClientError, socket: Socket) => {
    const reply = latest.get(socket);
    const path = pathOf(error, reply);
    afterReply(reply, socket, () => answerBadHttp(error, { socket, path, headers, onBadHttp, faceAt }));
  });
  listener.on('connect', (_request, socket: Socket) => {
    // Node has abandoned the socket: an unhandled error would end the process, and unread bytes hide its end.
    socket.on('error', () => undefined).resume();
    const reason = fault('method_not_allowed', { hint: 'GET or POST' });
    const refusal = { reason, what: 'CONNECT' };
    const asker = { socket, path: '', headers, onBadHttp, faceAt };
    afterReply(latest.get(socket), socket, () => answerPastHapi(refusal, asker));
  });
  return {
    server,
    start: () => listen(server, listener, { host, port, sharesPort }),
    close: async (drain) => {
      draining = true;
      await closeListener(listener, { drain, connections, latest });
    },
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
const HANDED_OUT: ReadonlySet<string> = new Set(['linux', 'freebsd']);

async function listen(server: Server, listener: Listener, { host, port, sharesPort = false }: Address): Promise<void> {
  await server.start();
  const reusePort = sharesPort && HANDED_OUT.has(process.platform);
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

interface Closing {
  readonly drain: () => Promise<void>;
  readonly connections: Connections;
  /** The reply to the latest request of each connection. */
  readonly latest: WeakMap<Socket, ServerResponse>;
}

async function closeListener(listener: Listener, { drain, connections, latest }: Closing): Promise<void> {
  // Idle connections stay open: a call from a proxy may be on its way.
  const closed = stopListening(listener);
  await drain().finally(connections.closeNewcomers);
  const forced = setTimeout(() => listener.closeAllConnections(), LAST_WRITES_MS);
  // Node takes a connection for idle although its reply is not sent in full.
  await Promise.all(connections.sockets().map((socket) => sent(latest.get(socket))));
  // Now the idle ones too, and the timer that checks for slow ones.
  listener.close();
  await closed;
  clearTimeout(forced);
}

/** Resolves when a reply that has ended is with the system, or its connection is lost. */
async function sent(reply: ServerResponse | undefined): Promise<void> {
  if (reply?.writableEnded && !reply.closed) await new Promise((resolve) => reply.once('close', resolve));
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
function answerBadHttp({ code }: ClientError, asker: Asker): void {
  answerPastHapi({ reason: badHttpFault(code), what: code }, asker);
}

interface ClientError extends NodeJS.ErrnoException {
  /** What arrived last. */
  readonly rawPacket?: Buffer;
}

interface Asker {
  readonly socket: Socket;
  /** Empty if unknown. */
  readonly path: string;
  /** Of every reply. */
  readonly headers: Readonly<Record<string, string>>;
  readonly onBadHttp: HttpOptions['onBadHttp'];
  readonly faceAt: FaceAt;
}

const PATH_BYTES_MAX = 200;

/** The path of a request whose body breaks off, or of a packet that starts with a request line. */
function pathOf({ rawPacket }: ClientError, reply: ServerResponse | undefined): string {
  const unfinished = reply && !reply.req.complete ? `${reply.req.method} ${reply.req.url}` : undefined;
  const line = unfinished ?? rawPacket?.toString('latin1', 0, PATH_BYTES_MAX) ?? '';
  return /^[A-Z]+ ([^ ?]+)/.exec(line)?.[1] ?? '';
}

interface Refusal {
  readonly reason: Fault;
  readonly what: string | undefined;
}

function answerPastHapi({ reason, what }: Refusal, { socket, path, headers, onBadHttp, faceAt }: Asker): void {
  // Its client has reset it.
  if (!socket.writable) return void socket.destroy();
  const { statusCode } = reason.output;
  const { id } = openState();
  const face = faceAt(path);
  const { body, type } = face.renderFault(reason);
  const shared = Object.entries({ ...headers, ...face.headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const retry = reason.data?.retryable === false ? 'x-should-retry: false\r\n' : '';
  const advice = statusCode === 405 ? `${retry}allow: GET, POST, OPTIONS\r\n` : retry;
  socket.end(
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\nconnection: close\r\ncontent-type: ${type}\r\n` +
      `x-request-id: ${id}\r\nrequest-id: ${id}\r\n${shared.join('')}${advice}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  destroyLater(socket);
  onBadHttp?.({ request_id: id, status: statusCode, reason: what });
}

function badHttpFault(code: string | undefined): Fault {
  if (code === 'HPE_HEADER_OVERFLOW') return fault('headers_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fault('body_timeout');
  return fault('bad_http');
}
