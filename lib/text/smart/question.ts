// Which question a sentence puts, told from the word that opens it.
import { type Concept, type ConceptHit, isTask } from './concepts.ts';
import type { Sentence } from './sentences.ts';

export type QuestionKind = 'fact' | 'what' | 'define' | 'why' | 'how' | 'closed' | 'other';

export interface Question {
  readonly kind: QuestionKind;
  readonly sentence: Sentence;
  /** Index of the word that opens it. */
  readonly at: number;
}

const QUESTION_WINDOW = 3;
const SHORT_QUESTION = 12;

/** The question a sentence puts, if any; `start` is where its courtesies end. */
export function readQuestion(sentence: Sentence, start: number): Question | undefined {
  const asks = sentence.end === '?';
  const opening = sentence.hits.filter((hit) => hit.at >= start && hit.at <= start + QUESTION_WINDOW);
  const at = (concept: Concept, window = 0) =>
    opening.find((hit) => hit.concept === concept && hit.at <= start + window);
  const make = (kind: QuestionKind, hit: ConceptHit): Question => ({ kind, sentence, at: hit.at });
  const fact = at('quantity', asks ? 3 : 1) ?? at('who', asks ? 2 : 0) ?? at('factual', 0);
  const why = at('why', asks ? 3 : 1);
  const define = at('define', 1);
  const what = at('what', asks ? 2 : 0);
  const how = at('how', asks ? 2 : 0);
  const closed = at('closed', asks ? 3 : 0);
  const reason = asks ? sentence.hits.find((hit) => hit.concept === 'why') : undefined;
  if (why !== undefined || reason !== undefined) return make('why', (why ?? reason)!);
  if (fact !== undefined && !isTaskLead(sentence, start)) return make('fact', fact);
  if (define !== undefined) return make('define', define);
  if (what !== undefined) return make('what', what);
  if (how !== undefined) return make('how', how);
  if (closed !== undefined && (asks || isRussianClosed(sentence, closed) || closed.at === start))
    return make('closed', closed);
  const quantity = sentence.hits.find((hit) => hit.concept === 'quantity');
  if (quantity !== undefined && sentence.tokens.length <= SHORT_QUESTION) return make('fact', quantity);
  const late = sentence.hits.find((hit) => QUESTION_CONCEPTS.has(hit.concept));
  if (!asks) return undefined;
  if (late !== undefined) return make(LATE_KINDS[late.concept] ?? 'other', late);
  return { kind: 'other', sentence, at: start };
}

/** `Who proved it`, `when was it invented`: what somebody did, not what is to be done. */
export function asksWho({ sentence, kind, at }: Question): boolean {
  return kind === 'fact' && sentence.hits.some((hit) => hit.concept === 'who' && hit.at === at);
}

const QUESTION_CONCEPTS: ReadonlySet<Concept> = new Set(['who', 'what', 'quantity', 'why', 'define', 'how', 'closed']);
const LATE_KINDS: Partial<Record<Concept, QuestionKind>> = {
  who: 'fact',
  what: 'what',
  quantity: 'fact',
  why: 'why',
  define: 'define',
  how: 'how',
  closed: 'closed',
};

function isTaskLead(sentence: Sentence, start: number): boolean {
  return sentence.hits.some((hit) => hit.at === start && isTask(hit.concept) && hit.concept !== 'solve');
}

function isRussianClosed(sentence: Sentence, hit: ConceptHit): boolean {
  return sentence.tokens[hit.at]!.word.charCodeAt(0) >= 0x400;
}
