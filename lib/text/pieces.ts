// Cuts words into the longest known pieces, a letter at a time: an automaton, so that no letter is looked at twice.

export interface Alphabet {
  readonly first: string;
  readonly last: string;
  /** Bits that make a capital a small letter. */
  readonly smallBits: number;
}

export interface PieceList {
  /** Pieces at the beginning of a word, the space before it included; separated by spaces. */
  readonly first: string;
  /** Pieces elsewhere. */
  readonly inner: string;
}

/** The beginnings of the pieces of a list. */
interface Tree {
  readonly known: ReadonlySet<string>;
  /** Number of each beginning over both trees. The empty one is the root. */
  readonly states: ReadonlyMap<string, number>;
  readonly root: number;
}

/** A step is the next state in so many bits, and above them the number of pieces that are complete by it. */
const STATE_BITS = 16;
const STATE_MASK = 2 ** STATE_BITS - 1;

export class Pieces {
  readonly #start: number;
  readonly #width: number;
  readonly #smallBits: number;
  readonly #inner: Tree;
  readonly #first: Tree;
  /** The beginning that each state stands for. */
  readonly #texts: string[] = [];
  /** Found when they are needed first; 0 is not known yet. */
  readonly #steps: Uint32Array;
  /** How many pieces each beginning makes when the word ends with it. */
  readonly #rests: Uint8Array;
  /** Behind the word that was counted last. */
  end = 0;

  constructor({ first, last, smallBits }: Alphabet, list: PieceList) {
    this.#start = first.charCodeAt(0);
    this.#width = last.charCodeAt(0) - this.#start + 1;
    this.#smallBits = smallBits;
    this.#inner = plant(list.inner, this.#texts);
    this.#first = plant(list.first, this.#texts);
    this.#steps = new Uint32Array(this.#texts.length * this.#width);
    this.#rests = Uint8Array.from(this.#texts, (text, state) => this.#countRest(text, this.#treeOf(state)));
  }

  /**
   * How many pieces the word makes that begins at a place, perhaps with a capital; `afterSpace` when a space belongs to
   * its first piece. Where it ends is in `end`. A unit that is no letter must follow the word.
   */
  count(units: Uint16Array, from: number, afterSpace: boolean): number {
    const steps = this.#steps;
    const start = this.#start;
    const width = this.#width;
    let count = 0;
    let state = afterSpace ? this.#first.root : this.#inner.root;
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
    return count + (this.#rests[state] as number);
  }

  #find(state: number, letter: number): number {
    const step = this.#follow(this.#texts[state] + String.fromCharCode(this.#start + letter), this.#treeOf(state));
    this.#steps[state * this.#width + letter] = step;
    return step;
  }

  /** Cuts pieces off a text until what is left is the beginning of one. */
  #follow(text: string, tree: Tree): number {
    const state = tree.states.get(text);
    if (state !== undefined) return state;
    const { length, count } = this.#cut(text, tree);
    return count * 2 ** STATE_BITS + this.#follow(text.slice(length), this.#inner);
  }

  #countRest(text: string, tree: Tree): number {
    if (text === '') return 0;
    const { length, count } = this.#cut(text, tree);
    return count + this.#countRest(text.slice(length), this.#inner);
  }

  /** The first piece of a text: the longest that is known. */
  #cut(text: string, tree: Tree): { readonly length: number; readonly count: number } {
    for (let { length } = text; length > 0; length -= 1) {
      if (tree.known.has(text.slice(0, length))) return { length, count: 1 };
    }
    // A space with which no piece begins is a token of its own.
    return { length: 1, count: tree === this.#first ? 2 : 1 };
  }

  #treeOf(state: number): Tree {
    return state < this.#first.root ? this.#inner : this.#first;
  }
}

function plant(list: string, texts: string[]): Tree {
  const known = new Set(list.split(' '));
  const states = new Map<string, number>();
  const root = texts.length;
  for (const piece of known) {
    for (let length = 0; length <= piece.length; length += 1) {
      const text = piece.slice(0, length);
      if (states.has(text)) continue;
      states.set(text, texts.length);
      texts.push(text);
    }
  }
  return { known, states, root };
}
