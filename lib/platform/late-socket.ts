// A listener's connections before their first byte, without a `net.Socket`, whose objects take some kilobytes each and
// outlive young garbage: a client that opens connections and says nothing may come by thousands a second. Node makes
// the socket in the callback that its handle has for new connections (`onconnection` in lib/net.js) and lets the server
// serve it; the callback may as well be called later.
import assert from 'node:assert/strict';
import type { Server } from 'node:net';

/**
 * Of a `TCP` object of Node: `onread` gets memory that begins with the bytes, or nothing when the client has ended or reset the
 * connection.
 */
interface Handle {
  readonly bytesRead: number;
  onread: (this: Handle, bytes: ArrayBuffer | undefined) => void;
  readStart(): number;
  readStop(): number;
  close(): void;
  reset(): number;
  [NEWCOMER]?: Waiting | undefined;
}

interface ListenHandle {
  onconnection: (this: ListenHandle, error: number, handle: Handle | undefined) => void;
}

interface Internals {
  readonly _handle: ListenHandle;
  _connections: number;
  _emitCloseIfDrained(): void;
}

const NEWCOMER = Symbol('a connection without a socket');

/** What becomes of a newcomer. */
export interface Arrival {
  /** Its first bytes, once. `serve` is yet to be called, now or later. */
  onBytes(bytes: Buffer): void;
  /** Its client ended or reset it before that. */
  onGone(): void;
}

export interface Newcomer {
  /** The listener emits `connection` with its socket. */
  serve(): void;
  /** Closes it with a reset, which leaves nothing behind that has to time out as an end does. */
  reset(): void;
}

/**
 * From now on the listener's connections come to `accept` first, which may answer undefined for one that is to be closed at
 * once. Call it before the listener listens.
 */
export function delaySockets(listener: Server, accept: (newcomer: Newcomer) => Arrival | undefined): void {
  listener.on('listening', () => {
    const internals = listener as unknown as Internals;
    const listening = internals._handle;
    const serve = listening.onconnection;
    assert(typeof serve === 'function', 'Node has a callback for connections');
    listening.onconnection = (error, handle) => {
      if (error || !handle) serve.call(listening, error, handle);
      else new Waiting(handle, { listening, serve, internals }).begin(accept);
    };
  });
}

interface Listening {
  readonly listening: ListenHandle;
  readonly serve: ListenHandle['onconnection'];
  readonly internals: Internals;
}

/** A class, because there may be many: closures would take several times the memory. */
class Waiting implements Newcomer {
  readonly #handle: Handle;
  readonly #listening: Listening;
  #arrival: Arrival | undefined;

  constructor(handle: Handle, listening: Listening) {
    this.#handle = handle;
    this.#listening = listening;
    // Whoever closes the listener waits for it like for any other.
    listening.internals._connections += 1;
  }

  begin(accept: (newcomer: Newcomer) => Arrival | undefined): void {
    const handle = this.#handle;
    this.#arrival = accept(this);
    if (!this.#arrival) {
      this.#close();
      return;
    }
    handle[NEWCOMER] = this;
    handle.onread = onRead;
    // Refused only to what is closed already.
    if (handle.readStart() !== 0) this.take(undefined);
  }

  /** Nothing, if it is gone. */
  take(bytes: ArrayBuffer | undefined): void {
    const arrival = this.#arrival;
    this.#arrival = undefined;
    if (!arrival) return;
    if (bytes) {
      this.#handle.readStop();
      // The memory may be longer than what was read into it.
      arrival.onBytes(Buffer.from(bytes, 0, this.#handle.bytesRead));
    } else {
      this.#close();
      arrival.onGone();
    }
  }

  serve(): void {
    const { listening, serve, internals } = this.#listening;
    internals._connections -= 1;
    this.#handle[NEWCOMER] = undefined;
    serve.call(listening, 0, this.#handle);
  }

  reset(): void {
    this.#arrival = undefined;
    if (this.#handle.reset() === 0) this.#forget();
    else this.#close();
  }

  #close(): void {
    this.#handle.close();
    this.#forget();
  }

  #forget(): void {
    const { internals } = this.#listening;
    internals._connections -= 1;
    internals._emitCloseIfDrained();
  }
}

function onRead(this: Handle, bytes: ArrayBuffer | undefined): void {
  this[NEWCOMER]?.take(bytes);
}
