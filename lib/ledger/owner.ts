// This process as an owner of holds: renews its lease, agrees with other processes on who counts rate limits, and
// returns the holds of dead owners.
import type { Others, OwnerStore } from '../store/ports/owners.ts';
import type { Ledger, LedgerLog } from './ledger.ts';

export interface OwnerOptions {
  readonly store: OwnerStore;
  readonly ledger: Pick<Ledger, 'expireOrphans'>;
  readonly ownerId: string;
  readonly leaseMs: number;
  readonly log: LedgerLog;
  /**
   * Called after each renewal with the number of other live owners. `settled`: none of them counts in its own memory
   * any more, or the one that did has stopped responding.
   */
  readonly onPeers?: ((peers: number, settled: boolean) => Promise<void>) | undefined;
}

export interface Owner {
  /** Renews for the first time; rejects if the store does not answer. */
  start(): Promise<void>;
  /** The store's clock as far as this process knows it, in ms since the epoch. */
  now(): number;
  /** Whether another process whose lease has expired may be considered dead. */
  trusts(): boolean;
  /** Stops renewing and signs off. */
  stop(): Promise<void>;
}

const ORPHANS_AT_ONCE = 500;
/** At least this often, others learn that they are not alone. */
const RENEW_MS_MAX = 1000;
/** While another process counts alone: it hands over at its next renewal, or it is dead. */
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
   * When owners with expired leases may be considered dead: after the start, an outage or a clock jump, the others get
   * a whole lease to report.
   */
  let trustFrom: number | undefined;
  /** The store's clock at the last renewal, and when that was (performance.now()). */
  let seenAt = 0;
  let renewedAt: number | undefined;
  /** The others are told that this process may count in its own memory. */
  let alone = false;
  /** How often in a row another process was seen counting alone. */
  let looks = 0;

  const renew = () => store.renew({ id: ownerId, leaseMs, alone });
  const trusts = () => trustFrom !== undefined && performance.now() >= trustFrom;

  function note(now: number): void {
    seenAt = now;
    renewedAt = performance.now();
  }

  /** The clock jumped, or the machine slept: all leases seem expired, though no process is gone. */
  function isGap(now: number): boolean {
    const passed = now - seenAt;
    note(now);
    return passed < 0 || passed > Math.max(leaseMs - everyMs, 2 * everyMs);
  }

  /**
   * Switches in an order in which nobody counts in memory while another process does: a process announces that it wants
   * to count alone before it looks, and withdraws that after it has handed over.
   */
  async function agree(first: Others, isTrusted: boolean): Promise<void> {
    if (!onPeers) return;
    let seen = first;
    if (seen.others === 0 && !alone) {
      if (isTrusted) {
        alone = true;
        seen = await renew();
      } else {
        // When in doubt, assume another process that could not report.
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
      // The store took so long that the lease has expired again: holds of live processes, ours included, would look
      // orphaned.
      if (performance.now() - began > leaseMs) throw new Error('the lease expired during its renewal');
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

  /** Separate from renewals, which must not wait for a wallet that cannot be written. */
  function sweep(now: number): void {
    sweeping ??= ledger
      .expireOrphans({ now, limit: ORPHANS_AT_ONCE })
      .then(
        (expired) => {
          if (expired > 0) log.warn({ expired }, 'returned the holds of a dead process');
        },
        (err: unknown) => log.warn({ err }, 'could not sweep orphaned holds'),
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
    // The next renewal notices a clock that was just set.
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
