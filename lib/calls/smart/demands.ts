// Clauses at the edges of a text that only add to its request, such as `Answer in JSON.`, `Prove it.` or `Translate:`.
import { readAskedWords } from './amounts.ts';
import { isTask } from './instruction.ts';
import { findHits, type Hit } from './lexicon.ts';
import { findDirection, findSignal, isSignalSubject } from './names.ts';
import { plainText, readTokens } from './tokens.ts';

const TAIL_READ = 400;
const HEAD_READ = 120;
const BOUNDARIES_READ = 3;
const LONG_WORDS = 100;
const FENCE = '```';
const FENCE_END = /\n```[^`]*(?:```\s*)?$/;
const FORMAT = /json|ya?ml|xml|csv|schema|схем/gi;
const ORDER =
  /[\s.,;:!?](?:(?:and|please|и|пожалуйста)\s+)?(?:(?:output|return|respond|reply|give|provide|produce|print|use|верни(?:те)?|вернуть|выведи|выдай|ответь|отвечай|дай|представь|оформи|используй)(?=\s)|(?<=[.!?:\n]\s*)(?:answer|format|result|only|strictly|ответ|результат|формат|строго|только))(?=[^.!?\n]*$)/gi;
const ORDER_LENGTH = 70;
const BOUNDARY = /[.?!;:…]\s+(?=\S)|\n\s*(?=\S)|\s(?=[A-ZА-ЯЁ][a-zа-яё]+\s)/g;

/** The text without the code or the demand for a format that it ends with. */
export function cutFormatEnd(text: string): string | undefined {
  const fence = FENCE_END.exec(text);
  // Behind an even number of marks, the last one found may close a fence.
  if (fence && (text.split(FENCE).length % 2 === 0 || fence[0].trimEnd().endsWith(FENCE)))
    return textOrUndefined(text.slice(0, fence.index));
  const tail = text.slice(-TAIL_READ);
  const at = findFormatOrder(tail);
  return at === undefined ? undefined : textOrUndefined(text.slice(0, text.length - tail.length + at));
}

/** The text without an order at its end that raises the score. */
export function cutRaisingEnd(text: string): string | undefined {
  return cutClauseEnd(text, isRaising);
}

/** Where the last demand for a format begins. */
function findFormatOrder(tail: string): number | undefined {
  for (const { index } of [...tail.matchAll(FORMAT)].reverse()) {
    const from = Math.max(0, index - ORDER_LENGTH);
    const order = findLastOrder(tail.slice(from, index));
    if (order !== -1) return from + order;
  }
  return undefined;
}

function findLastOrder(text: string): number {
  let last = -1;
  for (let found = ORDER.exec(text); found; found = ORDER.exec(text)) last = found.index;
  return last;
}

/** The text without an order at its end that lowers the score. */
export function cutLoweringEnd(text: string): string | undefined {
  return cutClauseEnd(text, isLowering);
}

function cutClauseEnd(text: string, matches: (clause: string) => boolean): string | undefined {
  const tail = text.slice(-TAIL_READ);
  const clause = listClauses(tail).find(({ text }) => matches(text));
  return clause && textOrUndefined(text.slice(0, text.length - tail.length + clause.at));
}

const ORDER_END = /[:\n]|[.!]\s/;

/** The text behind an order at its start that lowers the score. */
export function cutLoweringStart(text: string): string | undefined {
  const end = ORDER_END.exec(text.slice(0, HEAD_READ));
  if (!end || !isLowering(text.slice(0, end.index))) return undefined;
  return textOrUndefined(text.slice(end.index + end[0].length));
}

function textOrUndefined(text: string): string | undefined {
  return text.trim() === '' ? undefined : text;
}

/** What the text may end with, the shortest first. */
function listClauses(tail: string): { readonly at: number; readonly text: string }[] {
  return [...tail.matchAll(BOUNDARY)]
    .map(({ index, 0: mark }) => ({ at: index + mark.trimEnd().length, text: tail.slice(index + mark.length) }))
    .slice(-BOUNDARIES_READ)
    .reverse();
}

function isRaising(clause: string): boolean {
  const tokens = readTokens(plainText(clause));
  const hits = findHits(tokens);
  const command = hits.some((hit) => hit.at <= 1 && isTask(hit)) && !clause.trimEnd().endsWith('?');
  if (!command || hits.some((hit) => findHitDirection(hit) < 0)) return false;
  return hits.some((hit) => findHitDirection(hit) > 0) || readAskedWords([{ tokens, hits }]) >= LONG_WORDS;
}

const LEADING_TOKENS = 3;

function isLowering(clause: string): boolean {
  const hits = findHits(readTokens(plainText(clause)));
  return (
    hits.some((hit) => findHitDirection(hit) < 0 && hit.at < LEADING_TOKENS) &&
    !hits.some((hit) => findHitDirection(hit) > 0 && findSignal(hit.concept) !== 'debug')
  );
}

function findHitDirection({ concept }: Hit): number {
  return isSignalSubject(concept) ? findDirection(findSignal(concept)) : 0;
}
