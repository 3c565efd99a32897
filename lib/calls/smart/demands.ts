// Clauses at the edges of a text that only add to its request, such as `Answer in JSON.`, `Prove it.` or `Translate:`.
import { readAskedWords } from './amounts.ts';
import { isTask } from './instruction.ts';
import { findHits, type Hit } from './lexicon.ts';
import { findDirection, findSignal, isSignalSubject } from './names.ts';
import { plainText, readTokens, type Token } from './tokens.ts';

/** What a text is without such a clause. */
export interface Rests {
  /** Without the block of code or the demand for a format at its end. */
  readonly unformatted: string | undefined;
  /** Without another order at its end that raises the score. */
  readonly unraised: string | undefined;
  /** Without an order that lowers the score, at its end or its start. */
  readonly unlowered: readonly string[];
}

const TAIL_READ = 400;
const HEAD_READ = 120;
const BOUNDARIES_READ = 3;
const LONG_WORDS = 100;
const FENCE = '```';
const FENCE_END = /\n```[^`]*(?:```\s*)?$/;
const BOUNDARY = /[.?!;:…]\s+(?=["«(]?[A-Za-zА-Яа-яЁё\d$])|\n\s*(?=\S)|\s(?=[A-ZА-ЯЁ][a-zа-яё]+\s)/g;
const START_END = /[:\n]|[.!]\s/;
const ANSWERING = new Set(
  (
    'output return respond reply give provide produce print use answer format result only strictly ' +
    'верни верните вернуть выведи выдай ответь отвечай дай представь оформи используй ответ результат формат строго только'
  ).split(' '),
);

export function cutDemands(text: string): Rests {
  const tail = text.slice(-TAIL_READ);
  const clauses = [...tail.matchAll(BOUNDARY)]
    .slice(-BOUNDARIES_READ)
    .reverse()
    .map(({ index, 0: mark }) => ({
      before: text.slice(0, text.length - tail.length + index + mark.trimEnd().length),
      ...readClause(tail.slice(index + mark.length)),
    }));
  const start = START_END.exec(text.slice(0, HEAD_READ));
  const rests = [
    clauses.find(isLowering)?.before,
    start && isLowering(readClause(text.slice(0, start.index))) ? text.slice(start.index + start[0].length) : undefined,
  ];
  return {
    unformatted: [cutCode(text) ?? clauses.find(isFormat)?.before].find(isText),
    unraised: [clauses.find(isRaising)?.before].find(isText),
    unlowered: rests.filter(isText),
  };
}

const isText = (text: string | undefined): text is string => text !== undefined && text.trim() !== '';

/** Behind an even number of marks, the last one found may close a fence. */
function cutCode(text: string): string | undefined {
  const fence = FENCE_END.exec(text);
  const whole = fence && (text.split(FENCE).length % 2 === 0 || fence[0].trimEnd().endsWith(FENCE));
  return whole ? text.slice(0, fence.index) : undefined;
}

interface Clause {
  readonly tokens: readonly Token[];
  readonly hits: readonly Hit[];
}

function readClause(text: string): Clause {
  const tokens = readTokens(plainText(text));
  return { tokens, hits: findHits(tokens) };
}

function isFormat({ tokens, hits }: Clause): boolean {
  return tokens.slice(0, 2).some(({ word }) => ANSWERING.has(word)) && hits.some(({ concept }) => concept === 'json');
}

function isRaising({ tokens, hits }: Clause): boolean {
  const command = hits.some((hit) => hit.at <= 1 && isTask(hit)) && tokens.at(-1)?.word !== '?';
  if (!command || hits.some((hit) => findHitDirection(hit) < 0)) return false;
  return hits.some((hit) => findHitDirection(hit) > 0) || readAskedWords([{ tokens, hits }]) >= LONG_WORDS;
}

const LEADING_TOKENS = 3;

function isLowering({ hits }: Clause): boolean {
  return (
    hits.some((hit) => findHitDirection(hit) < 0 && hit.at < LEADING_TOKENS) &&
    !hits.some((hit) => findHitDirection(hit) > 0 && findSignal(hit.concept) !== 'debug')
  );
}

function findHitDirection({ concept }: Hit): number {
  return isSignalSubject(concept) ? findDirection(findSignal(concept)) : 0;
}
