// Frees memory at once, whoever still refers to it: garbage collection may come late, and stops everything for a few
// buffers. Detaching frees it; Node's HTTP parser keeps nothing of what it was given, see `http-parser.ts`.

export function freeBytes({ buffer }: Buffer): void {
  (buffer as ArrayBuffer).transfer(0);
}

/** Bytes that share their memory with others cannot be freed. */
export function freeOwn(bytes: Buffer): void {
  if (bytes.length === bytes.buffer.byteLength) freeBytes(bytes);
}
