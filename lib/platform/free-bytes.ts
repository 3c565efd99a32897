// Memory given back at once, whoever still refers to it: the collection of garbage may come late, and stops everybody for
// the sake of a few buffers. Detaching frees it; Node's HTTP parser keeps none of what it was given, see `http-parser.ts`.

export function freeBytes({ buffer }: Buffer): void {
  (buffer as ArrayBuffer).transfer(0);
}

/** Of bytes that share their memory with others nothing can be freed. */
export function freeOwn(bytes: Buffer): void {
  if (bytes.length === bytes.buffer.byteLength) freeBytes(bytes);
}
