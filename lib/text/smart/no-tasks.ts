// Words of tasks that are no task where they stand: headings, talk, what the writer did himself, what is only wondered at.
import { type Concept, type ConceptHit, isMechanical, type TaskConcept } from './concepts.ts';
import type { Sentence } from './sentences.ts';
import type { Token } from './tokens.ts';

/** `start` is where the courtesies of the sentence end. */
export function isNoTask(sentence: Sentence, hit: ConceptHit, start: number): boolean {
  if (isHeading(sentence, hit) || isDiscourse(sentence, hit) || asksWay(sentence, hit)) return true;
  if (isPastOfOther(sentence, hit, start)) return true;
  return hit.concept === 'handle' && tellsOwnDoing(sentence.tokens, start);
}

/** The `Review` of `Review: "…" Is it positive?` */
function isHeading({ tokens, hits }: Sentence, { at }: ConceptHit): boolean {
  return at === 0 && tokens[1]?.word === ':' && hits.some((hit) => hit.at === 0 && hit.concept === 'label');
}

const TERSE_WORDS = 4;

/** The `короче` that only opens a story. */
function isDiscourse({ tokens }: Sentence, { at }: ConceptHit): boolean {
  return (
    at === 0 &&
    tokens[0]!.word === 'короче' &&
    tokens.length > TERSE_WORDS &&
    tokens.slice(1, 3).every(({ kind }) => kind === 'word')
  );
}

/** `A panic in my program, how to fix`: asked how, in the middle of a sentence. */
function asksWay({ tokens }: Sentence, { at, concept }: ConceptHit): boolean {
  if (!isMechanical(concept) || at < 2) return false;
  return tokens[at - 1]!.word === 'как' || (tokens[at - 1]!.word === 'to' && tokens[at - 2]!.word === 'how');
}

const DOERS: ReadonlySet<string> = new Set('i we he she they'.split(' '));
const WISHES: ReadonlySet<string> = new Set('have need want got would d ve am re'.split(' '));

/** `I put a coin in a cup, turn it over`: told, not asked; `I have a text, remove its commas` is asked. */
function tellsOwnDoing(tokens: readonly Token[], start: number): boolean {
  return DOERS.has(tokens[start]?.word ?? '') && !WISHES.has(tokens[start + 1]?.word ?? 'have');
}

/** A task that is only mentioned. */
type Mention = Pick<ConceptHit, 'concept' | 'at'>;

const PAST_ENDINGS = ['ed', 'л', 'ла', 'ло', 'ли'];

/** `Who analysed it`, `когда доказали`: told of somebody, whatever the work. */
function isPastOfOther({ tokens, hits }: Sentence, { at }: ConceptHit, start: number): boolean {
  if (!hits.some((hit) => hit.concept === 'who' && hit.at <= start + 1 && hit.at < at)) return false;
  return PAST_ENDINGS.some((ending) => tokens[at]!.word.endsWith(ending));
}

const MADE: ReadonlySet<Concept> = new Set<TaskConcept>(['write', 'develop', 'design', 'prove']);

/** `Who created it?`: what somebody made, not what is to be made. */
export function asksWho({ hits }: Sentence, { concept }: Mention, start: number): boolean {
  if (!MADE.has(concept)) return false;
  return hits.some((hit) => hit.concept === 'who' && hit.at <= start + 1);
}

/** `How many ways are there to arrange the letters`: counted, not done. */
export function isCounted({ tokens }: Sentence, { concept, at }: Mention, start: number): boolean {
  if ((concept !== 'convert' && concept !== 'fix') || at <= start + 1) return false;
  const [first, second] = [tokens[start]?.word ?? '', tokens[start + 1]?.word ?? ''];
  return first.startsWith('скольк') || second.startsWith('скольк') || (first === 'how' && second === 'many');
}
