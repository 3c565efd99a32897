// Ends an answer before the first of its call's stop strings, whether or not its upstream supports them.
import type { StreamPart } from './part.ts';
import type { Transform } from './pipeline.ts';
import { StopMatcher } from './stop-matcher.ts';

export interface StopsOptions {
  readonly strings: readonly string[];
  /** Called once, at the match. */
  readonly onMatch?: () => void;
  /** After the match the upstream is read on for its counts, as long as this is true. */
  readonly isCovered?: () => boolean;
}

type Delta = Extract<StreamPart, { readonly type: 'block-delta' }>;

/**
 * After a match nothing but counts passes, until a finish that names the string. A block's end comes after what was held
 * back of its text. A class, because every open answer may have one: closures would take three times the memory.
 */
export class Stops implements Transform<StreamPart> {
  /** The matched stop string. */
  matched: string | undefined;
  readonly #options: StopsOptions;
  #matcher: StopMatcher | undefined;
  /** Of the block whose text was taken last. */
  #index = 0;
  /** A failure before any text leaves nothing to deliver. */
  #hasPassed = false;
  /** For the open block: the arguments of a call are not the answer's text. */
  #isText = true;

  constructor(options: StopsOptions) {
    this.#options = options;
  }

  /** True once nothing that follows the match is read. */
  get done(): boolean {
    return this.matched !== undefined && this.#options.isCovered?.() === false;
  }

  push(batch: readonly StreamPart[]): readonly StreamPart[] {
    const passed: StreamPart[] = [];
    for (const part of batch) this.#take(part, passed);
    return passed;
  }

  #take(part: StreamPart, passed: StreamPart[]): void {
    if (this.matched !== undefined) takeAfterMatch(part, this.matched, passed);
    else if (part.type === 'block-delta' && this.#isText) this.#takeText(part, passed);
    else {
      if (part.type === 'block-start') this.#isText = part.block.type === 'text';
      // An answer that breaks off may still end before a match.
      if (part.type === 'block-end' || part.type === 'error') this.#release(passed, part);
      const matched = this.#noteMatch(passed, part);
      if (matched === undefined || part.type === 'block-end') passed.push(part);
      else takeAfterMatch(part, matched, passed);
    }
  }

  #takeText(part: Delta, passed: StreamPart[]): void {
    this.#matcher ??= new StopMatcher(this.#options.strings);
    this.#index = part.index;
    const text = this.#matcher.push(part.text);
    this.#hasPassed ||= text !== '';
    if (text === part.text) passed.push(part);
    else if (text !== '') passed.push({ ...part, text });
    this.#noteMatch(passed, part);
  }

  /** A match does not span two blocks. */
  #release(passed: StreamPart[], { type }: StreamPart): void {
    const text = this.#matcher?.end() ?? '';
    const isWanted = type === 'block-end' || this.#hasPassed || this.#matcher?.matched !== undefined;
    if (text !== '' && isWanted) passed.push({ type: 'block-delta', index: this.#index, text });
  }

  #noteMatch(passed: StreamPart[], { type }: StreamPart): string | undefined {
    this.matched = this.#matcher?.matched;
    if (type === 'block-end' && this.matched === undefined) this.#matcher = undefined;
    if (this.matched === undefined) return undefined;
    if (type !== 'block-end') passed.push({ type: 'block-end', index: this.#index });
    this.#options.onMatch?.();
    return this.matched;
  }
}

/** The client has the whole answer, however its upstream ends. */
function takeAfterMatch(part: StreamPart, sequence: string, passed: StreamPart[]): void {
  if (part.type === 'usage') passed.push(part);
  if (part.type === 'finish' || part.type === 'error') passed.push({ type: 'finish', reason: 'stop', sequence });
}
