// Keeps usage sums close behind the journal, so that nobody who opens a page waits for a hundred thousand calls:
// periodically folds the wallets that had calls, at once those that somebody looks at, and after a start those that were
// left behind, by a process that ended or by a copy of the store. Between two steps it leaves the store to calls.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../store/store.ts';
import type { Ledger } from './ledger.ts';
import { foldSteps } from './usage-fold.ts';

export interface UsageChoreOptions {
  readonly store: Pick<Store, 'journal' | 'ledger' | 'usage'>;
  /** Called with the first of consecutive failures. */
  readonly onError: (error: unknown) => void;
  /** Whether it looks for wallets left behind; of several processes of one start, one does. */
  readonly sweeps?: boolean;
  /** Average pause between two rounds. */
  readonly everyMs?: number;
}

export interface UsageChore {
  /** The same ledger, with its calls observed. */
  watch(ledger: Ledger): Ledger;
  start(): void;
  stop(): void;
  /** Folds a wallet soon: its figures are being looked at. */
  hurry(wallet: string): void;
  /** One round; never rejects. */
  fold(): Promise<void>;
}

const EVERY_MS = 60_000;
/** A start has more urgent work, and whoever looks is served at once. */
const FIRST_MS = 1000;
const WALLETS_PER_LOOK = 1000;

export function createUsageChore(options: UsageChoreOptions): UsageChore {
  const { store, onError, sweeps = true, everyMs = EVERY_MS } = options;
  /** Wallets with calls since their last fold. */
  const behind = new Set<string>();
  /** Those waiting for their turn in `line`. */
  const urgent = new Set<string>();
  const stopping = new AbortController();
  let line = Promise.resolve();
  /** Where the search for wallets left behind goes on; undefined when it is over. */
  let position = sweeps ? '' : undefined;
  let timer: NodeJS.Timeout | undefined;
  let failing = false;

  /** Half of the time at most: the other half belongs to calls. */
  async function foldGently(wallet: string): Promise<void> {
    let startedAt = performance.now();
    for await (const _ of foldSteps(store, wallet)) {
      await sleep(performance.now() - startedAt, undefined, { signal: stopping.signal });
      startedAt = performance.now();
    }
  }

  /** False if it failed. */
  async function attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      failing = false;
      return true;
    } catch (error) {
      if (!failing && !stopping.signal.aborted) onError(error);
      failing = true;
      return false;
    }
  }

  async function fold(): Promise<void> {
    for (const wallet of [...behind]) {
      if (stopping.signal.aborted) return;
      // First, so that a call that starts meanwhile is folded in the next round.
      behind.delete(wallet);
      if (await attempt(() => foldGently(wallet))) continue;
      behind.add(wallet);
      return;
    }
    await attempt(sweep);
  }

  async function sweep(): Promise<void> {
    while (position !== undefined && !stopping.signal.aborted) {
      const { found, next } = await store.usage.behind(position, WALLETS_PER_LOOK);
      for (const wallet of found) await foldGently(wallet);
      position = next;
    }
  }

  function wait(ms: number): void {
    timer = setTimeout(round, ms).unref();
  }

  async function round(): Promise<void> {
    await fold();
    if (!stopping.signal.aborted) wait(everyMs * (0.5 + Math.random()));
  }

  return {
    watch: (ledger) => ({
      ...ledger,
      settle(hold, due) {
        behind.add(hold.charge.wallet);
        return ledger.settle(hold, due);
      },
      charge(request, job) {
        behind.add(request.wallet);
        return ledger.charge(request, job);
      },
      refund(request) {
        behind.add(request.wallet);
        return ledger.refund(request);
      },
    }),
    start: () => wait(Math.min(everyMs, FIRST_MS)),
    stop() {
      stopping.abort();
      clearTimeout(timer);
    },
    hurry(wallet) {
      if (urgent.has(wallet)) return;
      urgent.add(wallet);
      line = line.then(async () => {
        urgent.delete(wallet);
        if (!stopping.signal.aborted) await attempt(() => foldGently(wallet));
      });
    },
    fold,
  };
}
