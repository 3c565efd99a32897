// Limits how many run at once and how many wait: sources take turns, and one with many waiting ones gives way to others.
// Those who are known and strangers wait in lines of their own, which take turns too: neither can fill the other's.

export interface FairQueueOptions {
  readonly atOnce: number;
  /** In a line, and of one source in it. */
  readonly waitingMax: number;
  readonly sourceMax: number;
  /** What those are refused with for whom there is no place. */
  readonly onFull: () => Error;
}

export interface Source {
  readonly name: string;
  /** Nobody can make up many of them. */
  readonly isKnown: boolean;
}

export type FairQueue = <T>(source: Source, run: () => Promise<T>) => Promise<T>;

type Waiter = PromiseWithResolvers<void>;

export function createFairQueue({ atOnce, ...limits }: FairQueueOptions): FairQueue {
  /** The next one comes from the first line that anybody waits in. */
  let [next, other] = [createLine(limits), createLine(limits)];
  const known = next;
  const unknown = other;
  let inside = 0;

  function leave(): void {
    const isLet = next.admitNext() || other.admitNext();
    if (!isLet) inside -= 1;
    [next, other] = [other, next];
  }

  return async ({ name, isKnown }, run) => {
    if (inside >= atOnce) await (isKnown ? known : unknown).wait(name);
    else inside += 1;
    try {
      return await run();
    } finally {
      leave();
    }
  };
}

interface Line {
  wait(source: string): Promise<void>;
  /** False if nobody waits. */
  admitNext(): boolean;
}

function createLine({ waitingMax, sourceMax, onFull }: Omit<FairQueueOptions, 'atOnce'>): Line {
  /** Of each source in order; the source at the front is next. */
  const queues = new Map<string, Waiter[]>();
  let waiting = 0;

  /** The newest of the source with the most gives way to a source that has fewer, this one included. */
  function makeRoom(mine: number): void {
    const longest = [...queues.values()].reduce((most, queue) => (queue.length > most.length ? queue : most));
    if (longest.length <= mine) throw onFull();
    longest.pop()?.reject(onFull());
    waiting -= 1;
  }

  return {
    wait(source) {
      const queue = queues.get(source) ?? [];
      if (queue.length >= sourceMax) throw onFull();
      if (waiting >= waitingMax) makeRoom(queue.length + 1);
      const waiter = Promise.withResolvers<void>();
      queue.push(waiter);
      queues.set(source, queue);
      waiting += 1;
      return waiter.promise;
    },
    admitNext() {
      const [entry] = queues;
      if (!entry) return false;
      const [source, queue] = entry;
      queue.shift()?.resolve();
      waiting -= 1;
      // To the end of the line.
      queues.delete(source);
      if (queue.length > 0) queues.set(source, queue);
      return true;
    },
  };
}
