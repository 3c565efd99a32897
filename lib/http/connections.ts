// The server's connections: how many are allowed, which are closed when there are too many, and which have stalled.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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

/** Watches the connections of a listener that handles `checkContinue` like `request`, as hapi's does. */
export function watchConnections(listener: Server, { connectionsMax, stallMs }: ConnectionLimits): void {
  const all = new Map<Socket, Connection>();
  const turns = createTurns();
  /** Connections without a request, longest first: those that never sent one, and idle ones. */
  const silent = new Set<Socket>();
  const idle = new Set<Socket>();

  function dropIdle(): boolean {
    const [longest] = silent.size > 0 ? silent : idle;
    if (!longest) return false;
    forget(longest);
    longest.destroy();
    return true;
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
    socket.setMaxListeners(LISTENERS + UNANSWERED_MAX);
    all.set(socket, { feed: createFeed(socket, turns), taken: Number.NaN, takenAt: 0 });
    silent.add(socket);
    // Not `once`, which takes three times the memory: it happens only once.
    socket.on('close', () => forget(socket));
  });
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const feed = all.get(socket)?.feed;
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
  const stop = (socket: Socket) => all.get(socket)?.feed.stop();
  listener.prependListener('clientError', (_error, socket) => stop(socket as Socket));
  listener.prependListener('connect', (_request, socket) => stop(socket as Socket));

  const look = () => {
    const now = performance.now();
    for (const [socket, connection] of all) {
      if (socket.writableLength > 0 && hasStalled(socket, connection, now - stallMs)) socket.destroy();
    }
  };
  const looking = setInterval(look, Math.ceil(stallMs / STALL_STEPS)).unref();
  listener.once('close', () => clearInterval(looking));
}

/** Whether the client has read nothing since then. */
function hasStalled(socket: Socket, connection: Connection, since: number): boolean {
  const taken = markOfTaken(socket);
  if (taken === connection.taken) return connection.takenAt < since;
  connection.taken = taken;
  connection.takenAt = performance.now();
  return false;
}
