// Takes back what is left of grants whose time is over. Any number of gateways may do it: the id of the operation is that
// of the grant.
import { listDueGrants } from '../money/grants.ts';
import type { Store } from '../store/store.ts';
import { type PageStart, walkRows } from '../store/walks.ts';
import { bookOperation } from './booking.ts';

const EVERY_MS = 60_000;
const WALLETS_PER_PAGE = 100;

/** Resolves to how many were ended. A wallet that fails does not keep the others waiting. */
export async function endDueGrants(
  store: Pick<Store, 'ledger'>,
  now: number,
  onError: (error: unknown, wallet: string) => void,
): Promise<number> {
  let ended = 0;
  const read = (page: PageStart) => store.ledger.grantsDue({ now, ...page });
  for await (const wallet of walkRows(WALLETS_PER_PAGE, read, ({ id }) => id)) {
    try {
      for (const { id } of listDueGrants(wallet, now)) {
        const op = { kind: 'grant_end', wallet: wallet.id, at: now, grantId: id, reason: null } as const;
        if ((await bookOperation(store, op)).status === 'done') ended += 1;
      }
    } catch (error) {
      onError(error, wallet.id);
    }
  }
  return ended;
}

interface GrantChore {
  start(): void;
  stop(): void;
}

interface GrantChoreParts {
  readonly store: Pick<Store, 'ledger'>;
  /** Gives the grants of a month that has begun. */
  readonly giveMonthly: (now: number) => Promise<unknown>;
  readonly onError: (error: unknown, wallet?: string) => void;
}

export function createGrantChore({ store, giveMonthly, onError }: GrantChoreParts): GrantChore {
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;
  let stopped = false;
  // A sweep that runs at a stop ends when the store is closed.
  const report: typeof onError = (error, wallet) => {
    if (!stopped) onError(error, wallet);
  };
  const sweep = async () => {
    if (isRunning) return;
    isRunning = true;
    const now = Date.now();
    await endDueGrants(store, now, report).catch((error: unknown) => report(error));
    await giveMonthly(now).catch((error: unknown) => report(error));
    isRunning = false;
  };
  return {
    start() {
      void sweep();
      timer = setInterval(() => void sweep(), EVERY_MS).unref();
    },
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}
