// The order in which a lane sends operations to the store: new ones together, in order of arrival; failed ones
// separately, in ever smaller parts, until an operation that cannot be applied is isolated and retried on its own.
import type { Operation } from '../money/decide.ts';

/** An operation that a caller waits for. */
export interface Submission {
  readonly op: Operation;
  /** An attempt has failed that may have applied it: only the store can tell, so it is sent until it has an outcome. */
  mayBeApplied: boolean;
  /** The caller has given up. */
  abandoned: boolean;
}

/** Operations that are sent as one batch. */
export interface Part<Item> {
  readonly items: readonly Item[];
  /** Consecutive failures. */
  readonly failures: number;
  /** How many batches of the lane had succeeded when it last failed. */
  readonly failedAt?: number;
  /** This part causes the failures: the store accepts other batches. */
  readonly isFaulty: boolean;
  /** When the part is retried. */
  readonly dueAt: number;
}

interface LaneFailure<Item> {
  /** How long the whole lane must wait. */
  readonly pauseMs: number;
  /** A single operation that failed and was removed from this lane; park it in a lane where it delays no other. */
  readonly parked?: Part<Item>;
}

export interface Lane<Item> {
  /** How many operations were never sent. */
  countNew(): number;
  add(item: Item): void;
  /** Adds a single operation that failed; after two in a row, attempts in this lane back off. */
  park(part: Part<Item>): void;
  /** The next part; undefined when nothing is due. It is in flight until `succeeded` or `failed`. */
  take(now: number): Part<Item> | undefined;
  succeeded(): void;
  /** `batch`: the store is healthy and rejects these operations. */
  failed(blames: 'store' | 'batch', now: number): LaneFailure<Item>;
  /** When something is due next; undefined when the lane is empty. */
  dueAt(): number | undefined;
  /** Everything in the lane, in-flight operations first. */
  items(): Iterable<Item>;
  isInFlight(item: Item): boolean;
  /** Drops operations whose callers have given up, unless they may be applied or are in flight; returns how many. */
  dropAbandoned(): number;
}

/** After this many failures a batch is split, whatever the cause. */
const FAILURES_BEFORE_SPLIT = 3;
const STORE_BACKOFF_MS = { least: 20, most: 500 };
/** After this many consecutive operations failed alone, the wallet is considered damaged. */
const PARKED_BEFORE_BACKOFF = 2;
const WALLET_BACKOFF_MS = { least: 100, most: 1000 };
const PARKED_BACKOFF_MS = { least: 100, most: 30_000 };

export function createLane<Item extends Submission>(batchMax: number): Lane<Item> {
  let fresh: Item[] = [];
  let retries: Part<Item>[] = [];
  let inFlight: Part<Item> | undefined;
  /** The maximum number of new operations in the next batch. */
  let size = batchMax;
  /** Consecutive failures not blamed on a batch. */
  let failures = 0;
  let successes = 0;
  /** Consecutive operations that failed alone and were parked here. */
  let parkedInARow = 0;
  /** Nothing is tried before this time: attempts at a damaged wallet would delay the others. */
  let closedUntil = 0;
  /** New and failed operations alternate. */
  let wasNewLast = false;

  function next(now: number): Part<Item> | undefined {
    const at = retries.findIndex(({ dueAt }) => dueAt <= now);
    wasNewLast = fresh.length > 0 && (at < 0 || !wasNewLast);
    if (wasNewLast) return { items: fresh.splice(0, size), failures: 0, isFaulty: false, dueAt: 0 };
    return at < 0 ? undefined : retries.splice(at, 1)[0];
  }

  function assignBlame(part: Part<Item>, blames: 'store' | 'batch'): Part<Item> {
    const othersWentThrough = part.failedAt !== undefined && part.failedAt < successes;
    const isFaulty = part.isFaulty || blames === 'batch' || othersWentThrough;
    return { ...part, isFaulty, failures: part.failures + 1, failedAt: successes };
  }

  /** Both halves start without blame: one of them may be correct. */
  function split({ items }: Part<Item>): void {
    const middle = Math.ceil(items.length / 2);
    for (const half of [items.slice(0, middle), items.slice(middle)]) {
      retries.push({ items: half, failures: 0, failedAt: successes, isFaulty: false, dueAt: 0 });
    }
  }

  function failed(blames: 'store' | 'batch', now: number): LaneFailure<Item> {
    const part = assignBlame(inFlight as Part<Item>, blames);
    inFlight = undefined;
    if (!part.isFaulty) failures += 1;
    else if (parkedInARow >= PARKED_BEFORE_BACKOFF) closedUntil = now + computeBackoff(WALLET_BACKOFF_MS, parkedInARow);
    const pauseMs = part.isFaulty ? 0 : computeBackoff(STORE_BACKOFF_MS, failures);
    const alone = part.items.length === 1;
    if (alone && part.isFaulty) {
      return { pauseMs, parked: { ...part, dueAt: now + computeBackoff(PARKED_BACKOFF_MS, part.failures) } };
    }
    const mustSplit = part.isFaulty || failures > FAILURES_BEFORE_SPLIT;
    if (!part.isFaulty && mustSplit) size = Math.ceil(part.items.length / 2);
    if (mustSplit && !alone) split(part);
    else retries.push(part);
    return { pauseMs };
  }

  return {
    countNew: () => fresh.length,
    add: (item) => void fresh.push(item),
    park(part) {
      parkedInARow += 1;
      retries.push(part);
    },
    take(now) {
      if (now < closedUntil) return undefined;
      inFlight = next(now);
      return inFlight;
    },
    succeeded() {
      inFlight = undefined;
      failures = 0;
      parkedInARow = 0;
      closedUntil = 0;
      successes += 1;
      size = Math.min(batchMax, size * 2);
    },
    failed,
    dueAt() {
      if (fresh.length > 0) return closedUntil;
      return retries.length === 0 ? undefined : Math.max(closedUntil, Math.min(...retries.map(({ dueAt }) => dueAt)));
    },
    *items() {
      yield* inFlight?.items ?? [];
      for (const { items } of retries) yield* items;
      yield* fresh;
    },
    isInFlight: (item) => inFlight?.items.includes(item) ?? false,
    dropAbandoned() {
      const before = fresh.length + countItems(retries);
      fresh = fresh.filter(isSubmissionWanted);
      retries = retries
        .map((part) => ({ ...part, items: part.items.filter(isSubmissionWanted) }))
        .filter(({ items }) => items.length > 0);
      return before - fresh.length - countItems(retries);
    },
  };
}

function isSubmissionWanted(item: Submission): boolean {
  return item.mayBeApplied || !item.abandoned;
}

function countItems(parts: readonly Part<unknown>[]): number {
  return parts.reduce((sum, { items }) => sum + items.length, 0);
}

/** With jitter, so that processes that collided do not collide again. */
function computeBackoff({ least, most }: { least: number; most: number }, failures: number): number {
  return Math.min(most, least * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}
