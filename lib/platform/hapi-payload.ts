// hapi replies `connection: close` unless it has seen the end of the request body (`_isPayloadPending`, read in its
// lib/transmit.js), which it does not when handlers read the body themselves.
import type { Request } from '@hapi/hapi';

/** Marks the body as fully read. */
export function markPayloadRead(request: Request): void {
  (request as unknown as { _isPayloadPending: boolean })._isPayloadPending = false;
}
