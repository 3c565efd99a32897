// The server's connections: how many are allowed, which are closed when there are too many, and which have stalled.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { takeOver } from '../platform/late-http.ts';
import { markOfTaken } from '../platform/socket-bytes.ts';
import { createFeed, type Feed, UNANSWERED_MAX } from './feed.ts';
import { createTurns } from './turns.ts';

export interface ConnectionLimits {
  /**
   * Maximum connections; beyond that, one that never sent a request is closed, else the longest idle one, else the new
   * one.
   */
  readonly connectionsMax: number;
  /** A client that reads nothing of a reply for this long is gone. */
  readonly stallMs: number;
}

/** Descriptors for the store, the log, the catalog and whatever else a process opens. */
const KEPT_DESCRIPTORS = 64;
const CONNECTIONS_MIN = 16;
/** Each costs memory too. */
const CONNECTIONS_MAX = 10_000;
/** How many checks for stalls per stall timeout. */
const STALL_STEPS = 8;
/** Our own listeners on a socket, besides one per call. */
const LISTENERS = 16;

/** So many that each can have an upstream connection and the rest of the process what it needs. */
export function connectionsFor(descriptors: number): number {
  const shared = Math.floor((descriptors - KEPT_DESCRIPTORS) / 2);
  return Math.min(CONNECTIONS_MAX, Math.max(CONNECTIONS_MIN, shared));
}

/** The process's limit of open files and sockets. */
export function readDescriptorLimit(): number {
  const limit = Number(/^Max open files +(\d+|unlimited)/m.exec(readLimits())?.[1]?.replace('unlimited', 'Infinity'));
  return limit > 0 ? limit : 1024;
}

/** As Linux writes it, also where only a shell can be asked. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return `Max open files ${askShell()}`;
  }
}

function askShell(): string {
  try {
    return execFileSync('/bin/sh', ['-c', 'ulimit -n'], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

interface Connection {
  readonly feed: Feed;
  /** What its client had read at the last check, and since when. */
  taken: number;
  takenAt: number;
}

/** One that has not sent a byte: when it came. */
type Newcomer = number;

export interface Connections {
  /** Closes those that have not sent a byte, which the listener does not know of. */
  closeNewcomers(): void;
  /** All of them, newcomers too. */
  sockets(): readonly Socket[];
}

/** Watches the connections of a listener that handles `checkContinue` like `request`, as hapi's does. */
export function watchConnections(listener: Server, { connectionsMax, stallMs }: ConnectionLimits): Connections {
  const all = new Map<Socket, Connection | Newcomer>();
  // One that says nothing needs neither a parser nor a feed.
  const serve = takeOver(listener);
  const turns = createTurns();
  /** Connections without a request, longest first: those that never sent one, and idle ones. */
  const silent = new Set<Socket>();
  const idle = new Set<Socket>();

  function dropIdle(): boolean {
    const [longest] = silent.size > 0 ? silent : idle;
    if (!longest) return false;
    // A reset leaves nothing behind that has to time out, as an end does: they may come by thousands a second.
    if (isNewcomer(longest)) longest.resetAndDestroy();
    else longest.destroy();
    forget(longest);
    return true;
  }

  function isNewcomer(socket: Socket): boolean {
    return typeof all.get(socket) === 'number';
  }

  function forget(socket: Socket): void {
    all.delete(socket);
    silent.delete(socket);
    idle.delete(socket);
  }

  listener.on('connection', (socket) => {
    if (all.size >= connectionsMax && !dropIdle()) {
      socket.destroy();
      return;
    }
    all.set(socket, performance.now());
    silent.add(socket);
    // Not `once`, which takes three times the memory: it happens only once.
    socket.on('close', onClose);
    socket.on('error', ignore).on('data', onFirstBytes).on('end', onEarlyEnd);
  });
  function onClose(this: Socket): void {
    forget(this);
  }
  function onFirstBytes(this: Socket, bytes: Buffer): void {
    serve(this);
    this.off('data', onFirstBytes).off('end', onEarlyEnd).off('error', ignore);
    this.setMaxListeners(LISTENERS + UNANSWERED_MAX);
    const feed = createFeed(this, turns);
    all.set(this, { feed, taken: Number.NaN, takenAt: 0 });
    feed.take(bytes);
  }
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const feed = feedOf(socket);
    if (!feed) return;
    feed.begin(request);
    silent.delete(socket);
    idle.delete(socket);
    response.on('close', () => {
      feed.answered();
      if (feed.unanswered() === 0 && all.has(socket)) idle.add(socket);
    });
  };
  for (const event of ['request', 'checkContinue']) listener.prependListener(event, onRequest);
  function feedOf(socket: Socket): Feed | undefined {
    const connection = all.get(socket);
    return typeof connection === 'object' ? connection.feed : undefined;
  }
  const stop = (socket: Socket) => feedOf(socket)?.stop();
  listener.prependListener('clientError', (_error, socket) => stop(socket as Socket));
  listener.prependListener('connect', (_request, socket) => stop(socket as Socket));

  const look = () => {
    const now = performance.now();
    for (const [socket, connection] of all) {
      if (typeof connection === 'number' ? connection < now - listener.headersTimeout : stalls(socket, connection, now))
        socket.destroy();
    }
  };
  const stalls = (socket: Socket, connection: Connection, now: number) =>
    socket.writableLength > 0 && hasStalled(socket, connection, now - stallMs);
  const looking = setInterval(look, Math.ceil(Math.min(stallMs, listener.headersTimeout) / STALL_STEPS)).unref();
  listener.once('close', () => clearInterval(looking));
  return {
    closeNewcomers() {
      for (const socket of all.keys()) if (isNewcomer(socket)) socket.destroy();
    },
    sockets: () => [...all.keys()],
  };
}

function ignore(): void {
  // It is closed too.
}

/** The client has ended it before its first byte. */
function onEarlyEnd(this: Socket): void {
  this.destroy();
}

/** Whether the client has read nothing since then. */
function hasStalled(socket: Socket, connection: Connection, since: number): boolean {
  const taken = markOfTaken(socket);
  if (taken === connection.taken) return connection.takenAt < since;
  connection.taken = taken;
  connection.takenAt = performance.now();
  return false;
}
