// The grammar at the boundary between provider and gateway: whatever a plugin yields or throws, the result is one
// start, blocks of text and tool calls in sequence, and one finish or one error at the end; and nothing beyond what was
// asked for.
import { type Fault, fault } from '../faults.ts';
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

export function createGuard(
  { outputMax, calls = 'any' }: GuardOptions = { outputMax: Number.POSITIVE_INFINITY },
): Guard {
  const charactersMax = outputMax * CHARACTERS_PER_TOKEN_MAX;
  let started = false;
  let finish: FinishPart | undefined;
  let cut = false;
  let failed = false;
  /** The finish was passed on. */
  let ended = false;
  /** The upstream's block. */
  let openBlock: number | undefined;
  let nextBlock = 0;
  /** Ours: consecutive texts are one block to the client, whose end is known only when something else follows. */
  let block = -1;
  let open: Block['type'] | undefined;
  let isDropping = false;
  let hasTools = false;
  /** For the open block. */
  let hasText = false;
  let characters = 0;
  let outputTokens = 0;

  /** What may pass of a part, undefined if it is dropped; throws on a violation. */
  function accept(part: ProviderPart): ProviderPart | readonly ProviderPart[] | undefined {
    if (finish && part?.type !== 'usage') return undefined;
    switch (part.type) {
      case 'block-delta':
        if (openBlock === undefined || part.index !== openBlock) throw breach('a delta outside its block');
        if (typeof part.text !== 'string') throw breach('a delta without text');
        if (part.text === '' || isDropping) return undefined;
        characters += part.text.length;
        hasText = true;
        return part.index === block ? part : { ...part, index: block };
      case 'usage':
        if (typeof part.output === 'number') outputTokens = part.output;
        return part;
      case 'start':
        if (started) throw breach('a second start');
        started = true;
        return part;
      case 'block-start':
        if (!started || openBlock !== undefined || part.index !== nextBlock) throw breach('a block out of order');
        checkBlock(part.block);
        openBlock = part.index;
        nextBlock += 1;
        return openOurs(part);
      case 'block-end':
        if (openBlock === undefined || part.index !== openBlock) throw breach('the end of a block that is not open');
        openBlock = undefined;
        isDropping = false;
        return open === 'tool' ? closeOurs() : undefined;
      case 'finish':
        if (!started || openBlock !== undefined) throw breach('a finish before the end of its block');
        finish = { ...part, reason: reasonOf(part.reason) };
        return undefined;
      default:
        throw breach(`a part of type ${String((part as { type: unknown }).type)}`);
    }
  }

  function openOurs(part: BlockStartPart): ProviderPart | readonly ProviderPart[] | undefined {
    const { type } = part.block;
    isDropping = type === 'tool' && (calls === 'none' || (calls === 'one' && hasTools));
    if (isDropping || (type === 'text' && open === 'text')) return undefined;
    const ended = closeOurs();
    block += 1;
    open = type;
    hasText = false;
    hasTools ||= type === 'tool';
    const begun = part.index === block ? part : { ...part, index: block };
    return ended.length === 0 ? begun : [...ended, begun];
  }

  /** A call without arguments has empty ones. */
  function closeOurs(): readonly ProviderPart[] {
    if (!open) return [];
    const isEmpty = open === 'tool' && !hasText;
    open = undefined;
    if (!isEmpty) return [{ type: 'block-end', index: block }];
    characters += EMPTY_ARGUMENTS.length;
    return [
      { type: 'block-delta', index: block, text: EMPTY_ARGUMENTS },
      { type: 'block-end', index: block },
    ];
  }

  /** Some upstreams report a plain end for an answer with calls, and dropped calls are no reason to end. */
  function reasonOf(reason: FinishReason): FinishReason {
    if (!REASONS.has(reason)) return hasTools ? 'tool' : 'other';
    if (hasTools && (reason === 'stop' || reason === 'other')) return 'tool';
    return reason === 'tool' && !hasTools ? 'stop' : reason;
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
        if (accepted && passed) {
          if (isPart(accepted)) passed.push(accepted);
          else passed.push(...accepted);
        }
        if (characters > charactersMax) return cutOff(passed ?? parts.slice(0, at + 1));
      } catch (error) {
        passed ??= parts.slice(0, at);
        // Nothing that follows the terminal signal can spoil a complete answer.
        if (!finish) return [...passed, ...broken(fault('upstream_failed', {}, error))];
      }
    }
    return passed ?? parts;
  }

  /** The upstream continues although it is done by its own count; a count far beyond the limit is ignored. */
  function isCountedOut(): boolean {
    return outputTokens > outputMax && characters > 0 && outputTokens <= FAR_BEYOND * outputMax;
  }

  /** Ends an answer whose upstream exceeds what was asked for, dropping the excess of the last text. */
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
    return open ? [...closeOurs(), finish] : [finish];
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
