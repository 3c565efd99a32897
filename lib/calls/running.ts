// What running calls have used above their holds: it will be charged, so new holds must not use that money.
import type { Micro } from '../money/money.ts';

/** How much a running call has used above its hold so far; never negative. */
type Overshoot = () => Micro;

/** The unsettled calls of this process. */
interface RunningCalls {
  /** Adds a call; returns a function that removes it. */
  add(wallet: string, overshoot: Overshoot): () => void;
  /** By how much the running calls of a wallet exceed their holds in total. */
  overshoot(wallet: string): Micro;
}

export function createRunningCalls(): RunningCalls {
  const wallets = new Map<string, Set<Overshoot>>();
  return {
    add(wallet, overshoot) {
      const calls = wallets.get(wallet) ?? new Set();
      wallets.set(wallet, calls.add(overshoot));
      return () => {
        calls.delete(overshoot);
        if (calls.size === 0) wallets.delete(wallet);
      };
    },
    overshoot(wallet) {
      let sum = 0n;
      for (const overshoot of wallets.get(wallet) ?? []) sum += overshoot();
      return sum;
    },
  };
}
