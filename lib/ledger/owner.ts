// This process as an owner of holds: renews its lease, agrees with the others on who counts rate limits, and returns what
// dead ones left held.
import type { Others, OwnerStore } from '../store/ports/owners.ts';
import type { Ledger, LedgerLog } from './ledger.ts';

export interface OwnerOptions {
  readonly store: OwnerStore;
  readonly ledger: Pick<Ledger, 'expireOrphans'>;
  readonly ownerId: string;
  readonly leaseMs: number;
  readonly log: LedgerLog;
  /**
   * Called after each renewal with the number of other live owners. `settled`: none of them counts by its own memory any
   * more, or none that does has answered.
   */
  readonly onPeers?: (peers: number, settled: boolean) => Promise<void>;
}

export interface Owner {
  /** Renews for the first time: rejects when the store does not answer. */
  start(): Promise<void>;
  /** The store's clock, as far as this process knows it, in ms since the epoch. */
  now(): number;
  /** Whether another one whose lease is over may be taken for dead. */
  trusts(): boolean;
  /** Stops renewing and leaves. */
  stop(): Promise<void>;
}

const ORPHANS_AT_ONCE = 500;
/** Others learn at least this often that they are not alone. */
const RENEW_MS_MAX = 1000;
/** While another one counts alone: it hands over with its next renewal, or else it is dead. */
const LOOK_MS = 100;
const LOOKS_MAX = 20;

export function createOwner(options: OwnerOptions): Owner {
  const { store, ledger, ownerId, leaseMs, log, onPeers } = options;
  const everyMs = Math.min(RENEW_MS_MAX, Math.max(50, Math.floor(leaseMs / 3)));
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> | undefined;
  let sweeping: Promise<void> | undefined;
  let stopped = false;
  /**
   * When those whose lease is over may be taken for dead: after the start, an outage and a jump of the clock the others
   * get a whole lease to report.
   */
  let trustFrom: number | undefined;
  /** The store's clock at the last renewal, and the moment of that (performance.now()). */
  let seenAt = 0;
  let renewedAt: number | undefined;
  /** The others are told that this process may count by its own memory. */
  let alone = false;
  /** How often in a row another one was seen to count alone. */
  let looks = 0;

  const renew = () => store.renew({ id: ownerId, leaseMs, alone });
  const trusts = () => trustFrom !== undefined && performance.now() >= trustFrom;

  function note(now: number): void {
    seenAt = now;
    renewedAt = performance.now();
  }

  /** The clock jumped, or the machine slept: the leases of all processes seem over, though none of them is gone. */
  function isGap(now: number): boolean {
    const passed = now - seenAt;
    note(now);
    return passed < 0 || passed > Math.max(leaseMs - everyMs, 2 * everyMs);
  }

  /**
   * Changes over in an order in which nobody counts by memory beside another: whoever wants to be alone says so before
   * it looks, and takes it back after it has handed over.
   */
  async function agree(first: Others, isTrusted: boolean): Promise<void> {
    if (!onPeers) return;
    let seen = first;
    if (seen.others === 0 && !alone) {
      if (isTrusted) {
        alone = true;
        seen = await renew();
      } else {
        // If in doubt, there is another process that could not report.
        seen = { ...seen, others: 1 };
      }
    }
    looks = seen.alone === 0 ? 0 : looks + 1;
    try {
      await onPeers(seen.others, looks === 0 || looks > LOOKS_MAX);
    } catch (err) {
      log.warn({ err }, 'could not hand over the rate-limit counts');
      return;
    }
    if (seen.others === 0 || !alone) return;
    alone = false;
    await renew();
  }

  async function tick(): Promise<void> {
    try {
      const began = performance.now();
      const seen = await renew();
      // The store took so long that the lease is over again: the holds of the living, ours too, would look orphaned.
      if (performance.now() - began > leaseMs) throw new Error('the lease expired while it was being renewed');
      if (isGap(seen.now)) trustFrom = undefined;
      trustFrom ??= performance.now() + leaseMs;
      const isTrusted = trusts();
      await agree(seen, isTrusted);
      if (isTrusted) sweep(seen.now);
    } catch (err) {
      trustFrom = undefined;
      log.warn({ err }, 'could not renew the lease');
    }
  }

  /** Beside the renewals, which must not wait for a wallet that cannot be written. */
  function sweep(now: number): void {
    sweeping ??= ledger
      .expireOrphans({ now, limit: ORPHANS_AT_ONCE })
      .then(
        (expired) => {
          if (expired > 0) log.warn({ expired }, 'returned the holds of a process that is gone');
        },
        (err: unknown) => log.warn({ err }, 'could not look for orphaned holds'),
      )
      .finally(() => {
        sweeping = undefined;
      });
  }

  function loop(): void {
    if (stopped) return;
    turn = tick().finally(() => {
      const isLooking = looks > 0 && looks <= LOOKS_MAX;
      if (!stopped) timer = setTimeout(loop, isLooking ? Math.min(LOOK_MS, everyMs) : everyMs);
    });
  }

  return {
    async start() {
      const seen = await renew();
      note(seen.now);
      trustFrom = performance.now() + leaseMs;
      await agree(seen, true);
      timer = setTimeout(loop, 0);
    },
    // A clock that was just set is noticed with the next renewal.
    now: () => (renewedAt === undefined ? Date.now() : Math.floor(seenAt + performance.now() - renewedAt)),
    trusts,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await turn;
      await sweeping;
      await store.remove(ownerId).catch((err: unknown) => log.warn({ err }, 'could not sign off from the store'));
    },
  };
}
