// What conversations have in the caches of vendors, as this process has seen it: a call that the gateway sends elsewhere
// is charged as if it had read there what it now writes anew.
import type { Tokens } from '../../money/price.ts';

export interface CachedPrompts {
  /** Notes what a call at this place, a route with a key, has left in the vendor's cache. */
  note(conversation: string, place: string, counted: Tokens): void;
  /**
   * The tokens that a call would have read in the place where its conversation was, had it begun there at that time, on
   * the clock of `performance.now()`; 0 if it stayed there.
   */
  countLost(conversation: string, place: string, at: number): number;
}

interface CachedPrompt {
  readonly place: string;
  readonly tokens: number;
  readonly until: number;
}

/** Each takes some 200 bytes; the oldest are forgotten first. */
const CONVERSATIONS_MAX = 10_000;

/** How long vendors keep a prompt after its last use. */
const MINUTES_MS = 5 * 60_000;
const HOUR_MS = 60 * 60_000;

export function createCachedPrompts(now: () => number = () => performance.now()): CachedPrompts {
  const prompts = new Map<string, CachedPrompt>();
  return {
    note(conversation, place, { cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 }) {
      const tokens = cacheRead + cacheWrite + cacheWrite1h;
      if (tokens === 0) return;
      const before = prompts.get(conversation);
      const until = now() + (cacheWrite1h > 0 ? HOUR_MS : MINUTES_MS);
      const kept = before?.place === place ? Math.max(before.until, until) : until;
      // Those used last are at the end.
      prompts.delete(conversation);
      prompts.set(conversation, { place, tokens, until: kept });
      if (prompts.size > CONVERSATIONS_MAX) prompts.delete(prompts.keys().next().value as string);
    },
    countLost(conversation, place, at) {
      const prompt = prompts.get(conversation);
      return prompt && prompt.place !== place && prompt.until > at ? prompt.tokens : 0;
    },
  };
}

/** The counts as if these tokens of the prompt had been read from a cache: first of those written, then of the others. */
export function countAsRead(counted: Tokens, tokens: number): Tokens {
  const { cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, input } = counted;
  let left = Math.max(0, tokens - cacheRead);
  const take = (count: number) => {
    const taken = Math.min(count, left);
    left -= taken;
    return count - taken;
  };
  const written = take(cacheWrite);
  const writtenForLong = take(cacheWrite1h);
  const fresh = take(input);
  const read = cacheRead + (cacheWrite - written) + (cacheWrite1h - writtenForLong) + (input - fresh);
  const { output, reasoning } = counted;
  return {
    input: fresh,
    output,
    ...(read > 0 && { cacheRead: read }),
    ...(written > 0 && { cacheWrite: written }),
    ...(writtenForLong > 0 && { cacheWrite1h: writtenForLong }),
    ...(reasoning !== undefined && { reasoning }),
  };
}
