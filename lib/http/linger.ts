// Lets a client read an early answer although it is still sending: a socket closed on unread bytes is reset, and the
// answer with it.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

const LINGER_MS = 2000;

/** Call before the reply is sent: the socket is then closed for writing only, and read on for a while. */
export function linger(request: IncomingMessage): void {
  const { socket } = request;
  // Node calls this once the reply is written; unread bytes would turn the close into a reset.
  socket.destroySoon = () => {
    socket.end();
    request.resume();
    destroyLater(socket);
  };
}

/** A connection that we have ended is closed even if the client never ends it. */
export function destroyLater(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
