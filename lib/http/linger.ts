// Lets a client that is still sending read an early answer: closing a socket with unread bytes resets it, and loses the
// answer.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { freeOwn } from '../platform/free-bytes.ts';
import { onLastReply } from '../platform/last-reply.ts';

const LINGER_MS = 2000;
/** For all connections together: enough for one client, but no flood can keep the event loop busy. */
const BYTES_PER_STEP = 2 * 1024 * 1024;
const STEP_MS = 50;

/** Call before the reply is sent: the socket is then closed only for writing, and read for a while longer. */
export function linger(request: IncomingMessage): void {
  const { socket } = request;
  // Unread bytes would turn the close into a reset.
  onLastReply(socket, () => {
    socket.end();
    swallow(socket);
    destroyLater(socket);
  });
}

/** What may still be swallowed in this step. */
let bytesLeft = BYTES_PER_STEP;
const paused = new Set<Socket>();
let stepping: NodeJS.Timeout | undefined;

/** Reads raw bytes: parsed as chunks of a body, each would cost as much as a whole request. */
function swallow(socket: Socket): void {
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    stepping ??= setInterval(step, STEP_MS).unref();
    bytesLeft -= chunk.length;
    freeOwn(chunk);
    if (bytesLeft < 0) {
      socket.pause();
      paused.add(socket);
    }
  });
  socket.resume();
}

function step(): void {
  if (bytesLeft === BYTES_PER_STEP) {
    clearInterval(stepping);
    stepping = undefined;
  }
  bytesLeft = Math.min(BYTES_PER_STEP, bytesLeft + BYTES_PER_STEP);
  for (const socket of paused) {
    if (bytesLeft < 0) break;
    paused.delete(socket);
    socket.resume();
  }
}

/** A connection that we have ended is closed even if the client never ends it. */
export function destroyLater(socket: Socket): void {
  const timer = setTimeout(() => closeInTurn(socket), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Closed one per turn: closing takes the system up to a millisecond if much is unread. */
const closing = new Set<Socket>();

function closeInTurn(socket: Socket): void {
  if (closing.size === 0) setImmediate(closeNext);
  closing.add(socket);
}

function closeNext(): void {
  const next = closing.values().next().value as Socket;
  closing.delete(next);
  next.destroy();
  if (closing.size > 0) setImmediate(closeNext);
}
