// Words into concepts: stems and phrases of the word lists, found by a word's first letters, with room for one typo.
import type { Token } from './tokens.ts';

/** A concept found at a token; a phrase covers `size` tokens. */
export interface Hit<Concept extends string = string> {
  readonly concept: Concept;
  readonly at: number;
  readonly size: number;
}

interface Pattern<Concept extends string> {
  readonly concept: Concept;
  readonly words: readonly Stem[];
}

interface Stem {
  readonly text: string;
  /** How many letters may follow the text. */
  readonly rest: number;
}

/** Stems are found by their first letters: as many as the stem has, at most this many. */
const KEY_LENGTHS = [5, 4, 3, 2] as const;
const SEEN_MAX = 20_000;
const INFLECTION_MAX = 2;
/** Shorter stems are too often one letter away from another word. */
const TYPO_STEM_MIN = 5;
const TYPO_WORD_MIN = 6;

export class Lexicon<Concept extends string> {
  /** By the whole first word. */
  readonly #exact = new Map<string, Pattern<Concept>[]>();
  /** By the first letters of the first word's stem. */
  readonly #stems = new Map<string, Pattern<Concept>[]>();
  readonly #seen = new Map<string, readonly Pattern<Concept>[]>();
  readonly #typos = new Map<string, Pattern<Concept>[]>();

  /** Each list holds patterns separated by spaces: `*` ends a stem, `+` allows two more letters, `_` joins words. */
  constructor(lists: Readonly<Record<Concept, string>>, tolerant: ReadonlySet<string> = new Set()) {
    for (const concept of Object.keys(lists) as Concept[]) {
      for (const text of lists[concept].split(/\s+/)) {
        if (text !== '') this.#add({ concept, words: text.split('_').map(readStem) }, tolerant.has(text));
      }
    }
  }

  #add(pattern: Pattern<Concept>, tolerant: boolean): void {
    const first = pattern.words[0]!;
    if (first.rest === 0) append(this.#exact, first.text, pattern);
    else append(this.#stems, first.text.slice(0, KEY_LENGTHS[0]), pattern);
    if (tolerant && pattern.words.length === 1 && first.text.length >= TYPO_STEM_MIN) {
      append(this.#typos, first.text[0]!, pattern);
    }
  }

  /** Concepts that begin at the token; where a phrase matches, shorter matches are left out. */
  findAt(tokens: readonly Token[], at: number): readonly Hit<Concept>[] {
    const { kind, word } = tokens[at]!;
    if (kind === 'mark') return NONE;
    const patterns = this.#seen.get(word) ?? this.#look(word);
    let hits: Hit<Concept>[] = NONE;
    let longest = 1;
    for (const { concept, words } of patterns) {
      const size = words.length;
      if (size < longest || (size > 1 && !matchesRest(words, tokens, at))) continue;
      if (size > longest || hits === NONE) hits = [];
      longest = size;
      hits.push({ concept, at, size });
    }
    return hits;
  }

  /** The patterns that a word may begin, remembered: most words of most requests are the same few thousand. */
  #look(word: string): readonly Pattern<Concept>[] {
    const patterns = [...(this.#exact.get(word) ?? NONE_PATTERNS)];
    for (const length of KEY_LENGTHS) {
      if (length > word.length) continue;
      for (const pattern of this.#stems.get(word.slice(0, length)) ?? NONE_PATTERNS) {
        if (fits(pattern.words[0]!, word)) patterns.push(pattern);
      }
    }
    if (this.#seen.size >= SEEN_MAX) this.#seen.clear();
    this.#seen.set(word, patterns.length === 0 ? NONE_PATTERNS : patterns);
    return patterns;
  }

  /** The concept a misspelt word stands for: one letter wrong, missing, doubled or swapped, not the first. */
  findTypo(word: string): Concept | undefined {
    if (word.length < TYPO_WORD_MIN) return undefined;
    for (const pattern of this.#typos.get(word[0]!) ?? []) {
      if (isNearStem(word, pattern.words[0]!)) return pattern.concept;
    }
    return undefined;
  }
}

const NONE: Hit<never>[] = [];

const NONE_PATTERNS: readonly Pattern<never>[] = [];

function append<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function readStem(text: string): Stem {
  if (text.endsWith('*')) return { text: text.slice(0, -1), rest: Number.POSITIVE_INFINITY };
  if (text.endsWith('+')) return { text: text.slice(0, -1), rest: INFLECTION_MAX };
  return { text, rest: 0 };
}

function fits(stem: Stem, word: string): boolean {
  return word.length - stem.text.length <= stem.rest && word.startsWith(stem.text);
}

/** Whether the words after the first match too. */
function matchesRest(stems: readonly Stem[], tokens: readonly Token[], at: number): boolean {
  for (let index = 1; index < stems.length; index++) {
    const token = tokens[at + index];
    if (token === undefined || token.kind === 'mark' || !fits(stems[index]!, token.word)) return false;
  }
  return true;
}

function isNearStem(word: string, stem: Stem): boolean {
  const { text, rest } = stem;
  if (word.length - text.length > rest + 1) return false;
  let at = 1;
  while (at < text.length && word.charCodeAt(at) === text.charCodeAt(at)) at++;
  // The last letter of a stem is its weakest: another one there is mostly another word.
  if (at >= text.length - 1 || at >= word.length) return false;
  const tail = text.slice(at + 1);
  const swapped = word[at] === text[at + 1] && word[at + 1] === text[at];
  const ends = (from: number) => word.length - from - tail.length <= rest;
  if (word.startsWith(tail, at + 1) && ends(at + 1)) return true;
  if (word.startsWith(tail, at) && ends(at)) return true;
  if (word.startsWith(text.slice(at), at + 1) && ends(at + 1)) return true;
  return swapped && word.startsWith(text.slice(at + 2), at + 2);
}
