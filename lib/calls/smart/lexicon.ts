// Maps words to concepts by the stems and phrases of the word files, tolerating a typo.
import { readFileSync } from 'node:fs';

/** A concept found at a token; a phrase covers `size` tokens. */
export interface Hit {
  readonly concept: string;
  readonly at: number;
  readonly size: number;
}

interface Stem {
  readonly text: string;
  /** How many letters may follow the text. */
  readonly rest: number;
}

interface Pattern {
  readonly concept: string;
  readonly words: readonly Stem[];
}

export interface Token {
  readonly kind: 'word' | 'number' | 'mark';
  /** Lower case, `ё` as `е`. */
  readonly word: string;
  /** Whether it was written with a capital letter at the start. */
  readonly capital: boolean;
  /** Quoted text is never part of the request itself. */
  readonly quoted: boolean;
  /** The patterns of concepts that begin with the word, if it is one outside of quotes. */
  readonly patterns: readonly Pattern[];
}

const FILES = ['tasks', 'things', 'programming', 'subjects', 'frames', 'amounts'] as const;
const HEADING = /^\[(\S+)\]$/;
const KEY_LENGTH = 5;
const TYPO_MIN = 6;

/** Patterns by the first letters of their first stem, at most five. */
const patterns = new Map<string, Pattern[]>();
/** Patterns that tolerate one wrong letter. */
const tolerant: Pattern[] = [];

/**
 * For the first request to `smart`: not every service has that model, and the patterns take 2 MB.
 * `[concept]` starts a list of patterns: `*` ends a stem, `+` allows two more letters, `_` joins words, `~` a typo.
 */
function readWordFiles(): void {
  let concept = '';
  for (const file of FILES) {
    for (const line of readFileSync(new URL(`./words/${file}.txt`, import.meta.url), 'utf8').split('\n')) {
      if (line.startsWith('#')) continue;
      const heading = HEADING.exec(line)?.[1];
      if (heading !== undefined) concept = heading;
      else for (const word of line.split(' ')) if (word !== '') addPattern(concept, word);
    }
  }
}

function addPattern(concept: string, text: string): void {
  const lax = text.startsWith('~');
  const words = text
    .slice(lax ? 1 : 0)
    .split('_')
    .map(readStem);
  const first = words[0]!.text;
  const key = first.slice(0, KEY_LENGTH);
  patterns.set(key, [...(patterns.get(key) ?? []), { concept, words }]);
  if (lax) tolerant.push({ concept, words });
}

function readStem(text: string): Stem {
  if (text.endsWith('*')) return { text: text.slice(0, -1), rest: 40 };
  if (text.endsWith('+')) return { text: text.slice(0, -1), rest: 2 };
  return { text, rest: 0 };
}

/** The patterns that begin with a word, or else one that it misses by a letter. */
export function findPatterns(word: string): readonly Pattern[] {
  if (patterns.size === 0) readWordFiles();
  const found: Pattern[] = [];
  for (let length = Math.min(KEY_LENGTH, word.length); length > 0; length--) {
    for (const pattern of patterns.get(word.slice(0, length)) ?? [])
      if (startsWithStem(pattern.words[0]!, word)) found.push(pattern);
  }
  if (found.length > 0 || word.length < TYPO_MIN) return found;
  return tolerant.filter(({ words }) => isNear(word, words[0]!)).slice(0, 1);
}

/** The concepts of the unquoted tokens, in order; a longer phrase hides the concepts inside it. */
export function findHits(tokens: readonly Token[]): Hit[] {
  const hits: Hit[] = [];
  let next = 0;
  for (let at = 0; at < tokens.length; at++) {
    const before = hits.length;
    let longest = at < next ? 2 : 1;
    for (const { concept, words } of tokens[at]!.patterns) {
      const size = words.length;
      if (size < longest || (size > 1 && !continuesPhrase(words, tokens, at))) continue;
      if (size > longest) hits.length = before;
      longest = size;
      hits.push({ concept, at, size });
    }
    if (hits.length > before) next = Math.max(next, at + longest);
  }
  return hits;
}

function continuesPhrase(words: readonly Stem[], tokens: readonly Token[], at: number): boolean {
  for (let index = 1; index < words.length; index++) {
    const token = tokens[at + index];
    if (token?.kind !== 'word' || !startsWithStem(words[index]!, token.word)) return false;
  }
  return true;
}

function startsWithStem({ text, rest }: Stem, word: string): boolean {
  return word.length - text.length <= rest && word.startsWith(text);
}

/** Whether one letter is wrong, missing, doubled or swapped, but neither the first nor the last of the stem. */
function isNear(word: string, { text, rest }: Stem): boolean {
  let at = 0;
  while (at < text.length && word[at] === text[at]) at++;
  if (at === 0 || at >= text.length - 1) return false;
  const ends = (tail: string, from: number) => word.startsWith(tail, from) && word.length - from - tail.length <= rest;
  const tail = text.slice(at + 1);
  const swapped = word[at] === text[at + 1] && word[at + 1] === text[at];
  return (
    ends(tail, at + 1) || ends(tail, at) || ends(text.slice(at), at + 1) || (swapped && ends(tail.slice(1), at + 2))
  );
}
