// Limits how many run at once and how many wait: sources take turns, and one with many waiting ones gives way to others.
// Those who are known and strangers wait in lines of their own, which take turns too: neither can fill the other's.

export interface FairGateOptions {
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

export type FairGate = <T>(source: Source, run: () => Promise<T>) => Promise<T>;

type Turn = PromiseWithResolvers<void>;

export function createFairGate({ atOnce, ...limits }: FairGateOptions): FairGate {
  /** The next one comes from the first line that anybody waits in. */
  let [next, other] = [createLine(limits), createLine(limits)];
  const known = next;
  const strangers = other;
  let inside = 0;

  function leave(): void {
    const isLet = next.letIn() || other.letIn();
    if (!isLet) inside -= 1;
    [next, other] = [other, next];
  }

  return async ({ name, isKnown }, run) => {
    if (inside >= atOnce) await (isKnown ? known : strangers).wait(name);
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
  letIn(): boolean;
}

function createLine({ waitingMax, sourceMax, onFull }: Omit<FairGateOptions, 'atOnce'>): Line {
  /** Of each source in order; the source at the front is next. */
  const queues = new Map<string, Turn[]>();
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
      const turn = Promise.withResolvers<void>();
      queue.push(turn);
      queues.set(source, queue);
      waiting += 1;
      return turn.promise;
    },
    letIn() {
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
