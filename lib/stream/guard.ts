// The grammar at the seam between a provider and the gateway: whatever a plugin yields or throws, what comes out is one
// start, blocks in order, and at the end one finish or one error.
import { type Fault, fault } from '../faults.ts';
import type { StreamPart } from './part.ts';
import type { FinishPart, FinishReason, ProviderPart } from './provider-part.ts';

export interface Guard {
  /** The parts that are valid now, in order; `finish` is kept back until the end. After an error: none. */
  push(parts: readonly ProviderPart[]): readonly StreamPart[];
  /** The source ended by itself: the finish that was kept back, or the error that there was none. */
  end(): readonly StreamPart[];
  /** The source broke off: the finish if it had been there already, or the error. */
  fail(reason: Fault): readonly StreamPart[];
  /** True once the upstream's terminal signal was seen. */
  readonly finished: boolean;
  /** True once an error was passed on. */
  readonly failed: boolean;
}

const NOTHING: readonly StreamPart[] = [];

const REASONS: ReadonlySet<FinishReason> = new Set(['stop', 'length', 'filter', 'tool', 'other']);

export function createGuard(): Guard {
  let started = false;
  let finish: FinishPart | undefined;
  let failed = false;
  /** The finish was passed on. */
  let ended = false;
  let openBlock: number | undefined;
  let nextBlock = 0;
  let hasText = false;
  let outputTokens = 0;

  /** True when the part may pass, false when it is to be dropped; throws on a breach. */
  function accept(part: ProviderPart): boolean {
    if (finish && part?.type !== 'usage') return false;
    switch (part.type) {
      case 'block-delta':
        if (openBlock === undefined || part.index !== openBlock) throw breach('a delta outside its block');
        if (typeof part.text !== 'string') throw breach('a delta without text');
        if (part.text === '') return false;
        hasText = true;
        return true;
      case 'usage':
        if (typeof part.output === 'number') outputTokens = part.output;
        return true;
      case 'start':
        if (started) throw breach('a second start');
        started = true;
        return true;
      case 'block-start':
        if (!started || openBlock !== undefined || part.index !== nextBlock) throw breach('a block out of order');
        if (part.block?.type !== 'text') throw breach('a block of an unknown type');
        openBlock = part.index;
        nextBlock += 1;
        return true;
      case 'block-end':
        if (openBlock === undefined || part.index !== openBlock) throw breach('the end of a block that is not open');
        openBlock = undefined;
        return true;
      case 'finish':
        if (!started || openBlock !== undefined) throw breach('a finish before the end of its block');
        finish = REASONS.has(part.reason) ? part : { ...part, reason: 'other' };
        return false;
      default:
        throw breach(`a part of type ${String((part as { type: unknown }).type)}`);
    }
  }

  function push(parts: readonly ProviderPart[]): readonly StreamPart[] {
    if (failed || ended) return NOTHING;
    if (!Array.isArray(parts)) return finish ? NOTHING : broken(fault('upstream_failed', {}, breach('no array')));
    let passed: ProviderPart[] | undefined;
    for (let at = 0; at < parts.length; at += 1) {
      const part = parts[at] as ProviderPart;
      try {
        if (accept(part)) passed?.push(part);
        else passed ??= parts.slice(0, at);
      } catch (error) {
        passed ??= parts.slice(0, at);
        // Nothing that follows the terminal signal can spoil a complete answer.
        if (!finish) return [...passed, ...broken(fault('upstream_failed', {}, error))];
      }
    }
    return passed ?? parts;
  }

  function fail(reason: Fault): readonly StreamPart[] {
    if (failed || ended) return NOTHING;
    return finish ? end() : broken(reason);
  }

  function end(): readonly StreamPart[] {
    if (failed || ended) return NOTHING;
    if (!finish) return broken(fault('upstream_truncated'));
    if (!hasText && !(outputTokens > 0)) return broken(fault('upstream_empty'));
    ended = true;
    return [finish];
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
    get failed() {
      return failed;
    },
  };
}

function breach(what: string): Error {
  return new Error(`the provider broke the grammar of parts: ${what}`);
}
