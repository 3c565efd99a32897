// Keeps usage sums close behind the journal: periodically folds the wallets that had calls, so that nobody who opens a
// page waits for a hundred thousand of them.
import type { Store } from '../store/store.ts';
import type { Ledger } from './ledger.ts';
import { foldUsage } from './usage-fold.ts';

export interface UsageChoreOptions {
  readonly store: Pick<Store, 'journal' | 'ledger' | 'usage'>;
  /** Called with the first of consecutive failures. */
  readonly onError: (error: unknown) => void;
  /** Average pause between two rounds. */
  readonly everyMs?: number;
}

export interface UsageChore {
  /** The same ledger, with its calls observed. */
  watch(ledger: Ledger): Ledger;
  start(): void;
  stop(): void;
  /** One round; never rejects. */
  fold(): Promise<void>;
}

const EVERY_MS = 60_000;

export function createUsageChore({ store, onError, everyMs = EVERY_MS }: UsageChoreOptions): UsageChore {
  /** Wallets with calls since their last fold. */
  const behind = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let failing = false;

  async function fold(): Promise<void> {
    for (const wallet of [...behind]) {
      if (stopped) return;
      // First, so that a call that starts meanwhile is folded in the next round.
      behind.delete(wallet);
      try {
        await foldUsage(store, wallet);
        failing = false;
      } catch (error) {
        behind.add(wallet);
        if (!failing && !stopped) onError(error);
        failing = true;
        return;
      }
    }
  }

  function wait(): void {
    timer = setTimeout(round, everyMs * (0.5 + Math.random())).unref();
  }

  async function round(): Promise<void> {
    await fold();
    if (!stopped) wait();
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
    start: wait,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
    fold,
  };
}
