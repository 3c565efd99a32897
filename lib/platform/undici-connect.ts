// What undici does with the `connect` of a dispatcher (its lib/core/connect.js): options that it does not know go on to
// `net.connect` and `tls.connect`, and a connector of our own has to answer in a later turn.
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/** What each of the buffers on the way may hold for a reader that has stopped. */
const BUFFERED_BYTES = 16 * 1024;

/** What one read of a socket takes at the most. */
const READ_BYTES = 16 * 1024;

/**
 * All sockets read into one buffer and keep copies of what came. Left alone, Node allocates 64 KiB for every read, and
 * what is small or not read yet keeps them alive.
 */
const onread = {
  buffer: Buffer.allocUnsafeSlow(READ_BYTES),
  /** Node calls it on the socket. */
  callback(this: Socket, bytes: number, buffer: Uint8Array): boolean {
    // Not from Node's pool: one small piece of it would keep 64 KiB.
    const chunk = Buffer.allocUnsafeSlow(bytes);
    chunk.set(buffer.subarray(0, bytes));
    return this.push(chunk);
  },
};

/** Connections that hold little memory, besides what the options say. */
export function frugally(options: buildConnector.BuildOptions): buildConnector.BuildOptions {
  const unknown = { highWaterMark: BUFFERED_BYTES, onread };
  return { ...options, ...unknown };
}

/** A connector that hands out this connection once, and never makes another. */
export function connectOnce(socket: Socket): buildConnector.connector {
  let unused = true;
  return (_options, callback) => {
    // undici does not see a connection that is there before it waits for one.
    if (unused) queueMicrotask(() => callback(null, socket));
    else queueMicrotask(() => callback(new Error('the only connection is over'), null));
    unused = false;
  };
}
