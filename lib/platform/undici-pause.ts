// undici resumes a paused parser with whatever its socket has by then (`Parser.resume` in its
// lib/dispatcher/client-h1.js): at the end of a read that is nothing, which it delivers as an empty chunk.

/** Whether the chunk is one of those: no bytes of the body. */
export function isLeftOver(chunk: Uint8Array): boolean {
  return chunk.length === 0;
}
