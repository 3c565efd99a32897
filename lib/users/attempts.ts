// Attempts that anybody may make, such as guesses: counted before they are made, and made to wait where there are too many.
import { getAttemptWaitMs } from '../store/attempt-wait.ts';
import type { SessionStore } from '../store/ports/sessions.ts';

export interface CountedName {
  readonly name: string;
  /** The wait after so many attempts; the last entry is for all further ones. */
  readonly waitsMs: readonly number[];
  /** How long an attempt counts after the last one. */
  readonly windowMs: number;
}

/** The first ones are free; `later` are the waits after them. */
export function waitsAfter(free: number, later: readonly number[]): readonly number[] {
  return [...new Array<number>(free).fill(0), ...later];
}

type AttemptStore = Pick<SessionStore, 'count' | 'uncount' | 'attempts'>;

/**
 * Counts one attempt under each name, or under none if it has to wait for one of them. Resolves to the seconds to wait,
 * 0 if it may be made now.
 */
export async function countAttempt(store: AttemptStore, names: readonly CountedName[], now: number): Promise<number> {
  // Looking first: whoever keeps asking while they have to wait writes nothing.
  const looked = await Promise.all(
    names.map(async (of) => getAttemptWaitMs(await store.attempts(of.name), ruleOf(of, now))),
  );
  const waitMs = Math.max(0, ...looked) || (await countEach(store, names, now));
  return Math.ceil(waitMs / 1000);
}

/** Several at once may all have looked before the first was counted: the store refuses those above the rule. */
async function countEach(store: AttemptStore, names: readonly CountedName[], now: number): Promise<number> {
  for (const [index, of] of names.entries()) {
    const waitMs = await store.count(of.name, ruleOf(of, now));
    if (waitMs === 0) continue;
    await uncountAttempt(store, names.slice(0, index));
    return waitMs;
  }
  return 0;
}

/** Takes back an attempt that was none, or that succeeded; earlier ones stay. */
export async function uncountAttempt(store: AttemptStore, names: readonly CountedName[]): Promise<void> {
  await Promise.all(names.map(({ name }) => store.uncount(name)));
}

function ruleOf({ waitsMs, windowMs }: CountedName, now: number) {
  return { now, since: now - windowMs, waitsMs };
}
