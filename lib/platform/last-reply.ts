// Node calls `destroySoon` on the socket of a reply that is the last of its connection, once it is written (`resOnFinish`
// in lib/_http_server.js). By itself that closes the socket for reading too.
import type { Socket } from 'node:net';

/** Calls `end` in place of Node's close. */
export function onLastReply(socket: Socket, end: () => void): void {
  socket.destroySoon = end;
}
