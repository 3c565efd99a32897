// The order in which a lane's operations go to the store: new ones together, as they come; what failed apart from them
// and in ever smaller parts, until an operation that cannot be applied is alone and waits for its next turn by itself.
import type { Submission } from '../store/ports/ledger.ts';

/** Operations that go as one batch. */
export interface Part<Item> {
  readonly items: readonly Item[];
  /** In a row. */
  readonly failures: number;
  /** How many batches of the lane had gone through when it failed last. */
  readonly failedAt?: number;
  /** The failures are its own: the store takes other batches. */
  readonly guilty: boolean;
  /** When it is sent again. */
  readonly dueAt: number;
}

export interface Setback<Item> {
  /** How long the whole lane waits. */
  readonly pauseMs: number;
  /** What has failed alone and is in no lane now: it belongs into one where it delays nobody. */
  readonly parked?: Part<Item>;
}

export interface Lane<Item> {
  /** Operations that were never sent. */
  fresh(): number;
  add(item: Item): void;
  /** Takes in what failed alone elsewhere or here; from the second in a row on, attempts here become rare. */
  park(part: Part<Item>): void;
  /** What goes next; undefined when nothing is due. It is under way until `succeeded` or `failed`. */
  take(now: number): Part<Item> | undefined;
  succeeded(): void;
  /** `batch`: the store has said that it is well and will not take these operations. */
  failed(blames: 'store' | 'batch', now: number): Setback<Item>;
  /** When something is due next; undefined when the lane is empty. */
  dueAt(): number | undefined;
  /** Everything in the lane, what is under way first. */
  items(): Iterable<Item>;
  isUnderWay(item: Item): boolean;
  /** Drops operations that nobody waits for and that were never tried; returns how many. */
  drop(): number;
}

/** A batch that failed so often is tried in parts, whoever is to blame. */
const FAILURES_TOGETHER = 3;
const PAUSE_MS = { least: 20, most: 500 };
/** So many operations in a row that fail alone: it is not they, it is their wallet. */
const DOUBTS = 2;
const CLOSED_MS = { least: 100, most: 1000 };
const PARKED_MS = { least: 100, most: 30_000 };

export function createLane<Item extends Submission>(batchMax: number): Lane<Item> {
  let fresh: Item[] = [];
  let again: Part<Item>[] = [];
  let underWay: Part<Item> | undefined;
  /** Most new operations in the next batch. */
  let size = batchMax;
  /** In a row, of batches that may be as good as any. */
  let failures = 0;
  let succeededSoFar = 0;
  /** In a row, of operations that failed alone and came here to wait. */
  let doubts = 0;
  /** Until then nothing is tried: each attempt at a damaged wallet takes the store's time from the others. */
  let closedUntil = 0;
  /** What is new and what failed take turns. */
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

  /** The halves are not to blame yet: one of them may be perfectly good. */
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
