// A background loop over rows that are due, in every process: claims them by lease, renews the leases, and wakes when
// the next one is due. One timer serves all rows; the store says what is due when.
import type { JobClaim, JobRenewal } from '../store/ports/jobs.ts';

export interface LeaseLoopOptions<Row extends { readonly id: string; readonly version: number }> {
  readonly store: {
    claim(claim: JobClaim): Promise<readonly Row[]>;
    renew(renewal: JobRenewal): Promise<boolean>;
  };
  /** Works on one row; the signal aborts when this process loses its lease. */
  readonly work: (row: Row, signal: AbortSignal) => Promise<void>;
  readonly ownerId: string;
  readonly leaseMs: number;
  /** The shortest pause between two claims. */
  readonly gapMs: number;
  /** The store's clock, and whether other processes may be considered dead. */
  readonly clock: LoopClock;
  readonly onClaimError: (err: unknown) => void;
  /** When the lease ends, the row can be claimed again. */
  readonly onWorkError: (err: unknown, row: Row) => void;
}

export interface LoopClock {
  now(): number;
  trusts(): boolean;
}

export interface LeaseLoop {
  start(): void;
  /**
   * A row of this process is being created: until the returned function is called, this loop does not treat it as
   * abandoned.
   */
  hold(id: string): () => void;
  /** A row is due then. */
  expect(id: string, dueAt: number): void;
  /** How many rows this process is working on or expecting. */
  open(): number;
  /** Claims nothing more and aborts what is running; the leases of those rows expire. */
  stop(): Promise<void>;
}

interface Working {
  readonly row: { readonly id: string; readonly version: number };
  readonly life: AbortController;
  renewAt: number;
  over: Promise<void>;
}

const CLAIM_MAX = 64;
const WORKING_MAX = 256;
const IDLE_MS_MAX = 5000;

export function createLeaseLoop<Row extends { readonly id: string; readonly version: number }>(
  options: LeaseLoopOptions<Row>,
): LeaseLoop {
  const { store, work, ownerId, leaseMs, gapMs, clock, onClaimError, onWorkError } = options;
  const idleMs = Math.min(IDLE_MS_MAX, Math.max(50, Math.floor(leaseMs / 3)));
  const working = new Map<string, Working>();
  const beingMade = new Set<string>();
  /** When the rows this process worked on last are due again. */
  const expected = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let wakeAt = Number.POSITIVE_INFINITY;
  let turn: Promise<void> | undefined;
  let started = false;
  let stopped = false;

  function wakeIn(ms: number): void {
    const at = performance.now() + ms;
    if (stopped || !started || at >= wakeAt) return;
    clearTimeout(timer);
    wakeAt = at;
    timer = setTimeout(wake, ms).unref();
  }

  function wake(): void {
    wakeAt = Number.POSITIVE_INFINITY;
    if (turn) return;
    turn = tick()
      .catch((err: unknown) => {
        onClaimError(err);
        return idleMs;
      })
      .then((pauseMs) => {
        turn = undefined;
        // Something may have become due in the meantime.
        wakeIn(Math.min(pauseMs, Math.max(gapMs, nextDue() - clock.now())));
      });
  }

  /** Resolves to the longest pause before the next claim. */
  async function tick(): Promise<number> {
    await renewLeases();
    const room = Math.min(CLAIM_MAX, WORKING_MAX - working.size);
    if (room <= 0) return gapMs;
    const mine = [...working.keys(), ...beingMade];
    const at = clock.trusts() ? clock.now() : undefined;
    const claimed = await store.claim({ owner: ownerId, leaseMs, limit: room, working: mine, at });
    if (stopped) return idleMs;
    for (const row of claimed) begin(row);
    return claimed.length === room ? 0 : idleMs;
  }

  function nextDue(): number {
    const now = clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [id, dueAt] of expected) {
      // If it was not claimed here, another process has it.
      if (dueAt <= now) expected.delete(id);
      else if (dueAt < next) next = dueAt;
    }
    return next;
  }

  function begin(row: Row): void {
    expected.delete(row.id);
    const life = new AbortController();
    const entry: Working = { row, life, renewAt: performance.now() + leaseMs / 2, over: Promise.resolve() };
    working.set(row.id, entry);
    entry.over = work(row, life.signal)
      .catch((err: unknown) => {
        if (!life.signal.aborted) onWorkError(err, row);
      })
      .finally(() => {
        working.delete(row.id);
      });
  }

  async function renewLeases(): Promise<void> {
    const now = performance.now();
    const old = [...working.values()].filter(({ renewAt }) => renewAt <= now);
    await Promise.all(
      old.map(async (entry) => {
        const { id, version } = entry.row;
        const isMine = await store.renew({ id, version, owner: ownerId, leaseMs });
        if (!isMine) entry.life.abort();
        entry.renewAt = now + leaseMs / 2;
      }),
    );
  }

  return {
    start() {
      started = true;
      wakeIn(0);
    },
    hold(id) {
      beingMade.add(id);
      return () => void beingMade.delete(id);
    },
    expect(id, dueAt) {
      expected.set(id, dueAt);
      wakeIn(Math.max(gapMs, dueAt - clock.now()));
    },
    open: () => expected.size + working.size,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      for (const { life } of working.values()) life.abort();
      await turn;
      await Promise.all([...working.values()].map(({ over }) => over));
    },
  };
}
