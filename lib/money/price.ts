// Model prices and the price rules of text: the amount a call holds and what it costs, rounded half up once.
import type { Micro } from './money.ts';

/** The kinds of tokens that have a price, in the order of a receipt. */
export const TOKEN_RATES = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output'] as const;

/** Prices per 1M tokens. An absent cache price is the input price. */
export interface TokenRates {
  readonly input: Micro;
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

export interface Tokens {
  readonly input: number;
  readonly output: number;
}

interface TextEstimate {
  readonly input: number;
  readonly maxTokens: number;
}

/** The minimum price of a call for text or embeddings: 0.5 RUB. */
export const TEXT_MINIMUM: Micro = 500_000n;

/** A hold covers at least this many output tokens. */
const HELD_OUTPUT_TOKENS_MIN = 512;

const TOKENS_PER_UNIT = 1_000_000n;

/** The price of the tokens, or the minimum. */
export function textCost(price: TextPrice, tokens: Tokens): Micro {
  const exact = BigInt(tokens.input) * price.input + BigInt(tokens.output) * price.output;
  return atLeastMinimum((exact + TOKENS_PER_UNIT / 2n) / TOKENS_PER_UNIT);
}

/** The price of the tokens of a call for embeddings, or the minimum: what it holds, by an estimate, and what it costs. */
export function embeddingCost({ input }: EmbeddingPrice, tokens: number): Micro {
  return atLeastMinimum((BigInt(tokens) * input + TOKENS_PER_UNIT / 2n) / TOKENS_PER_UNIT);
}

/** The amount that a text call holds when it starts. */
export function textHold(price: TextPrice, estimate: TextEstimate): Micro {
  return textCost(price, heldTokens(estimate));
}

/** The tokens that a call's hold covers. */
export function heldTokens({ input, maxTokens }: TextEstimate): Tokens {
  return { input, output: Math.max(maxTokens, HELD_OUTPUT_TOKENS_MIN) };
}

/** JSON with prices in micro-roubles as decimal strings, as stored with every charge. */
export function serializePrice(price: TextPrice | EmbeddingPrice | ImagePrice): string {
  return JSON.stringify(price, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
}

function atLeastMinimum(cost: Micro): Micro {
  return cost < TEXT_MINIMUM ? TEXT_MINIMUM : cost;
}
