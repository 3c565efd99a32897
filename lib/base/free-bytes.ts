// Frees the memory of images at once: garbage collection may come late, and pauses everything for a few large buffers.

/** Detaches the memory from all references to it; only for a buffer that owns its memory. */
export function freeBytes({ buffer }: Buffer): void {
  (buffer as ArrayBuffer).transfer(0);
}
