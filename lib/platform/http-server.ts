// Node's HTTP server, where its types or its module stand in the way.
import type { Server } from 'node:http';

/**
 * An import of `node:http` reads every export, and `WebSocket` among them loads the undici that Node contains: 2 MB of
 * heap and 7 MB of resident memory beside the undici that calls the upstreams.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * A client that has closed its sending side still gets the reply that is due; then the connection ends. Node ends it at
 * once, unless `httpAllowHalfOpen` is set (`socketOnEnd` in lib/_http_server.js): a property that the types do not have.
 */
export function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}
