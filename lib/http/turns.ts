// Shares the turns of the event loop out among connections: of a crowd that comes at once a few requests begin in each
// turn, and of long bodies a part is read, so that what is under way already goes on between them.

/** Each takes up to a quarter of a millisecond before it waits for something. */
export const REQUESTS_PER_TURN = 32;
/** Left alone, the system hands over up to two MiB of each connection in a turn. */
export const BYTES_PER_TURN = 512 * 1024;

export interface Turns {
  /** Whether another request may begin in this turn. If not, `again` is called in a later one, in order of asking. */
  begin(again: () => void): boolean;
  /** Counts bytes that were read. False when they are enough for this turn: `again` is called in the next one. */
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
