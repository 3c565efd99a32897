// An HTTP server's own `close` cuts idle connections, also if a request is on its way: busy keep-alive connections lose
// theirs. The `close` of `net.Server`, which it extends, only stops listening.
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';

/** Accepts no new connections; resolves when the last one is closed. */
export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()));
}
