// Shares the turns of the event loop among connections: of a crowd of simultaneous requests a few start per turn, and
// long bodies are read in parts, so that running work continues in between.

/** Each takes up to a quarter of a millisecond before it waits for something. */
export const REQUESTS_PER_TURN = 16;
/** Of all connections that pipeline, so that they cannot take more than a fraction of the time. */
export const PIPELINED_PER_REST = 4;
export const PIPELINED_REST_MS = 4;
/** Where requests of others begin meanwhile, the rest is so many times as long. */
export const PIPELINED_RESTS_MAX = 4;
/** Otherwise the system hands over up to two MiB per connection and turn. */
export const BYTES_PER_TURN = 512 * 1024;
/** What is read may come in chunks of one byte: 64 KiB of them take half a millisecond, and far more by cold code. */
export const READ_MS_PER_TURN = 0.5;
/**
 * Then readers rest, and the longer the longer they took: a loop that is never idle leaves the store's threads waiting
 * for a core, and every call for them.
 */
const REST_MS = 4;
const REST_PER_READ = 9;

export interface Turns {
  /**
   * Whether another request may start in this turn. If not, `again` is called in a later one, in order, and one request
   * may start then. The first of a connection take turns with pipelined ones, however many these are, of which only a
   * few start before all of them rest.
   */
  begin(again: () => void, isFirst: boolean): boolean;
  /** Counts bytes read and the time it took. False when they are enough for this turn: `again` is called after a rest. */
  read(bytes: number, tookMs: number, again: () => void): boolean;
}

export function createTurns(): Turns {
  const firsts = new Set<() => void>();
  const others = new Set<() => void>();
  const reading = new Set<() => void>();
  let requestsLeft = REQUESTS_PER_TURN;
  let pipelinedLeft = PIPELINED_PER_REST;
  let pipelinedRests = 0;
  let hasFirstBegun = false;
  let bytesLeft = BYTES_PER_TURN;
  let readMs = 0;
  let isCounting = false;
  let isResting = false;
  let wasFirst = false;
  /** Whoever is called again has its place already. */
  let isCalled = false;

  function count(): void {
    if (!isCounting) setImmediate(next);
    isCounting = true;
  }

  function next(): void {
    requestsLeft = REQUESTS_PER_TURN;
    bytesLeft = BYTES_PER_TURN;
    isCounting = false;
    if (reading.size > 0 && !isResting) setTimeout(readOn, Math.max(REST_MS, REST_PER_READ * readMs));
    isResting ||= reading.size > 0;
    readMs = 0;
    while (requestsLeft > 0 && (firsts.size > 0 || mayPipeline())) {
      wasFirst = !mayPipeline() || (firsts.size > 0 && !wasFirst);
      const queue = wasFirst ? firsts : others;
      const [again] = queue as Set<() => void>;
      queue.delete(again as () => void);
      isCalled = true;
      again?.();
      isCalled = false;
    }
  }

  function readOn(): void {
    isResting = false;
    const readers = [...reading];
    reading.clear();
    for (const again of readers) again();
  }

  const isAnyWaiting = () => firsts.size + others.size > 0;
  const mayPipeline = () => others.size > 0 && pipelinedLeft > 0;

  function pipelineLater(): void {
    pipelinedRests += 1;
    hasFirstBegun = false;
    setTimeout(pipelineOn, PIPELINED_REST_MS);
  }

  function pipelineOn(): void {
    if (hasFirstBegun && pipelinedRests < PIPELINED_RESTS_MAX) {
      pipelineLater();
      return;
    }
    pipelinedRests = 0;
    pipelinedLeft = PIPELINED_PER_REST;
    if (others.size > 0) count();
  }

  return {
    begin(again, isFirst) {
      count();
      const mayPass = isFirst || isCalled || !isAnyWaiting();
      isCalled = false;
      if (requestsLeft > 0 && mayPass && (isFirst || pipelinedLeft > 0)) {
        requestsLeft -= 1;
        others.delete(again);
        if (isFirst) hasFirstBegun = true;
        else if (pipelinedLeft-- === PIPELINED_PER_REST) pipelineLater();
        return true;
      }
      (isFirst ? firsts : others).add(again);
      return false;
    },
    read(bytes, tookMs, again) {
      count();
      bytesLeft -= bytes;
      readMs += tookMs;
      if (bytesLeft > 0 && readMs < READ_MS_PER_TURN) return true;
      reading.add(again);
      return false;
    },
  };
}
