// Cuts long texts into slices that are quick to process.

/** A text in slices of at most this many characters; surrogate pairs stay whole. */
export function* slicesOf(text: string, charactersMax: number): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + charactersMax);
    if (to < text.length && (text.charCodeAt(to) & 0xfc00) === 0xdc00) to -= 1;
    yield text.slice(from, to);
    from = to;
  }
}
