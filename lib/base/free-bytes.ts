// Frees the memory of images at once: garbage collection may come late, and stops everything for a few large buffers.

/** Detaches the bytes from everybody who refers to them; only for a buffer that owns its memory. */
export function freeBytes({ buffer }: Buffer): void {
  (buffer as ArrayBuffer).transfer(0);
}
