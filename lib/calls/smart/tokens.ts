// Splits text into words, numbers and marks, in lower case, without typographic variants, and with quotations marked.
import { flattenString } from '../../base/flat-string.ts';
import { type Entry, findEntry } from './lexicon.ts';

export interface Token {
  readonly kind: 'word' | 'number' | 'mark';
  /** Lower case, `ё` as `е`. */
  readonly word: string;
  /** Quoted text is never part of the request itself. */
  readonly quoted: boolean;
  /** What begins with the word, if it is one outside of quotes. */
  readonly entry: Entry | undefined;
}

const PLAIN = /^[\t\n\r -~\u0400-\u045f«»„“”‘’–—…№]*$/;
const MIXED = /[a-z][а-я]|[а-я][a-z]/;
const LATIN_LOOKS = 'aceopxykmthb';
const CYRILLIC_LOOKS = 'асеорхукмтнв';

/** Converts to lower case, without styled letters, accents, invisible characters and look-alikes. */
export function plainText(text: string): string {
  const composed = PLAIN.test(text)
    ? text
    : text
        .normalize('NFKC')
        .replace(/[\p{M}\p{Cf}]/gu, '')
        .replace(/[\u00c0-\u024f]/g, (letter) => letter.normalize('NFD')[0]!);
  const lower = composed.toLowerCase().replaceAll('ё', 'е').replaceAll('tl;dr', 'tldr');
  return MIXED.test(lower) ? lower.replace(/[a-zа-я]+/g, oneAlphabet) : lower;
}

/** Converts a word that mixes alphabets, and so contains look-alikes, to the prevailing alphabet. */
function oneAlphabet(word: string): string {
  const cyrillic = word.replace(/[a-z]/g, '').length * 2 >= word.length;
  const [from, into] = cyrillic ? [LATIN_LOOKS, CYRILLIC_LOOKS] : [CYRILLIC_LOOKS, LATIN_LOOKS];
  return [...word].map((letter) => into[from.indexOf(letter)] ?? letter).join('');
}

const QUOTED =
  /«[^«»]{1,500}»|“[^“”]{1,500}”|„[^„“”]{1,500}[“”]|(?<![\p{L}\d])"(?=\S)[^"]{1,500}"|`[^`\n]{1,200}`|(?<![\p{L}\d])['‘](?=\S)[^'‘’\n]{2,300}['’](?!\p{L})/gu;
const ADDRESS = /[^\s@]+@[^\s@]+|https?:\S+/g;
const LETTER = 'a-z\\u00c0-\\u02af\\u0370-\\u1fff\\u3040-\\ud7ff';
/** A dot inside a word or a number is left out. */
const TOKEN = new RegExp(
  `[cс](?:\\+\\+|#)|\\.net\\b|[${LETTER}][${LETTER}0-9]*|\\d+(?:[ ,\\u00a0]\\d{3}(?!\\d))*(?:[.,]\\d+)?|[^\\s.]|\\.(?![${LETTER}0-9])`,
  'g',
);
const NUMBER = /^\d/;
const WORD = new RegExp(`^[${LETTER}]`);

/** The tokens of a plain text, in order. */
export function readTokens(text: string): Token[] {
  const tokens: Token[] = [];
  const bare = text.includes('@') || text.includes('://') ? text.replace(ADDRESS, '@') : text;
  let from = 0;
  if (/["'`«“„‘]/.test(bare)) {
    for (const { 0: quote, index } of bare.matchAll(QUOTED)) {
      pushTokens(bare.slice(from, index), false, tokens);
      pushTokens(quote, true, tokens);
      from = index + quote.length;
    }
  }
  pushTokens(from === 0 ? bare : bare.slice(from), false, tokens);
  return tokens;
}

/** Most words of most requests are the same few thousand. */
const TOKENS_CACHED_MAX = 20_000;
const plainTokens = new Map<string, Token>();
const quotedTokens = new Map<string, Token>();

function pushTokens(text: string, quoted: boolean, tokens: Token[]): void {
  const known = quoted ? quotedTokens : plainTokens;
  for (const found of text.match(TOKEN) ?? []) {
    let token = known.get(found);
    if (token === undefined) {
      if (known.size >= TOKENS_CACHED_MAX) known.clear();
      token = toToken(found, quoted);
      known.set(flattenString(found), token);
    }
    tokens.push(token);
  }
}

const NAMES = new Map([
  ['c++', 'cpp'],
  ['с++', 'cpp'],
  ['c#', 'csharp'],
  ['с#', 'csharp'],
  ['.net', 'dotnet'],
]);
const WORD_MAX = 40;

function toToken(found: string, quoted: boolean): Token {
  if (NUMBER.test(found)) return { kind: 'number', word: readNumber(found), quoted, entry: undefined };
  const name = NAMES.get(found);
  if (name === undefined && !WORD.test(found)) return { kind: 'mark', word: found, quoted, entry: undefined };
  const word = name ?? flattenString(found.slice(0, WORD_MAX));
  return { kind: 'word', word, quoted, entry: quoted ? undefined : findEntry(word) };
}

/** Whether most letters are of a script that the word files do not cover. */
export function isForeign(text: string): boolean {
  const foreign = text.match(FOREIGN)?.length ?? 0;
  return 2 * foreign > (text.match(/\p{L}/gu)?.length ?? 0);
}

const FOREIGN = /[\u0530-\u1fff\u2e80-\ud7ff]/g;

/** Removes the separators of `10 000` and `1,200`, and turns a decimal comma into a point. */
function readNumber(text: string): string {
  return text.length < 3 ? text : text.replace(/[ ,\u00a0](?=\d{3}(?!\d))/g, '').replace(',', '.');
}
