// An HTTP server's `close` cuts idle connections (`httpServerPreClose` in lib/_http_server.js), also if a request is on
// its way: 40 to 180 requests of 200 busy keep-alive connections are lost. `net.Server`'s `close` loses none.
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';

/** Accepts no new connections; resolves when the last one is closed. */
export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()));
}
