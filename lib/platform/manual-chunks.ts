// Node writes each chunk of a reply of unknown length in four pieces, and holds them until the end of the tick (`write_`
// in lib/_http_outgoing.js). After the headers are sent, `chunkedEncoding` only decides whether Node adds the framing.
import type { ServerResponse } from 'node:http';

/** From now on the caller adds the chunk framing. Returns false if the reply has none, as in HTTP/1.0. */
export function takeOverChunks(response: ServerResponse): boolean {
  if (!response.headersSent || !response.chunkedEncoding) return false;
  response.chunkedEncoding = false;
  return true;
}
