// Whether a reader still takes what was written. `bytesWritten` counts the write under way as a whole; its handle knows what
// the system has not taken of it, as Node's own timeout looks at it (`Socket.prototype._onTimeout` in lib/net.js).
import type { Socket } from 'node:net';

/** A number that changes whenever something is taken, and says nothing else. */
export function markOfTaken(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { readonly _handle?: { readonly writeQueueSize: number } };
  return socket.bytesWritten - socket.writableLength - (handle?.writeQueueSize ?? 0);
}
