// Node frames a reply of unknown length chunk by chunk, each in four pieces (`write_` in lib/_http_outgoing.js). Once
// the headers are sent, `chunkedEncoding` only decides whether it still does.
import type { ServerResponse } from 'node:http';

/**
 * From here on the reply's writes are sent as they are: the caller frames them. False without chunks, as in HTTP/1.0.
 */
export function takeOverChunks(response: ServerResponse): boolean {
  if (!response.headersSent || !response.chunkedEncoding) return false;
  response.chunkedEncoding = false;
  return true;
}
