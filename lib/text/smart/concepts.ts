// The one lexicon of the router: every concept of the word lists, and which of them are tasks.
import { type Hit, Lexicon } from './lexicon.ts';
import type { Token } from './tokens.ts';
import { FRAME_WORDS } from './words-frames.ts';
import { OBJECT_WORDS } from './words-objects.ts';
import { PROGRAMMING_WORDS } from './words-programming.ts';
import { SUBJECT_WORDS } from './words-subjects.ts';
import { TASK_WORDS } from './words-tasks.ts';

export type TaskConcept = keyof typeof TASK_WORDS;
export type Concept =
  | TaskConcept
  | keyof typeof OBJECT_WORDS
  | keyof typeof PROGRAMMING_WORDS
  | keyof typeof SUBJECT_WORDS
  | keyof typeof FRAME_WORDS;
export type ConceptHit = Hit<Concept>;

const TASKS: ReadonlySet<Concept> = new Set(Object.keys(TASK_WORDS) as TaskConcept[]);

/** Work on a given text that needs no thought of its own: what it is done to does not make it harder. */
const MECHANICAL: ReadonlySet<Concept> = new Set<TaskConcept>([
  'translate',
  'fix',
  'shorten',
  'rewrite',
  'classify',
  'extract',
  'convert',
  'lookup',
  'summarize',
]);

/** Patterns that are recognised with one letter wrong: frequent in requests, far from other words. */
const TOLERANT = new Set(
  `
  translat* summari* classif* extract* correct rewrite explain* describe* analyz* compar* generate calculate convert*
  python javascript typescript grammar* sentiment* function functions paragraph* equation* integral* description
  перевед+ переведи переведите исправ+ сократ* перескаж* перепиш* классифиц* извлек* напиши* напишите сочини* придумай
  составь составьте объясн* расскаж* проанализ* сравн* докаж* посчитай* вычисл* функци+ функцию питон* уравнени* интеграл*
  поздравл* письм* стихотвор* рецепт* описани* предложени*
`
    .trim()
    .split(/\s+/),
);

const lexicon = new Lexicon<Concept>(
  { ...TASK_WORDS, ...OBJECT_WORDS, ...PROGRAMMING_WORDS, ...SUBJECT_WORDS, ...FRAME_WORDS },
  TOLERANT,
);

export function isTask(concept: Concept): concept is TaskConcept {
  return TASKS.has(concept);
}

export function isMechanical(concept: Concept): boolean {
  return MECHANICAL.has(concept);
}

/** True for a word that names a language, a tool or a format in any alphabet. */
export function isSubjectName(token: Token): boolean {
  const named = (hit: ConceptHit) => hit.concept === 'language' || hit.concept === 'tech' || hit.concept === 'json';
  return token.word.length > 2 && lexicon.findAt([token], 0).some(named);
}

/** Looking for typos costs more than a look-up, so only so many words get it. */
const TYPO_LOOKUPS_MAX = 60;

/** A sentence says no more than so much; further hits only repeat it. */
const HITS_MAX = 80;

/** Concepts of the unquoted tokens, in order. */
export function findConcepts(tokens: readonly Token[], budget = { typos: TYPO_LOOKUPS_MAX }): ConceptHit[] {
  const hits: ConceptHit[] = [];
  let next = 0;
  for (let at = 0; at < tokens.length && hits.length < HITS_MAX; at++) {
    const token = tokens[at]!;
    if (token.kind === 'mark' || token.quoted) continue;
    const found = lexicon.findAt(tokens, at);
    // A word inside a phrase that was found does not speak for itself, but a longer phrase may begin there.
    for (const hit of found) if (at >= next || hit.size > 1) hits.push(hit);
    if (found.length > 0) {
      next = Math.max(next, at + found[0]!.size);
    } else if (token.kind === 'word' && at >= next && budget.typos > 0) {
      budget.typos--;
      const concept = lexicon.findTypo(token.word);
      if (concept !== undefined) hits.push({ concept, at, size: 1 });
    }
  }
  return hits;
}
