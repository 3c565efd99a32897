// Counts the refused requests of each key in memory, by reason and hour, and adds the counts to the store every few seconds.
import { HOUR_MS } from '../base/durations.ts';
import type { Refusal, RefusalStore } from '../store/ports/refusals.ts';
import { StoreError } from '../store/store.ts';

interface RefusalCounterOptions {
  readonly store: Pick<RefusalStore, 'add'>;
  readonly flushMs?: number;
  /** Called with the first of consecutive failures; the counts are added later. */
  readonly onError: (error: unknown) => void;
  readonly clock?: () => number;
}

/** A request of a known key that was answered with a client error. */
export type RefusedRequest = Pick<Refusal, 'account' | 'key' | 'code' | 'status' | 'message'>;

export interface RefusalCounter {
  note(request: RefusedRequest): void;
  /** Stops the timer and adds what is left. */
  close(): Promise<void>;
}

const FLUSH_MS = 5000;
/** Of a message; an unknown name in it may be long. */
const CHARACTERS_MAX = 500;
/** Counts kept while the store does not answer; what is above them is not counted. */
const COUNTS_MAX = 10_000;
/** Added at once: a store takes 16 MB, and has other work. */
const PART_MAX = 500;

export function createRefusalCounter(options: RefusalCounterOptions): RefusalCounter {
  const { store, flushMs = FLUSH_MS, onError, clock = Date.now } = options;
  let counts = new Map<string, Refusal>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;
  let closed = false;
  let failing = false;

  function note({ account, key, code, status, message }: RefusedRequest): void {
    const lastAt = clock();
    const hour = lastAt - (lastAt % HOUR_MS);
    add({ account, key, hour, code, count: 1, lastAt, status, message: message.slice(0, CHARACTERS_MAX) });
    if (!closed) timer ??= setTimeout(flushOnTimer, flushMs).unref();
  }

  function add(refusal: Refusal): void {
    const { account, key, hour, code } = refusal;
    const id = `${account} ${hour} ${key} ${code}`;
    const before = counts.get(id);
    if (!before && counts.size >= COUNTS_MAX) return;
    const latest = before && before.lastAt > refusal.lastAt ? before : refusal;
    counts.set(id, { ...latest, count: (before?.count ?? 0) + refusal.count });
  }

  function flushOnTimer(): void {
    flushing = flush().finally(() => {
      timer = undefined;
      if (counts.size > 0 && !closed) timer = setTimeout(flushOnTimer, flushMs).unref();
    });
  }

  async function flush(): Promise<void> {
    let left = [...counts.values()];
    counts = new Map();
    while (left.length > 0) {
      try {
        await store.add(left.slice(0, PART_MAX));
        left = left.slice(PART_MAX);
        failing = false;
      } catch (error) {
        if (!failing) onError(error);
        failing = true;
        for (const refusal of isWorthRepeating(error) ? left : left.slice(PART_MAX)) add(refusal);
        return;
      }
    }
  }

  async function close(): Promise<void> {
    closed = true;
    clearTimeout(timer);
    await flushing;
    await flush();
  }

  return { note, close };
}

/** What may have been added would count once more with every repeat. */
function isWorthRepeating(error: unknown): boolean {
  return !(error instanceof StoreError) || (error.applied === 'no' && error.blames === 'store');
}
