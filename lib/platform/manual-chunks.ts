// Node frames a reply of unknown length chunk by chunk, each in four pieces, and holds what is written until the end of
// the turn (`write_` in lib/_http_outgoing.js). Once the headers are sent, `chunkedEncoding` only decides whether it
// still frames.
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';

/**
 * From here on the reply's writes are sent as they are: the caller frames them. False without chunks, as in HTTP/1.0.
 */
export function takeOverChunks(response: ServerResponse): boolean {
  if (!response.headersSent || !response.chunkedEncoding) return false;
  response.chunkedEncoding = false;
  return true;
}

/**
 * Where such a reply writes at once, in order with its other writes: the socket, or the reply itself as long as it is
 * not its turn on the connection. Held until the end of the turn, a text longer than the socket's buffer would count as
 * too much for every client.
 */
export function directOutput(response: ServerResponse): Writable {
  const { socket } = response;
  return socket?.writable ? socket : response;
}
