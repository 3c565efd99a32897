// A reply sent while the request is still arriving. Closing a socket with unread bytes resets the connection, and the
// client would lose the reply: the rest of the request is read and dropped first.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { freeOwnBytes } from '../base/free-bytes.ts';

/** How long the rest of a refused request is read before the connection is closed. */
export const REQUEST_DRAIN_MS = 2000;

/**
 * The reply's body as a stream that ends once the rest of the request has arrived, or after `REQUEST_DRAIN_MS`. Set its
 * content-length, so that the client has the whole body at once.
 */
export function createDrainingReply(request: IncomingMessage, body: string): Readable {
  const stream = new Readable({ read: () => undefined });
  stream.push(body);
  const end = () => {
    clearTimeout(timer);
    request.off('end', end).off('close', end);
    if (!stream.destroyed) stream.push(null);
  };
  const timer = setTimeout(end, REQUEST_DRAIN_MS);
  // Freed as they are dropped: a client that sends without end would otherwise fill the memory between collections.
  request.on('data', freeOwnBytes).on('end', end).on('close', end).resume();
  stream.on('close', () => clearTimeout(timer));
  return stream;
}
