// Accounts whose wallet had money a moment ago: a client with many long bodies costs one look at it a second, not one a
// body. A wallet that is emptied meanwhile is refused after its body, when the call is priced.

const REMEMBERED_MS = 1000;
/** Beyond that all are forgotten: it is only about who comes often. */
const ACCOUNTS_MAX = 1000;

export interface RecentBalanceCache {
  note(account: string): void;
  /** Whether it was noted within the last second. */
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
