// What hapi does with a request that its handler reads and answers by itself (its lib/transmit.js and lib/request.js).
import type { Request } from '@hapi/hapi';

/**
 * Marks the body as fully read. hapi replies `connection: close` unless it has seen the end of the body
 * (`_isPayloadPending`), which it does not when handlers read it themselves. A new connection per call takes half as
 * much CPU again on loopback (145 instead of 95 µs for client and server), before TLS.
 */
export function markPayloadRead(request: Request): void {
  (request as unknown as { _isPayloadPending: boolean })._isPayloadPending = false;
}

/**
 * Lets go of a request whose handler has returned `h.abandon`. A listener of hapi refers to it until its reply is
 * closed, only to note that it is: 2.5 KB of every open stream. hapi's listeners are bound functions without a name.
 */
export function forgetAbandoned({ raw: { res } }: Request): void {
  for (const listener of res.listeners('close')) {
    if (listener.name === 'bound ') res.off('close', listener as () => void);
  }
}
