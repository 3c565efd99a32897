// Ends an answer before the first of its call's stop strings, whether or not its upstream supports them.
import type { StreamPart } from './part.ts';
import type { Transform } from './pipeline.ts';
import { createStopMatcher, type StopMatcher } from './stop-matcher.ts';

export interface StopsOptions {
  readonly strings: readonly string[];
  /** Called once, at the match. */
  readonly onMatch?: () => void;
  /** After the match the upstream is read on for its counts, as long as this is true. */
  readonly isCovered?: () => boolean;
}

/**
 * After a match nothing but counts passes, until a finish that names the string. A block's end comes after what was held
 * back of its text.
 */
export interface Stops extends Transform<StreamPart> {
  /** The matched stop string. */
  readonly matched: string | undefined;
}

type Delta = Extract<StreamPart, { readonly type: 'block-delta' }>;

export function createStops({ strings, onMatch, isCovered = () => true }: StopsOptions): Stops {
  let matcher: StopMatcher | undefined;
  /** Of the block whose text was taken last. */
  let index = 0;
  let matched: string | undefined;
  /** A failure before any text leaves nothing to deliver. */
  let hasPassed = false;
  /** For the open block: the arguments of a call are not the answer's text. */
  let isText = true;

  function take(part: StreamPart, passed: StreamPart[]): void {
    if (matched !== undefined) takeAfterMatch(part, matched, passed);
    else if (part.type === 'block-delta' && isText) takeText(part, passed);
    else {
      if (part.type === 'block-start') isText = part.block.type === 'text';
      // An answer that breaks off may still end before a match.
      if (part.type === 'block-end' || part.type === 'error') release(passed, part);
      noteMatch(passed, part);
      if (matched === undefined || part.type === 'block-end') passed.push(part);
      else takeAfterMatch(part, matched, passed);
    }
  }

  function takeText(part: Delta, passed: StreamPart[]): void {
    matcher ??= createStopMatcher(strings);
    index = part.index;
    const text = matcher.push(part.text);
    hasPassed ||= text !== '';
    if (text === part.text) passed.push(part);
    else if (text !== '') passed.push({ ...part, text });
    noteMatch(passed, part);
  }

  /** A match does not span two blocks. */
  function release(passed: StreamPart[], { type }: StreamPart): void {
    const text = matcher?.end() ?? '';
    const isWanted = type === 'block-end' || hasPassed || matcher?.matched !== undefined;
    if (text !== '' && isWanted) passed.push({ type: 'block-delta', index, text });
  }

  function noteMatch(passed: StreamPart[], { type }: StreamPart): void {
    matched = matcher?.matched;
    if (type === 'block-end' && matched === undefined) matcher = undefined;
    if (matched === undefined) return;
    if (type !== 'block-end') passed.push({ type: 'block-end', index });
    onMatch?.();
  }

  return {
    push(batch) {
      const passed: StreamPart[] = [];
      for (const part of batch) take(part, passed);
      return passed;
    },
    get matched() {
      return matched;
    },
    get done() {
      return matched !== undefined && !isCovered();
    },
  };
}

/** The client has the whole answer, however its upstream ends. */
function takeAfterMatch(part: StreamPart, sequence: string, passed: StreamPart[]): void {
  if (part.type === 'usage') passed.push(part);
  if (part.type === 'finish' || part.type === 'error') passed.push({ type: 'finish', reason: 'stop', sequence });
}
