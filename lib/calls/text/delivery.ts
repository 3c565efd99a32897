// The last step before a dialect: nothing passes before the first fragment, the head comes with it, and the ending waits
// until the call is settled.
import type { SmartRouting } from '../../base/smart-tiers.ts';
import type { Settlement } from '../../ledger/ledger.ts';
import { countPrompt, findRates, getRate, type PromptTokens, type TextPrice, type Tokens } from '../../money/price.ts';
import type { ErrorPart, FinishPart, StreamPart } from '../../stream/part.ts';
import type { Transform } from '../../stream/pipeline.ts';
import { splitIntoChunks } from './chunks.ts';

export interface DeliveryOptions {
  /** The reply's id without the dialect's prefix. */
  readonly replyId: string;
  /** The model that answers. */
  readonly model: string;
  /** How the smart model chose it; undefined if the client named it. */
  readonly smart?: SmartRouting | undefined;
  /** Holds everything back until the answer is whole. */
  readonly buffered: boolean;
}

export interface DeliveryListener {
  /** The prompt's tokens as known at the first fragment. */
  prompt(): PromptTokens;
  /** The first text has arrived. */
  onText(): void;
  /** The first fragment is about to be passed on. */
  onBegin(): void;
}

const NOTHING: readonly StreamPart[] = [];

/**
 * Passes `start`, `usage` and blocks on, and keeps the ending. Adds counts right before `start` and the ending. A class,
 * because every open answer has one: closures would take three times the memory.
 */
export class Delivery implements Transform<StreamPart> {
  /** True once a fragment was passed on. */
  begun = false;
  /** The upstream's id of the answer; empty until it has started. */
  answerId = '';
  /** True once text, or an image, has arrived. */
  hasText = false;
  /** How the answer ended; undefined as long as it has not. */
  ending: FinishPart | ErrorPart | undefined;
  readonly #options: DeliveryOptions;
  readonly #listener: DeliveryListener;
  /** What is held back until the first fragment. */
  #early: StreamPart[] = [];

  constructor(options: DeliveryOptions, listener: DeliveryListener) {
    this.#options = options;
    this.#listener = listener;
  }

  push(batch: readonly StreamPart[]): readonly StreamPart[] {
    const last = batch.at(-1);
    const isEnding = last?.type === 'finish' || last?.type === 'error';
    if (isEnding) this.ending = last;
    const content = isEnding ? batch.slice(0, -1) : batch;
    return this.begun ? content : this.#takeEarly(content);
  }

  #takeEarly(content: readonly StreamPart[]): readonly StreamPart[] {
    for (const part of content) {
      if (part.type === 'block-delta' || part.type === 'image') this.#noteText();
      if (part.type === 'start') this.answerId = part.id ?? '';
      if (part.type !== 'start' && part.type !== 'usage' && part.type !== 'hidden') this.#early.push(part);
    }
    const isDue = this.#options.buffered ? this.ending?.type === 'finish' : this.hasText;
    if (isDue && this.#early.length > 0) return this.#begin();
    if (this.ending?.type === 'error') this.#early = [];
    return NOTHING;
  }

  #noteText(): void {
    if (this.hasText) return;
    this.hasText = true;
    this.#listener.onText();
  }

  #begin(): readonly StreamPart[] {
    const { replyId, model, smart, buffered } = this.#options;
    const early = buffered ? splitIntoChunks(this.#early) : this.#early;
    this.begun = true;
    this.#early = [];
    this.#listener.onBegin();
    return [
      { type: 'usage', ...this.#listener.prompt(), output: 0 },
      { type: 'start', id: replyId, model, ...(smart && { smart }) },
      ...early,
    ];
  }

  /** The end of a paid answer: what its output still has to write. */
  complete(finish: FinishPart, usage: Tokens, paid: Settlement & { readonly price: TextPrice }): readonly StreamPart[] {
    if (!this.begun && this.#early.length === 0) {
      this.#early = [
        { type: 'block-start', index: 0, block: { type: 'text' } },
        { type: 'block-end', index: 0 },
      ];
    }
    const head = this.begun ? NOTHING : this.#begin();
    return [
      ...head,
      { type: 'usage', ...usage },
      finish,
      {
        type: 'billing',
        charged: paid.charged,
        reserved: paid.reserved,
        balance: paid.balance,
        ...listPrices(usage, paid),
      },
    ];
  }
}

/** The prices of the call's band; those of audio and the cache only for tokens that were billed. */
function listPrices(usage: Tokens, { price }: { readonly price: TextPrice }) {
  const rates = findRates(price, countPrompt(usage));
  return {
    priceInput: rates.input,
    ...(usage.audio && { priceAudio: getRate(rates, 'audio') }),
    ...(usage.cacheRead && { priceCacheRead: getRate(rates, 'cacheRead') }),
    ...(usage.cacheWrite && { priceCacheWrite: getRate(rates, 'cacheWrite') }),
    ...(usage.cacheWrite1h && { priceCacheWrite1h: getRate(rates, 'cacheWrite1h') }),
    priceOutput: rates.output,
  };
}
