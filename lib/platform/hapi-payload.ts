// hapi tells the client to close the connection when it has not seen the end of a request's body (`_isPayloadPending`, read
// in its lib/transmit.js). It never does where we read the body ourselves.
import type { Request } from '@hapi/hapi';

/** Says that nothing of the body is still to come. */
export function markPayloadRead(request: Request): void {
  (request as unknown as { _isPayloadPending: boolean })._isPayloadPending = false;
}
