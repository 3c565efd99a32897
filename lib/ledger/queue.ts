// Group commit: what arrives while a lane's batch commits, and while the process is busy, is the next batch. Callers
// wait a bounded time; an operation whose fate is unknown goes on in the background until the store has said what
// became of it.

import type { Operation, Outcome } from '../money/decide.ts';
import type { LedgerStore, Submission } from '../store/store.ts';
import { lull } from './lull.ts';

export interface QueueOptions {
  readonly store: LedgerStore;
  /** How long a caller waits for an outcome. */
  readonly answerWithinMs?: number;
  /** Most operations that wait in one lane; more are refused, except those that end a charge. */
  readonly waitingMax?: number;
  readonly onRetry?: (error: unknown, operations: number) => void;
}

/** Why there is no outcome: `never` it was not and will not be applied; `unknown` it will be known later. */
export class NoOutcome extends Error {
  override readonly name = 'NoOutcome';
  readonly applied: 'never' | 'unknown';
  constructor(applied: 'never' | 'unknown') {
    super(applied === 'never' ? 'the store did not take the operation' : 'the store has not confirmed the operation');
    this.applied = applied;
  }
}

export interface SubmitOptions {
  /** Keeps trying for as long as the process lives, also after its caller was told `unknown`. */
  readonly persistent: boolean;
  /** How much of the time that callers wait is over already. */
  readonly waitedMs?: number;
  /** Called with an outcome that came after its caller was told `unknown`. */
  readonly onLate?: (outcome: Outcome) => void;
}

export interface Queue {
  /** Rejects only with `NoOutcome`. */
  submit(op: Operation, options: SubmitOptions): Promise<Outcome>;
  /** Operations that have no outcome yet. */
  size(): number;
  /** Resolves when nothing is left, or when the time is over; resolves to what is left. */
  drain(withinMs: number): Promise<number>;
}

interface Item extends Submission {
  readonly options: SubmitOptions;
  readonly deadline: number;
  resolve: ((outcome: Outcome) => void) | undefined;
  reject: ((error: NoOutcome) => void) | undefined;
}

interface Lane {
  waiting: Item[];
  running: Item[];
  /** A commit is on its way or under way: there is never a second one, also in its pauses. */
  busy: boolean;
  /** In a row. */
  failures: number;
  /** Most operations in the next batch. */
  size: number;
}

const ANSWER_WITHIN_MS = 4800;
const WAITING_MAX = 20_000;
/**
 * So long a busy process gathers before it commits what all calls share: a transaction costs as much as ten of its
 * operations. A process with nothing else to do commits at once.
 */
const COMPANY_MS = 8;
/** A batch that failed so often is tried in parts. */
const FAILURES_TOGETHER = 3;
const TICK_MS = 100;
const BACKOFF_MAX_MS = 500;

export function createQueue({
  store,
  answerWithinMs = ANSWER_WITHIN_MS,
  waitingMax = WAITING_MAX,
  onRetry,
}: QueueOptions): Queue {
  const lanes = new Map<string, Lane>();
  let open = 0;
  let ticker: NodeJS.Timeout | undefined;

  function submit(op: Operation, options: SubmitOptions): Promise<Outcome> {
    const name = store.lane === 'store' ? '' : op.wallet;
    let lane = lanes.get(name);
    if (!lane) {
      lane = { waiting: [], running: [], busy: false, failures: 0, size: store.batchMax };
      lanes.set(name, lane);
    }
    if (lane.waiting.length >= waitingMax && !options.persistent) return Promise.reject(new NoOutcome('never'));
    return new Promise<Outcome>((resolve, reject) => {
      const deadline = performance.now() + answerWithinMs - (options.waitedMs ?? 0);
      lane.waiting.push({ op, tried: false, abandoned: false, options, deadline, resolve, reject });
      open += 1;
      ticker ??= setInterval(expire, TICK_MS).unref();
      schedule(name, lane);
    });
  }

  function schedule(name: string, lane: Lane): void {
    if (lane.busy) return;
    lane.busy = true;
    setImmediate(() => void commit(name, lane));
  }

  async function commit(name: string, lane: Lane): Promise<void> {
    while (lane.running.length + lane.waiting.length > 0) {
      if (store.lane === 'store' && lane.waiting.length < lane.size) await lull(COMPANY_MS);
      gather(lane);
      if (lane.running.length === 0) continue;
      try {
        const outcomes = await store.apply(lane.running);
        const batch = lane.running;
        lane.running = [];
        lane.failures = 0;
        lane.size = Math.min(store.batchMax, lane.size * 2);
        for (const [index, item] of batch.entries()) answer(item, outcomes[index]);
      } catch (error) {
        onRetry?.(error, lane.running.length);
        lane.failures += 1;
        if (lane.failures > FAILURES_TOGETHER) splitBatch(lane);
        await pause(Math.min(BACKOFF_MAX_MS, 10 * 2 ** Math.min(lane.failures, 6)), { ref: false });
      }
    }
    lane.busy = false;
    if (store.lane === 'wallet') lanes.delete(name);
  }

  /**
   * One operation that the store can never take must not stop the others: a batch that keeps failing is halved, down
   * to single operations, and one that fails alone goes to the end of the line.
   */
  function splitBatch(lane: Lane): void {
    if (lane.running.some((item) => item.tried)) return;
    lane.size = Math.max(1, Math.floor(lane.running.length / 2));
    lane.waiting = lane.running.length > 1 ? [...lane.running, ...lane.waiting] : [...lane.waiting, ...lane.running];
    lane.running = [];
  }

  /** Fills the batch from what waits; what nobody waits for and never was tried falls out. */
  function gather(lane: Lane): void {
    const fresh = lane.waiting.splice(0, lane.size - lane.running.length);
    const all = [...lane.running, ...fresh];
    lane.running = all.filter((item) => item.tried || !item.abandoned);
    open -= all.length - lane.running.length;
  }

  function answer(item: Item, outcome: Outcome | undefined): void {
    open -= 1;
    if (!outcome) item.reject?.(new NoOutcome('never'));
    else if (item.resolve) item.resolve(outcome);
    else item.options.onLate?.(outcome);
    forget(item);
  }

  function forget(item: Item): void {
    item.resolve = undefined;
    item.reject = undefined;
  }

  /** Answers callers whose time is over; what was never tried and need not be is dropped with them. */
  function expire(): void {
    if (open === 0) {
      clearInterval(ticker);
      ticker = undefined;
      return;
    }
    const now = performance.now();
    for (const lane of lanes.values()) {
      for (const item of [...lane.running, ...lane.waiting]) {
        if (item.deadline > now) continue;
        if (!item.reject) continue;
        item.abandoned = !item.options.persistent;
        item.reject(new NoOutcome(item.abandoned && !item.tried ? 'never' : 'unknown'));
        forget(item);
      }
    }
  }

  async function drain(withinMs: number): Promise<number> {
    const until = performance.now() + withinMs;
    while (open > 0 && performance.now() < until) await pause(10, { ref: true });
    return open;
  }

  return { submit, size: () => open, drain };
}

/** A pause with jitter, so that processes that collided do not collide again. */
function pause(ms: number, { ref }: { ref: boolean }): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms * (0.5 + Math.random() / 2));
    // Trying again keeps no process alive whose service has stopped.
    if (!ref) timer.unref();
  });
}
