// The prose of a prompt as sentences with the concepts found in them, and what else lies around it.
import { type Concept, type ConceptHit, findConcepts, isSubjectName } from './concepts.ts';
import { type Line, readLines } from './lines.ts';
import { readTokens, type Token } from './tokens.ts';
import { isTransliterated, toCyrillic } from './translit.ts';

export interface Sentence {
  readonly tokens: readonly Token[];
  readonly hits: readonly ConceptHit[];
  /** `.`, `?`, `!`, `;`, a line break, or nothing at the end of the text. */
  readonly end: string;
  readonly paragraph: number;
  /** Begins with a dash, a dot or a number. */
  readonly bullet: boolean;
  /** Begins with a letter of an alternative: `A)`, `2)`. */
  readonly option: boolean;
}

export interface Prose {
  readonly sentences: readonly Sentence[];
  readonly codeLines: number;
  readonly dataLines: number;
  /** Pieces of code between backticks in the text. */
  readonly inlineCode: number;
  /** The first line that is not blank is code. */
  readonly startsWithCode: boolean;
}

/** Of the prose so much is read word by word, at its beginning and at its end. */
const HEAD_READ = 900;
const TAIL_READ = 350;

export function readProse(text: string): Prose {
  const lines = readLines(text);
  const ranges = proseRanges(lines);
  const length = ranges.reduce((sum, range) => sum + range.to - range.from, 0);
  const sentences: Sentence[] = [];
  const budget = { typos: 60 };
  const read = cutMiddle(ranges, length);
  let transliterated: boolean | undefined;
  for (const range of read) {
    const tokens = readTokens(text, range.from, range.to);
    transliterated ??= isTransliterated(tokens);
    splitSentences(transliterated ? tokens.map(intoCyrillic) : tokens, range.paragraph, budget, sentences);
  }
  const counts = { code: 0, data: 0 };
  for (const { kind } of lines) if (kind === 'code' || kind === 'data') counts[kind]++;
  return {
    sentences,
    codeLines: counts.code,
    dataLines: counts.data,
    inlineCode: countInlineCode(text),
    startsWithCode: lines.find((line) => line.kind !== 'blank')?.kind === 'code',
  };
}

const INLINE_MAX = 10;

function countInlineCode(text: string): number {
  let count = 0;
  let from = text.indexOf('`');
  while (from !== -1 && count < INLINE_MAX) {
    if (text[from + 1] === '`') {
      from = text.indexOf('`', from + 3);
      continue;
    }
    const to = text.indexOf('`', from + 1);
    if (to === -1) break;
    if (to > from + 1) count++;
    from = text.indexOf('`', to + 1);
  }
  return count;
}

function intoCyrillic(token: Token): Token {
  if (token.kind !== 'word' || isSubjectName(token)) return token;
  return { ...token, word: toCyrillic(token.word) };
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly paragraph: number;
}

/** Runs of prose lines; a blank line or anything else begins a new paragraph. */
function proseRanges(lines: readonly Line[]): Range[] {
  const ranges: Range[] = [];
  let open: { from: number; to: number } | undefined;
  for (const line of lines) {
    if (line.kind === 'prose') {
      if (open === undefined) open = { from: line.from, to: line.to };
      else open.to = line.to;
    } else if (open !== undefined) {
      ranges.push({ ...open, paragraph: ranges.length });
      open = undefined;
    }
  }
  if (open !== undefined) ranges.push({ ...open, paragraph: ranges.length });
  return ranges;
}

function cutMiddle(ranges: readonly Range[], length: number): Range[] {
  if (length <= HEAD_READ + TAIL_READ) return [...ranges];
  const head: Range[] = [];
  let left = HEAD_READ;
  for (const range of ranges) {
    if (left <= 0) break;
    head.push({ ...range, to: Math.min(range.to, range.from + left) });
    left -= range.to - range.from;
  }
  const tail: Range[] = [];
  left = TAIL_READ;
  for (let index = ranges.length - 1; index >= 0 && left > 0; index--) {
    const range = ranges[index]!;
    tail.unshift({ ...range, from: Math.max(range.from, range.to - left) });
    left -= range.to - range.from;
  }
  return [...head, ...tail];
}

const ENDS: ReadonlySet<string> = new Set(['.', '?', '!', ';', '\n', '…', '。', '？', '！']);
const BULLETS: ReadonlySet<string> = new Set(['-', '*', '•', '–', '—', '·', '>']);
const SENTENCES_MAX = 80;

function splitSentences(
  tokens: readonly Token[],
  paragraph: number,
  budget: { typos: number },
  into: Sentence[],
): void {
  let from = 0;
  for (let at = 0; at <= tokens.length && into.length < SENTENCES_MAX; at++) {
    const token = tokens[at];
    const ends = token === undefined || (token.kind === 'mark' && !token.quoted && ENDS.has(token.word));
    if (!ends) continue;
    if (token?.word === '.' && isAbbreviation(tokens, from, at)) continue;
    if (at > from) {
      const sentence = readSentence(tokens.slice(from, at), token?.word ?? '', paragraph, budget);
      into.push(sentence);
      if (hasHit(sentence, 'errand')) readErrand(sentence, budget, into);
    } else extendEnd(into, token?.word);
    from = at + 1;
  }
}

/** `My first request is "…"`: what stands in quotes is the request itself. */
function readErrand({ tokens, paragraph }: Sentence, budget: { typos: number }, into: Sentence[]): void {
  const own = tokens.filter((token) => token.quoted).map((token) => ({ ...token, quoted: false }));
  if (own.length > 1) into.push(readSentence(own, own[own.length - 1]!.word, paragraph, budget));
}

const SHORTENED: ReadonlySet<string> = new Set(
  'vs mr mrs ms dr prof approx jr sr fig тыс млн млрд руб гл стр рис им ул'.split(' '),
);

/** Before the letter of a unit or a variable, which may well end a sentence. */
const FORMULA: ReadonlySet<string> = new Set([...'/=+*^<>-']);

/** The point of `1.`, of initials and of a shortened word does not end a sentence. */
function isAbbreviation(tokens: readonly Token[], from: number, at: number): boolean {
  const before = tokens[at - 1];
  if (before === undefined || at === from) return false;
  if (before.kind === 'number') return at - from === 1;
  if (SHORTENED.has(before.word)) return true;
  const formula = at - from > 1 && tokens[at - 2]!.kind === 'mark' && FORMULA.has(tokens[at - 2]!.word);
  if (formula) return false;
  return before.kind === 'word' && (before.word.length === 1 || tokens[at + 1]?.word === ',');
}

/** `?!`, `...` and a line break after a point belong to the sentence before. */
function extendEnd(into: Sentence[], mark: string | undefined): void {
  const last = into[into.length - 1];
  if (mark === '?' && last !== undefined && last.end !== '?') into[into.length - 1] = { ...last, end: '?' };
}

function readSentence(raw: readonly Token[], end: string, paragraph: number, budget: { typos: number }): Sentence {
  const all = withoutDecoration(raw);
  const first = all[0]!;
  const second = all[1];
  const dash = first.kind === 'mark' && BULLETS.has(first.word) && all.length > 1;
  const marked = second?.kind === 'mark' && (second.word === ')' || second.word === '.');
  const numbered = marked && first.kind === 'number' && all.length > 2;
  const option = marked && first.word.length === 1 && all.length > 2;
  const tokens = dash ? all.slice(1) : numbered || option ? all.slice(2) : all;
  return { tokens, hits: findConcepts(tokens, budget), end, paragraph, bullet: dash || numbered || option, option };
}

const DECORATIONS: ReadonlySet<string> = new Set(['#', '*', '=', '_', '[', ']']);

/** A heading or bold text without its marks: `### Input:` is `Input:`. */
function withoutDecoration(tokens: readonly Token[]): readonly Token[] {
  if (tokens[0]!.kind !== 'mark' || !DECORATIONS.has(tokens[0]!.word)) return tokens;
  if (tokens[0]!.word !== '#' && tokens[1]?.word !== tokens[0]!.word && tokens[0]!.word !== '[') return tokens;
  const bare = tokens.filter(({ kind, word }) => kind !== 'mark' || !DECORATIONS.has(word));
  return bare.length === 0 ? tokens : bare;
}

/** The colon of a ratio such as `2:3:5` brings no text; that of `10:45` is left to those who read times. */
export function isRatio(tokens: readonly Token[], at: number): boolean {
  const [before, after] = [tokens[at - 1], tokens[at + 1]];
  return tokens[at]!.word === ':' && before?.kind === 'number' && after?.kind === 'number' && after.word.length === 1;
}

export function hasHit(sentence: Sentence, concept: Concept): boolean {
  return sentence.hits.some((hit) => hit.concept === concept);
}
