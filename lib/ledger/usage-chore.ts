// Keeps the sums of usage close behind the journal: folds the wallets that had calls now and then, so that nobody who
// opens a page waits for a hundred thousand of them.
import type { Store } from '../store/store.ts';
import type { Ledger } from './ledger.ts';
import { foldUsage } from './usage-fold.ts';

export interface UsageChoreOptions {
  readonly store: Pick<Store, 'journal' | 'ledger' | 'usage'>;
  /** Told of the first failure in a row. */
  readonly onError: (error: unknown) => void;
  /** Between two rounds, more or less. */
  readonly everyMs?: number;
}

export interface UsageChore {
  /** The same ledger, whose calls are noted. */
  watch(ledger: Ledger): Ledger;
  start(): void;
  stop(): void;
  /** One round; never rejects. */
  fold(): Promise<void>;
}

const EVERY_MS = 60_000;

export function createUsageChore({ store, onError, everyMs = EVERY_MS }: UsageChoreOptions): UsageChore {
  /** Wallets with calls since they were folded last. */
  const behind = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let failing = false;

  async function fold(): Promise<void> {
    for (const wallet of [...behind]) {
      if (stopped) return;
      // First, so that a call that begins meanwhile is folded in the next round.
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
