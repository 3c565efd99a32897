// Works on jobs in the background, in every process: claims those that are due by lease, looks at them upstream, and ends
// them. There is one timer for all: what is due when is in the store.
import type { Ledger } from '../ledger/ledger.ts';
import type { JobStore } from '../store/ports/jobs.ts';
import type { Job } from './decide.ts';
import type { Look, Sight } from './look.ts';
import { nextLookMs } from './pace.ts';

export interface WorkerOptions {
  readonly jobs: JobStore;
  readonly ledger: Pick<Ledger, 'refund'>;
  readonly look: Look;
  readonly ownerId: string;
  readonly leaseMs: number;
  readonly pollMs: number;
  /** The store's clock, and whether others may be taken for dead. */
  readonly clock: { now(): number; trusts(): boolean };
  readonly log: WorkerLog;
  /** Told of jobs that have ended, and how long they took. */
  readonly onEnd?: ((job: Job, how: 'completed' | 'failed', ms: number) => void) | undefined;
  readonly random?: () => number;
}

export interface WorkerLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface Worker {
  start(): void;
  /** A job of this process is being created: until the returned function is called, this worker does not take it for abandoned. */
  hold(id: string): () => void;
  /** When a new job is looked at for the first time. */
  firstLook(): number;
  /** A job is due then. */
  expect(id: string, dueAt: number): void;
  /** Claims nothing more and aborts what is under way; the leases of those jobs run out. */
  stop(): Promise<void>;
}

interface Working {
  readonly job: Job;
  readonly life: AbortController;
  renewAt: number;
  over: Promise<void>;
}

const CLAIM_MAX = 64;
const WORKING_MAX = 256;
const IDLE_MS_MAX = 5000;
const GAP_MS_MAX = 1000;
const GAP_MS_MIN = 10;
/** A job whose charge cannot be refunded is damage; the audit reports it. */
const HOPELESS_MS = 600_000;

export function createWorker(options: WorkerOptions): Worker {
  const { jobs, ledger, look, ownerId, leaseMs, pollMs, clock, log, onEnd, random = Math.random } = options;
  const idleMs = Math.min(IDLE_MS_MAX, Math.max(50, Math.floor(leaseMs / 3)));
  const gapMs = Math.min(GAP_MS_MAX, Math.max(GAP_MS_MIN, Math.floor(pollMs / 5)));
  const working = new Map<string, Working>();
  const beingMade = new Set<string>();
  /** When jobs that this process looked at last are due again. */
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
        log.warn({ err }, 'could not look for jobs that are due');
        return idleMs;
      })
      .then((pauseMs) => {
        turn = undefined;
        // Something may have become due meanwhile.
        wakeIn(Math.min(pauseMs, Math.max(gapMs, nextDue() - clock.now())));
      });
  }

  /** Resolves to the longest pause before the next one. */
  async function tick(): Promise<number> {
    await renewLeases();
    const room = Math.min(CLAIM_MAX, WORKING_MAX - working.size);
    if (room <= 0) return gapMs;
    const mine = [...working.keys(), ...beingMade];
    const at = clock.trusts() ? clock.now() : undefined;
    const claim = { owner: ownerId, leaseMs, limit: room, working: mine, at };
    const claimed = await jobs.claim(claim);
    if (stopped) return idleMs;
    for (const job of claimed) begin(job);
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

  function begin(job: Job): void {
    expected.delete(job.id);
    const life = new AbortController();
    const entry: Working = { job, life, renewAt: performance.now() + leaseMs / 2, over: Promise.resolve() };
    working.set(job.id, entry);
    entry.over = work(job, life.signal)
      .catch((err: unknown) => {
        // When its lease ends it is claimed again.
        if (!life.signal.aborted) log.warn({ err, job: job.id }, 'could not go on with a job');
      })
      .finally(() => {
        working.delete(job.id);
      });
  }

  async function renewLeases(): Promise<void> {
    const now = performance.now();
    const old = [...working.values()].filter(({ renewAt }) => renewAt <= now);
    await Promise.all(
      old.map(async (entry) => {
        const { id, version } = entry.job;
        const isMine = await jobs.renew({ id, version, owner: ownerId, leaseMs });
        if (!isMine) entry.life.abort();
        entry.renewAt = now + leaseMs / 2;
      }),
    );
  }

  async function work(job: Job, signal: AbortSignal): Promise<void> {
    // The process that asked the upstream to begin is gone, and its answer with it: never ask again.
    if (job.phase === 'starting') return fail(job, 'The service was interrupted while it started this video.');
    const sight = await look(job, signal);
    switch (sight.kind) {
      case 'completed':
        return complete(job, sight.result);
      case 'failed':
        return fail(job, sight.error);
      case 'unfinished':
        if (clock.now() >= job.deadline) return fail(job, 'The video was not finished in time.');
        return advance(job, sight);
    }
  }

  async function advance(job: Job, sight: Extract<Sight, { kind: 'unfinished' }>): Promise<void> {
    const { shown, progress, retryAfterMs, failed } = sight;
    const at = clock.now();
    const pace = { ageMs: at - job.createdAt, pollMs, open: openHere(), retryAfterMs, failed };
    await postpone(job, { shown, progress, dueAt: Math.min(at + nextLookMs(pace, random()), job.deadline) });
  }

  async function postpone(job: Job, to: { shown: Job['shown']; progress: number; dueAt: number }): Promise<void> {
    const { id, version } = job;
    const { status } = await jobs.change({ kind: 'advance', id, version, at: clock.now(), ...to }, job);
    if (status === 'done' || status === 'exists') expect(id, to.dueAt);
  }

  async function complete(job: Job, result: string): Promise<void> {
    const { id, version } = job;
    const { status } = await jobs.change({ kind: 'complete', id, version, at: clock.now(), result }, job);
    if (status === 'done' || status === 'exists') ended(job, 'completed');
  }

  async function fail(job: Job, error: string): Promise<void> {
    const { id, version, charge: chargeId, wallet } = job;
    const at = clock.now();
    const { status } = await ledger.refund({ chargeId, wallet, job: { kind: 'fail', id, version, at, error } });
    if (status === 'refunded') ended(job, 'failed');
    if (status === 'refused' && job.phase === 'running') {
      const { shown, progress } = job;
      await postpone(job, { shown, progress, dueAt: at + HOPELESS_MS });
    }
  }

  function ended(job: Job, how: 'completed' | 'failed'): void {
    const ms = clock.now() - job.createdAt;
    onEnd?.(job, how, ms);
    const { id, charge, wallet: account, model, upstream } = job;
    log.info({ job: id, charge, account, model, upstream, ms }, `a job has ${how}`);
  }

  function openHere(): number {
    return expected.size + working.size;
  }

  function expect(id: string, dueAt: number): void {
    expected.set(id, dueAt);
    wakeIn(Math.max(gapMs, dueAt - clock.now()));
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
    firstLook: () => clock.now() + nextLookMs({ ageMs: 0, pollMs, open: openHere() }, random()),
    expect,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      for (const { life } of working.values()) life.abort();
      await turn;
      await Promise.all([...working.values()].map(({ over }) => over));
    },
  };
}
