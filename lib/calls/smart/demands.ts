// Clauses at the edges of a text that only add to its request, such as `Answer in JSON.`, `Prove it.` or `Translate:`.
import { readAskedWords } from './amounts.ts';
import type { Findings, Message } from './evidence.ts';
import { cutSentence, findColon, has, isTask, type Sentence } from './instruction.ts';
import { findDirection, findSignal } from './names.ts';

type Sentences = readonly Sentence[];

const CLAUSES_READ = 3;
const LONG_WORDS = 100;
const HEAD_TOKENS = 24;

/** A message without its code, or without a demand at its end that raises the score. */
export function cutRaising(message: Message, { endsInPayload }: Findings): Message | undefined {
  if (message.kinds.has('code')) return { ...message, kinds: new Set() };
  const demand = findClause(
    message.sentences,
    (clause) => isRaising(clause) && (!endsInPayload || clause.some((sentence) => has(sentence, 'json'))),
  );
  return demand && { ...message, sentences: demand };
}

/** A message without an order at its end, or its start, that lowers the score. */
export function cutLowering(message: Message): Message[] {
  const [first, ...others] = message.sentences;
  if (first === undefined || message.kinds.has('code')) return [];
  const colon = findColon(first);
  const size = colon === -1 ? first.tokens.length : colon;
  const starts = size <= HEAD_TOKENS && isLowering([cutSentence(first, 0, size)]);
  const started = size + 1 < first.tokens.length ? [cutSentence(first, size + 1), ...others] : others;
  return [findClause(message.sentences, isLowering) ?? [], starts ? started : []]
    .filter(({ length }) => length > 0)
    .map((sentences) => ({ ...message, sentences }));
}

/** What is left without the shortest of some clauses at the end that is as wanted. */
function findClause(sentences: Sentences, isWanted: (clause: Sentences) => boolean): Sentences | undefined {
  let read = 0;
  for (let index = sentences.length - 1; index >= 0; index--) {
    const sentence = sentences[index]!;
    const before = sentences.slice(0, index);
    const after = sentences.slice(index + 1);
    for (let at = sentence.tokens.length - 1; at >= 0; at--) {
      if (at > 0 && !mayBegin(sentence, at)) continue;
      if (index + at === 0) return undefined;
      if (isWanted([cutSentence(sentence, at), ...after]))
        return at === 0 ? before : [...before, cutSentence(sentence, 0, at)];
      if (++read === CLAUSES_READ) return undefined;
    }
  }
  return undefined;
}

function mayBegin({ tokens }: Sentence, at: number): boolean {
  const { capital, quoted } = tokens[at]!;
  return !quoted && (capital || tokens[at - 1]!.word === ':');
}

function isRaising(clause: Sentences): boolean {
  const demands = clause[0]!.hits.some((hit) => hit.at <= 1 && (hit.concept === 'answer' || isTask(hit)));
  const long = clause.some((sentence) => readAskedWords(sentence) >= LONG_WORDS);
  return demands && clause.at(-1)!.end !== '?' && !hasDirection(clause, -1) && (hasDirection(clause, 1) || long);
}

const LEADING_TOKENS = 3;

function isLowering(clause: Sentences): boolean {
  const leads = clause[0]!.hits.some((hit) => hit.at < LEADING_TOKENS && findDirection(findSignal(hit.concept)) < 0);
  return leads && !hasDirection(clause, 1);
}

function hasDirection(clause: Sentences, direction: 1 | -1): boolean {
  return clause.some(({ hits }) => hits.some(({ concept }) => findDirection(findSignal(concept)) === direction));
}
