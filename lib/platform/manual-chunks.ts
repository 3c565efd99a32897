// Node writes each chunk of a reply of unknown length in four pieces, and holds them until the end of the tick (`write_`
// in lib/_http_outgoing.js). After the headers are sent, `chunkedEncoding` only decides whether Node adds the framing.
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';

/** From now on the caller adds the chunk framing. Returns false if the reply has none, as in HTTP/1.0. */
export function takeOverChunks(response: ServerResponse): boolean {
  if (!response.headersSent || !response.chunkedEncoding) return false;
  response.chunkedEncoding = false;
  return true;
}

/**
 * Where such a reply writes without waiting for the end of the tick: the socket, or the reply itself until it is its
 * turn on the connection. A text held until the end of the tick and longer than the socket's buffer would make every
 * client look slow.
 */
export function directOutput(response: ServerResponse): Writable {
  const { socket } = response;
  return socket?.writable ? socket : response;
}
