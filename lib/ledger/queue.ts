// Group commit: operations that arrive while a batch commits, or while the process is busy, form the next batch. Callers
// wait a bounded time; an operation whose outcome is unknown is retried in the background until the store reports it.

import type { Operation, Outcome } from '../money/decide.ts';
import type { LedgerStore } from '../store/ports/ledger.ts';
import { StoreError } from '../store/store.ts';
import { waitForIdleTick } from './idle-tick.ts';
import { createLane, type Lane, type Part, type Submission } from './lane.ts';

export interface QueueOptions {
  readonly store: LedgerStore;
  /** How long a caller waits for an outcome. */
  readonly answerWithinMs?: number;
  /** The maximum number of operations waiting in one lane; more are refused, except those that end a charge. */
  readonly waitingMax?: number;
  readonly onRetry?: (error: unknown, operations: number) => void;
  /** The store accepts other operations but not this one, which is retried on its own from now on. */
  readonly onParked?: (error: unknown, op: Operation) => void;
}

/** Why there is no outcome: `never`: it was not and will not be applied; `unknown`: the outcome will be known later. */
export class NoOutcome extends Error {
  override readonly name = 'NoOutcome';
  readonly applied: 'never' | 'unknown';
  constructor(applied: 'never' | 'unknown') {
    super(applied === 'never' ? 'the store did not accept the operation' : 'the store has not confirmed the operation');
    this.applied = applied;
  }
}

export interface SubmitOptions {
  /** Retries as long as the process lives, even after its caller was told `unknown`. */
  readonly persistent: boolean;
  /** How long the caller has already waited. */
  readonly waitedMs?: number;
  /** Called with an outcome that arrived after the caller was told `unknown`. */
  readonly onLate?: (outcome: Outcome) => void;
}

export interface Queue {
  /** Rejects only with `NoOutcome`. */
  submit(op: Operation, options: SubmitOptions): Promise<Outcome>;
  /** Operations that have no outcome yet. */
  size(): number;
  /** Resolves when no operation is left or the time is up, to how many are left. */
  drain(withinMs: number): Promise<number>;
}

interface Item extends Submission {
  readonly options: SubmitOptions;
  readonly deadline: number;
  resolve: ((outcome: Outcome) => void) | undefined;
  reject: ((error: NoOutcome) => void) | undefined;
}

interface RunningLane {
  readonly name: string;
  readonly lane: Lane<Item>;
  /** A commit is scheduled or running; there is never a second one, not even during its pauses. */
  busy: boolean;
  /** Wakes the commit loop for operations that are due later. */
  timer: NodeJS.Timeout | undefined;
  /** How many operations the last commit carried. */
  carried: number;
}

export const ANSWER_WITHIN_MS = 4800;
const WAITING_MAX = 20_000;
/**
 * How long a busy process gathers operations before committing a lane shared by all calls: a transaction costs as much
 * as ten operations. An idle process commits at once, and so does one whose last batch was small.
 */
const BATCH_WINDOW = { maxMs: 8, idleMs: 2 } as const;
const GATHER_FROM = 3;
const TICK_MS = 100;
/** What an error of any other class says about a batch. */
const UNKNOWN_FAILURE = { applied: 'unknown', blames: 'store' } as const;
/** The lane of all wallets, for stores with a single lane. */
const SHARED = '';

export function createQueue({
  store,
  answerWithinMs = ANSWER_WITHIN_MS,
  waitingMax = WAITING_MAX,
  onRetry,
  onParked,
}: QueueOptions): Queue {
  const lanes = new Map<string, RunningLane>();
  let open = 0;
  let ticker: NodeJS.Timeout | undefined;

  function submit(op: Operation, options: SubmitOptions): Promise<Outcome> {
    const running = laneFor(op);
    if (running.lane.countNew() >= waitingMax && !options.persistent) return Promise.reject(new NoOutcome('never'));
    return new Promise<Outcome>((resolve, reject) => {
      const deadline = performance.now() + answerWithinMs - (options.waitedMs ?? 0);
      running.lane.add({ op, mayBeApplied: false, abandoned: false, options, deadline, resolve, reject });
      open += 1;
      ticker ??= setInterval(expire, TICK_MS).unref();
      schedule(running);
    });
  }

  /** A wallet with a parked operation keeps its own lane until that operation succeeds. */
  function laneFor({ wallet }: Operation): RunningLane {
    return lanes.get(wallet) ?? openLane(store.lane === 'store' ? SHARED : wallet);
  }

  function openLane(name: string): RunningLane {
    let running = lanes.get(name);
    if (!running) {
      running = { name, lane: createLane(store.batchMax), busy: false, timer: undefined, carried: 0 };
      lanes.set(name, running);
    }
    return running;
  }

  function schedule(running: RunningLane): void {
    if (running.busy) return;
    running.busy = true;
    clearTimeout(running.timer);
    setImmediate(() => void commit(running));
  }

  async function commit(running: RunningLane): Promise<void> {
    const { lane } = running;
    while ((lane.dueAt() ?? Number.POSITIVE_INFINITY) <= performance.now()) {
      if (shouldGather(running)) await waitForIdleTick(BATCH_WINDOW, lane.countNew);
      const part = lane.take(performance.now());
      if (!part) continue;
      running.carried = part.items.length;
      try {
        const outcomes = await store.apply(part.items.map(({ op }) => op));
        lane.succeeded();
        for (const [index, item] of part.items.entries()) answer(item, outcomes[index] as Outcome);
      } catch (error) {
        await handleFailure(running, part, error);
      }
    }
    goIdle(running);
  }

  function shouldGather({ name, lane, carried }: RunningLane): boolean {
    return name === SHARED && carried >= GATHER_FROM && lane.countNew() < store.batchMax;
  }

  async function handleFailure({ lane }: RunningLane, part: Part<Item>, error: unknown): Promise<void> {
    const { applied, blames } = error instanceof StoreError ? error : UNKNOWN_FAILURE;
    if (applied === 'unknown') for (const item of part.items) item.mayBeApplied = true;
    const { pauseMs, parked } = lane.failed(blames, performance.now());
    const [item] = part.items as readonly [Item];
    if (!parked) onRetry?.(error, part.items.length);
    else if (!part.isFaulty) onParked?.(error, item.op);
    if (parked) park(parked, item.op.wallet);
    open -= lane.dropAbandoned();
    if (pauseMs > 0) await pause(pauseMs, { ref: false });
  }

  function park(part: Part<Item>, wallet: string): void {
    const home = openLane(wallet);
    home.lane.park(part);
    open -= home.lane.dropAbandoned();
    schedule(home);
  }

  function goIdle(running: RunningLane): void {
    running.busy = false;
    const dueAt = running.lane.dueAt();
    if (dueAt !== undefined) {
      running.timer = setTimeout(() => schedule(running), Math.max(0, dueAt - performance.now())).unref();
    } else if (running.name !== SHARED) lanes.delete(running.name);
  }

  function answer(item: Item, outcome: Outcome): void {
    open -= 1;
    if (item.resolve) item.resolve(outcome);
    else item.options.onLate?.(outcome);
    clearCallbacks(item);
  }

  function clearCallbacks(item: Item): void {
    item.resolve = undefined;
    item.reject = undefined;
  }

  /** Answers callers whose time is up, and drops abandoned operations that were not applied. */
  function expire(): void {
    if (open === 0) {
      clearInterval(ticker);
      ticker = undefined;
      return;
    }
    const now = performance.now();
    for (const { lane } of lanes.values()) {
      for (const item of lane.items())
        if (item.deadline <= now && item.reject) answerUnknown(item, lane.isInFlight(item));
      open -= lane.dropAbandoned();
    }
  }

  /** An operation in flight may be applied. */
  function answerUnknown(item: Item, isInFlight: boolean): void {
    item.abandoned = !item.options.persistent;
    item.reject?.(new NoOutcome(item.abandoned && !item.mayBeApplied && !isInFlight ? 'never' : 'unknown'));
    clearCallbacks(item);
  }

  async function drain(withinMs: number): Promise<number> {
    const until = performance.now() + withinMs;
    while (open > 0 && performance.now() < until) await pause(10, { ref: true });
    return open;
  }

  return { submit, size: () => open, drain };
}

function pause(ms: number, { ref }: { ref: boolean }): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    // Retries must not keep a stopped process alive.
    if (!ref) timer.unref();
  });
}
