// Limits attempts such as password guesses: each is counted before it is made, and has to wait if there were too many.
import { HOUR_MS, MINUTE_MS } from '../base/durations.ts';
import { getAttemptWaitMs } from '../store/attempt-wait.ts';
import type { SessionStore } from '../store/ports/sessions.ts';

export interface CountedName {
  readonly name: string;
  /** The wait after each number of attempts; the last entry applies to all further ones. */
  readonly waitsMs: readonly number[];
  /** The counter resets when there was no attempt for this long. */
  readonly windowMs: number;
}

/** One second after the last free attempt, then doubling. */
const GROWING_WAITS_MS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300].map((seconds) => seconds * 1000);

/** So many attempts are free; each after them waits longer, until there was none for a quarter of an hour. */
export function slowDown(name: string, free: number): CountedName {
  return { name, waitsMs: [...freeAttempts(free), ...GROWING_WAITS_MS], windowMs: 15 * MINUTE_MS };
}

/** So many, until there was none for an hour. */
export function allowAtMost(name: string, most: number): CountedName {
  return { name, waitsMs: [...freeAttempts(most), HOUR_MS], windowMs: HOUR_MS };
}

/** So many in each hour of the clock: whoever comes back in the next one does not wait, whatever came before. */
export function allowHourly(name: string, most: number, now: number): CountedName {
  return allowAtMost(`${name}:${Math.floor(now / HOUR_MS)}`, most);
}

function freeAttempts(count: number): readonly number[] {
  return new Array<number>(count).fill(0);
}

type AttemptStore = Pick<SessionStore, 'count' | 'uncount' | 'attempts'>;

/**
 * Counts one attempt under each name, or under none if one of them has to wait. Resolves to the seconds to wait, 0 if
 * the attempt may be made now.
 */
export async function countAttempt(store: AttemptStore, names: readonly CountedName[], now: number): Promise<number> {
  // Reads first, so that a client that keeps trying during its wait causes no writes.
  const storedWaitsMs = await Promise.all(
    names.map(async (of) => getAttemptWaitMs(await store.attempts(of.name), toAttemptRule(of, now))),
  );
  const waitMs = Math.max(0, ...storedWaitsMs) || (await countInStore(store, names, now));
  return Math.ceil(waitMs / 1000);
}

/** Concurrent attempts may all have passed the read above, so the store checks the rule again. */
async function countInStore(store: AttemptStore, names: readonly CountedName[], now: number): Promise<number> {
  for (const [index, of] of names.entries()) {
    const waitMs = await store.count(of.name, toAttemptRule(of, now));
    if (waitMs === 0) continue;
    await uncountAttempt(store, names.slice(0, index));
    return waitMs;
  }
  return 0;
}

/** Takes back one attempt that was not made or that succeeded; earlier ones stay counted. */
export async function uncountAttempt(store: AttemptStore, names: readonly CountedName[]): Promise<void> {
  await Promise.all(names.map(({ name }) => store.uncount(name)));
}

function toAttemptRule({ waitsMs, windowMs }: CountedName, now: number) {
  return { now, since: now - windowMs, waitsMs };
}
