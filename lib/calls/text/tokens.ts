// Counts tokens like a tokenizer that knows only the pieces that all public ones know: hardly any counts more for the
// same text. An estimate of the average tokenizer gives less weight to pieces that some of them join.
import { Pieces } from './pieces.ts';
import pieces from './token-pieces.json' with { type: 'json' };

const LATIN = new Pieces({ first: 'a', last: 'z', smallBits: 0x20 }, pieces.latin);
const CYRILLIC = new Pieces({ first: 'а', last: 'ё', smallBits: 0 }, pieces.cyrillic);

const OTHER = 0;
const SPACE = 1;
const SMALL = 2;
const CAPITAL = 3;
const SIGN = 4;
const CYRILLIC_SMALL = 5;
const CYRILLIC_CAPITAL = 6;
const HIGH_SURROGATE = 7;

/** The class of each UTF-16 unit, by the last range it is in. */
const KINDS = new Uint8Array(0x10000);
for (const [kind, first, last] of [
  [SIGN, '!', '~'],
  [OTHER, '0', '9'],
  [SPACE, ' ', ' '],
  [SMALL, 'a', 'z'],
  [CAPITAL, 'A', 'Z'],
  [CYRILLIC_SMALL, 'а', 'ё'],
  [CYRILLIC_CAPITAL, 'А', 'Я'],
  [HIGH_SURROGATE, '\ud800', '\udbff'],
] as const) {
  KINDS.fill(kind, first.charCodeAt(0), last.charCodeAt(0) + 1);
}

/** Tokens of a lone character of the basic plane: its bytes, unless known otherwise. */
const TOKENS = new Uint8Array(0x10000).fill(3).fill(2, 0, 0x800).fill(1, 0, 0x80);
for (const [tokens, characters] of Object.entries(pieces.characters)) {
  for (const character of characters) TOKENS[character.charCodeAt(0)] = Number(tokens);
}
const TOKENS_OF_PAIR = 4;

// Different capitals in a row share tokens, so do signs (more so if they are the same) and spaces.
const CAPITAL_AGAIN = 0.8;
const SIGN_AGAIN = 0.9;
const SAME_SIGN_AGAIN = 0.5;
const SPACE_AGAIN = 0.25;

/** Units processed together: an array is read three times as fast as a string. */
const UNITS_MAX = 16_384;
/** Ends in units that are not letters, so that no loop has to check for the end. */
const units = new Uint16Array(UNITS_MAX + 2);
const buffer = Buffer.from(units.buffer);

/** The weights of everything but the first piece of a word and the first byte of a character. */
interface Weights {
  /** A further piece of a word. */
  readonly piece: number;
  /** A sign or a capital by itself, and spaces in a row. */
  readonly sign: number;
  /** A further byte of a character that is in no word. */
  readonly byte: number;
}

const MOST: Weights = { piece: 1, sign: 1, byte: 1 };
/** Fitted to the median of the public tokenizers; `test/calls/text/tokens.test.ts` bounds the error. */
const MIDDLE: Weights = { piece: 0.5, sign: 0.55, byte: 0.3 };

/** Tokens of a text: hardly any tokenizer counts more. Linear in its length. */
export function countTokens(text: string): number {
  return weighTokens(text, MOST);
}

/** Tokens of a text as most tokenizers count it, for a bill without a count of the upstream. */
export function estimateTokens(text: string): number {
  return weighTokens(text, MIDDLE);
}

function weighTokens(text: string, weights: Weights): number {
  let tokens = 0;
  for (let at = 0; at < text.length; at += UNITS_MAX) {
    const length = buffer.write(text.slice(at, at + UNITS_MAX), 'utf16le') / 2;
    units.fill(0, length, length + 2);
    tokens += weighUnits(length, weights);
  }
  return tokens;
}

function weighUnits(length: number, { piece, sign, byte }: Weights): number {
  let tokens = 0;
  /** Of signs, capitals and spaces. */
  let signs = 0;
  let before = OTHER;
  for (let at = 0; at < length; ) {
    const from = at;
    let kind = kindAt(at);
    at += 1;
    if (kind === CAPITAL && kindAt(at) === SMALL && kindAt(at + 1) === SMALL) kind = SMALL;
    if (kind === SMALL || kind === CYRILLIC_SMALL) {
      const alphabet = kind === SMALL ? LATIN : CYRILLIC;
      tokens += 1 + piece * (alphabet.count(units, from, before === SPACE) - 1);
      at = alphabet.end;
    } else if (kind === SPACE) signs += before === SPACE ? SPACE_AGAIN : takesSpace(kindAt(at)) ? 0 : 1;
    else if (kind === SIGN) signs += before !== SIGN ? 1 : isAgain(from) ? SAME_SIGN_AGAIN : SIGN_AGAIN;
    else if (kind === CAPITAL) signs += before !== CAPITAL || isAgain(from) ? 1 : CAPITAL_AGAIN;
    else if (kind === HIGH_SURROGATE && isLowSurrogate(at)) {
      tokens += 1 + byte * (TOKENS_OF_PAIR - 1);
      at += 1;
    } else tokens += 1 + byte * ((TOKENS[units[from] as number] as number) - 1);
    before = kind;
  }
  return tokens + sign * signs;
}

function kindAt(at: number): number {
  return KINDS[units[at] as number] as number;
}

/** Words and signs start with the space before them. */
function takesSpace(kind: number): boolean {
  return kind !== OTHER && kind !== SPACE && kind !== HIGH_SURROGATE;
}

function isAgain(at: number): boolean {
  return units[at] === units[at - 1];
}

function isLowSurrogate(at: number): boolean {
  return ((units[at] as number) & 0xfc00) === 0xdc00;
}
