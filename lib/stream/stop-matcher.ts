// Finds the end of a text that must not contain certain strings, while it arrives in arbitrary fragments.

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
export class StopMatcher {
  /** The matched string. The earliest match counts, and of those at one place the longest. */
  matched: string | undefined;
  readonly #automata: readonly Automaton[];
  readonly #held = new HeldText();
  /** A match that an earlier or longer one may still replace. */
  #match: Match | undefined;

  constructor(strings: readonly string[]) {
    this.#automata = strings.map((text) => ({ text, borders: computeBorders(text), length: 0 }));
  }

  /** The text certain to precede any match, including this fragment; `''` while all of it may be part of one. */
  push(text: string): string {
    if (this.matched !== undefined) return '';
    const from = this.#held.end;
    this.#held.add(text);
    for (let at = 0; at < text.length; at += 1) {
      this.#step(text.charCodeAt(at), from + at);
      if (this.#match && this.#isCertain(this.#match, from + at)) return this.end();
    }
    return this.#held.take(this.#earliestBeginning());
  }

  /** The text is over: returns what was held back, up to a match. */
  end(): string {
    if (!this.#match) return this.#held.take(this.#held.end);
    this.matched = this.#match.text;
    return this.#held.take(this.#match.from);
  }

  /** Feeds the next character to every automaton. */
  #step(code: number, at: number): void {
    for (const automaton of this.#automata) {
      advance(automaton, code);
      const { text, length } = automaton;
      if (length < text.length) continue;
      const from = at - length + 1;
      // Of two with the same beginning the later to end is longer.
      if (!this.#match || from <= this.#match.from) this.#match = { from, text };
      // What it finds later begins later.
      automaton.length = 0;
    }
  }

  /** No other string can still be found earlier, or at the same place and longer. */
  #isCertain({ from }: Match, at: number): boolean {
    return this.#automata.every(({ length }) => length === 0 || at - length + 1 > from);
  }

  /** The start of the earliest string that the text may be in the middle of; a match waits for one that is as early. */
  #earliestBeginning(): number {
    const { end } = this.#held;
    return this.#automata.reduce((least, { length }) => Math.min(least, end - length), end);
  }
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
class HeldText {
  end = 0;
  #begin = 0;
  #pieces: string[] = [];
  /** The first piece not consumed, and how much of it is. */
  #first = 0;
  #cut = 0;

  add(text: string): void {
    this.#pieces.push(text);
    this.end += text.length;
  }

  /** Everything held before a position. */
  take(before: number): string {
    let taken = '';
    while (this.#begin < before) {
      const piece = this.#pieces[this.#first] as string;
      const left = piece.length - this.#cut;
      if (left <= before - this.#begin) {
        taken += this.#cut === 0 ? piece : piece.slice(this.#cut);
        this.#begin += left;
        this.#first += 1;
        this.#cut = 0;
      } else {
        const cut = this.#cut + before - this.#begin;
        taken += piece.slice(this.#cut, cut);
        this.#cut = cut;
        this.#begin = before;
      }
    }
    if (this.#first > this.#pieces.length / 2) {
      this.#pieces = this.#pieces.slice(this.#first);
      this.#first = 0;
    }
    return taken;
  }
}
