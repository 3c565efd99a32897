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
   * A connection takes a place, and one more from its first byte on, for its upstream's. Beyond that, one that never
   * sent a request is closed, else the longest idle one, else the new one.
   */
  readonly placesMax: number;
  /** A client that reads nothing of a reply for this long is gone. */
  readonly stallMs: number;
  /** For how long an upstream connection outlives its call. */
  readonly upstreamsKeptMs?: number;
}

/** Descriptors for the store, the log, pictures that are fetched and whatever else a process opens. */
const KEPT_DESCRIPTORS = 64;
const KEPT_SHARE = 1 / 8;
const PLACES_MIN = 32;
/** Each costs memory too. */
const PLACES_MAX = 20_000;
/** Upstream connections are kept for 4 s after their last call. */
const UPSTREAMS_KEPT_MS = 5000;
/** Making a socket is work, most of all at first. */
export const SERVED_PER_TURN = 8;
/** How many checks for stalls per stall timeout. */
const STALL_STEPS = 8;
/** Our own listeners on a socket, besides one per call. */
const LISTENERS = 16;

/** So many that the rest of the process has what it needs. */
export function placesFor(descriptors: number): number {
  const places = Math.min(descriptors - KEPT_DESCRIPTORS, Math.floor(descriptors * (1 - KEPT_SHARE)));
  return Math.min(PLACES_MAX, Math.max(PLACES_MIN, places));
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
export function watchConnections(listener: Server, limits: ConnectionLimits): Connections {
  const { stallMs } = limits;
  const crowd = new Crowd(limits);
  const { all, silent, idle, served } = crowd;
  delaySockets(listener, (newcomer) => {
    if (crowd.placesLeft() < 1 && !crowd.dropIdle()) return undefined;
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
      for (const connection of all) if (crowd.isSilent(connection)) connection.drop();
    },
    count: () => all.size,
    sockets: () => [...served.keys()],
  };
}

class Crowd {
  readonly all = new Set<Connection>();
  /** Connections without a request, longest first: those that never sent one, and idle ones. */
  readonly silent = new Set<Connection>();
  readonly idle = new Set<Connection>();
  /** Those that have sent a byte. */
  readonly served = new Map<Socket, Connection>();
  readonly turns: Turns = createTurns();
  /** Whose socket is being made. */
  beginning: Connection | undefined;
  /** What newcomers have sent whose turn is yet to come. */
  readonly #arrived = new Map<Connection, Buffer>();
  #servedInTurn = 0;
  readonly #placesMax: number;
  readonly #mostServed: (count: number) => number;

  constructor({ placesMax, upstreamsKeptMs = UPSTREAMS_KEPT_MS }: ConnectionLimits) {
    this.#placesMax = placesMax;
    this.#mostServed = createPeak(upstreamsKeptMs);
  }

  /** Upstream connections outlive their calls, so places for them are kept for a while. */
  placesLeft(): number {
    return this.#placesMax - this.all.size - this.#mostServed(this.served.size);
  }

  /** Serves a newcomer whose first bytes are there, in this turn or a later one: of a crowd a few per turn. */
  serve(connection: Connection, bytes: Buffer): void {
    if (this.#servedInTurn === 0) setImmediate(this.#serveMore);
    if (this.#servedInTurn < SERVED_PER_TURN) {
      this.#servedInTurn += 1;
      connection.serve(bytes);
    } else {
      this.#arrived.set(connection, bytes);
    }
  }

  readonly #serveMore = (): void => {
    this.#servedInTurn = 0;
    for (const [connection, bytes] of this.#arrived) {
      if (this.#servedInTurn === SERVED_PER_TURN) break;
      this.#servedInTurn += 1;
      this.#arrived.delete(connection);
      connection.serve(bytes);
    }
    if (this.#servedInTurn > 0) setImmediate(this.#serveMore);
  };

  /** It has sent nothing yet. */
  isSilent(connection: Connection): boolean {
    return connection.isNewcomer() && !this.#arrived.has(connection);
  }

  forget(connection: Connection, socket: Socket | undefined): void {
    for (const connections of [this.all, this.silent, this.idle, this.#arrived]) connections.delete(connection);
    if (!socket) return;
    this.#mostServed(this.served.size);
    this.served.delete(socket);
  }

  /** Closes the one of least use, except this one; false if all others are in use. */
  dropIdle(but?: Connection): boolean {
    for (const connections of [this.silent, this.idle]) {
      for (const connection of connections) {
        if (connection === but) continue;
        connection.drop();
        return true;
      }
    }
    return false;
  }
}

/**
 * The greatest number of the last `ms` at least, and of the last `2 * ms` at most, if it is given after each rise and
 * before each fall.
 */
export function createPeak(ms: number, now: () => number = () => performance.now()): (count: number) => number {
  let [since, before, latest] = [now(), 0, 0];
  return (count) => {
    const agoMs = now() - since;
    if (agoMs >= ms) [since, before, latest] = [now(), agoMs < 2 * ms ? latest : 0, 0];
    latest = Math.max(latest, count);
    return Math.max(before, latest);
  };
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
    this.#crowd.serve(this, bytes);
  }

  serve(bytes: Buffer): void {
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
    if (this.#crowd.placesLeft() < 0 && !this.#crowd.dropIdle(this)) this.drop();
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
    this.#crowd.forget(this, this.#socket);
  }
}
