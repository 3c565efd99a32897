// The parser behind a connection of Node's HTTP server (`connectionListenerInternal` in lib/_http_server.js): it is the
// first `data` listener, and it sets `_paused` on the socket while too many replies are waiting to be sent.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';

export type Parse = (bytes: Buffer) => void;

/** Passes the socket's data to `take` instead of the parser, which is returned. Call it on `connection`. */
export function replaceParser(socket: Socket, take: (bytes: Buffer) => void): Parse {
  const [parse] = socket.listeners('data') as Parse[];
  assert(parse, 'Node listens to the data of a connection');
  // The new listener first: a socket without any would stop.
  socket.on('data', take);
  socket.off('data', parse);
  return parse;
}

/** Whether Node wants nothing parsed for now; the socket's `resume` tells when it does again. */
export function isParserPaused(socket: Socket & { readonly _paused?: boolean }): boolean {
  return socket._paused === true;
}
