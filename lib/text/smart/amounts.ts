// Numbers of a request: how long the answer shall be, formulas, sums.
import type { ConceptHit } from './concepts.ts';
import type { Token } from './tokens.ts';

interface Phrase {
  readonly tokens: readonly Token[];
  readonly hits: readonly ConceptHit[];
}

/** Unit stems, or whole words with a point at their end → words of text in one unit. */
const UNITS: readonly (readonly [readonly string[], number])[] = [
  [['word', 'слов'], 1],
  [['page', 'страниц', 'листов', 'листа', 'стр.'], 350],
  [['character', 'chars', 'symbol', 'знаков', 'знака', 'символ'], 1 / 6.5],
  [['paragraph', 'абзац'], 90],
  [['section', 'раздел'], 150],
  [['chapter', 'глава.', 'главы.', 'глав.', 'главу.'], 1200],
  [['sentence', 'предложени'], 18],
  [['line', 'строк', 'строф', 'stanza', 'куплет', 'verse'], 8],
  [['minute', 'минут', 'мин.'], 130],
  [['act.', 'acts.', 'действия.', 'действиях.', 'действий.', 'актах.', 'акта.', 'episodes.', 'эпизодов.'], 350],
];
const MINUTES = 130;
const NUMBER_WORDS: ReadonlyMap<string, number> = new Map([
  ['one', 1],
  ['two', 2],
  ['three', 3],
  ['four', 4],
  ['five', 5],
  ['six', 6],
  ['seven', 7],
  ['eight', 8],
  ['nine', 9],
  ['ten', 10],
  ['twelve', 12],
  ['fifteen', 15],
  ['twenty', 20],
  ['thirty', 30],
  ['fifty', 50],
  ['hundred', 100],
  ['thousand', 1000],
  ['dozen', 12],
  ['half', 0.5],
  ['twice', 2],
  ['один', 1],
  ['одну', 1],
  ['одной', 1],
  ['одно', 1],
  ['два', 2],
  ['две', 2],
  ['двух', 2],
  ['три', 3],
  ['трех', 3],
  ['четыре', 4],
  ['четырех', 4],
  ['пять', 5],
  ['пяти', 5],
  ['шесть', 6],
  ['шести', 6],
  ['семь', 7],
  ['восемь', 8],
  ['девять', 9],
  ['десять', 10],
  ['десяти', 10],
  ['двенадцать', 12],
  ['пятнадцать', 15],
  ['двадцать', 20],
  ['тридцать', 30],
  ['сто', 100],
  ['тысячу', 1000],
  ['тысяча', 1000],
  ['тысячи', 1000],
  ['половину', 0.5],
  ['вдвое', 2],
  ['треть', 0.33],
  ['third', 0.33],
  ['quarter', 0.25],
  ['double', 2],
  ['triple', 3],
  ['половина', 0.5],
  ['втрое', 3],
  ['четверть', 0.25],
  ['третья', 0.33],
  ['трети', 0.66],
  ['шестью', 6],
  ['сотня', 100],
  ['сотню', 100],
  ['миллион', 1000000],
  ['million', 1000000],
  ['eleven', 11],
  ['forty', 40],
  ['sixty', 60],
  ['сорок', 40],
]);
const THOUSANDS: ReadonlySet<string> = new Set(['k', 'к', 'тыс', 'тысяч', 'тысячи', 'тысячу', 'thousand']);
const ROUGHLY: ReadonlySet<string> = new Set(['на', 'в']);
const WORDS_MAX = 100_000;

/** Words of text the phrases ask for, by the largest length they name; 0 when they name none. */
export function readAskedWords(phrases: readonly Phrase[]): number {
  let most = 0;
  for (const phrase of phrases) {
    const spoken = phrase.hits.some((hit) => hit.concept === 'spoken');
    if (spoken && phrase.tokens.some(({ word }) => HOURS.has(word))) most = Math.max(most, 60 * MINUTES);
    for (const at of amountsOf(phrase)) {
      const { value, size } = readNumber(phrase.tokens, at);
      most = Math.max(most, Math.min(wordsOf(phrase.tokens, at + size, spoken) * value, WORDS_MAX));
    }
  }
  return most;
}

/** Where the numbers stand, in digits or in words. */
function amountsOf({ tokens, hits }: Phrase): number[] {
  const found = hits.filter((hit) => hit.concept === 'numeral').map((hit) => hit.at);
  for (let at = 0; at < tokens.length; at++) if (tokens[at]!.kind === 'number') found.push(at);
  return found;
}

function readNumber(tokens: readonly Token[], at: number): { value: number; size: number } {
  const { kind, word } = tokens[at]!;
  const value = kind === 'number' ? Number(word) : (NUMBER_WORDS.get(word) ?? 0);
  const thousands = THOUSANDS.has(tokens[at + 1]?.word ?? '');
  // `тысяч на двенадцать`: turned round, the number is meant roughly.
  const turned = THOUSANDS.has(tokens[at - 2]?.word ?? '') && ROUGHLY.has(tokens[at - 1]?.word ?? '');
  return { value: thousands || turned ? value * 1000 : value, size: thousands ? 2 : 1 };
}

const UNIT_DISTANCE = 2;
const NO_UNIT: ReadonlySet<string> = new Set('in of for to and or from from из в на для и или'.split(' '));
const HOURS: ReadonlySet<string> = new Set(['hour', 'hours', 'час', 'часа', 'часов']);

function wordsOf(tokens: readonly Token[], from: number, spoken: boolean): number {
  for (let at = from; at < Math.min(tokens.length, from + UNIT_DISTANCE); at++) {
    const { kind, word } = tokens[at]!;
    if (kind === 'number' || NO_UNIT.has(word)) return 0;
    if (kind === 'mark' && word !== '-' && word !== '+' && word !== '.') return 0;
    for (const [stems, words] of UNITS) {
      if (stems.some((stem) => isUnitWord(word, stem))) return words === MINUTES && !spoken ? 0 : words;
    }
  }
  return 0;
}

function isUnitWord(word: string, stem: string): boolean {
  return stem.endsWith('.') ? word === stem.slice(0, -1) : word.startsWith(stem);
}

/** How many things a list shall have: the largest number right before or one word before a plural noun of ours. */
export function readAskedItems(phrases: readonly Phrase[]): number {
  let most = 0;
  for (const phrase of phrases) {
    const things = phrase.hits.filter((hit) => isCountable(phrase, hit));
    if (things.length === 0) continue;
    for (const at of amountsOf(phrase)) {
      const counts = things.some((thing) => thing.at > at && thing.at - at <= UNIT_DISTANCE);
      if (counts) most = Math.max(most, readNumber(phrase.tokens, at).value);
    }
  }
  return Math.min(most, 1000);
}

function isCountable({ tokens }: Phrase, { concept, at }: ConceptHit): boolean {
  return (concept === 'ideas' || concept === 'content') && !tokens[at]!.word.startsWith('character');
}

export interface Figures {
  readonly numbers: number;
  /** Signs of calculation between numbers. */
  readonly operations: number;
  /** Single letters that stand as variables beside a sign. */
  readonly variables: number;
  /** Signs that only mathematics uses, LaTeX commands. */
  readonly signs: number;
  /** Powers of ten: the limits of programming problems. */
  readonly bounds: number;
  /** Gaps to be filled: `___`. */
  readonly blanks: number;
  /** Letters of alternatives: `(a)`, `(b)`. */
  readonly options: number;
}

const OPERATIONS: ReadonlySet<string> = new Set(['+', '-', '*', '/', '×', '÷', '%', '=', '^', '−', '·']);
const SIGNS: ReadonlySet<string> = new Set([...'∫√∑∏≤≥≠≈∈∞→⇒∂∇π⊂∪∩∀∃^']);

export function countFigures(phrases: readonly Phrase[]): Figures {
  const figures = { numbers: 0, operations: 0, variables: 0, signs: 0, bounds: 0, blanks: 0, options: 0 };
  let listed = 0;
  for (const { tokens, hits } of phrases) {
    for (const { concept } of hits) {
      if (concept === 'operation') figures.operations++;
      else if (concept === 'numeral') figures.numbers++;
    }
    for (let at = 0; at < tokens.length; at++) {
      const { kind, word } = tokens[at]!;
      if (kind === 'number') {
        figures.numbers++;
        if (word === '10' && tokens[at + 1]?.word === '^') figures.bounds++;
      } else if (kind === 'mark') {
        if (SIGNS.has(word) || (word === '\\' && tokens[at + 1]?.kind === 'word')) figures.signs++;
        if (OPERATIONS.has(word)) figures.operations++;
        if (word === '_' && tokens[at + 1]?.word === '_') figures.blanks++;
      } else if (word.length <= 3) {
        if (isOptionLetter(tokens, at)) figures.options++;
        else if (isNextOption(tokens, at, listed)) listed++;
        else if (isVariable(tokens, at)) figures.variables++;
      }
    }
  }
  if (listed >= LISTED_MIN) figures.options += listed;
  return figures;
}

const BESIDE: ReadonlySet<string> = new Set([...OPERATIONS, ...SIGNS, '(', ')', '<', '>', '$', '|', '_']);

function isVariable(tokens: readonly Token[], at: number): boolean {
  const { word } = tokens[at]!;
  if (!isLatin(word) || ((word === 'a' || word === 'i') && tokens[at + 1]?.word === '-')) return false;
  if (word.length > 1) return tokens[at + 1]?.word === '=' && tokens[at + 2]?.kind !== 'word';
  const beside = (token: Token | undefined) => token?.kind === 'mark' && BESIDE.has(token.word);
  return beside(tokens[at - 1]) || beside(tokens[at + 1]);
}

/** The letter of `(a)` when no function stands before the bracket. */
function isOptionLetter(tokens: readonly Token[], at: number): boolean {
  if (tokens[at]!.word.length !== 1 || tokens[at - 1]?.word !== '(' || tokens[at + 1]?.word !== ')') return false;
  const before = tokens[at - 2];
  return before === undefined || before.kind === 'mark' || before.word.length > FUNCTION_NAME_MAX;
}

const FUNCTION_NAME_MAX = 3;
const LISTED_MIN = 3;
const ALPHABETS = ['abcdefgh', 'абвгдежз'];

/** The letter of `A. nucleus B. ribosome` that comes next in its alphabet. */
function isNextOption(tokens: readonly Token[], at: number, listed: number): boolean {
  const after = tokens[at + 1];
  if (after?.kind !== 'mark' || (after.word !== '.' && after.word !== ')')) return false;
  return ALPHABETS.some((letters) => letters[listed] === tokens[at]!.word);
}

function isLatin(word: string): boolean {
  for (let index = 0; index < word.length; index++) {
    const code = word.charCodeAt(index);
    if (code < 97 || code > 122) return false;
  }
  return true;
}
