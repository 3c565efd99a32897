// Frees memory at once: garbage collection may come late, and pauses everything for a few large buffers.

/** Detaches the memory from all references to it; only for a buffer that owns its memory. */
export function freeBytes({ buffer }: Buffer): void {
  (buffer as ArrayBuffer).transfer(0);
}

/** Leaves bytes alone that share their memory with others, as slices do. */
export function freeOwnBytes(bytes: Buffer): void {
  if (bytes.length === bytes.buffer.byteLength) freeBytes(bytes);
}
