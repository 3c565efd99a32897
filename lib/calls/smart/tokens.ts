// Splits text into words, numbers and marks, in lower case, without typographic variants, and with quotations marked.

export interface Token {
  readonly kind: 'word' | 'number' | 'mark';
  /** Lower case, `ё` as `е`; a line break is the mark `\n`. */
  readonly word: string;
  /** Quoted text is never part of the request itself. */
  readonly quoted: boolean;
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
const TOKEN =
  /[cс](?:\+\+|#)|\.net\b|[a-z\u00c0-\u02af\u0370-\u1fff\u3040-\ud7ff][a-z0-9\u00c0-\u02af\u0370-\u1fff\u3040-\ud7ff]*|\d+(?:[ ,\u00a0]\d{3}(?!\d))*(?:[.,]\d+)?|\S|\n/g;

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

const NAMES = new Map([
  ['c++', 'cpp'],
  ['с++', 'cpp'],
  ['c#', 'csharp'],
  ['с#', 'csharp'],
  ['.net', 'dotnet'],
]);
const WORD_MAX = 40;
const INNER = /[\p{L}\p{N}]/u;

function pushTokens(text: string, quoted: boolean, tokens: Token[]): void {
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(text); found !== null; found = TOKEN.exec(text)) {
    const [word] = found;
    const code = word.charCodeAt(0);
    if (isLetter(code)) {
      tokens.push({
        kind: 'word',
        word: NAMES.get(word) ?? (word.length > WORD_MAX ? word.slice(0, WORD_MAX) : word),
        quoted,
      });
    } else if (code >= 48 && code <= 57) tokens.push({ kind: 'number', word: readNumber(word), quoted });
    else if (word === '.net') tokens.push({ kind: 'word', word: 'dotnet', quoted });
    else if (code !== 46 || !INNER.test(text[found.index + 1] ?? '')) tokens.push({ kind: 'mark', word, quoted });
  }
}

function isLetter(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 0xc0 && code <= 0x2af) ||
    (code >= 0x370 && code <= 0x1fff) ||
    (code >= 0x3040 && code < 0xd800)
  );
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
