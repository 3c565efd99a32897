// Remembers which prompts are in the caches of vendors: if the gateway sends the next call of a conversation elsewhere,
// the client is charged as if its prompt had been read from the cache.
import { HOUR_MS } from '../../base/durations.ts';
import { countPrompt, omitZeros, type Tokens } from '../../money/price.ts';

export interface CachedPrompts {
  /**
   * What a vendor has of a prompt, given the digests of its beginnings; undefined if nothing. A name alone would not do:
   * it is the client's, who may give it to any other prompt.
   */
  find(beginnings: readonly string[]): CachedPrompt | undefined;
  /**
   * Notes what a call has left in the vendor's cache at this place, a route with a key, under the digest of its whole
   * prompt; `before` is what was found when it began.
   */
  note(prompt: string, place: string, counted: Tokens, before?: CachedPrompt): void;
}

export interface CachedPrompt {
  readonly place: string;
  readonly tokens: number;
  /** On the clock of `performance.now()`. */
  readonly until: number;
}

/** Each takes some 200 bytes; the oldest are forgotten first. */
const PROMPTS_MAX = 10_000;

/** How long vendors keep a prompt after its last use. */
const MINUTES_MS = 5 * 60_000;

export function createCachedPrompts(now: () => number = () => performance.now()): CachedPrompts {
  const prompts = new Map<string, CachedPrompt>();
  return {
    find(beginnings) {
      if (prompts.size === 0) return undefined;
      const at = now();
      const isKept = (digest: string) => (prompts.get(digest)?.until ?? 0) > at;
      const longest = beginnings.findLast(isKept);
      return longest === undefined ? undefined : prompts.get(longest);
    },
    note(prompt, place, { cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 }, before) {
      const tokens = cacheRead + cacheWrite + cacheWrite1h;
      if (tokens === 0) return;
      const until = now() + (cacheWrite1h > 0 ? HOUR_MS : MINUTES_MS);
      const kept = before?.place === place ? Math.max(before.until, until) : until;
      // The latest ones are at the end.
      prompts.delete(prompt);
      prompts.set(prompt, { place, tokens, until: kept });
      if (prompts.size > PROMPTS_MAX) prompts.delete(prompts.keys().next().value as string);
    },
  };
}

/**
 * The counts as if these tokens of the prompt had been read from a cache: first of those written, then of the others,
 * audio last.
 */
export function countAsRead(counted: Tokens, tokens: number): Tokens {
  const { cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, input, audio = 0 } = counted;
  let left = Math.max(0, tokens - cacheRead);
  const take = (count: number) => {
    const taken = Math.min(count, left);
    left -= taken;
    return count - taken;
  };
  const written = take(cacheWrite);
  const writtenForLong = take(cacheWrite1h);
  const fresh = take(input);
  const freshAudio = take(audio);
  const read = countPrompt(counted) - written - writtenForLong - fresh - freshAudio;
  const { output, reasoning } = counted;
  return {
    ...omitZeros({
      input: fresh,
      audio: freshAudio,
      cacheRead: read,
      cacheWrite: written,
      cacheWrite1h: writtenForLong,
    }),
    output,
    ...(reasoning !== undefined && { reasoning }),
  };
}
