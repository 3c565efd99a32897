// The HTTP server: hapi on a listener of our own, with limits on headers and connections and one way to render errors.
import { createServer as createListener, type Server as Listener, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import Hapi, { type Server } from '@hapi/hapi';
import { OperatorError } from '../config.ts';
import { messageFault } from '../dialects/message/fault.ts';
import { type Fault, fault } from '../faults.ts';

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  readonly headersTimeoutMs?: number;
}

export interface Http {
  readonly server: Server;
  /** Listens; rejects with an `OperatorError` when the address cannot be had. */
  start(): Promise<void>;
  /** Takes no new connection, waits for `drain`, then closes what is left. */
  close(drain: () => Promise<void>): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 75_000;
/** Bodies have limits of their own; this one only ends what nothing else does. */
const REQUEST_TIMEOUT_MS = 900_000;
/** What is left in socket buffers when the service stops gets so long. */
const LAST_WRITES_MS = 1000;
const HEADERS_BYTES_MAX = 32 * 1024;

export function createHttp({ host, port, headersTimeoutMs = HEADERS_TIMEOUT_MS }: HttpOptions): Http {
  const listener = createListener({
    headersTimeout: headersTimeoutMs,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(1000, headersTimeoutMs / 2),
    maxHeaderSize: HEADERS_BYTES_MAX,
    noDelay: true,
  });
  const server = Hapi.server({
    listener,
    address: host,
    port,
    compression: false,
    operations: { cleanStop: false },
    routes: {
      // Handlers read bodies themselves; hapi's limit would answer before the key was checked.
      payload: {
        parse: false,
        output: 'stream',
        maxBytes: Number.MAX_SAFE_INTEGER,
        timeout: false,
        failAction: 'ignore',
      },
      state: { parse: false, failAction: 'ignore' },
      timeout: { server: false, socket: false },
      log: { collect: false },
    },
  });
  listener.removeAllListeners('clientError');
  listener.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => answerBadHttp(error, socket));
  let draining = false;
  // A connection that lives on while the service stops is told to end with its reply.
  listener.prependListener('request', (_request, response) => {
    if (draining) response.shouldKeepAlive = false;
  });
  return {
    server,
    start: () => listen(server, { host, port }),
    close: async (drain) => {
      draining = true;
      await closeListener(listener, drain);
    },
  };
}

async function listen(server: Server, { host, port }: HttpOptions): Promise<void> {
  try {
    await server.start();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'the port is in use' : code === 'EACCES' ? 'it is not permitted' : code;
    throw new OperatorError(`Cannot listen on ${host}:${port}: ${reason}`);
  }
}

async function closeListener(listener: Listener, drain: () => Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
  await drain();
  listener.closeIdleConnections();
  const forced = setTimeout(() => listener.closeAllConnections(), LAST_WRITES_MS);
  await closed;
  clearTimeout(forced);
}

/** What is not HTTP never reaches hapi; it gets an answer all the same. */
function answerBadHttp(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const reason = badHttpFault(error.code);
  const { statusCode } = reason.output;
  const body = JSON.stringify(messageFault(reason));
  socket.end(
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function badHttpFault(code: string | undefined): Fault {
  if (code === 'HPE_HEADER_OVERFLOW') return fault('headers_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fault('body_timeout');
  return fault('bad_http');
}
