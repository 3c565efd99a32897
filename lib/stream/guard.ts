// The grammar at the seam between a provider and the gateway: whatever a plugin yields or throws, what comes out is one
// start, one block of text, and at the end one finish or one error; and no more of it than was asked for.
import { type Fault, fault } from '../faults.ts';
import type { StreamPart } from './part.ts';
import type { BlockEndPart, FinishPart, FinishReason, ProviderPart } from './provider-part.ts';

export interface GuardOptions {
  /** Output tokens after which an answer is cut: by the upstream's count, or by an amount of text that is never fewer. */
  readonly outputMax: number;
}

export interface Guard {
  /** The parts that are valid now, in order; `finish` is kept back until the end. After an error: none. */
  push(parts: readonly ProviderPart[]): readonly StreamPart[];
  /** The source ended by itself: the finish that was kept back, or the error that there was none. */
  end(): readonly StreamPart[];
  /** The source broke off: the finish if it had been there already, or the error. */
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

/** No tokenizer in use makes longer tokens of ordinary text. */
const CHARACTERS_PER_TOKEN_MAX = 16;

/** A running count passes its limit step by step. */
const FAR_BEYOND = 4;

const FIRST_HALF = 0xd800;
const SECOND_HALF = 0xdc00;

export function createGuard({ outputMax }: GuardOptions = { outputMax: Number.POSITIVE_INFINITY }): Guard {
  const charactersMax = outputMax * CHARACTERS_PER_TOKEN_MAX;
  let started = false;
  let finish: FinishPart | undefined;
  let cut = false;
  let failed = false;
  /** The finish was passed on. */
  let ended = false;
  /** The upstream's block; ours is always the first. */
  let openBlock: number | undefined;
  let nextBlock = 0;
  let characters = 0;
  let outputTokens = 0;

  /** The part that may pass, undefined when it is to be dropped; throws on a breach. */
  function accept(part: ProviderPart): ProviderPart | undefined {
    if (finish && part?.type !== 'usage') return undefined;
    switch (part.type) {
      case 'block-delta':
        if (openBlock === undefined || part.index !== openBlock) throw breach('a delta outside its block');
        if (typeof part.text !== 'string') throw breach('a delta without text');
        if (part.text === '') return undefined;
        characters += part.text.length;
        return openBlock === 0 ? part : { ...part, index: 0 };
      case 'usage':
        if (typeof part.output === 'number') outputTokens = part.output;
        return part;
      case 'start':
        if (started) throw breach('a second start');
        started = true;
        return part;
      case 'block-start':
        if (!started || openBlock !== undefined || part.index !== nextBlock) throw breach('a block out of order');
        if (part.block?.type !== 'text') throw breach('a block of an unknown type');
        openBlock = part.index;
        nextBlock += 1;
        return openBlock === 0 ? part : undefined;
      case 'block-end':
        if (openBlock === undefined || part.index !== openBlock) throw breach('the end of a block that is not open');
        openBlock = undefined;
        return undefined;
      case 'finish':
        if (!started || openBlock !== undefined) throw breach('a finish before the end of its block');
        finish = REASONS.has(part.reason) ? part : { ...part, reason: 'other' };
        return undefined;
      default:
        throw breach(`a part of type ${String((part as { type: unknown }).type)}`);
    }
  }

  function push(parts: readonly ProviderPart[]): readonly StreamPart[] {
    if (failed || ended || cut) return NOTHING;
    if (!Array.isArray(parts)) return finish ? NOTHING : broken(fault('upstream_failed', {}, breach('no array')));
    let passed: ProviderPart[] | undefined;
    for (let at = 0; at < parts.length; at += 1) {
      const part = parts[at] as ProviderPart;
      try {
        if (part?.type === 'block-delta' && isCountedOut()) return cutOff(passed ?? parts.slice(0, at));
        const accepted = accept(part);
        if (accepted === undefined || accepted !== part) passed ??= parts.slice(0, at);
        if (accepted && passed) passed.push(accepted);
        if (characters > charactersMax) return cutOff(passed ?? parts.slice(0, at + 1));
      } catch (error) {
        passed ??= parts.slice(0, at);
        // Nothing that follows the terminal signal can spoil a complete answer.
        if (!finish) return [...passed, ...broken(fault('upstream_failed', {}, error))];
      }
    }
    return passed ?? parts;
  }

  /** The upstream goes on although by its own count it is done; a count far beyond the limit is ignored. */
  function isCountedOut(): boolean {
    return outputTokens > outputMax && characters > 0 && outputTokens <= FAR_BEYOND * outputMax;
  }

  /** Ends an answer whose upstream exceeds what was asked for, and drops the excess of the last text. */
  function cutOff(parts: readonly StreamPart[]): readonly StreamPart[] {
    if (finish) return parts;
    cut = true;
    finish = { type: 'finish', reason: 'length', raw: 'cut at max_tokens' };
    const last = parts.at(-1);
    const surplus = characters - charactersMax;
    if (last?.type !== 'block-delta' || surplus <= 0) return parts;
    return [...parts.slice(0, -1), { ...last, text: beginningOf(last.text, last.text.length - surplus) }];
  }

  function fail(reason: Fault): readonly StreamPart[] {
    if (failed || ended) return NOTHING;
    return finish ? end() : broken(reason);
  }

  function end(): readonly StreamPart[] {
    if (failed || ended) return NOTHING;
    if (!finish) return broken(fault('upstream_truncated'));
    if (characters === 0 && !(outputTokens > 0)) return broken(fault('upstream_empty'));
    ended = true;
    return nextBlock > 0 ? [BLOCK_END, finish] : [finish];
  }

  function broken(reason: Fault): readonly StreamPart[] {
    failed = true;
    return [{ type: 'error', fault: reason }];
  }

  return {
    push,
    end,
    fail,
    get finished() {
      return finish !== undefined;
    },
    get cut() {
      return cut;
    },
    get failed() {
      return failed;
    },
  };
}

/** Several blocks of text are one to the client: its end is known only at the end of the answer. */
const BLOCK_END: BlockEndPart = { type: 'block-end', index: 0 };

/** At most this many characters of a text, with no surrogate pair torn. */
function beginningOf(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= FIRST_HALF && last < SECOND_HALF ? length - 1 : length);
}

function breach(what: string): Error {
  return new Error(`the provider violated the grammar of parts: ${what}`);
}
