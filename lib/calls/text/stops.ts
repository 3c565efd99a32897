// Ends an answer before the first of its call's stop strings, whether or not its upstream supports them.
import type { StreamPart } from '../../stream/part.ts';
import { createStopMatcher, type StopMatcher } from '../../stream/stop-matcher.ts';

export interface Stops {
  /**
   * The parts that may pass now. A block's end comes after what was held back of its text; after a match only the end
   * passes.
   */
  pass(parts: readonly StreamPart[]): readonly StreamPart[];
  /** What was held back of an answer that broke off, which may still end before a match. */
  rest(): readonly StreamPart[];
  /** The matched stop string. */
  readonly matched: string | undefined;
}

/** The parts that matter to it. */
type Delta = Extract<StreamPart, { readonly type: 'block-delta' }>;

export function createStops(strings: readonly string[]): Stops {
  let matcher: StopMatcher | undefined;
  /** Of the block whose text was taken last. */
  let index: number;
  let matched: string | undefined;
  /** For the open block: the arguments of a call are not the answer's text. */
  let isText = true;

  function pass(parts: readonly StreamPart[]): readonly StreamPart[] {
    const passed: StreamPart[] = [];
    for (const part of parts) {
      if (matched !== undefined) return passed;
      if (part.type === 'block-start') isText = part.block.type === 'text';
      if (part.type === 'block-delta' && isText) take(part, passed);
      else {
        if (part.type === 'block-end') release(passed);
        passed.push(part);
      }
      matched = matcher?.matched;
      if (matched !== undefined && part.type !== 'block-end') passed.push({ type: 'block-end', index });
    }
    return passed;
  }

  function take(part: Delta, passed: StreamPart[]): void {
    matcher ??= createStopMatcher(strings);
    index = part.index;
    const text = matcher.push(part.text);
    if (text === part.text) passed.push(part);
    else if (text !== '') passed.push({ ...part, text });
  }

  /** A match does not span two blocks. */
  function release(passed: StreamPart[]): void {
    const text = matcher?.end() ?? '';
    if (text !== '') passed.push({ type: 'block-delta', index, text });
    if (matcher?.matched === undefined) matcher = undefined;
  }

  return {
    pass,
    rest() {
      const passed: StreamPart[] = [];
      release(passed);
      matched = matcher?.matched;
      if (matched !== undefined) passed.push({ type: 'block-end', index });
      return passed;
    },
    get matched() {
      return matched;
    },
  };
}
