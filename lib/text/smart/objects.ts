// What a task wants: the thing named after its verb, or a thing named without any verb.
import { type Concept, type ConceptHit, isMechanical } from './concepts.ts';
import type { Task } from './instruction.ts';
import type { SignalName } from './names.ts';
import { isMathematical, type Scene } from './scene.ts';
import { hasHit, type Sentence } from './sentences.ts';

const OBJECTS: ReadonlySet<Concept> = new Set([
  'content',
  'essay',
  'long',
  'code',
  'software',
  'micro',
  'ideas',
  'plan',
  'format',
  'json',
  'strategy',
  'language',
  'tech',
]);

const OBJECT_DISTANCE = 9;
/** Work named by a noun: `write an analysis`, `propose an architecture`. */
const NOUN_WORKS: Partial<Record<Concept, SignalName>> = {
  design: 'design',
  analyze: 'analysis',
  prove: 'proof',
  compare: 'compare',
  explain: 'explain',
};

export function objectSignal(task: Task, scene: Scene): SignalName | undefined {
  const { sentence } = task;
  const stop = endOfThing(sentence, task.at);
  const subject = sentence.hits.some((hit) => hit.at > task.at && hit.at < stop && isSubject(hit.concept));
  for (const hit of sentence.hits) {
    if (hit.at <= task.at && !(hit.at === task.at && hit.size > 1)) continue;
    if (hit.at > stop) break;
    if (!isMechanical(hit.concept) && isUnit(sentence, hit.at)) continue;
    if (isSubject(hit.concept) && endsThing(sentence, hit.at + hit.size)) return 'code';
    const analysis = sentence.hits.some((one) => one.at > hit.at && one.at <= stop && one.concept === 'analyze');
    const noun = NOUN_WORKS[hit.concept === 'compare' && analysis ? 'analyze' : hit.concept];
    if (noun !== undefined) return noun;
    if (isWorkOnText(hit, sentence)) return hit.concept as SignalName;
    const spoken = isSpokenScript(sentence, hit.at);
    const signal = spoken ? 'compose' : signalOfObject(hit.concept, scene);
    if (hit.concept === 'software' && namesText(sentence, hit.at, stop)) continue;
    if (hit.concept === 'micro' && namesWorkOnText(sentence, hit.at, stop)) continue;
    const trifling = signal === 'small_output' || signal === undefined;
    const near = (at: number) => at > task.at && at <= stop + NEAR_THING;
    if (trifling && OBJECTS.has(hit.concept) && sentence.hits.some((one) => near(one.at) && isSurelyCode(one.concept)))
      return 'code';
    if (hit.concept === 'format' && task.concept === 'write' && hasHit(sentence, 'deictic')) return 'convert';
    if (signal !== undefined) return namesTool(sentence, hit.at + hit.size, stop) ? 'code' : signal;
  }
  return subject ? 'code' : undefined;
}

/** `Write a translation`, `make a numbered list: …`: mechanical work named by a noun. */
function isWorkOnText({ concept, at }: ConceptHit, { tokens }: Sentence): boolean {
  if (concept !== 'convert' && concept !== 'extract') return isMechanical(concept);
  return tokens.some((token, index) => (index > at && token.word === ':') || token.kind === 'number');
}

/** The `sentence` of `a two-sentence summary`. */
function namesWorkOnText({ hits }: Sentence, at: number, stop: number): boolean {
  return hits.some((hit) => hit.at > at && hit.at <= stop && hit.concept === 'summarize');
}

const TOOLS: ReadonlySet<string> = new Set(
  'parser generator bot app calculator api function cli tool plugin extension compiler validator crawler scraper'.split(
    ' ',
  ),
);

/** The `parser` of `a recipe parser`: of nouns in a row the last one is wanted. */
function namesTool({ tokens }: Sentence, at: number, stop: number): boolean {
  return at < stop && TOOLS.has(tokens[at]?.word ?? '');
}

/** The `landing page` of `a landing page text`. */
function namesText({ hits }: Sentence, at: number, stop: number): boolean {
  return hits.some((hit) => hit.at > at && hit.at <= stop && (hit.concept === 'content' || hit.concept === 'essay'));
}

/** The `word` of `a 2000 word essay`. */
function isUnit({ tokens }: Sentence, at: number): boolean {
  const before = tokens[at - 1]?.kind === 'mark' ? tokens[at - 2] : tokens[at - 1];
  return before?.kind === 'number' && Number(before.word) > 3;
}

export function isSubject(concept: Concept): boolean {
  return concept === 'language' || concept === 'tech';
}

function isSurelyCode(concept: Concept): boolean {
  return concept === 'language' || concept === 'code';
}

const NEAR_THING = 4;
const BEFORE_THING: ReadonlySet<string> = new Set('me us a an the my our please some мне нам'.split(' '));
const PREPOSITIONS: ReadonlySet<string> = new Set(
  (
    'for about to that which from on with using by so as when where who для о об про который которая которое ' +
    'которые чтобы из к по с на в'
  ).split(' '),
);

/** Where the thing that is wanted ends and its description begins: at the first preposition after a noun. */
function endOfThing({ tokens }: Sentence, from: number): number {
  let nouns = 0;
  for (let at = from + 1; at < tokens.length && at - from <= OBJECT_DISTANCE; at++) {
    const { kind, word } = tokens[at]!;
    if (kind === 'mark') {
      if (nouns > 0 && (word === ':' || word === '(')) return at;
    } else if (PREPOSITIONS.has(word)) {
      if (nouns > 0) return at;
    } else if (!BEFORE_THING.has(word)) nouns++;
  }
  return from + OBJECT_DISTANCE;
}

/** A script for a film or a call is a text. */
function isSpokenScript(sentence: Sentence, at: number): boolean {
  return sentence.tokens[at]!.word.startsWith('script') && hasHit(sentence, 'media');
}

/** `CSS for a grid`: the thing named before a preposition is what is wanted, what follows only describes it. */
function endsThing({ tokens }: Sentence, at: number): boolean {
  const next = tokens[at];
  return next === undefined || next.kind === 'mark' || DESCRIBES.has(next.word);
}

const DESCRIBES: ReadonlySet<string> = new Set(
  'for to that which with in on using by so for для который которая которое чтобы на с в по под из к'.split(' '),
);

function signalOfObject(concept: Concept, scene: Scene): SignalName | undefined {
  if (concept === 'code' || concept === 'software') return 'code';
  if (concept === 'content') return 'compose';
  if (concept === 'essay' || concept === 'long') return 'long_form';
  if (concept === 'ideas') return 'ideas';
  if (concept === 'criteria') return 'analysis';
  if (concept === 'plan') return 'plan';
  if (concept === 'strategy') return 'strategy';
  return concept === 'micro' && scene.askedItems <= 3 ? 'small_output' : undefined;
}

/** `Reverse list python`: what is done to something, and the language. */
const HANDLED: ReadonlySet<Concept> = new Set(['structure', 'format', 'handle', 'convert', 'piece']);
const IMPERATIVES = ['ай', 'яй', 'уй', 'йте', 'ите'];
const NOUN_WINDOW = 6;
/** A few words that name a tool are no request for a program. */
const NAMED_WORDS_MIN = 3;
const PRONOUNS: ReadonlySet<string> = new Set(
  'i it he she they we you my this that there я он она оно они мы вы ты мой моя мое у это'.split(' '),
);

const MEANS: ReadonlySet<string> = new Set(['in', 'на']);

/** `Scenarios in Gherkin`: written in a language of programs. */
function isMeans({ tokens }: Sentence, { concept, at }: ConceptHit): boolean {
  if (!isSubject(concept)) return false;
  return [1, 2].some((distance) => MEANS.has(tokens[at - distance]?.word ?? ''));
}

/** `Из описания …`, `from the email …`: where something is to be found, not what is wanted. */
const OUT_OF: ReadonlySet<string> = new Set(['from', 'из']);

/** `Blog post, 1200 words`, `sql query: …`: the thing itself instead of a request for it. */
export function readNounRequest(sentence: Sentence, scene: Scene): { signal: SignalName; at: number } | undefined {
  if (scene.prose.startsWithCode) return undefined;
  const word = sentence.tokens[0]?.word ?? '';
  if (word.charCodeAt(0) >= 0x400 && IMPERATIVES.some((ending) => word.endsWith(ending))) return undefined;
  if (isMathematical(scene) || PRONOUNS.has(sentence.tokens[0]?.word ?? '')) return undefined;
  let subject: number | undefined;
  for (const hit of sentence.hits) {
    if (hit.at > NOUN_WINDOW) break;
    const labels = hit.concept === 'content' || hit.concept === 'essay';
    if (labels && hit.at === 0 && sentence.tokens[hit.size]?.word === ':' && scene.instruction.tasks.length > 0)
      continue;
    if (isSubject(hit.concept)) subject ??= hit.at;
    if (OUT_OF.has(sentence.tokens[hit.at - 1]?.word ?? '')) continue;
    if (hit.concept === 'software' && sentence.tokens.length <= NAMED_WORDS_MIN) continue;
    if (hit.concept === 'micro' || hit.concept === 'format') continue;
    const spoken = isSpokenScript(sentence, hit.at);
    const signal = spoken ? 'compose' : OBJECTS.has(hit.concept) ? signalOfObject(hit.concept, scene) : undefined;
    if ((signal === 'compose' || signal === 'long_form') && subject === 0) return { signal: 'code', at: 0 };
    const programmed = signal === 'compose' && sentence.hits.some((one) => isMeans(sentence, one));
    if (signal !== undefined) return { signal: programmed ? 'code' : signal, at: hit.at };
  }
  if (subject === undefined) return undefined;
  const handled = sentence.hits.some(({ concept }) => HANDLED.has(concept));
  return sentence.tokens.length <= NAMED_WORDS_MIN && !handled ? undefined : { signal: 'code', at: subject };
}
