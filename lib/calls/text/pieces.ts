// Cuts words into the longest known pieces, letter by letter: an automaton, so that no letter is looked at twice.

interface Alphabet {
  readonly first: string;
  readonly last: string;
  /** Bits that turn a capital into a small letter. */
  readonly smallBits: number;
}

/** Sorted pieces, separated by spaces. */
interface PieceList {
  /** Pieces at the start of a word, including the space before it. */
  readonly first: string;
  /** Pieces elsewhere. */
  readonly inner: string;
}

/** A step is the next state in this many bits, and above them the number of pieces it completes. */
const STATE_BITS = 16;
const STATE_MASK = 2 ** STATE_BITS - 1;

/** States are prefixes of pieces; the empty prefix is the root of the tree of its list. */
export class Pieces {
  readonly #start: number;
  readonly #width: number;
  readonly #smallBits: number;
  #states = 0;
  readonly #innerRoot: number;
  readonly #firstRoot: number;
  /** Steps that complete no piece form the trees; the others are computed on first use. 0: not computed yet. */
  readonly #steps: Uint32Array;
  /** How many pieces each prefix makes if the word ends with it; 0: not computed yet. */
  readonly #rests: Uint8Array;
  /** Whether a prefix is a piece. */
  readonly #isPiece: Uint8Array;
  /** The prefix without its last letter, and that letter. */
  readonly #parents: Uint16Array;
  readonly #letters: Uint8Array;
  /** The position after the word counted last. */
  end = 0;

  constructor({ first, last, smallBits }: Alphabet, list: PieceList) {
    this.#start = first.charCodeAt(0);
    this.#width = last.charCodeAt(0) - this.#start + 1;
    this.#smallBits = smallBits;
    const states = 2 + countPrefixes(list.inner) + countPrefixes(list.first);
    this.#steps = new Uint32Array(states * this.#width);
    this.#isPiece = createBytes(states);
    this.#letters = createBytes(states);
    this.#parents = new Uint16Array(states);
    this.#rests = createBytes(states);
    this.#innerRoot = this.#plant(list.inner);
    this.#firstRoot = this.#plant(list.first);
  }

  /**
   * How many pieces the word at a position makes, perhaps with a capital; `afterSpace` if a space belongs to its first
   * piece. Its end is in `end`. The word must be followed by a unit that is not a letter.
   */
  count(units: Uint16Array, from: number, afterSpace: boolean): number {
    const steps = this.#steps;
    const start = this.#start;
    const width = this.#width;
    let count = 0;
    let state = afterSpace ? this.#firstRoot : this.#innerRoot;
    let at = from;
    let letter = ((units[at] as number) | this.#smallBits) - start;
    do {
      const step = (steps[state * width + letter] as number) || this.#find(state, letter);
      count += step >>> STATE_BITS;
      state = step & STATE_MASK;
      at += 1;
      letter = (units[at] as number) - start;
    } while (letter >= 0 && letter < width);
    this.end = at;
    return count + ((this.#rests[state] as number) || this.#findRest(state));
  }

  /** Adds the pieces of a list, separated by spaces; returns the root of their tree. */
  #plant(list: string): number {
    const root = this.#states;
    this.#states += 1;
    for (const piece of list.split(' ')) {
      let state = root;
      for (let at = 0; at < piece.length; at += 1) state = this.#grow(state, piece.charCodeAt(at) - this.#start);
      this.#isPiece[state] = 1;
    }
    return root;
  }

  #grow(state: number, letter: number): number {
    const place = state * this.#width + letter;
    const known = this.#steps[place] as number;
    if (known > 0) return known;
    const made = this.#states;
    this.#states += 1;
    this.#steps[place] = made;
    this.#parents[made] = state;
    this.#letters[made] = letter;
    return made;
  }

  #find(state: number, letter: number): number {
    const step = this.#follow([...this.#lettersOf(state), letter], this.#rootOf(state));
    this.#steps[state * this.#width + letter] = step;
    return step;
  }

  /** Cuts pieces off letters until the rest is a prefix of one. */
  #follow(letters: readonly number[], root: number): number {
    const state = this.#stateOf(letters, root);
    if (state !== undefined) return state;
    const { length, count } = this.#cut(letters, root);
    return count * 2 ** STATE_BITS + this.#follow(letters.slice(length), this.#innerRoot);
  }

  #findRest(state: number): number {
    const rest = this.#countRest(this.#lettersOf(state), this.#rootOf(state));
    this.#rests[state] = rest;
    return rest;
  }

  #countRest(letters: readonly number[], root: number): number {
    if (letters.length === 0) return 0;
    const { length, count } = this.#cut(letters, root);
    return count + this.#countRest(letters.slice(length), this.#innerRoot);
  }

  /** The first piece: the longest known one. */
  #cut(letters: readonly number[], root: number): { readonly length: number; readonly count: number } {
    let state: number | undefined = root;
    let longest = 0;
    for (let at = 0; at < letters.length; at += 1) {
      state = this.#longer(state, letters[at] as number);
      if (state === undefined) break;
      if (this.#isPiece[state]) longest = at + 1;
    }
    if (longest > 0) return { length: longest, count: 1 };
    // A space that no piece starts with is a token of its own.
    return { length: 1, count: root === this.#firstRoot ? 2 : 1 };
  }

  #stateOf(letters: readonly number[], root: number): number | undefined {
    let state: number | undefined = root;
    for (const letter of letters) {
      state = this.#longer(state, letter);
      if (state === undefined) return undefined;
    }
    return state;
  }

  /** The prefix that is one letter longer, if there is one. */
  #longer(state: number, letter: number): number | undefined {
    const step = this.#steps[state * this.#width + letter] as number;
    return step > 0 && step <= STATE_MASK ? step : undefined;
  }

  #lettersOf(state: number): readonly number[] {
    const root = this.#rootOf(state);
    const letters: number[] = [];
    for (let at = state; at !== root; at = this.#parents[at] as number) letters.push(this.#letters[at] as number);
    return letters.reverse();
  }

  #rootOf(state: number): number {
    return state < this.#firstRoot ? this.#innerRoot : this.#firstRoot;
  }
}

function createBytes(length: number): Uint8Array {
  return new Uint8Array(length);
}

/** How many different prefixes the pieces of a sorted list have, but for the empty one. */
function countPrefixes(list: string): number {
  let count = 0;
  let before = '';
  for (const piece of list.split(' ')) {
    let shared = 0;
    while (shared < before.length && before[shared] === piece[shared]) shared += 1;
    count += piece.length - shared;
    before = piece;
  }
  return count;
}
