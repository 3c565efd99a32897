// The usage object of a reply, however a server names and splits its counts.
import type { CountsPlace, JsonObject, TokenCounts } from '../contract/provider.ts';
import { isFields, readFields } from '../host/fields.ts';
import { findCount, readCount, sumNamedCounts } from '../host/token-counts.ts';

/** What a server counts as parts of a prompt and of an answer; absent until it does. */
interface Parts {
  /** Without what was read from a cache, if the server says so. */
  readonly audio: number | undefined;
  readonly cacheRead: number | undefined;
  /** Both kinds of writing. */
  readonly written: number | undefined;
  readonly cacheWrite1h: number | undefined;
  readonly reasoning: number | undefined;
}

/** A part that is counted inside or beside its whole. */
interface Placed {
  readonly name: 'reasoning' | 'cacheRead' | 'written';
  readonly tokens: number;
  /** It does not fit into its whole, so that it is beside it, whatever the total says. */
  readonly isTooMany: boolean;
  /** Where it is counted unless the total says otherwise. */
  readonly isBeside: boolean;
}

interface CachePlace {
  /** The format counts the cache beside the prompt. */
  readonly isCacheBeside?: boolean;
  /** This upstream counts it as a part of the prompt all the same, as far as there is room for it. */
  readonly isCacheInside?: boolean;
}

/**
 * The counts of one answer. Servers disagree on what a prompt and an answer include. What they count beside them is
 * inferred from the total, and from the rule that a part cannot exceed its whole: some count reasoning beside
 * `completion_tokens`, and the cache is beside `input_tokens` if it has names of its own. What a report leaves out keeps
 * its last value.
 */
export class Usage {
  #prompt: number | undefined;
  #answer: number | undefined;
  #parts: Parts = NO_PARTS;
  #isCacheBeside: boolean;
  readonly #isCacheInside: boolean;
  /** The prompt was counted by a report that knew nothing of a cache yet. */
  #isPromptAlone = false;

  constructor({ isCacheBeside = false, isCacheInside = false }: CachePlace = {}) {
    this.#isCacheBeside = isCacheBeside && !isCacheInside;
    this.#isCacheInside = isCacheInside;
  }

  /** True once an answer was counted. */
  get hasOutput(): boolean {
    return (this.#answer ?? 0) > 0;
  }

  /** All that is known after a report. A prompt of zero is what servers send before they count. */
  report(value: unknown): TokenCounts {
    const usage = readFields(value);
    const total = readCount(usage.total_tokens);
    const answer = findCount(usage.completion_tokens, usage.output_tokens);
    const prompt = readPrompt(usage) ?? subtract(total, answer);
    const parts = readParts(usage);
    const isUncounted = prompt === 0 && !parts.cacheRead && !parts.written;
    if (!isUncounted) this.#takePrompt(usage, prompt, parts);
    const counted = answer ?? subtract(total, prompt);
    if (counted !== undefined && !(isUncounted && counted === 0)) this.#answer = counted;
    this.#parts = { ...this.#parts, reasoning: parts.reasoning ?? this.#parts.reasoning };
    return this.#split(total);
  }

  #takePrompt(usage: JsonObject, prompt: number | undefined, parts: Parts): void {
    const { audio, cacheRead, written, cacheWrite1h, reasoning } = this.#parts;
    this.#parts = {
      audio: parts.audio ?? audio,
      cacheRead: parts.cacheRead ?? cacheRead,
      written: parts.written ?? written,
      cacheWrite1h: parts.cacheWrite1h ?? cacheWrite1h,
      reasoning,
    };
    const namesCache = CACHE_NAMES.some((name) => name in usage);
    if (prompt === undefined) {
      if (this.#isPromptAlone && namesCache && 'prompt_tokens_details' in usage) this.#placeLateCache();
      return;
    }
    this.#prompt = prompt;
    this.#isPromptAlone = !namesCache;
    this.#isCacheBeside ||= !readCount(usage.prompt_tokens) && namesCache && !this.#isCacheInside;
  }

  /**
   * Some count the whole prompt first and at the end only how much of it was cached, a few tokens off: that it is a part
   * of the prompt, the details of another format beside it say.
   */
  #placeLateCache(): void {
    const { cacheRead = 0, written = 0 } = this.#parts;
    const cached = cacheRead + written;
    const prompt = this.#prompt ?? 0;
    if (cached === 0 || cached > prompt * LATE_CACHE_MAX) return;
    this.#prompt = Math.max(prompt, cached);
    this.#isCacheBeside = false;
  }

  #split(total: number | undefined): TokenCounts {
    const prompt = this.#prompt ?? 0;
    const answer = this.#answer ?? 0;
    const surplus = total === undefined ? undefined : total - prompt - answer;
    const { beside, unexplained } = findBeside(this.#placed(prompt, answer), surplus);
    return { ...this.#splitPrompt(beside), ...this.#splitAnswer(beside, unexplained) };
  }

  #splitPrompt(beside: Names): TokenCounts {
    const prompt = this.#prompt;
    if (prompt === undefined) return {};
    const { audio, cacheRead, written, cacheWrite1h } = this.#parts;
    const read = cutPart(cacheRead, prompt, beside.has('cacheRead'));
    const write = cutPart(written, prompt - read.inside, beside.has('written'));
    const hour = Math.min(cacheWrite1h ?? 0, write.tokens);
    const rest = prompt - read.inside - write.inside;
    const fresh = cutPart(audio, rest);
    return {
      input: rest - fresh.inside,
      ...(audio !== undefined && { audio: fresh.tokens }),
      ...(cacheRead !== undefined && { cacheRead: read.tokens }),
      ...(written !== undefined && { cacheWrite: write.tokens - hour }),
      ...(cacheWrite1h !== undefined && { cacheWrite1h: hour }),
    };
  }

  /** Tokens that no part explains were produced. */
  #splitAnswer(beside: Names, unexplained: number): TokenCounts {
    if (this.#answer === undefined) return {};
    const { reasoning } = this.#parts;
    const output = this.#answer + unexplained + (beside.has('reasoning') ? (reasoning ?? 0) : 0);
    return { output, ...(reasoning !== undefined && { reasoning: Math.min(reasoning, output) }) };
  }

  #placed(prompt: number, answer: number): readonly Placed[] {
    const { cacheRead = 0, written = 0, reasoning = 0 } = this.#parts;
    const place = (name: Placed['name'], tokens: number, whole: number, isNamed = false): Placed => {
      const isTooMany = tokens > whole * (name === 'reasoning' ? RECOUNT_MAX : 1);
      return { name, tokens, isTooMany, isBeside: isNamed || tokens > whole };
    };
    return [
      place('reasoning', reasoning, answer),
      place('cacheRead', cacheRead, prompt, this.#isCacheBeside),
      place('written', written, prompt, this.#isCacheBeside),
    ];
  }
}

/** The counts from the first of these places that has them. */
export function findCounts(value: JsonObject, places: readonly CountsPlace[], usage: Usage): TokenCounts | undefined {
  for (const { at, names } of places) {
    const found = at.reduce<unknown>((inner, name) => readFields(inner)[name], value);
    if (isFields(found)) return names ? sumNamedCounts(found, names) : usage.report(found);
  }
  return undefined;
}

const NO_PARTS: Parts = {
  audio: undefined,
  cacheRead: undefined,
  written: undefined,
  cacheWrite1h: undefined,
  reasoning: undefined,
};

/** Times the prompt: a cache that is larger is counted beside it. */
const LATE_CACHE_MAX = 1.01;

/** Times the answer: some servers count reasoning with another tokenizer than the answer that includes it. */
const RECOUNT_MAX = 2;

/** Names of a cache beside `input_tokens`. */
const CACHE_NAMES = ['cache_read_input_tokens', 'cache_creation_input_tokens'];

type Names = ReadonlySet<Placed['name']>;

interface Beside {
  readonly beside: Names;
  /** What the total has more than any choice of parts explains. */
  readonly unexplained: number;
}

/** The parts beside their whole. */
function findBeside(placed: readonly Placed[], surplus: number | undefined): Beside {
  const usual = placed.filter(({ isBeside }) => isBeside);
  if (surplus === undefined || surplus < 0 || sumTokens(usual) === surplus) return nameBeside(usual);
  if (surplus === 0) {
    // Reads and writes of a cache are counted the same way: both inside, or both beside.
    const isCacheBeside = placed.some(({ name, isTooMany }) => name !== 'reasoning' && isTooMany);
    return nameBeside(placed.filter(({ name, isTooMany }) => isTooMany || (isCacheBeside && name !== 'reasoning')));
  }
  for (let choice = 1; choice < 2 ** placed.length; choice += 1) {
    const chosen = placed.filter((_, at) => (choice & (1 << at)) !== 0);
    if (sumTokens(chosen) === surplus) return nameBeside(chosen);
  }
  return nameBeside([], surplus);
}

function nameBeside(parts: readonly Placed[], unexplained = 0): Beside {
  return { beside: new Set(parts.map(({ name }) => name)), unexplained };
}

function sumTokens(placed: readonly Placed[]): number {
  return placed.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** The tokens of a part that count, and how many of them are inside its whole, which has this much room left. */
function cutPart(tokens = 0, room: number, isBeside = false): { readonly tokens: number; readonly inside: number } {
  if (isBeside) return { tokens, inside: 0 };
  const inside = Math.min(tokens, room);
  return { tokens: inside, inside };
}

function subtract(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined || total < part ? undefined : total - part;
}

function readPrompt(usage: JsonObject): number | undefined {
  const hit = readCount(usage.prompt_cache_hit_tokens);
  const miss = readCount(usage.prompt_cache_miss_tokens);
  const sum = hit === undefined || miss === undefined ? undefined : hit + miss;
  return findCount(usage.prompt_tokens, usage.input_tokens) ?? sum;
}

function readParts(usage: JsonObject): Parts {
  const prompt = { ...readFields(usage.input_tokens_details), ...readFields(usage.prompt_tokens_details) };
  const answer = { ...readFields(usage.output_tokens_details), ...readFields(usage.completion_tokens_details) };
  const kinds = { ...readFields(prompt.cache_creation), ...readFields(usage.cache_creation) };
  const minutes = readCount(kinds.ephemeral_5m_input_tokens);
  const hour = readCount(kinds.ephemeral_1h_input_tokens);
  const kindsSum = minutes === undefined && hour === undefined ? undefined : (minutes ?? 0) + (hour ?? 0);
  return {
    audio: readAudio(prompt),
    cacheRead: findCount(
      prompt.cached_tokens,
      usage.cached_tokens,
      usage.prompt_cache_hit_tokens,
      usage.cache_read_input_tokens,
      usage.num_cached_tokens,
      usage.precached_prompt_tokens,
    ),
    written:
      findCount(
        prompt.cache_write_tokens,
        prompt.cache_creation_tokens,
        prompt.cached_creation_tokens,
        prompt.cache_creation_input_tokens,
        usage.cache_write_tokens,
        usage.cache_creation_input_tokens,
      ) ?? kindsSum,
    cacheWrite1h: hour,
    reasoning: findCount(answer.reasoning_tokens, answer.thinking_tokens, usage.reasoning_tokens),
  };
}

function readAudio({ audio_tokens: audio, cached_tokens_details: cached }: JsonObject): number | undefined {
  const tokens = readCount(audio);
  return tokens && Math.max(0, tokens - (readCount(readFields(cached).audio_tokens) ?? 0));
}
