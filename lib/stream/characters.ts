// Counts the characters of a text, and cuts long texts into slices that are quick to process.

/** Unicode characters of a text, a surrogate pair as one. */
export function countCharacters(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) pairs += 1;
  }
  return text.length - pairs;
}

/** A few ms of work. */
const CHARACTERS_PER_TICK = 524_288;

/** Visits texts in slices, and lets the event loop tick between long ones. */
export async function visitSlices(texts: Iterable<string>, visit: (slice: string) => void): Promise<void> {
  let sinceTick = 0;
  for (const text of texts) {
    for (const slice of sliceText(text, CHARACTERS_PER_TICK)) {
      sinceTick += slice.length;
      if (sinceTick > CHARACTERS_PER_TICK) {
        await new Promise((resolve) => setImmediate(resolve));
        sinceTick = slice.length;
      }
      visit(slice);
    }
  }
}

/** A text in slices of at most this many characters; surrogate pairs stay whole. */
export function* sliceText(text: string, charactersMax: number): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + charactersMax);
    if (to < text.length && (text.charCodeAt(to) & 0xfc00) === 0xdc00) to -= 1;
    yield text.slice(from, to);
    from = to;
  }
}

const HIGH_SURROGATE = 0xd800;
const LOW_SURROGATE = 0xdc00;

/** At most this many characters of a text, without splitting a surrogate pair. */
export function takeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= HIGH_SURROGATE && last < LOW_SURROGATE ? length - 1 : length);
}
