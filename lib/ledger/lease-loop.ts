// A background loop over rows that are due, in every process: claims them by lease, renews the leases, and wakes when
// the next one is due. One timer serves all rows; the store says what is due when.
import type { JobClaim, JobRenewal } from '../store/ports/jobs.ts';

interface LeaseLoopOptions<Row extends { readonly id: string; readonly version: number }> {
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
  /** The row can be claimed again when its lease ends. */
  readonly onWorkError: (err: unknown, row: Row) => void;
}

export interface LoopClock {
  now(): number;
  canJudgeOthers(): boolean;
}

export interface LeaseLoop {
  start(): void;
  /**
   * A row of this process is being created: until the returned function is called, this loop does not treat it as
   * abandoned.
   */
  markCreating(id: string): () => void;
  /** Wakes the loop when the row is due. */
  expectDue(id: string, dueAt: number): void;
  /** The number of rows that this process works on or expects. */
  countOpen(): number;
  /** Claims no more rows and aborts the running work; the leases of those rows expire. */
  stop(): Promise<void>;
}

interface Working {
  readonly row: { readonly id: string; readonly version: number };
  readonly abort: AbortController;
  renewAt: number;
  done: Promise<void>;
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
  const creating = new Set<string>();
  /** When the rows that this process worked on last are due again. */
  const expected = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let wakeAt = Number.POSITIVE_INFINITY;
  let currentTick: Promise<void> | undefined;
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
    if (currentTick) return;
    currentTick = tick()
      .catch((err: unknown) => {
        onClaimError(err);
        return idleMs;
      })
      .then((pauseMs) => {
        currentTick = undefined;
        // A row may have become due in the meantime.
        wakeIn(Math.min(pauseMs, Math.max(gapMs, nextDue() - clock.now())));
      });
  }

  /** Resolves to the longest pause before the next claim. */
  async function tick(): Promise<number> {
    await renewLeases();
    const room = Math.min(CLAIM_MAX, WORKING_MAX - working.size);
    if (room <= 0) return gapMs;
    const mine = [...working.keys(), ...creating];
    const at = clock.canJudgeOthers() ? clock.now() : undefined;
    const claimed = await store.claim({ owner: ownerId, leaseMs, limit: room, working: mine, at });
    if (stopped) return idleMs;
    for (const row of claimed) startWork(row);
    return claimed.length === room ? 0 : idleMs;
  }

  function nextDue(): number {
    const now = clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [id, dueAt] of expected) {
      // A due row that was not claimed here belongs to another process.
      if (dueAt <= now) expected.delete(id);
      else if (dueAt < next) next = dueAt;
    }
    return next;
  }

  function startWork(row: Row): void {
    expected.delete(row.id);
    const abort = new AbortController();
    const entry: Working = { row, abort, renewAt: performance.now() + leaseMs / 2, done: Promise.resolve() };
    working.set(row.id, entry);
    entry.done = work(row, abort.signal)
      .catch((err: unknown) => {
        if (!abort.signal.aborted) onWorkError(err, row);
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
        if (!isMine) entry.abort.abort();
        entry.renewAt = now + leaseMs / 2;
      }),
    );
  }

  return {
    start() {
      started = true;
      wakeIn(0);
    },
    markCreating(id) {
      creating.add(id);
      return () => void creating.delete(id);
    },
    expectDue(id, dueAt) {
      expected.set(id, dueAt);
      wakeIn(Math.max(gapMs, dueAt - clock.now()));
    },
    countOpen: () => expected.size + working.size,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      for (const { abort } of working.values()) abort.abort();
      await currentTick;
      await Promise.all([...working.values()].map(({ done }) => done));
    },
  };
}
