// The server's connections: how many are allowed, which are closed when there are too many, and which have stalled.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Arrival, delaySockets, type Newcomer } from '../platform/late-socket.ts';
import { markOfTaken } from '../platform/socket-bytes.ts';
import { createFeed, type Feed, UNANSWERED_MAX } from './feed.ts';
import { createTurns, type Turns } from './turns.ts';

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

export interface Connections {
  /** Closes those that have not sent a byte, which the listener's own methods do not know of. */
  closeNewcomers(): void;
  /** How many there are, newcomers too. */
  count(): number;
  /** Of all but newcomers. */
  sockets(): readonly Socket[];
}

/** Watches the connections of a listener that handles `checkContinue` like `request`, as hapi's does. */
export function watchConnections(listener: Server, { connectionsMax, stallMs }: ConnectionLimits): Connections {
  const crowd: Crowd = { all: new Set(), silent: new Set(), idle: new Set(), served: new Map(), turns: createTurns() };
  const { all, silent, idle, served } = crowd;

  function dropIdle(): boolean {
    const [longest] = silent.size > 0 ? silent : idle;
    longest?.drop();
    return longest !== undefined;
  }

  delaySockets(listener, (newcomer) => {
    if (all.size >= connectionsMax && !dropIdle()) return undefined;
    return new Connection(crowd, newcomer);
  });
  listener.on('connection', (socket) => {
    crowd.beginning?.begin(socket);
  });
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const connection = served.get(request.socket);
    const feed = connection?.feed;
    if (!connection || !feed) return;
    feed.begin(request);
    silent.delete(connection);
    idle.delete(connection);
    response.on('close', () => {
      feed.answered();
      if (feed.unanswered() === 0 && all.has(connection)) idle.add(connection);
    });
  };
  for (const event of ['request', 'checkContinue']) listener.prependListener(event, onRequest);
  const stop = (socket: Socket) => served.get(socket)?.feed?.stop();
  listener.prependListener('clientError', (_error, socket) => stop(socket as Socket));
  listener.prependListener('connect', (_request, socket) => stop(socket as Socket));

  const look = () => {
    const now = performance.now();
    for (const connection of all) {
      if (connection.isNewcomer() ? connection.at < now - listener.headersTimeout : connection.stalls(now, stallMs))
        connection.drop();
    }
  };
  const looking = setInterval(look, Math.ceil(Math.min(stallMs, listener.headersTimeout) / STALL_STEPS)).unref();
  listener.once('close', () => clearInterval(looking));
  return {
    closeNewcomers() {
      for (const connection of all) if (connection.isNewcomer()) connection.drop();
    },
    count: () => all.size,
    sockets: () => [...served.keys()],
  };
}

interface Crowd {
  readonly all: Set<Connection>;
  /** Connections without a request, longest first: those that never sent one, and idle ones. */
  readonly silent: Set<Connection>;
  readonly idle: Set<Connection>;
  /** Those that have sent a byte. */
  readonly served: Map<Socket, Connection>;
  readonly turns: Turns;
  /** Whose socket is being made. */
  beginning?: Connection | undefined;
}

/** A class, because there may be thousands a second: see `SocketFeed`. */
class Connection implements Arrival {
  readonly at = performance.now();
  readonly #crowd: Crowd;
  /** Until its first byte. */
  #newcomer: Newcomer | undefined;
  #socket: Socket | undefined;
  feed: Feed | undefined;
  /** What its client had read at the last check, and since when. */
  #taken = Number.NaN;
  #takenAt = 0;

  constructor(crowd: Crowd, newcomer: Newcomer) {
    this.#crowd = crowd;
    this.#newcomer = newcomer;
    crowd.all.add(this);
    crowd.silent.add(this);
  }

  isNewcomer(): boolean {
    return this.#socket === undefined;
  }

  onBytes(bytes: Buffer): void {
    const crowd = this.#crowd;
    crowd.beginning = this;
    this.#newcomer?.serve();
    crowd.beginning = this.#newcomer = undefined;
    this.feed?.take(bytes);
  }

  onGone(): void {
    this.#forget();
  }

  begin(socket: Socket): void {
    const { served, turns } = this.#crowd;
    this.#socket = socket;
    served.set(socket, this);
    socket.on('close', () => this.#forget()).setMaxListeners(LISTENERS + UNANSWERED_MAX);
    this.feed = createFeed(socket, turns);
  }

  /** Whether the client has read nothing of what waits for it for so long. */
  stalls(now: number, stallMs: number): boolean {
    const socket = this.#socket;
    if (!socket || socket.writableLength === 0) return false;
    const taken = markOfTaken(socket);
    if (taken === this.#taken) return this.#takenAt < now - stallMs;
    this.#taken = taken;
    this.#takenAt = now;
    return false;
  }

  drop(): void {
    if (this.#socket) this.#socket.destroy();
    else this.#newcomer?.reset();
    this.#forget();
  }

  #forget(): void {
    const { all, silent, idle, served } = this.#crowd;
    all.delete(this);
    silent.delete(this);
    idle.delete(this);
    if (this.#socket) served.delete(this.#socket);
  }
}
