// Node's HTTP server serves a connection by its first listener for `connection` (`connectionListener` in
// lib/_http_server.js), which may as well be called later.
import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** From now on connections are served only by what is returned. Call it before others listen for `connection`. */
export function takeOver(listener: Server): (socket: Socket) => void {
  const [serve] = listener.listeners('connection') as ((socket: Socket) => void)[];
  assert(serve, 'Node serves connections');
  listener.off('connection', serve);
  return (socket) => serve.call(listener, socket);
}
