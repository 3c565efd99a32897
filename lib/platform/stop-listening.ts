// An HTTP server's `close` cuts connections that say nothing at the moment (`httpServerPreClose` in lib/_http_server.js);
// that of the `net.Server` beneath it only stops to listen.
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';

/** Takes no new connections; resolves when the last one is closed. */
export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()));
}
