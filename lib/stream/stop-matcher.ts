// Finds the end of a text that must not contain certain strings, while it arrives in arbitrary fragments.

export interface StopMatcher {
  /** The text certain to precede any match, including this fragment; `''` while all of it may be part of one. */
  push(text: string): string;
  /** The text is over: returns what was held back, up to a match. */
  end(): string;
  /** The matched string. The earliest match counts, and of those at one place the longest. */
  readonly matched: string | undefined;
}

/** One of the strings, and how much of it the text currently ends with. */
interface Automaton {
  readonly text: string;
  /** For each prefix length of the string: the longest shorter prefix it ends with. */
  readonly borders: Uint32Array;
  length: number;
}

interface Match {
  readonly from: number;
  readonly text: string;
}

/**
 * Linear in the text, whatever the strings and fragments: one automaton per string (Knuth, Morris and Pratt). What is
 * held back is kept in fragments, because a growing text cut at its front would be copied for every fragment.
 */
export function createStopMatcher(strings: readonly string[]): StopMatcher {
  const automata = strings.map((text): Automaton => ({ text, borders: computeBorders(text), length: 0 }));
  const held = createHeld();
  /** A match that an earlier or longer one may still replace. */
  let match: Match | undefined;
  let matched: string | undefined;

  function push(text: string): string {
    if (matched !== undefined) return '';
    const from = held.end;
    held.add(text);
    for (let at = 0; at < text.length; at += 1) {
      step(text.charCodeAt(at), from + at);
      if (match && isCertain(match, from + at)) return finish();
    }
    return held.take(earliestBeginning(held.end));
  }

  /** Feeds the next character to every automaton. */
  function step(code: number, at: number): void {
    for (const automaton of automata) {
      advance(automaton, code);
      const { text, length } = automaton;
      if (length < text.length) continue;
      const from = at - length + 1;
      // Of two with the same beginning the later to end is longer.
      if (!match || from <= match.from) match = { from, text };
      // What it finds later begins later.
      automaton.length = 0;
    }
  }

  /** No other string can still be found earlier, or at the same place and longer. */
  function isCertain({ from }: Match, at: number): boolean {
    return automata.every(({ length }) => length === 0 || at - length + 1 > from);
  }

  /** The start of the earliest string that the text may be in the middle of; a match waits for one that is as early. */
  function earliestBeginning(end: number): number {
    return automata.reduce((least, { length }) => Math.min(least, end - length), end);
  }

  function finish(): string {
    if (!match) return held.take(held.end);
    matched = match.text;
    return held.take(match.from);
  }

  return {
    push,
    end: finish,
    get matched() {
      return matched;
    },
  };
}

function advance(automaton: Automaton, code: number): void {
  const { text, borders } = automaton;
  let { length } = automaton;
  while (length > 0 && text.charCodeAt(length) !== code) length = borders[length] as number;
  automaton.length = text.charCodeAt(length) === code ? length + 1 : 0;
}

function computeBorders(text: string): Uint32Array {
  const borders = new Uint32Array(text.length + 1);
  let border = 0;
  for (let at = 1; at < text.length; at += 1) {
    while (border > 0 && text.charCodeAt(at) !== text.charCodeAt(border)) border = borders[border] as number;
    if (text.charCodeAt(at) === text.charCodeAt(border)) border += 1;
    borders[at + 1] = border;
  }
  return borders;
}

/** Fragments held back; positions count from the start of the whole text. */
function createHeld() {
  let pieces: string[] = [];
  /** The first piece not consumed, and how much of it is. */
  let first = 0;
  let cut = 0;
  let begin = 0;
  let end = 0;

  /** Everything held before a position. */
  function take(before: number): string {
    let taken = '';
    while (begin < before) {
      const piece = pieces[first] as string;
      const left = piece.length - cut;
      if (left <= before - begin) {
        taken += cut === 0 ? piece : piece.slice(cut);
        begin += left;
        first += 1;
        cut = 0;
      } else {
        taken += piece.slice(cut, cut + before - begin);
        cut += before - begin;
        begin = before;
      }
    }
    if (first > pieces.length / 2) {
      pieces = pieces.slice(first);
      first = 0;
    }
    return taken;
  }

  return {
    take,
    add(text: string) {
      pieces.push(text);
      end += text.length;
    },
    get end() {
      return end;
    },
  };
}
