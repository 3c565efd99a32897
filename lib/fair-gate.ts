// Limits how many run at once and how many wait: sources take turns, and one with many waiting ones gives way to others.

export interface FairGateOptions {
  readonly atOnce: number;
  /** In all, and of one source. */
  readonly waitingMax: number;
  readonly sourceMax: number;
  /** What those are refused with for whom there is no place. */
  readonly onFull: () => Error;
}

export type FairGate = <T>(source: string, run: () => Promise<T>) => Promise<T>;

type Turn = PromiseWithResolvers<void>;

export function createFairGate({ atOnce, waitingMax, sourceMax, onFull }: FairGateOptions): FairGate {
  /** Of each source in order; the source at the front is next. */
  const queues = new Map<string, Turn[]>();
  let inside = 0;
  let waiting = 0;

  function wait(source: string): Promise<void> {
    const queue = queues.get(source) ?? [];
    if (queue.length >= sourceMax) throw onFull();
    if (waiting >= waitingMax) makeRoom(queue.length + 1);
    const turn = Promise.withResolvers<void>();
    queue.push(turn);
    queues.set(source, queue);
    waiting += 1;
    return turn.promise;
  }

  /** The newest of the source with the most gives way to a source that has fewer, this one included. */
  function makeRoom(mine: number): void {
    const longest = [...queues.values()].reduce((most, queue) => (queue.length > most.length ? queue : most));
    if (longest.length <= mine) throw onFull();
    longest.pop()?.reject(onFull());
    waiting -= 1;
  }

  function next(): void {
    const [entry] = queues;
    if (!entry) {
      inside -= 1;
      return;
    }
    const [source, queue] = entry;
    queue.shift()?.resolve();
    waiting -= 1;
    // To the end of the line.
    queues.delete(source);
    if (queue.length > 0) queues.set(source, queue);
  }

  return async (source, run) => {
    if (inside >= atOnce) await wait(source);
    else inside += 1;
    try {
      return await run();
    } finally {
      next();
    }
  };
}
