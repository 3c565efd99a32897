// Node frames a reply of unknown length chunk by chunk, each in four pieces (`write_` in lib/_http_outgoing.js). Once the
// headers are out, `chunkedEncoding` says nothing but whether it still does so.
import type { ServerResponse } from 'node:http';

/** From here on the reply's writes go out as they are: the caller frames them. False where there are no chunks, as in HTTP/1.0. */
export function takeOverChunks(response: ServerResponse): boolean {
  if (!response.headersSent || !response.chunkedEncoding) return false;
  response.chunkedEncoding = false;
  return true;
}
