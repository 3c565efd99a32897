// The order in which a lane's operations go to the store: new ones together, in order of arrival; failed ones
// separately, in ever smaller parts, until an operation that cannot be applied is isolated and retried on its own.
import type { Submission } from '../store/ports/ledger.ts';

/** Operations that go as one batch. */
export interface Part<Item> {
  readonly items: readonly Item[];
  /** Consecutive. */
  readonly failures: number;
  /** How many batches of the lane had succeeded when it last failed. */
  readonly failedAt?: number;
  /** The failures are its own: the store accepts other batches. */
  readonly guilty: boolean;
  /** When it is retried. */
  readonly dueAt: number;
}

export interface Setback<Item> {
  /** How long the whole lane waits. */
  readonly pauseMs: number;
  /** What failed alone and was removed from this lane; park it in a lane where it delays nobody. */
  readonly parked?: Part<Item>;
}

export interface Lane<Item> {
  /** How many operations were never sent. */
  fresh(): number;
  add(item: Item): void;
  /** Adds what failed alone, here or elsewhere; from the second in a row, attempts in this lane back off. */
  park(part: Part<Item>): void;
  /** The next part; undefined when nothing is due. It is in flight until `succeeded` or `failed`. */
  take(now: number): Part<Item> | undefined;
  succeeded(): void;
  /** `batch`: the store is healthy and rejects these operations. */
  failed(blames: 'store' | 'batch', now: number): Setback<Item>;
  /** When something is due next; undefined when the lane is empty. */
  dueAt(): number | undefined;
  /** Everything in the lane, in-flight operations first. */
  items(): Iterable<Item>;
  isUnderWay(item: Item): boolean;
  /** Drops operations that were never tried and that nobody waits for any more; returns how many. */
  drop(): number;
}

/** A batch that failed this often is split, whatever the cause. */
const FAILURES_TOGETHER = 3;
const PAUSE_MS = { least: 20, most: 500 };
/** After this many consecutive operations failing alone, the wallet is to blame, not they. */
const DOUBTS = 2;
const CLOSED_MS = { least: 100, most: 1000 };
const PARKED_MS = { least: 100, most: 30_000 };

export function createLane<Item extends Submission>(batchMax: number): Lane<Item> {
  let fresh: Item[] = [];
  let again: Part<Item>[] = [];
  let underWay: Part<Item> | undefined;
  /** The maximum number of new operations in the next batch. */
  let size = batchMax;
  /** Consecutive failures not blamed on a batch. */
  let failures = 0;
  let succeededSoFar = 0;
  /** Consecutive operations that failed alone and were parked here. */
  let doubts = 0;
  /** Nothing is tried before this time: attempts at a damaged wallet take the store's time from the others. */
  let closedUntil = 0;
  /** New and failed operations take turns. */
  let newLast = false;

  function next(now: number): Part<Item> | undefined {
    const at = again.findIndex(({ dueAt }) => dueAt <= now);
    newLast = fresh.length > 0 && (at < 0 || !newLast);
    if (newLast) return { items: fresh.splice(0, size), failures: 0, guilty: false, dueAt: 0 };
    return at < 0 ? undefined : again.splice(at, 1)[0];
  }

  function judge(part: Part<Item>, blames: 'store' | 'batch'): Part<Item> {
    const othersWentThrough = part.failedAt !== undefined && part.failedAt < succeededSoFar;
    const guilty = part.guilty || blames === 'batch' || othersWentThrough;
    return { ...part, guilty, failures: part.failures + 1, failedAt: succeededSoFar };
  }

  /** The halves start without blame: one of them may be perfectly good. */
  function split({ items }: Part<Item>): void {
    const middle = Math.ceil(items.length / 2);
    for (const half of [items.slice(0, middle), items.slice(middle)]) {
      again.push({ items: half, failures: 0, failedAt: succeededSoFar, guilty: false, dueAt: 0 });
    }
  }

  function failed(blames: 'store' | 'batch', now: number): Setback<Item> {
    const part = judge(underWay as Part<Item>, blames);
    underWay = undefined;
    if (!part.guilty) failures += 1;
    else if (doubts >= DOUBTS) closedUntil = now + backoff(CLOSED_MS, doubts);
    const pauseMs = part.guilty ? 0 : backoff(PAUSE_MS, failures);
    const alone = part.items.length === 1;
    if (alone && part.guilty) {
      return { pauseMs, parked: { ...part, dueAt: now + backoff(PARKED_MS, part.failures) } };
    }
    const apart = part.guilty || failures > FAILURES_TOGETHER;
    if (!part.guilty && apart) size = Math.ceil(part.items.length / 2);
    if (apart && !alone) split(part);
    else again.push(part);
    return { pauseMs };
  }

  return {
    fresh: () => fresh.length,
    add: (item) => void fresh.push(item),
    park(part) {
      doubts += 1;
      again.push(part);
    },
    take(now) {
      if (now < closedUntil) return undefined;
      underWay = next(now);
      return underWay;
    },
    succeeded() {
      underWay = undefined;
      failures = 0;
      doubts = 0;
      closedUntil = 0;
      succeededSoFar += 1;
      size = Math.min(batchMax, size * 2);
    },
    failed,
    dueAt() {
      if (fresh.length > 0) return closedUntil;
      return again.length === 0 ? undefined : Math.max(closedUntil, Math.min(...again.map(({ dueAt }) => dueAt)));
    },
    *items() {
      yield* underWay?.items ?? [];
      for (const { items } of again) yield* items;
      yield* fresh;
    },
    isUnderWay: (item) => underWay?.items.includes(item) ?? false,
    drop() {
      const before = fresh.length + sizeOf(again);
      fresh = fresh.filter(isWanted);
      again = again
        .map((part) => ({ ...part, items: part.items.filter(isWanted) }))
        .filter(({ items }) => items.length > 0);
      return before - fresh.length - sizeOf(again);
    },
  };
}

function isWanted(item: Submission): boolean {
  return item.tried || !item.abandoned;
}

function sizeOf(parts: readonly Part<unknown>[]): number {
  return parts.reduce((sum, { items }) => sum + items.length, 0);
}

/** With jitter, so that processes that collided do not collide again. */
function backoff({ least, most }: { least: number; most: number }, failures: number): number {
  return Math.min(most, least * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}
