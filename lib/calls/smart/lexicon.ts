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

export interface Pattern {
  readonly concept: string;
  readonly words: readonly Stem[];
}

const FILES = ['tasks', 'things', 'programming', 'subjects', 'frames', 'amounts'] as const;
const HEADING = /^\[(\S+)\]$/;
const KEY_LENGTH = 5;
const TYPO_MIN = 6;
const HITS_MAX = 60;

/** Patterns by the first letters of their first stem, at most five. */
const patterns = new Map<string, Pattern[]>();
/** Patterns that tolerate one wrong letter. */
const tolerant: Pattern[] = [];

/** For the first request to `smart`: not every service has that model, and the patterns take 2 MB. */
function readWordFiles(): void {
  for (const file of FILES) readWords(readFileSync(new URL(`./words/${file}.txt`, import.meta.url), 'utf8'));
}

/** `[concept]` starts a list of patterns: `*` ends a stem, `+` allows two more letters, `_` joins words, `~` a typo. */
function readWords(text: string): void {
  let concept = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) continue;
    const heading = HEADING.exec(line);
    if (heading) concept = heading[1]!;
    else for (const word of line.split(' ')) if (word !== '') addPattern(concept, word);
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

/** What is looked up of a token. */
interface Looked {
  readonly kind: string;
  readonly word: string;
  /** None for a quoted word, a number or a mark. */
  readonly patterns: readonly Pattern[];
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
export function findHits(tokens: readonly Looked[]): Hit[] {
  const hits: Hit[] = [];
  let next = 0;
  for (let at = 0; at < tokens.length && hits.length < HITS_MAX; at++) {
    const found = findAt(tokens, at);
    for (const hit of found) if (at >= next || hit.size > 1) hits.push(hit);
    if (found.length > 0) next = Math.max(next, at + found[0]!.size);
  }
  return hits;
}

function findAt(tokens: readonly Looked[], at: number): Hit[] {
  let hits: Hit[] = [];
  let longest = 1;
  for (const { concept, words } of tokens[at]!.patterns) {
    const size = words.length;
    if (size < longest || !words.every((stem, index) => index === 0 || matchesStem(stem, tokens[at + index]))) continue;
    if (size > longest) hits = [];
    longest = size;
    hits.push({ concept, at, size });
  }
  return hits;
}

function matchesStem(stem: Stem, token: Looked | undefined): boolean {
  return token?.kind === 'word' && startsWithStem(stem, token.word);
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
