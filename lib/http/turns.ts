// Shares the turns of the event loop out among requests: of a crowd that comes at once a few begin in each turn, so that
// what is under way already goes on between them.

/** Each takes up to a quarter of a millisecond before it waits for something. */
export const REQUESTS_PER_TURN = 32;

export interface Turns {
  /** Whether another request may begin in this turn. If not, `again` is called in a later one, in order of asking. */
  begin(again: () => void): boolean;
}

export function createTurns(): Turns {
  const waiting = new Set<() => void>();
  let left = REQUESTS_PER_TURN;

  function next(): void {
    left = REQUESTS_PER_TURN;
    for (const again of waiting) {
      if (left === 0) break;
      waiting.delete(again);
      again();
    }
  }

  return {
    begin(again) {
      if (left === 0) {
        waiting.add(again);
        return false;
      }
      if (left === REQUESTS_PER_TURN) setImmediate(next);
      left -= 1;
      return true;
    },
  };
}
