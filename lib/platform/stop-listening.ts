// An HTTP server's `close` cuts idle connections (`httpServerPreClose` in lib/_http_server.js); the underlying
// `net.Server`'s only stops listening.
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';

/** Accepts no new connections; resolves when the last one is closed. */
export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()));
}
