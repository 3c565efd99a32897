// A vendor's prompt cache: it knows the prefixes of what it was sent, for each of its keys.
import { createHash } from 'node:crypto';

export interface Prompt {
  /** Tools, system prompt and contents in the order in which the vendor reads them, without cache markers. */
  readonly segments: readonly string[];
  /** How many segments stand before each marker; absent where the vendor caches without being asked. */
  readonly markers?: readonly number[];
}

/** In tokens; disjoint. */
export interface PromptCounts {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** Shorter prefixes are not cached. */
const TOKENS_MIN = 1024;
/** What is cached without being asked is a multiple of this. */
const TOKENS_STEP = 128;

export class PromptCache {
  readonly #known = new Set<string>();

  /** Counts a prompt, and remembers it. */
  take(key: string, { segments, markers }: Prompt): PromptCounts {
    const prefixes = measurePrefixes(key, segments);
    const total = prefixes.at(-1)?.tokens ?? 0;
    return markers ? this.#takeMarked(prefixes, markers, total) : this.#takeAll(prefixes, total);
  }

  /** Reads up to the longest known prefix before the last marker, and writes the rest up to that marker. */
  #takeMarked(prefixes: readonly Prefix[], markers: readonly number[], total: number): PromptCounts {
    const last = Math.max(0, ...markers);
    const cacheRead = this.#findKnown(prefixes.slice(0, last));
    const upToMarker = prefixes[last - 1]?.tokens ?? 0;
    const cacheWrite = upToMarker >= TOKENS_MIN ? upToMarker - cacheRead : 0;
    for (const marker of markers) this.#remember(prefixes[marker - 1]);
    return { input: total - cacheRead - cacheWrite, cacheRead, cacheWrite };
  }

  #takeAll(prefixes: readonly Prefix[], total: number): PromptCounts {
    const known = this.#findKnown(prefixes);
    const cacheRead = Math.floor(known / TOKENS_STEP) * TOKENS_STEP;
    for (const prefix of prefixes) this.#remember(prefix);
    return { input: total - cacheRead, cacheRead, cacheWrite: 0 };
  }

  #findKnown(prefixes: readonly Prefix[]): number {
    return prefixes.findLast(({ hash }) => this.#known.has(hash))?.tokens ?? 0;
  }

  #remember(prefix: Prefix | undefined): void {
    if (prefix && prefix.tokens >= TOKENS_MIN) this.#known.add(prefix.hash);
  }
}

interface Prefix {
  readonly tokens: number;
  readonly hash: string;
}

function measurePrefixes(key: string, segments: readonly string[]): readonly Prefix[] {
  const hash = createHash('sha256').update(key);
  let tokens = 0;
  return segments.map((segment) => {
    hash.update(`\0${segment}`);
    tokens += countTokens(segment);
    return { tokens, hash: hash.copy().digest('base64') };
  });
}

export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}
