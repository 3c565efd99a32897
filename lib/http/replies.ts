// The replies in progress on each connection, which pipelined requests, stalled clients and a shutdown have to know.
import type { IncomingMessage, Server as Listener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { freeOwnBytes } from '../base/free-bytes.ts';
import { probeHalfClosed } from './half-closed.ts';

const PIPELINED_MAX = 16;
/** Of the body of each. */
const PIPELINED_BYTES_MAX = 1024 * 1024;

/** The replies in progress, by connection. */
export interface Replies {
  /** The reply to the latest request of a connection, even if it has finished. */
  latest(socket: Socket): ServerResponse | undefined;
  /** Makes every reply close its connection from now on. */
  closeConnections(): void;
  /** Resolves when every reply is passed to the system, or its connection is lost. */
  sent(): Promise<void>;
}

/** Wraps hapi's listeners: call it after hapi has added them. */
export function watchReplies(listener: Listener, stallMs: number): Replies {
  const latest = new WeakMap<Socket, ServerResponse>();
  const open = new Set<ServerResponse>();
  let closing = false;
  let onSent: (() => void) | undefined;

  /** Returns false if the request is not answered. */
  const begin = (request: IncomingMessage, response: ServerResponse): boolean => {
    const { socket } = request;
    const before = latest.get(socket);
    if (before && !before.writableEnded) {
      refusePipelined(before, request);
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
    // A stream looks at its client in shorter steps, of which Node tells the server, too.
    if (socket.timeout !== stallMs) return;
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
function refusePipelined(due: ServerResponse, request: IncomingMessage): void {
  const { socket } = request;
  const count = (pipelined.get(due) ?? 0) + 1;
  pipelined.set(due, count);
  if (count > PIPELINED_MAX) socket.destroy();
  else {
    dropBody(request);
    if (count > 1) return;
    due.shouldKeepAlive = false;
    due.once('finish', () => socket.destroySoon());
  }
}

/** Unread, it would keep Node from reading the socket: nobody would notice that the client has left. */
function dropBody(request: IncomingMessage): void {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    freeOwnBytes(chunk);
    if (bytes > PIPELINED_BYTES_MAX) request.socket.destroy();
  });
}
