// Keeps usage sums close to the end of the journal, so that a page never waits for a hundred thousand calls. Periodically
// folds the wallets that had calls, at once a wallet whose page is open, and after a start, and now and then, the wallets
// that others left behind: an earlier process, one that has died, a command, a copy of the store. Pauses between steps, so
// that calls come first.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../store/store.ts';
import type { Ledger } from './ledger.ts';
import { foldSteps } from './usage-fold.ts';

export interface UsageChoreOptions {
  readonly store: Pick<Store, 'attempts' | 'journal' | 'ledger' | 'usage'>;
  /** Called with the first of consecutive failures. */
  readonly onError: (error: unknown) => void;
  /** Whether to search for wallets left behind; only one of several worker processes does. */
  readonly sweeps?: boolean;
  /** Average pause between two rounds. */
  readonly everyMs?: number;
}

export interface UsageChore {
  /** Wraps a ledger to notice the wallets that have calls. */
  watch(ledger: Ledger): Ledger;
  start(): void;
  stop(): void;
  /** Folds a wallet soon, because its figures are shown on a page. */
  foldSoon(wallet: string): void;
  /** Runs a round soon, because figures of all wallets are shown on a page. */
  foldAll(): void;
  /** Runs one round; never rejects. */
  fold(): Promise<void>;
}

const EVERY_MS = 60_000;
/** The first round waits: a start has more urgent work, and open pages use `foldSoon`. */
const FIRST_MS = 1000;
const WALLETS_PER_PAGE = 1000;
/** The search for wallets left behind begins again so many rounds after its end. */
const SEARCH_ROUNDS = 10;

export function createUsageChore(options: UsageChoreOptions): UsageChore {
  const { store, onError, sweeps = true, everyMs = EVERY_MS } = options;
  /** Wallets with calls since their last fold. */
  const behind = new Set<string>();
  /** Wallets waiting in `urgentQueue`. */
  const urgent = new Set<string>();
  const stopping = new AbortController();
  let urgentQueue = Promise.resolve();
  /** Where the search for wallets left behind continues; undefined when it is finished. */
  let sweepAfter = sweeps ? '' : undefined;
  let roundsToSearch = SEARCH_ROUNDS;
  let timer: NodeJS.Timeout | undefined;
  let isFoldingAll = false;
  let failing = false;

  /** Pauses as long as each step takes, so that calls get at least half of the time. */
  async function foldGently(wallet: string): Promise<void> {
    let startedAt = performance.now();
    for await (const _ of foldSteps(store, wallet)) {
      await sleep(performance.now() - startedAt, undefined, { signal: stopping.signal });
      startedAt = performance.now();
    }
  }

  /** Resolves to false if the work failed. */
  async function tryFold(work: () => Promise<void>): Promise<boolean> {
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

  async function hasOpenJobs(wallet: string): Promise<boolean> {
    const progress = await store.usage.progress(wallet).catch(() => undefined);
    return progress !== undefined && progress.jobs.length > 0;
  }

  async function fold(): Promise<void> {
    for (const wallet of [...behind]) {
      if (stopping.signal.aborted) return;
      // Deleted first, so that a call that starts in the meantime is folded in the next round.
      behind.delete(wallet);
      if (await tryFold(() => foldGently(wallet))) {
        // A job that ends writes no entry.
        if (await hasOpenJobs(wallet)) behind.add(wallet);
        continue;
      }
      behind.add(wallet);
      // The failing wallet holds up no others. Until it is folded, their failures are not reported either.
      await foldBehind().catch(() => undefined);
      return;
    }
    await tryFold(foldBehind);
  }

  async function foldBehind(): Promise<void> {
    if (sweeps && sweepAfter === undefined) {
      roundsToSearch -= 1;
      if (roundsToSearch > 0) return;
      sweepAfter = '';
      roundsToSearch = SEARCH_ROUNDS;
    }
    while (sweepAfter !== undefined && !stopping.signal.aborted) {
      const { found, next } = await store.usage.findBehind(sweepAfter, WALLETS_PER_PAGE);
      for (const wallet of found) {
        sweepAfter = wallet;
        try {
          await foldGently(wallet);
        } catch (error) {
          // Tried again in the next round, in which the search goes on behind it.
          behind.add(wallet);
          throw error;
        }
        if (await hasOpenJobs(wallet)) behind.add(wallet);
      }
      sweepAfter = next;
    }
  }

  function scheduleRound(ms: number): void {
    timer = setTimeout(round, ms).unref();
  }

  async function round(): Promise<void> {
    await fold();
    if (!stopping.signal.aborted) scheduleRound(everyMs * (0.5 + Math.random()));
  }

  return {
    watch: (ledger) => ({
      ...ledger,
      // Afterwards: a round in the meantime does not see the entry.
      settle: (hold, due) => ledger.settle(hold, due).finally(() => behind.add(hold.charge.wallet)),
      charge: (request, job) => ledger.charge(request, job).finally(() => behind.add(request.wallet)),
      refund: (request) => ledger.refund(request).finally(() => behind.add(request.wallet)),
    }),
    start: () => scheduleRound(Math.min(everyMs, FIRST_MS)),
    stop() {
      stopping.abort();
      clearTimeout(timer);
    },
    foldSoon(wallet) {
      if (urgent.has(wallet)) return;
      urgent.add(wallet);
      urgentQueue = urgentQueue.then(async () => {
        urgent.delete(wallet);
        if (!stopping.signal.aborted) await tryFold(() => foldGently(wallet));
      });
    },
    foldAll() {
      if (isFoldingAll) return;
      isFoldingAll = true;
      urgentQueue = urgentQueue.then(async () => {
        isFoldingAll = false;
        if (!stopping.signal.aborted) await fold();
      });
    },
    fold,
  };
}
