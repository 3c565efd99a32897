// The prompt of a call within its conversation: if the gateway moved the conversation away from the vendor whose cache has
// the prompt, it is charged as if it had been read there.
import { type TextPrice, type Tokens, textCost } from '../../money/price.ts';
import { digestBeginnings } from './beginnings.ts';
import { type CachedPrompt, type CachedPrompts, countAsRead } from './cached-prompts.ts';
import type { TextRequest } from './request.ts';

/** `place`: that of a vendor's cache, a route with a key. */
export class ConversationPrompt {
  readonly conversation: string;
  readonly #cachedPrompts: CachedPrompts;
  /** Undefined for a prompt in very many parts. */
  readonly #digest: string | undefined;
  /** What a vendor had of it when the call began. */
  readonly #cached: CachedPrompt | undefined;

  constructor(conversation: string, request: TextRequest, cachedPrompts: CachedPrompts) {
    const beginnings = digestBeginnings(conversation, request);
    this.conversation = conversation;
    this.#cachedPrompts = cachedPrompts;
    this.#digest = beginnings.at(-1);
    this.#cached = cachedPrompts.find(beginnings);
  }

  /** The counts of a call at this place, as they are charged. */
  forgiveMove(place: string, counted: Tokens, price: TextPrice): Tokens {
    if (!this.#cached || this.#cached.place === place) return counted;
    const asRead = countAsRead(counted, this.#cached.tokens);
    return textCost(price, asRead) < textCost(price, counted) ? asRead : counted;
  }

  /** Notes what a call at this place has left in the cache. */
  note(place: string, counted: Tokens): void {
    if (this.#digest !== undefined) this.#cachedPrompts.note(this.#digest, place, counted, this.#cached);
  }
}
