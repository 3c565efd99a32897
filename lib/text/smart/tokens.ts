// Text into words, numbers and marks: one pass, lower case, free of typographic tricks.

export type TokenKind = 'word' | 'number' | 'mark';

export interface Token {
  readonly kind: TokenKind;
  /** Lower case, `ё` as `е`; a line break is the mark `\n`. */
  readonly word: string;
  /** Inside quotation marks: a name or somebody's text, never part of the request itself. */
  quoted: boolean;
}

const WORD_LENGTH_MAX = 40;
const QUOTE_TOKENS_MAX = 400;

const OTHER = 0;
const LATIN = 1;
const CYRILLIC = 2;
const DIGIT = 3;
const SPACE = 4;
const FOREIGN = 5;
const INVISIBLE = 6;

const CLASSES = new Uint8Array(0x530);
for (let code = 0; code < CLASSES.length; code++) CLASSES[code] = classOf(code);

function classOf(code: number): number {
  if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90)) return LATIN;
  if (code >= 48 && code <= 57) return DIGIT;
  if (code === 32 || code === 9 || code === 13 || code === 0xa0 || code === 11 || code === 12) return SPACE;
  if (code === 0xad) return INVISIBLE;
  if (code >= 0x400) return CYRILLIC;
  if (code >= 0x300 && code < 0x370) return FOREIGN;
  if ((code >= 0xc0 && code < 0x250 && code !== 0xd7 && code !== 0xf7) || code >= 0x370) return FOREIGN;
  return OTHER;
}

/** Letters beyond Latin and Cyrillic count as letters; emoji, dingbats and symbols do not. */
function classAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < CLASSES.length ? CLASSES[code]! : classBeyond(text, at, code);
}

function classBeyond(text: string, at: number, code: number): number {
  if (Number.isNaN(code)) return SPACE;
  if (code >= 0x2000 && code < 0x2c00) {
    if ((code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) || code === 0x2060) return INVISIBLE;
    return code <= 0x200a || code === 0x202f ? SPACE : OTHER;
  }
  if (code === 0x3000) return SPACE;
  if (code === 0xfeff || (code >= 0xfe00 && code <= 0xfe0f)) return INVISIBLE;
  // Mathematical letters (bold, script) of the supplementary plane are used to write plain words in fancy type.
  if (code === 0xd835) return FOREIGN;
  if (code >= 0xdc00 && code <= 0xdfff) return at > 0 && text.charCodeAt(at - 1) === 0xd835 ? FOREIGN : OTHER;
  if (code >= 0xd800 && code < 0xdc00) return OTHER;
  if (code >= 0xff01 && code <= 0xff20) return OTHER;
  return code >= 0x3001 && code < 0x3040 ? OTHER : FOREIGN;
}

/** The tokens of `text` from `from` up to `to`, in order. */
export function readTokens(text: string, from: number, to: number): Token[] {
  const tokens: Token[] = [];
  const quotes = new QuoteMarker(tokens);
  let at = from;
  while (at < to) {
    const found = classAt(text, at);
    if (found === SPACE || found === INVISIBLE) at++;
    else if (found === DIGIT) at = readNumber(text, at, to, tokens);
    else if (found === OTHER) at = readMark(text, at, to, tokens, quotes);
    else at = readWord(text, at, to, tokens);
  }
  return tokens;
}

function readWord(text: string, from: number, to: number, tokens: Token[]): number {
  let at = from;
  let latin = 0;
  let cyrillic = 0;
  let plain = true;
  let lower = true;
  for (; at < to; at++) {
    const found = classAt(text, at);
    if (found === LATIN) {
      latin++;
      if (text.charCodeAt(at) <= 90) lower = false;
    } else if (found === CYRILLIC) {
      cyrillic++;
      // Capitals, and `ё` beyond the small letters.
      const code = text.charCodeAt(at);
      if (code < 0x430 || code > 0x44f) lower = false;
    } else if (found === FOREIGN || found === INVISIBLE) plain = false;
    else if (found !== DIGIT) break;
  }
  let word = text.slice(from, Math.min(at, from + WORD_LENGTH_MAX));
  if (!lower || !plain) word = word.toLowerCase();
  if (!plain) word = plainLetters(word);
  if (latin > 0 && cyrillic > 0) word = oneAlphabet(word, cyrillic >= latin);
  if (!lower && cyrillic > 0 && word.includes('ё')) word = word.replaceAll('ё', 'е');
  at = readLanguageName(text, at, word, tokens);
  return at;
}

/** `C++` and `C#` are words of their own, in either alphabet. */
function readLanguageName(text: string, at: number, word: string, tokens: Token[]): number {
  if (word === 'c' || word === 'с') {
    if (text.startsWith('++', at)) return push(tokens, 'word', 'cpp', at + 2);
    if (text.charCodeAt(at) === 35) return push(tokens, 'word', 'csharp', at + 1);
  }
  return push(tokens, 'word', word, at);
}

function push(tokens: Token[], kind: TokenKind, word: string, next: number): number {
  tokens.push({ kind, word, quoted: false });
  return next;
}

/** Fancy type, accents and invisible characters away. The word is short, so normalising stays cheap. */
function plainLetters(word: string): string {
  return word
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replace(/(?![\u0306\u0308])\p{M}|\p{Cf}/gu, '')
    .normalize('NFC');
}

const LATIN_LOOKS = 'aceopxykmthb';
const CYRILLIC_LOOKS = 'асеорхукмтнв';

/** A word that mixes alphabets is written with look-alikes: put it into the one that prevails. */
function oneAlphabet(word: string, cyrillic: boolean): string {
  const [from, into] = cyrillic ? [LATIN_LOOKS, CYRILLIC_LOOKS] : [CYRILLIC_LOOKS, LATIN_LOOKS];
  let result = '';
  for (const letter of word) {
    const index = from.indexOf(letter);
    result += index === -1 ? letter : into[index]!;
  }
  return result;
}

/** Digits with inner separators (`1,200`, `3.14`, `10 000`); separators are dropped, a decimal comma becomes a point. */
function readNumber(text: string, from: number, to: number, tokens: Token[]): number {
  let at = from;
  let digits = '';
  while (at < to && digits.length < 20) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) {
      digits += text[at]!;
      at++;
      continue;
    }
    const group = isDigit(text, at + 1) && isDigit(text, at + 2) && isDigit(text, at + 3) && !isDigit(text, at + 4);
    if (group && (code === 44 || code === 32 || code === 0xa0 || code === 0x202f) && digits.length <= 6) at++;
    else if ((code === 46 || code === 44) && isDigit(text, at + 1) && !digits.includes('.')) {
      digits += '.';
      at++;
    } else break;
  }
  // The accounting system of this name is written with a digit and a letter of either alphabet.
  if (digits === '1' && 'сСcC'.includes(text[at] ?? ' ') && !isLetter(text, at + 1))
    return push(tokens, 'word', '1с', at + 1);
  return push(tokens, 'number', digits, at);
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

const QUOTES = new Set('"\'`«»“”„‘’‹›');
/** A sentence ends with a point only before white space or the end. */
const ENDS_INNER = new Set('.,:;');

function readMark(text: string, at: number, to: number, tokens: Token[], quotes: QuoteMarker): number {
  const mark = text[at]!;
  const code = text.charCodeAt(at);
  const width = code >= 0xd800 && code < 0xdc00 && at + 1 < to ? 2 : 1;
  if (QUOTES.has(mark)) {
    const before = at === 0 || isOpenBefore(text, at - 1);
    const after = at + 1 >= to || classAt(text, at + 1) === SPACE || classAt(text, at + 1) === OTHER;
    quotes.see(mark, before, after);
    return at + 1;
  }
  if (mark === '-' && isInnerHyphen(text, at, to)) return at + 1;
  if (ENDS_INNER.has(mark) && at + 1 < to && isWordLike(text, at + 1) && mark !== ',') {
    if (mark === ':') push(tokens, 'mark', ':', at + 1);
    return at + 1;
  }
  return push(tokens, 'mark', text.slice(at, at + width), at + width);
}

/** `step-by-step`, `10-page`, `152-ФЗ` are words beside each other; `x-3` and `12-15` keep their sign. */
function isInnerHyphen(text: string, at: number, to: number): boolean {
  if (at === 0 || at + 1 >= to) return false;
  const before = isLetter(text, at - 1);
  const after = isLetter(text, at + 1);
  if (before && after) return true;
  const longAfter = after && at + 2 < to && isLetter(text, at + 2);
  const longBefore = before && at > 1 && isLetter(text, at - 2);
  return (longAfter && isDigit(text, at - 1)) || (longBefore && isDigit(text, at + 1));
}

function isLetter(text: string, at: number): boolean {
  const found = classAt(text, at);
  return found === LATIN || found === CYRILLIC || found === FOREIGN;
}

function isWordLike(text: string, at: number): boolean {
  const found = classAt(text, at);
  return found === LATIN || found === CYRILLIC || found === DIGIT;
}

function isOpenBefore(text: string, at: number): boolean {
  const found = classAt(text, at);
  return found === SPACE || found === OTHER;
}

/** Marks the tokens between an opening and a closing quotation mark; an unclosed one marks nothing. */
class QuoteMarker {
  readonly #tokens: Token[];
  /** Closing mark → index of the first token inside. */
  readonly #open = new Map<string, number>();

  constructor(tokens: Token[]) {
    this.#tokens = tokens;
  }

  see(mark: string, before: boolean, after: boolean): void {
    const from = this.#open.get(mark);
    if (from !== undefined && (after || !before || mark === '»')) {
      this.#open.delete(mark);
      if (this.#tokens.length - from <= QUOTE_TOKENS_MAX) this.#mark(from);
      return;
    }
    const closing = closingOf(mark);
    if (closing !== undefined && before && !this.#open.has(closing)) this.#open.set(closing, this.#tokens.length);
  }

  #mark(from: number): void {
    for (let index = from; index < this.#tokens.length; index++) this.#tokens[index]!.quoted = true;
  }
}

function closingOf(mark: string): string | undefined {
  if (mark === '«') return '»';
  if (mark === '“' || mark === '„') return '”';
  if (mark === '‘') return '’';
  if (mark === '‹') return '›';
  return mark === '"' || mark === "'" || mark === '`' ? mark : undefined;
}
