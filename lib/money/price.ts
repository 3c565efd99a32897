// Model prices and the price rules of text: the amount a call holds and what it costs, rounded half up once.
import { type Micro, maxMicro } from './money.ts';

/** The kinds of tokens of a prompt, in the order of a receipt. */
export const PROMPT_KINDS = ['input', 'audio', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const;

/** The kinds of tokens that have a price, in the order of a receipt. */
export const TOKEN_RATES = [...PROMPT_KINDS, 'output'] as const;

/** All that is counted of an answer; reasoning is part of the output. */
export const TOKEN_COUNTS = [...TOKEN_RATES, 'reasoning'] as const;

/** Prices per 1M tokens. An absent price of audio or of a cache is the input price. */
export interface TokenRates {
  readonly input: Micro;
  /** Prompt tokens of recordings. */
  readonly audio?: Micro;
  /** Prompt tokens that were read from the vendor's cache. */
  readonly cacheRead?: Micro;
  /** Prompt tokens that were written to it for some minutes. */
  readonly cacheWrite?: Micro;
  /** The same for an hour. */
  readonly cacheWrite1h?: Micro;
  readonly output: Micro;
}

/** Prices of a text model. */
export interface TextPrice extends TokenRates {
  /** In ascending order; absent if one price is for prompts of any length. */
  readonly bands?: readonly PriceBand[];
}

/** The prices of all tokens of a call whose whole prompt, cached part included, is longer than `above`. */
export interface PriceBand extends TokenRates {
  /** Prompt tokens. */
  readonly above: number;
}

/** Price of an embedding model, per 1M tokens. */
export interface EmbeddingPrice {
  readonly input: Micro;
}

/** Price of an image model, per image. */
export interface ImagePrice {
  readonly request: Micro;
}

/** Prices of a video model: per second at any resolution, per second by the resolution's label, or per request. */
export type VideoPrice =
  | { readonly unit: 'second'; readonly second: Micro }
  | { readonly unit: 'second'; readonly byResolution: ReadonlyMap<string, Micro> }
  | { readonly unit: 'request'; readonly request: Micro };

/** The prices of one model, or what a vendor charges for it. */
export type PriceVector = TextPrice | EmbeddingPrice | ImagePrice | VideoPrice;

/** What a text call used: disjoint counts, but `reasoning`, which is part of `output`. An absent one is zero. */
export interface Tokens {
  /** Prompt tokens that are no audio and were neither read from a cache nor written to one. */
  readonly input: number;
  /** Prompt tokens of recordings that were not read from a cache. */
  readonly audio?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
  readonly output: number;
  readonly reasoning?: number;
}

/** What a call may write to the vendor's cache. */
export type CacheWrite = 'cacheWrite' | 'cacheWrite1h';

interface TextEstimate {
  /** Prompt tokens. */
  readonly input: number;
  /** Those of them that are recordings; absent: none. */
  readonly audio?: number | undefined;
  /** The most prompt tokens that the vendor may count; decides which bands the hold has to cover. */
  readonly inputMost: number;
  readonly maxTokens: number;
  /** Absent: nothing. */
  readonly writes?: readonly CacheWrite[];
}

/** The minimum price of a call for text or embeddings: 0.5 RUB. */
export const TEXT_MINIMUM: Micro = 500_000n;

/** A hold covers at least this many output tokens. */
const HELD_OUTPUT_TOKENS_MIN = 512;

const TOKENS_PER_UNIT = 1_000_000n;

/** The whole prompt, cached part included. */
export function countPrompt(tokens: Partial<Tokens>): number {
  const { input = 0, audio = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 } = tokens;
  return input + audio + cacheRead + cacheWrite + cacheWrite1h;
}

/** Disjoint counts of a prompt; all but `input` are absent if zero. */
export type PromptTokens = Omit<Tokens, 'output' | 'reasoning'>;

export function omitZeros({
  input,
  audio = 0,
  cacheRead = 0,
  cacheWrite = 0,
  cacheWrite1h = 0,
}: PromptTokens): PromptTokens {
  return {
    input,
    ...(audio > 0 && { audio }),
    ...(cacheRead > 0 && { cacheRead }),
    ...(cacheWrite > 0 && { cacheWrite }),
    ...(cacheWrite1h > 0 && { cacheWrite1h }),
  };
}

/** The price of the tokens of a call for embeddings, or the minimum: what it holds, by an estimate, and what it costs. */
export function embeddingCost({ input }: EmbeddingPrice, tokens: number): Micro {
  return raiseToMinimum(roundPerUnit(BigInt(tokens) * input));
}

/** The prices for a prompt of this length: those of the last band that it exceeds, or the model's own. */
export function findRates(price: TextPrice, prompt: number): TokenRates | PriceBand {
  return price.bands?.findLast(({ above }) => prompt > above) ?? price;
}

/** The price of one kind of tokens. */
export function getRate(rates: TokenRates, kind: (typeof TOKEN_RATES)[number]): Micro {
  return rates[kind] ?? rates.input;
}

/** The price of the tokens, or the minimum. */
export function textCost(price: TextPrice, tokens: Tokens): Micro {
  return raiseToMinimum(sumTokens(price, tokens));
}

/** The price of the tokens without a minimum. */
export function sumTokens(price: TextPrice, tokens: Tokens): Micro {
  const rates = findRates(price, countPrompt(tokens));
  let exact = 0n;
  for (const kind of TOKEN_RATES) exact += BigInt(tokens[kind] ?? 0) * getRate(rates, kind);
  return roundPerUnit(exact);
}

/** Rounds the sum of tokens times prices per 1M tokens half up to a micro-rouble. */
export function roundPerUnit(exact: bigint): Micro {
  return (exact + TOKENS_PER_UNIT / 2n) / TOKENS_PER_UNIT;
}

/**
 * The amount that a text call holds when it starts: each side at the dearest price that may apply to it. The prompt may
 * be read from a cache, be written to it if the call can cause that, and fall into any band up to its longest count.
 * Recordings may be counted as audio or like the rest of the prompt.
 */
export function textHold(price: TextPrice, estimate: TextEstimate): Micro {
  const { inputMost, writes = [] } = estimate;
  const bands = [price, ...(price.bands?.filter(({ above }) => inputMost > above) ?? [])];
  const input = findDearestRate(bands, ['input', 'cacheRead', ...writes]);
  const audio = maxMicro(input, findDearestRate(bands, ['audio']));
  return textCost({ input, audio, output: findDearestRate(bands, ['output']) }, countHeldTokens(estimate));
}

/** The tokens that a call's hold covers. */
export function countHeldTokens({ input, audio = 0, maxTokens }: Omit<TextEstimate, 'inputMost' | 'writes'>): Tokens {
  return { ...omitZeros({ input: input - audio, audio }), output: Math.max(maxTokens, HELD_OUTPUT_TOKENS_MIN) };
}

/** The dearest price of any of these kinds of tokens, in any band. */
export function findDearestRate(rates: readonly TokenRates[], kinds: readonly (typeof TOKEN_RATES)[number][]): Micro {
  return findDearest(rates.flatMap((each) => kinds.map((kind) => getRate(each, kind))));
}

/** The prices of a model for prompts of any length. */
export function listRates(price: TextPrice): readonly TokenRates[] {
  return [price, ...(price.bands ?? [])];
}

export function findDearest(rates: readonly Micro[]): Micro {
  return maxMicro(0n, ...rates);
}

/** What a call for text or embeddings costs at least. */
export function raiseToMinimum(cost: Micro): Micro {
  return maxMicro(cost, TEXT_MINIMUM);
}
