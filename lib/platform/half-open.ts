// An HTTP server answers the end of a client's data by ending the connection, even if a reply is due, unless
// `httpAllowHalfOpen` is set (`socketOnEnd` in lib/_http_server.js): a property that the types do not have.
import type { Server } from 'node:http';

/** A client that has closed its sending side still gets the reply that is due; then the connection ends. */
export function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}
