// The grammar at the boundary between provider and gateway: whatever a plugin yields or throws, the result is one
// start, blocks of text and tool calls in sequence, and one finish or one error at the end; and nothing beyond what was
// asked for.
import { type Fault, fault } from '../base/faults.ts';
import type { StreamPart } from './part.ts';
import type { Block, BlockStartPart, FinishPart, FinishReason, ProviderPart } from './provider-part.ts';

export interface GuardOptions {
  /**
   * Output tokens after which an answer is cut: by the upstream's count, or by an amount of text that is never fewer.
   */
  readonly outputMax: number;
  readonly calls?: CallsAllowed;
}

/** The tool calls that an answer may contain. Not every upstream supports such limits, so further calls are dropped. */
export type CallsAllowed = 'any' | 'one' | 'none';

export interface Guard {
  /** The parts that are valid now, in order; `finish` is held back until the end. After an error: none. */
  push(parts: readonly ProviderPart[]): readonly StreamPart[];
  /** The source ended by itself: the finish held back, or the error that there was none. */
  end(): readonly StreamPart[];
  /** The source broke off: the finish if it was already there, or the error. */
  fail(reason: Fault): readonly StreamPart[];
  /** True once the upstream's terminal signal was seen, or the answer was cut. */
  readonly finished: boolean;
  /** True once the answer was cut at its limit: nothing more is wanted from the upstream. */
  readonly cut: boolean;
  /** True once an error was passed on. */
  readonly failed: boolean;
}

const NOTHING: readonly StreamPart[] = [];

const REASONS: ReadonlySet<FinishReason> = new Set(['stop', 'length', 'filter', 'tool', 'other']);

/** No tokenizer in use makes longer tokens from ordinary text. */
const CHARACTERS_PER_TOKEN_MAX = 16;

/** A running count passes its limit step by step. */
const FAR_BEYOND = 4;

const FIRST_HALF = 0xd800;
const SECOND_HALF = 0xdc00;

export function createGuard(options: GuardOptions = { outputMax: Number.POSITIVE_INFINITY }): Guard {
  return new AnswerGuard(options);
}

/** A class, because every open answer has one: closures would take three times the memory. */
class AnswerGuard implements Guard {
  cut = false;
  failed = false;
  readonly #outputMax: number;
  readonly #charactersMax: number;
  readonly #calls: CallsAllowed;
  #started = false;
  #finish: FinishPart | undefined;
  /** The finish was passed on. */
  #ended = false;
  /** The upstream's block. */
  #openBlock: number | undefined;
  #nextBlock = 0;
  /** Ours: consecutive texts are one block to the client, whose end is known only when something else follows. */
  #block = -1;
  #open: Block['type'] | undefined;
  #isDropping = false;
  #hasTools = false;
  /** For the open block. */
  #hasText = false;
  #characters = 0;
  #outputTokens = 0;

  constructor({ outputMax, calls = 'any' }: GuardOptions) {
    this.#outputMax = outputMax;
    this.#charactersMax = outputMax * CHARACTERS_PER_TOKEN_MAX;
    this.#calls = calls;
  }

  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /** What may pass of a part, undefined if it is dropped; throws on a violation. */
  #accept(part: ProviderPart): ProviderPart | readonly ProviderPart[] | undefined {
    if (this.#finish && part?.type !== 'usage') return undefined;
    switch (part.type) {
      case 'block-delta':
        if (this.#openBlock === undefined || part.index !== this.#openBlock) throw breach('a delta outside its block');
        if (typeof part.text !== 'string') throw breach('a delta without text');
        if (part.text === '' || this.#isDropping) return undefined;
        this.#characters += part.text.length;
        this.#hasText = true;
        return part.index === this.#block ? part : { ...part, index: this.#block };
      case 'usage':
        if (typeof part.output === 'number') this.#outputTokens = part.output;
        return part;
      case 'start':
        if (this.#started) throw breach('a second start');
        this.#started = true;
        return part;
      case 'block-start':
        if (!this.#started || this.#openBlock !== undefined || part.index !== this.#nextBlock)
          throw breach('a block out of order');
        checkBlock(part.block);
        this.#openBlock = part.index;
        this.#nextBlock += 1;
        return this.#openOurs(part);
      case 'block-end':
        if (this.#openBlock === undefined || part.index !== this.#openBlock)
          throw breach('the end of a block that is not open');
        this.#openBlock = undefined;
        return this.#open === 'tool' ? this.#closeOurs() : undefined;
      case 'finish':
        if (!this.#started || this.#openBlock !== undefined) throw breach('a finish before the end of its block');
        this.#finish = { ...part, reason: this.#reasonOf(part.reason) };
        return undefined;
      default:
        throw breach(`a part of type ${String((part as { type: unknown }).type)}`);
    }
  }

  #openOurs(part: BlockStartPart): ProviderPart | readonly ProviderPart[] | undefined {
    const { type } = part.block;
    this.#isDropping = type === 'tool' && (this.#calls === 'none' || (this.#calls === 'one' && this.#hasTools));
    // Of ours only a text may still be open.
    if (this.#isDropping || this.#open === type) return undefined;
    const closed = this.#closeOurs();
    this.#block += 1;
    this.#open = type;
    this.#hasText = false;
    this.#hasTools ||= type === 'tool';
    const begun = part.index === this.#block ? part : { ...part, index: this.#block };
    return closed.length === 0 ? begun : [...closed, begun];
  }

  /** A call without arguments has empty ones. */
  #closeOurs(): readonly ProviderPart[] {
    if (!this.#open) return [];
    const isEmpty = this.#open === 'tool' && !this.#hasText;
    this.#open = undefined;
    if (!isEmpty) return [{ type: 'block-end', index: this.#block }];
    this.#characters += EMPTY_ARGUMENTS.length;
    return [
      { type: 'block-delta', index: this.#block, text: EMPTY_ARGUMENTS },
      { type: 'block-end', index: this.#block },
    ];
  }

  /** Some upstreams report a plain end for an answer with calls, and dropped calls are no reason to end. */
  #reasonOf(reason: FinishReason): FinishReason {
    if (!REASONS.has(reason)) return this.#hasTools ? 'tool' : 'other';
    if (this.#hasTools && (reason === 'stop' || reason === 'other')) return 'tool';
    return reason === 'tool' && !this.#hasTools ? 'stop' : reason;
  }

  push(parts: readonly ProviderPart[]): readonly StreamPart[] {
    if (this.failed || this.#ended || this.cut) return NOTHING;
    if (!Array.isArray(parts))
      return this.#finish ? NOTHING : this.#broken(fault('upstream_failed', {}, breach('no array')));
    let passed: ProviderPart[] | undefined;
    for (let at = 0; at < parts.length; at += 1) {
      const part = parts[at] as ProviderPart;
      try {
        if (part?.type === 'block-delta' && this.#isCountedOut()) return this.#cutOff(passed ?? parts.slice(0, at));
        const accepted = this.#accept(part);
        if (accepted === undefined || accepted !== part) passed ??= parts.slice(0, at);
        if (accepted && passed) {
          if (isPart(accepted)) passed.push(accepted);
          else passed.push(...accepted);
        }
        if (this.#characters > this.#charactersMax) return this.#cutOff(passed ?? parts.slice(0, at + 1));
      } catch (error) {
        passed ??= parts.slice(0, at);
        // Nothing that follows the terminal signal can spoil a complete answer.
        if (!this.#finish) return [...passed, ...this.#broken(fault('upstream_failed', {}, error))];
      }
    }
    return passed ?? parts;
  }

  /** The upstream continues although it is done by its own count; a count far beyond the limit is ignored. */
  #isCountedOut(): boolean {
    return (
      this.#outputTokens > this.#outputMax && this.#characters > 0 && this.#outputTokens <= FAR_BEYOND * this.#outputMax
    );
  }

  /** Ends an answer whose upstream exceeds what was asked for, dropping the excess of the last text. */
  #cutOff(parts: readonly StreamPart[]): readonly StreamPart[] {
    if (this.#finish) return parts;
    this.cut = true;
    this.#finish = { type: 'finish', reason: 'length', raw: 'cut at max_tokens' };
    const last = parts.at(-1);
    const surplus = this.#characters - this.#charactersMax;
    if (last?.type !== 'block-delta' || surplus <= 0) return parts;
    return [...parts.slice(0, -1), { ...last, text: beginningOf(last.text, last.text.length - surplus) }];
  }

  fail(reason: Fault): readonly StreamPart[] {
    if (this.failed) return NOTHING;
    return this.#finish ? this.end() : this.#broken(reason);
  }

  end(): readonly StreamPart[] {
    if (this.failed || this.#ended) return NOTHING;
    if (!this.#finish) return this.#broken(fault('upstream_truncated'));
    if (this.#characters === 0 && !(this.#outputTokens > 0)) return this.#broken(fault('upstream_empty'));
    this.#ended = true;
    return this.#open ? [...this.#closeOurs(), this.#finish] : [this.#finish];
  }

  #broken(reason: Fault): readonly StreamPart[] {
    this.failed = true;
    return [{ type: 'error', fault: reason }];
  }
}

const EMPTY_ARGUMENTS = '{}';

function checkBlock(block: Block): void {
  if (block?.type === 'text') return;
  if (block?.type !== 'tool') throw breach('a block of an unknown type');
  if (!isName(block.id) || !isName(block.name)) throw breach('a call of a tool without its id or its name');
  if (block.state !== undefined && typeof block.state !== 'string') throw breach('a state that is no text');
}

const isName = (name: unknown): boolean => typeof name === 'string' && name !== '';

const isPart = (accepted: ProviderPart | readonly ProviderPart[]): accepted is ProviderPart => 'type' in accepted;

/** At most this many characters of a text, without splitting a surrogate pair. */
function beginningOf(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= FIRST_HALF && last < SECOND_HALF ? length - 1 : length);
}

function breach(what: string): Error {
  return new Error(`the provider violated the grammar of parts: ${what}`);
}
