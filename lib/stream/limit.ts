// Cuts an answer that goes on beyond the tokens it was asked for: nobody pays for more, and a collected one fills memory.
import type { StreamPart } from './part.ts';

export interface Limit {
  /**
   * The parts up to the limit. Where it is reached they end with a finish of reason `length`. `running` is false once the
   * upstream has finished: what it reports then is a bill, and cuts nothing any more.
   */
  take(parts: readonly StreamPart[], { running }: { readonly running: boolean }): readonly StreamPart[];
  /** True once the answer was cut. */
  readonly reached: boolean;
}

/** Hardly any token has more characters. Whoever writes more is not counting. */
const CHARACTERS_PER_TOKEN_MAX = 16;

export function createLimit(maxTokens: number): Limit {
  let charactersLeft = CHARACTERS_PER_TOKEN_MAX * maxTokens;
  let openBlock: number | undefined;
  let reached = false;

  /** What passes of a part: all of it, or a last piece of text, or nothing. */
  function pass(part: StreamPart, running: boolean): StreamPart | undefined {
    switch (part.type) {
      case 'block-start':
        openBlock = part.index;
        return part;
      case 'block-end':
        openBlock = undefined;
        return part;
      case 'block-delta': {
        charactersLeft -= part.text.length;
        if (charactersLeft >= 0) return part;
        reached = true;
        const text = wholeCharacters(part.text.slice(0, charactersLeft));
        return text === '' ? undefined : { ...part, text };
      }
      case 'usage':
        reached = running && Number.isSafeInteger(part.output) && (part.output as number) > maxTokens;
        return part;
      default:
        return part;
    }
  }

  return {
    take(parts, { running }) {
      for (const [at, part] of parts.entries()) {
        const passed = pass(part, running);
        if (!reached) continue;
        const close: readonly StreamPart[] = openBlock === undefined ? [] : [{ type: 'block-end', index: openBlock }];
        const last: readonly StreamPart[] = passed ? [passed] : [];
        return [...parts.slice(0, at), ...last, ...close, { type: 'finish', reason: 'length' }];
      }
      return parts;
    },
    get reached() {
      return reached;
    },
  };
}

/** Without half of a surrogate pair at the end. */
function wholeCharacters(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
