// undici's dispatchers with connectors of our own (its lib/core/connect.js): options it does not know are passed to
// `net.connect` and `tls.connect`, and a connector must call back in a later tick.
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type undici from 'undici';

/**
 * Each from its own file: the index of undici also loads fetch, WebSocket, caches and mocks, which take 3 MB of heap and
 * 13 MB of resident memory.
 */
const load = createRequire(import.meta.url);
export const Agent: typeof undici.Agent = load('undici/lib/dispatcher/agent.js');
export const Client: typeof undici.Client = load('undici/lib/dispatcher/client.js');
export const ProxyAgent: typeof undici.ProxyAgent = load('undici/lib/dispatcher/proxy-agent.js');
const buildConnector: typeof undici.buildConnector = load('undici/lib/core/connect.js');
const errors: typeof undici.errors = load('undici/lib/core/errors.js');

/** Bytes that each buffer holds while the reader has stopped. */
const BUFFERED_BYTES = 16 * 1024;

/** Adds options for connections that use little memory. */
export function withSmallBuffers(options: undici.buildConnector.BuildOptions): undici.buildConnector.BuildOptions {
  const unknown = { highWaterMark: BUFFERED_BYTES };
  return { ...options, ...unknown };
}

/** Errors of sockets that had received data before. */
const reusedConnectionErrors = new WeakSet<Error>();

/** A connector that remembers which broken connections had been used before. */
export function connectorTrackingReuse(options: undici.buildConnector.BuildOptions): undici.buildConnector.connector {
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
export function connectOnce(socket: Socket): undici.buildConnector.connector {
  let unused = true;
  return (_options, callback) => {
    // Deferred: undici misses a connection that is returned synchronously.
    if (unused) queueMicrotask(() => callback(null, socket));
    else queueMicrotask(() => callback(new Error('the only connection is over'), null));
    unused = false;
  };
}
