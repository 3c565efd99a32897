// An HTTP server's own `close` cuts idle connections even if a request is on its way, so busy keep-alive connections
// lose requests. The `close` of its base class `net.Server` only stops listening.
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';

/** Accepts no new connections; resolves when the last one is closed. */
export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()));
}
