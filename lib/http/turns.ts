// Shares the turns of the event loop among connections: of a crowd of simultaneous requests a few start per turn, and
// long bodies are read in parts, so that running work continues in between.

/** Each takes up to a quarter of a millisecond before it waits for something. */
export const REQUESTS_PER_TURN = 32;
/** Otherwise the system hands over up to two MiB per connection and turn. */
export const BYTES_PER_TURN = 512 * 1024;

export interface Turns {
  /** Whether another request may start in this turn. If not, `again` is called in a later one, in order. */
  begin(again: () => void): boolean;
  /** Counts bytes read. False when they are enough for this turn: `again` is called in the next one. */
  read(bytes: number, again: () => void): boolean;
}

export function createTurns(): Turns {
  const waiting = new Set<() => void>();
  const reading = new Set<() => void>();
  let requestsLeft = REQUESTS_PER_TURN;
  let bytesLeft = BYTES_PER_TURN;
  let isCounting = false;

  function count(): void {
    if (!isCounting) setImmediate(next);
    isCounting = true;
  }

  function next(): void {
    requestsLeft = REQUESTS_PER_TURN;
    bytesLeft = BYTES_PER_TURN;
    isCounting = false;
    const readers = [...reading];
    reading.clear();
    for (const again of readers) again();
    for (const again of waiting) {
      if (requestsLeft === 0) break;
      waiting.delete(again);
      again();
    }
  }

  return {
    begin(again) {
      count();
      if (requestsLeft > 0) {
        requestsLeft -= 1;
        return true;
      }
      waiting.add(again);
      return false;
    },
    read(bytes, again) {
      count();
      bytesLeft -= bytes;
      if (bytesLeft > 0) return true;
      reading.add(again);
      return false;
    },
  };
}
