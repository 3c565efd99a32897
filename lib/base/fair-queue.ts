// Limits how many tasks run at once and how many wait. Sources take turns, and a source with many waiting tasks gives
// way to others. Known and unknown sources wait in separate lines, so that neither can fill the other's.

interface FairQueueOptions {
  readonly atOnce: number;
  /** Per line, and per source in a line. */
  readonly waitingMax: number;
  readonly sourceMax: number;
  /** Makes the error for a task that finds no place. */
  readonly onFull: () => Error;
}

export interface Source {
  readonly name: string;
  /** A known source cannot be invented, so there are few of them. */
  readonly isKnown: boolean;
}

type FairQueue = <T>(source: Source, run: () => Promise<T>) => Promise<T>;

type Waiter = PromiseWithResolvers<void>;

export function createFairQueue({ atOnce, ...limits }: FairQueueOptions): FairQueue {
  const known = createLine(limits);
  const unknown = createLine(limits);
  /** The next task is taken from `next`, or from `other` if nobody waits there. */
  let next = known;
  let other = unknown;
  let inside = 0;

  function leave(): void {
    const wasAdmitted = next.admitNext() || other.admitNext();
    if (!wasAdmitted) inside -= 1;
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
  /** Returns false if nobody waits. */
  admitNext(): boolean;
}

function createLine({ waitingMax, sourceMax, onFull }: Omit<FairQueueOptions, 'atOnce'>): Line {
  /** The waiting tasks of each source; the first source is served next. */
  const queues = new Map<string, Waiter[]>();
  let waiting = 0;

  /** Drops the newest task of the source that has most, if it has more than the arriving one. */
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
      // The source goes to the end of the line.
      queues.delete(source);
      if (queue.length > 0) queues.set(source, queue);
      return true;
    },
  };
}
