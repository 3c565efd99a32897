// Splits text into words, numbers and marks, in lower case, without typographic variants, and with quotations marked.
import { flattenString } from '../../base/flat-string.ts';
import { findPatterns, type Token } from './lexicon.ts';

const PLAIN = /^[\t\n\r -~\u0400-\u045f«»„“”‘’–—…№]*$/;

/** The text without styled letters, accents and invisible characters. */
function plainText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .normalize('NFKC')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/[\u00c0-\u024f]/g, (letter) => letter.normalize('NFD')[0]!);
}

const QUOTED =
  /«[^«»]{1,500}»|“[^“”]{1,500}”|„[^„“”]{1,500}[“”]|(?<![\p{L}\d])"(?=\S)[^"]{1,500}"|`[^`\n]{1,200}`|(?<![\p{L}\d])['‘](?=\S)[^'‘’\n]{2,300}['’](?!\p{L})/gu;
const ADDRESS = /[^\s@]+@[^\s@]+|https?:\S+/g;
const LETTER = 'A-Za-z\\u00c0-\\u02af\\u0370-\\u1fff\\u3040-\\ud7ff';
/** A dot inside a word or a number is left out. */
const TOKEN = new RegExp(
  `[cCсС](?:\\+\\+|#)|\\.[nN][eE][tT]\\b|[tT][lL];[dD][rR]|[${LETTER}][${LETTER}0-9]*|\\d+(?:[ ,\\u00a0]\\d{3}(?!\\d))*(?:[.,]\\d+)?|[^\\s.]|\\.(?![${LETTER}0-9])`,
  'g',
);
const NUMBER = /^\d/;
const WORD = new RegExp(`^[${LETTER}]`);

/** The tokens of a text, in order. */
export function readTokens(text: string): Token[] {
  const tokens: Token[] = [];
  const plain = plainText(text);
  const bare = plain.includes('@') || plain.includes('://') ? plain.replace(ADDRESS, '@') : plain;
  let from = 0;
  for (const { 0: quote, index } of bare.matchAll(QUOTED)) {
    pushTokens(bare.slice(from, index), false, tokens);
    pushTokens(quote, true, tokens);
    from = index + quote.length;
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

const WORD_MAX = 40;

function toToken(found: string, quoted: boolean): Token {
  const token = { quoted, patterns: [], capital: false };
  if (NUMBER.test(found)) return { ...token, kind: 'number', word: readNumber(found) };
  if (found.length === 1 && !WORD.test(found)) return { ...token, kind: 'mark', word: found };
  const lower = found.toLowerCase();
  const word = flattenString(oneAlphabet(spellName(lower.slice(0, WORD_MAX).replaceAll('ё', 'е'))));
  const capital = found.length > 1 && found[0] !== lower[0] && found.slice(1) === lower.slice(1);
  return { kind: 'word', word, quoted, capital, patterns: quoted ? [] : findPatterns(word) };
}

/** `c++` as `cpp`, `c#` as `csharp`, `.net` as `dotnet`, `tl;dr` as `tldr`. */
function spellName(word: string): string {
  return word.replace('++', 'pp').replace('#', 'sharp').replace('.', 'dot').replace(';', '');
}

const MIXED = /[a-z][а-я]|[а-я][a-z]/;
const LATIN_LOOKS = 'aceopxykmthb';
const CYRILLIC_LOOKS = 'асеорхукмтнв';

/** Converts a word that mixes alphabets, and so contains look-alikes, to the prevailing alphabet. */
function oneAlphabet(word: string): string {
  if (!MIXED.test(word)) return word;
  const cyrillic = word.replace(/[a-z]/g, '').length * 2 >= word.length;
  const [from, into] = cyrillic ? [LATIN_LOOKS, CYRILLIC_LOOKS] : [CYRILLIC_LOOKS, LATIN_LOOKS];
  return [...word].map((letter) => into[from.indexOf(letter)] ?? letter).join('');
}

/** Whether most letters are of a script that the word files do not cover. */
export function isForeign(text: string): boolean {
  const foreign = text.match(FOREIGN)?.length ?? 0;
  return foreign > 0 && 2 * foreign > (text.match(/\p{L}/gu)?.length ?? 0);
}

const FOREIGN = /[\u0530-\u1fff\u2e80-\ud7ff]/g;

/** Removes the separators of `10 000` and `1,200`, and turns a decimal comma into a point. */
function readNumber(text: string): string {
  return text.length < 3 ? text : text.replace(/[ ,\u00a0](?=\d{3}(?!\d))/g, '').replace(',', '.');
}
