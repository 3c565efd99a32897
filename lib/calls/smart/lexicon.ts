// Maps words to concepts by the stems and phrases of the word files, tolerating a typo.
import { readFileSync } from 'node:fs';
import type { Token } from './tokens.ts';

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

const FILES = ['tasks', 'things', 'programming', 'subjects', 'frames', 'amounts'] as const;
const HEADING = /^\[(\S+)\]$/;
const KEY_LENGTH = 5;
const TYPO_MIN = 6;
const HITS_MAX = 60;
const WORDS_CACHED_MAX = 20_000;

/** Patterns by the first letters of their first stem, at most five. */
const patterns = new Map<string, Pattern[]>();
/** Patterns that tolerate one wrong letter, by the first letter of their stem. */
const tolerant = new Map<string, Pattern[]>();
const patternsByWord = new Map<string, readonly Pattern[]>();

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
  append(patterns, first.slice(0, KEY_LENGTH), { concept, words });
  if (lax) append(tolerant, first[0]!, { concept, words });
}

function readStem(text: string): Stem {
  if (text.endsWith('*')) return { text: text.slice(0, -1), rest: 40 };
  if (text.endsWith('+')) return { text: text.slice(0, -1), rest: 2 };
  return { text, rest: 0 };
}

function append(map: Map<string, Pattern[]>, key: string, pattern: Pattern): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [pattern]);
  else list.push(pattern);
}

/** The concepts of the unquoted tokens, in order; a longer phrase hides the concepts inside it. */
export function findHits(tokens: readonly Token[]): Hit[] {
  if (patterns.size === 0) readWordFiles();
  const hits: Hit[] = [];
  let next = 0;
  for (let at = 0; at < tokens.length && hits.length < HITS_MAX; at++) {
    const { kind, quoted, word } = tokens[at]!;
    if (kind !== 'word' || quoted) continue;
    const found = findAt(tokens, at);
    for (const hit of found) if (at >= next || hit.size > 1) hits.push(hit);
    if (found.length > 0) next = Math.max(next, at + found[0]!.size);
    else if (at >= next && word.length >= TYPO_MIN) {
      const near = tolerant.get(word[0]!)?.find(({ words }) => isNear(word, words[0]!));
      if (near !== undefined) hits.push({ concept: near.concept, at, size: 1 });
    }
  }
  return hits;
}

function findAt(tokens: readonly Token[], at: number): Hit[] {
  const { word } = tokens[at]!;
  let hits: Hit[] = [];
  let longest = 1;
  for (const { concept, words } of patternsByWord.get(word) ?? findPatterns(word)) {
    const size = words.length;
    if (size < longest || !words.every((stem, index) => index === 0 || matchesStem(stem, tokens[at + index]))) continue;
    if (size > longest) hits = [];
    longest = size;
    hits.push({ concept, at, size });
  }
  return hits;
}

/** Cached: most words of most requests are the same few thousand. */
function findPatterns(word: string): readonly Pattern[] {
  const found: Pattern[] = [];
  for (let length = Math.min(KEY_LENGTH, word.length); length > 0; length--) {
    for (const pattern of patterns.get(word.slice(0, length)) ?? [])
      if (startsWithStem(pattern.words[0]!, word)) found.push(pattern);
  }
  if (patternsByWord.size >= WORDS_CACHED_MAX) patternsByWord.clear();
  patternsByWord.set(word, found);
  return found;
}

function matchesStem({ text, rest }: Stem, token: Token | undefined): boolean {
  return token?.kind === 'word' && startsWithStem({ text, rest }, token.word);
}

function startsWithStem({ text, rest }: Stem, word: string): boolean {
  return word.length - text.length <= rest && word.startsWith(text);
}

/** Whether one letter is wrong, missing, doubled or swapped, but neither the first nor the last of the stem. */
function isNear(word: string, { text, rest }: Stem): boolean {
  let at = 1;
  while (at < text.length && word[at] === text[at]) at++;
  if (at >= text.length - 1) return false;
  const ends = (tail: string, from: number) => word.startsWith(tail, from) && word.length - from - tail.length <= rest;
  const tail = text.slice(at + 1);
  const swapped = word[at] === text[at + 1] && word[at + 1] === text[at];
  return (
    ends(tail, at + 1) || ends(tail, at) || ends(text.slice(at), at + 1) || (swapped && ends(tail.slice(1), at + 2))
  );
}
