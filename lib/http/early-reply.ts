// Lets a client that is still sending read an early answer: closing a socket with unread bytes resets it, and loses the
// answer.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** How long a client may go on sending what nobody needs. */
export const REQUEST_DRAIN_MS = 2000;

/**
 * The reply's body as a stream that ends only once the rest of the request has arrived, or after `LINGER_MS`. Send it with its
 * length, so that the client has all of it at once.
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
  request.on('end', end).on('close', end).resume();
  stream.on('close', () => clearTimeout(timer));
  return stream;
}
