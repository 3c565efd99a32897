// Node calls `destroySoon` on the socket of a connection's last reply once it is written (`resOnFinish` in
// lib/_http_server.js), which also closes the socket for reading.
import type { Socket } from 'node:net';

/** Calls `end` instead of Node's close. */
export function onLastReply(socket: Socket, end: () => void): void {
  socket.destroySoon = end;
}
