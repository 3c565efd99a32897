// What undici does with a dispatcher's `connect` (its lib/core/connect.js): options it does not know are passed to
// `net.connect` and `tls.connect`, and a custom connector has to answer in a later turn.
import type { Socket } from 'node:net';
import { buildConnector, errors } from 'undici';

/** What each buffer on the way may hold for a reader that has stopped. */
const BUFFERED_BYTES = 16 * 1024;

/** The maximum of one socket read: each is also a write to the client, which costs as much as some 50 fragments. */
const READ_BYTES = 32 * 1024;

/**
 * All sockets read into one buffer and keep copies. By default Node allocates 64 KiB for every read, and small or
 * unread data keeps them alive.
 */
const onread = {
  buffer: Buffer.allocUnsafeSlow(READ_BYTES),
  /** Called by Node on the socket. */
  callback(this: Socket, bytes: number, buffer: Uint8Array): boolean {
    // Not from Node's pool: one small piece of it would keep 64 KiB.
    const chunk = Buffer.allocUnsafeSlow(bytes);
    chunk.set(buffer.subarray(0, bytes));
    return this.push(chunk);
  },
};

/** Connections that use little memory, with these options. */
export function withSmallBuffers(options: buildConnector.BuildOptions): buildConnector.BuildOptions {
  const unknown = { highWaterMark: BUFFERED_BYTES, onread };
  return { ...options, ...unknown };
}

/** Errors of sockets that had received something. */
const reusedConnectionErrors = new WeakSet<Error>();

/** A connector whose connections tell, when they break, whether they were used before. */
export function connectorTrackingReuse(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options);
  return (target, callback) =>
    connect(target, (...[error, socket]) => {
      if (error) {
        callback(error, null);
        return;
      }
      socket.on('error', noteReuse);
      callback(null, socket);
    });
}

/** Not a closure of every connection. */
function noteReuse(this: Socket, error: Error): void {
  if (this.bytesRead > 0) reusedConnectionErrors.add(error);
}

/** Whether a request failed on a connection that had answered another one before, and before its own reply began. */
export function failedAfterReuse(error: Error): boolean {
  if (error instanceof errors.SocketError) return Number(error.socket?.bytesRead) > 0;
  return reusedConnectionErrors.has(error);
}

/** A connector that hands out this connection once, and never makes another. */
export function connectOnce(socket: Socket): buildConnector.connector {
  let unused = true;
  return (_options, callback) => {
    // undici does not notice a connection that exists before it waits for one.
    if (unused) queueMicrotask(() => callback(null, socket));
    else queueMicrotask(() => callback(new Error('the only connection is over'), null));
    unused = false;
  };
}
