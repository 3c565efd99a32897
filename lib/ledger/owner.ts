// This process as an owner of holds: renews its lease, counts the others, and returns what dead ones left held.
import type { OwnerStore } from '../store/store.ts';
import type { Ledger, LedgerLog } from './ledger.ts';

export interface OwnerOptions {
  readonly store: OwnerStore;
  readonly ledger: Pick<Ledger, 'expireOrphans'>;
  readonly ownerId: string;
  readonly leaseMs: number;
  readonly log: LedgerLog;
  /** Called after each renewal with the number of other live owners. */
  readonly onPeers?: (peers: number) => Promise<void>;
  readonly now?: () => number;
}

export interface Owner {
  /** Renews for the first time: rejects when the store does not answer. */
  start(): Promise<void>;
  /** Stops renewing and leaves. */
  stop(): Promise<void>;
}

const ORPHANS_AT_ONCE = 500;
/** Others learn at least so often that they are not alone. */
const RENEW_MS_MAX = 1000;

export function createOwner(options: OwnerOptions): Owner {
  const { store, ledger, ownerId, leaseMs, log, onPeers, now = Date.now } = options;
  const everyMs = Math.min(RENEW_MS_MAX, Math.max(50, Math.floor(leaseMs / 3)));
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> | undefined;
  let stopped = false;
  /** Since when every renewal succeeded: after an outage the others get a whole lease to report first. */
  let steadySince: number | undefined;
  /** When this process last looked at the clock. */
  let lookedAt = 0;

  /** Resolves to the end of the lease. */
  async function renew(): Promise<number> {
    const at = now();
    const until = at + leaseMs;
    const peers = await store.renew({ id: ownerId, now: at, until });
    await onPeers?.(peers);
    return until;
  }

  /** The clock jumped, or the machine slept: the leases of all processes seem over, though none of them is gone. */
  function noticeGap(): void {
    const at = now();
    if (at - lookedAt > Math.max(leaseMs - everyMs, 2 * everyMs)) steadySince = undefined;
    lookedAt = at;
  }

  async function tick(): Promise<void> {
    try {
      noticeGap();
      const until = await renew();
      // The store took so long that the lease is over again: the holds of the living, ours too, would look orphaned.
      if (now() > until) throw new Error('the lease ended while it was renewed');
      steadySince ??= now() + leaseMs;
      if (now() < steadySince) return;
      const expired = await ledger.expireOrphans(ORPHANS_AT_ONCE);
      if (expired > 0) log.warn({ expired }, 'returned the holds of a process that is gone');
    } catch (err) {
      steadySince = undefined;
      log.warn({ err }, 'could not renew the lease or look for orphans');
    }
  }

  function loop(): void {
    if (stopped) return;
    turn = tick().finally(() => {
      if (!stopped) timer = setTimeout(loop, everyMs);
    });
  }

  return {
    async start() {
      await renew();
      steadySince = now();
      lookedAt = steadySince;
      timer = setTimeout(loop, 0);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await turn;
      await store.remove(ownerId).catch((err: unknown) => log.warn({ err }, 'could not leave the store'));
    },
  };
}
