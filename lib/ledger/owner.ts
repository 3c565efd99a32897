// This process as an owner of holds: renews its lease, agrees with other processes on where rate limits are counted, and
// returns the holds of dead owners.
import type { OtherOwners, OwnerStore } from '../store/ports/owners.ts';
import type { Ledger, LedgerLog } from './ledger.ts';

export interface OwnerOptions {
  readonly store: OwnerStore;
  readonly ledger: Pick<Ledger, 'expireOrphans'>;
  readonly ownerId: string;
  readonly leaseMs: number;
  readonly log: LedgerLog;
  /**
   * Called after each renewal with the number of other live owners. `settled`: no other owner counts in its own memory
   * any more, or the one that did has stopped responding.
   */
  readonly onPeers?: ((peers: number, settled: boolean) => Promise<void>) | undefined;
}

export interface Owner {
  /** Renews the lease for the first time; rejects if the store does not answer. */
  start(): Promise<void>;
  /** The clock of the store, estimated since the last renewal, in ms since the epoch. */
  now(): number;
  /** Whether another process whose lease has expired may be considered dead. */
  canJudgeOthers(): boolean;
  /** Whether the store took the last renewal: a full disk still answers reads. */
  canWrite(): boolean;
  /** Stops renewing and signs off. */
  stop(): Promise<void>;
}

const ORPHANS_AT_ONCE = 500;
/** The longest time until other processes learn that they are not alone. */
const RENEW_MS_MAX = 1000;
/** Polls while another process counts alone: it hands over at its next renewal, or it is dead. */
const HANDOVER_POLL_MS = 100;
const HANDOVER_POLLS_MAX = 20;

export function createOwner(options: OwnerOptions): Owner {
  const { store, ledger, ownerId, leaseMs, log, onPeers } = options;
  const everyMs = Math.min(RENEW_MS_MAX, Math.max(50, Math.floor(leaseMs / 3)));
  let timer: NodeJS.Timeout | undefined;
  let currentTick: Promise<void> | undefined;
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
  /** Announced to the others: this process may count in its own memory. */
  let alone = false;
  /** How many polls in a row saw another process counting alone. */
  let handoverPolls = 0;

  const renew = () => store.renew({ id: ownerId, leaseMs, alone });
  const canJudgeOthers = () => trustFrom !== undefined && performance.now() >= trustFrom;

  function noteClock(now: number): void {
    seenAt = now;
    renewedAt = performance.now();
  }

  /** True if the clock jumped or the machine slept: all leases seem expired, though no process is dead. */
  function hasClockGap(now: number): boolean {
    const passed = now - seenAt;
    noteClock(now);
    return passed < 0 || passed > Math.max(leaseMs - everyMs, 2 * everyMs);
  }

  /**
   * Switches in an order that prevents two processes from counting in memory: a process announces that it wants to count
   * alone before it looks at the others, and withdraws that after it has handed over.
   */
  async function agreeOnCounting(first: OtherOwners, isTrusted: boolean): Promise<void> {
    if (!onPeers) return;
    let seen = first;
    if (seen.others === 0 && !alone) {
      if (isTrusted) {
        alone = true;
        seen = await renew();
      } else {
        // When in doubt, assume that another process could not report.
        seen = { ...seen, others: 1 };
      }
    }
    handoverPolls = seen.alone === 0 ? 0 : handoverPolls + 1;
    try {
      await onPeers(seen.others, handoverPolls === 0 || handoverPolls > HANDOVER_POLLS_MAX);
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
      // The store took so long that the lease has expired again: the holds of live processes would look orphaned.
      if (performance.now() - began > leaseMs) throw new Error('the lease expired during its renewal');
      if (hasClockGap(seen.now)) trustFrom = undefined;
      trustFrom ??= performance.now() + leaseMs;
      const isTrusted = canJudgeOthers();
      await agreeOnCounting(seen, isTrusted);
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
    currentTick = tick().finally(() => {
      const isLooking = handoverPolls > 0 && handoverPolls <= HANDOVER_POLLS_MAX;
      if (!stopped) timer = setTimeout(loop, isLooking ? Math.min(HANDOVER_POLL_MS, everyMs) : everyMs);
    });
  }

  return {
    async start() {
      const seen = await renew();
      noteClock(seen.now);
      trustFrom = performance.now() + leaseMs;
      await agreeOnCounting(seen, true);
      timer = setTimeout(loop, 0);
    },
    // If the clock was just changed, the next renewal notices.
    now: () => (renewedAt === undefined ? Date.now() : Math.floor(seenAt + performance.now() - renewedAt)),
    canJudgeOthers,
    canWrite: () => trustFrom !== undefined,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await currentTick;
      await sweeping;
      await store.remove(ownerId).catch((err: unknown) => log.warn({ err }, 'could not sign off from the store'));
    },
  };
}
