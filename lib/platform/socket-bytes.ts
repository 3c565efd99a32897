// Whether a client still reads what was written. `bytesWritten` counts the current write as a whole; its handle knows
// what the system has not taken of it, which is what Node's own timeout uses (`Socket.prototype._onTimeout` in
// lib/net.js).
import type { Socket } from 'node:net';

/** A number that changes whenever something is taken; its value means nothing. */
export function markOfTaken(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { readonly _handle?: { readonly writeQueueSize: number } };
  return socket.bytesWritten - socket.writableLength - (handle?.writeQueueSize ?? 0);
}
