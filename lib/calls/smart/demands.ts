// Clauses at the edges of a text that only add to its request, such as `Answer in JSON.`, `Prove it.` or `Translate:`.
import type { Findings, Message } from './evidence.ts';
import { cutSentence, findColon, isTask, type Sentence } from './instruction.ts';
import { findDirection, findSignal } from './names.ts';

type Sentences = readonly Sentence[];

const CLAUSES_READ = 3;
const LONG_WORDS = 100;
const HEAD_TOKENS = 24;
const ANSWERING = new Set(
  (
    'output return respond reply give provide produce print use answer format result only strictly ' +
    'верни верните вернуть выведи выдай ответь отвечай дай представь оформи используй ответ результат формат строго только'
  ).split(' '),
);

interface Cut {
  readonly rest: Message;
  /** Whether only a format was demanded, or code given. */
  readonly format: boolean;
}

/** A message without its code, or without a demand at its end that raises the score. */
export function cutRaising(message: Message, { instruction }: Findings): Cut | undefined {
  const { sentences, prose } = message;
  if (prose.kinds.has('code')) return { rest: { ...message, prose: { ...prose, kinds: new Set() } }, format: true };
  const clauses = listClauses(sentences);
  const format = clauses.find(({ clause }) => isFormat(clause));
  const found = format ?? (instruction.endsInPayload ? undefined : clauses.find(({ clause }) => isRaising(clause)));
  return found && { rest: { ...message, sentences: found.rest }, format: format !== undefined };
}

/** A message without an order at its end, or its start, that lowers the score. */
export function cutLowering(message: Message): Message[] {
  if (message.prose.kinds.has('code')) return [];
  return listUnlowered(message.sentences).map((sentences) => ({ ...message, sentences }));
}

function listUnlowered(sentences: Sentences): Sentences[] {
  const [first, ...others] = sentences;
  if (first === undefined) return [];
  const end = listClauses(sentences).find(({ clause }) => isLowering(clause));
  const rests = end ? [end.rest] : [];
  const colon = findColon(first);
  const size = colon === -1 ? first.tokens.length : colon;
  if (size > HEAD_TOKENS || !isLowering([cutSentence(first, 0, size)])) return rests;
  const start = size + 1 < first.tokens.length ? [cutSentence(first, size + 1), ...others] : others;
  return start.length === 0 ? rests : [...rests, start];
}

/** What sentences may end with, the shortest first, and what is left without it. */
function listClauses(sentences: Sentences): { readonly clause: Sentences; readonly rest: Sentences }[] {
  const clauses: { clause: Sentences; rest: Sentences }[] = [];
  for (let index = sentences.length - 1; index >= 0; index--) {
    const sentence = sentences[index]!;
    const before = sentences.slice(0, index);
    const after = sentences.slice(index + 1);
    for (let at = sentence.tokens.length - 1; at >= 0; at--) {
      if (at > 0 && !mayBegin(sentence, at)) continue;
      const rest = at === 0 ? before : [...before, cutSentence(sentence, 0, at)];
      if (rest.length === 0) return clauses;
      clauses.push({ clause: [at === 0 ? sentence : cutSentence(sentence, at), ...after], rest });
      if (clauses.length === CLAUSES_READ) return clauses;
    }
  }
  return clauses;
}

function mayBegin({ tokens }: Sentence, at: number): boolean {
  const { capital, quoted } = tokens[at]!;
  return !quoted && (capital || tokens[at - 1]!.word === ':');
}

function isFormat([first, ...others]: Sentences): boolean {
  const demands = first!.tokens.slice(0, 2).some(({ word }) => ANSWERING.has(word));
  return demands && [first!, ...others].some(({ hits }) => hits.some(({ concept }) => concept === 'json'));
}

function isRaising(clause: Sentences): boolean {
  const command = clause[0]!.hits.some((hit) => hit.at <= 1 && isTask(hit)) && clause.at(-1)!.end !== '?';
  const long = clause.some(({ askedWords }) => askedWords >= LONG_WORDS);
  return command && !hasDirection(clause, -1) && (hasDirection(clause, 1) || long);
}

const LEADING_TOKENS = 3;

function isLowering(clause: Sentences): boolean {
  const leads = clause[0]!.hits.some((hit) => hit.at < LEADING_TOKENS && findDirection(findSignal(hit.concept)) < 0);
  return leads && !hasDirection(clause, 1);
}

function hasDirection(clause: Sentences, direction: 1 | -1): boolean {
  return clause.some(({ hits }) => hits.some(({ concept }) => findDirection(findSignal(concept)) === direction));
}
