// Takes strength from a sign whose evidence is thin or spoken against, so that doubt ends in the middle tier.
import { type Collector, MECHANICAL_SIGNALS } from './collector.ts';
import { type Concept, isMechanical } from './concepts.ts';
import type { Task } from './instruction.ts';
import type { SignalName } from './names.ts';
import type { Scene } from './scene.ts';
import { hasHit } from './sentences.ts';
import type { Work } from './work.ts';

/** What is left of a light sign in doubt: alone it does not reach the lowest tier. */
const DOUBTED = 0.3;
/** What is left of a heavy one. */
const UNSURE = 0.3;

export function settleDoubts(scene: Scene, works: readonly Work[], signals: Collector): void {
  for (const work of works) {
    if (isNeeding(work.signal) && isThin(work, scene)) keepAtMost(DOUBTED, work.signal, signals);
  }
  if (asksOfConditions(scene)) for (const name of ORDERING) keepAtMost(DOUBTED, name, signals);
  if (tellsBeforeAsking(scene)) for (const name of PLAIN_ANSWERS) keepAtMost(DOUBTED, name, signals);
  if (!signals.has(...SURELY_HEAVY) && works.some((work) => work.signal === 'code' && isCipher(work, scene)))
    keepAtMost(UNSURE, 'code', signals);
}

function keepAtMost(strength: number, name: SignalName, signals: Collector): void {
  const found = signals.strengthOf(name);
  if (found > strength) signals.weaken(name, strength / found);
}

/** Work that is nothing without a text or a list to do it to; a word may be looked up by itself. */
function isNeeding(signal: SignalName): boolean {
  return (
    signal !== 'lookup' && signal !== 'summarize' && (MECHANICAL_SIGNALS as readonly SignalName[]).includes(signal)
  );
}

const BARE_WORDS_MAX = 5;
/** What is programmed, proved or computed: a verb of handling beside it may be a step of that. */
const PROGRAMMING: readonly Concept[] = ['language', 'tech', 'code', 'bug', 'structure'];
const HARD: readonly Concept[] = [
  ...PROGRAMMING,
  'math',
  'higher',
  'science',
  'logic',
  'reasoning',
  'givens',
  'statement',
];

const SET_PHRASE_MIN = 3;
/** `Sort plum, fig, apple`: a comma so near the verb is one of a list. */
const LISTED_DISTANCE = 5;
/** Words that are themselves what is translated, converted or named. */
const NAMED: readonly Concept[] = ['follow', 'measure', 'tongue', 'micro'];

/** Nothing to do it to, or no command to do it, or beside it a sign of harder work and no text of its own. */
function isThin({ task }: Work, scene: Scene): boolean {
  const { instruction, told } = scene;
  if (isFixOfThing(task)) return true;
  if (hasText(task, scene)) return false;
  if (instruction.words > BARE_WORDS_MAX && !hasMaterial(task, scene) && !asksPlainly(scene)) return true;
  if (!task.command && task.sentence.end === '?' && instruction.context.length > 0) return true;
  return HARD.some((concept) => told.has(concept)) || PROGRAMMING.some((concept) => hasHit(task.sentence, concept));
}

/** `Fix the price so that we still earn 15 percent`: nothing says that words are to be corrected. */
function isFixOfThing({ concept, sentence }: Task): boolean {
  if (concept !== 'fix' || sentence.tokens.length <= BARE_WORDS_MAX) return false;
  if (WORDED.some((one) => hasHit(sentence, one))) return false;
  return !sentence.tokens.some(({ quoted, word }) => quoted || word === ':');
}

const WORDED: readonly Concept[] = ['grammar', 'deictic', 'label', 'micro', 'content', 'tongue'];

/** Work on words: figures alone are nothing to do it to. */
const IN_WORDS: ReadonlySet<Concept> = new Set<Concept>(['fix', 'shorten', 'rewrite']);

/** Figures, things in a row, a situation, or a set phrase such as `how many ounces in`. */
function hasMaterial({ concept, sentence, at }: Task, { instruction, told, figures }: Scene): boolean {
  if (instruction.context.length > 0 || (figures.numbers > 0 && !IN_WORDS.has(concept))) return true;
  if (sentence.hits.some((hit) => hit.at === at && hit.size >= SET_PHRASE_MIN)) return true;
  if (NAMED.some((concept) => told.has(concept) || hasHit(sentence, concept))) return true;
  if (!IN_WORDS.has(concept) && sentence.tokens.some(({ kind }) => kind === 'number')) return true;
  return sentence.tokens.slice(at, at + LISTED_DISTANCE).some(({ word }) => word === ',');
}

/** `What language do they speak in Suriname?`: a question by itself. */
function asksPlainly({ instruction }: Scene): boolean {
  return instruction.questions.length === 1 && instruction.asking.length === 1 && instruction.context.length === 0;
}

/** Whether the request brings a text, in quotes, behind a colon or below, or points at one. */
function hasText({ sentence, at }: Task, { instruction, told, prose }: Scene): boolean {
  if (instruction.payloadTokens > 0 || prose.dataLines + prose.codeLines > 0) return true;
  if (told.has('deictic') || told.has('label')) return true;
  if (sentence.tokens.some(({ word }, index) => word === ':' && index > at)) return true;
  return [...instruction.asking, ...instruction.context].some(({ tokens }) => tokens.some(({ quoted }) => quoted));
}

const ORDERING = ['convert', 'classify'] as const;
const CLUES_MIN = 2;

/** `Sort by logic: Ann sits left of Bo. … Who sits where?`: conditions to think through, not things to put in order. */
function asksOfConditions({ prose }: Scene): boolean {
  const { sentences } = prose;
  const last = sentences[sentences.length - 1];
  if (last?.end !== '?' || sentences.length < 2 || hasHit(last, 'deictic')) return false;
  let clues = 0;
  for (const { hits } of sentences)
    for (const { concept } of hits) if (concept === 'clue' || concept === 'logic') clues++;
  return clues >= CLUES_MIN;
}

const PLAIN_ANSWERS = ['fact', 'closed', 'define', 'list', 'small_output'] as const;
const TOLD_WORDS_MIN = 12;
const FIGURED_WORDS_MIN = 5;

/** A situation of some length, or what is given for a problem, and then a question about it. */
function tellsBeforeAsking({ prose, instruction, told, figures }: Scene): boolean {
  const question = instruction.questions[instruction.questions.length - 1];
  const last = prose.sentences[prose.sentences.length - 1];
  if (question === undefined || last === undefined || told.has('label')) return false;
  if (told.has('givens') || told.has('statement') || question.at >= TOLD_WORDS_MIN) return true;
  const before = prose.sentences.slice(0, -1).filter((one) => one.end !== '?' && !hasHit(one, 'greeting'));
  const figured = figures.numbers > 1 || before.some((one) => hasHit(one, 'numeral') || hasHit(one, 'measure'));
  const words = before.reduce((sum, one) => sum + one.tokens.length, 0);
  return last.end === '?' && words >= (figured ? FIGURED_WORDS_MIN : TOLD_WORDS_MIN);
}

const SURELY_HEAVY = ['code_topic', 'code_input', 'debug', 'review', 'math', 'proof', 'design', 'analysis'] as const;
const CIPHERS: ReadonlySet<string> = new Set('code codes код кода коде коды кодов'.split(' '));
const NAMED_WORDS_MAX = 8;
const ASKED: readonly Concept[] = ['who', 'what', 'define', 'brief'];
const PROGRAMMED: readonly Concept[] = ['language', 'tech', 'software', 'structure', 'sample', 'write'];

/** `The area code of Lyon`: nothing beside the word itself speaks of programs. */
function isCipher({ task }: Work, { told, prose }: Scene): boolean {
  const { tokens, hits } = task.sentence;
  if (tokens.length > NAMED_WORDS_MAX || prose.inlineCode > 0) return false;
  if (isMechanical(task.concept) || PROGRAMMED.some((one) => told.has(one) || hasHit(task.sentence, one))) return false;
  if (!task.command && ASKED.some((one) => hasHit(task.sentence, one))) return true;
  const [named, other] = hits.filter(({ concept }) => concept === 'code' || concept === 'implement');
  if (named === undefined || !CIPHERS.has(tokens[named.at]!.word) || (other !== undefined && other.at !== named.at))
    return false;
  return named.at > 0 || tokens[1]?.word !== 'для';
}
