// Custom connectors of undici (its lib/core/connect.js): options it does not know are passed to `net.connect` and
// `tls.connect`, and a connector must call back in a later tick.
import type { Socket } from 'node:net';
import { buildConnector, errors } from 'undici';

/** Bytes that each buffer holds while the reader has stopped. */
const BUFFERED_BYTES = 16 * 1024;

/** The maximum of one socket read. Each read is also a write to the client, which costs as much as some 50 fragments. */
const READ_BYTES = 32 * 1024;

/** All sockets read into one buffer and keep copies: by default Node allocates 64 KiB per read, kept alive by any slice. */
const onread = {
  buffer: Buffer.allocUnsafeSlow(READ_BYTES),
  /** Called by Node on the socket. */
  callback(this: Socket, bytes: number, buffer: Uint8Array): boolean {
    // Not from Node's pool: a small slice of it keeps 64 KiB alive.
    const chunk = Buffer.allocUnsafeSlow(bytes);
    chunk.set(buffer.subarray(0, bytes));
    return this.push(chunk);
  },
};

/** Adds options for connections that use little memory. */
export function withSmallBuffers(options: buildConnector.BuildOptions): buildConnector.BuildOptions {
  const unknown = { highWaterMark: BUFFERED_BYTES, onread };
  return { ...options, ...unknown };
}

/** Errors of sockets that had received data before. */
const reusedConnectionErrors = new WeakSet<Error>();

/** A connector that remembers which broken connections had been used before. */
export function connectorTrackingReuse(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options);
  return (target, callback) =>
    // A tuple, so that TypeScript knows the socket once the error is ruled out.
    connect(target, (...[error, socket]) => {
      if (error) {
        callback(error, null);
        return;
      }
      socket.on('error', noteReuse);
      callback(null, socket);
    });
}

/** A shared function: a closure per connection would take memory. */
function noteReuse(this: Socket, error: Error): void {
  if (this.bytesRead > 0) reusedConnectionErrors.add(error);
}

/** Whether a request failed, before its reply began, on a connection that had answered an earlier one. */
export function failedAfterReuse(error: Error): boolean {
  if (error instanceof errors.SocketError) return Number(error.socket?.bytesRead) > 0;
  return reusedConnectionErrors.has(error);
}

/** A connector that returns this connection once and never makes another. */
export function connectOnce(socket: Socket): buildConnector.connector {
  let unused = true;
  return (_options, callback) => {
    // Deferred: undici misses a connection that is returned synchronously.
    if (unused) queueMicrotask(() => callback(null, socket));
    else queueMicrotask(() => callback(new Error('the only connection is over'), null));
    unused = false;
  };
}
