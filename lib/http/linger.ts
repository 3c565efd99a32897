// Lets a client that is still sending read an early answer: closing a socket with unread bytes resets it, and loses the
// answer.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { freeOwn } from '../platform/free-bytes.ts';
import { onLastReply } from '../platform/last-reply.ts';

const LINGER_MS = 2000;
const MIB = 1024 * 1024;
const STEP_MS = 50;
/** Of all connections together: no burst keeps the event loop busy for long. */
const BYTES_PER_STEP = 2 * MIB;
/** One body of the greatest length at that pace, so that its client can send all of it. */
const BYTES_SAVED = 48 * MIB;
/** From then on 8 MiB a second: no flood keeps it busy at all. */
const BYTES_AGAIN = (8 * MIB * STEP_MS) / 1000;

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

export interface Allowance {
  /** Counts bytes that were read. */
  take(bytes: number): void;
  /** Whether more may be read now. */
  isLeft(): boolean;
  /** A step is over. False if nothing had been taken for long enough. */
  step(): boolean;
}

/** How much may be swallowed: so much in this step, and so much in the long run. */
export function createAllowance(): Allowance {
  let left = BYTES_PER_STEP;
  let saved = BYTES_SAVED;
  return {
    take(bytes) {
      left -= bytes;
      saved -= bytes;
    },
    isLeft: () => left > 0 && saved > 0,
    step() {
      const wasFull = saved === BYTES_SAVED;
      left = Math.min(BYTES_PER_STEP, left + BYTES_PER_STEP);
      saved = Math.min(BYTES_SAVED, saved + BYTES_AGAIN);
      return !wasFull;
    },
  };
}

const allowance = createAllowance();
const paused = new Set<Socket>();
let stepping: NodeJS.Timeout | undefined;

/** Reads raw bytes: parsed as chunks of a body, each would cost as much as a whole request. */
function swallow(socket: Socket): void {
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    stepping ??= setInterval(step, STEP_MS).unref();
    allowance.take(chunk.length);
    freeOwn(chunk);
    if (allowance.isLeft()) return;
    socket.pause();
    paused.add(socket);
  });
  socket.resume();
}

function step(): void {
  if (!allowance.step()) {
    clearInterval(stepping);
    stepping = undefined;
  }
  for (const socket of paused) {
    if (!allowance.isLeft()) break;
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
