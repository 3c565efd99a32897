// Remembers which accounts had money a moment ago: the wallet is read at most once a second for many long bodies. A wallet
// that is emptied meanwhile is refused after the body was read, when the call is priced.

const REMEMBERED_MS = 1000;
/** Cleared when full; only frequent callers matter. */
const ACCOUNTS_MAX = 1000;

export interface RecentBalanceCache {
  note(account: string): void;
  /** Whether the account was noted within the last second. */
  has(account: string): boolean;
}

export function createRecentBalanceCache(now: () => number = () => performance.now()): RecentBalanceCache {
  const until = new Map<string, number>();
  return {
    note(account) {
      if (until.size >= ACCOUNTS_MAX) until.clear();
      until.set(account, now() + REMEMBERED_MS);
    },
    has: (account) => now() < (until.get(account) ?? 0),
  };
}
