// How hard the subject is: programming, mathematics, puzzles.
import type { Figures } from './amounts.ts';
import { type Collector, MECHANICAL_SIGNALS, WORK_SIGNALS } from './collector.ts';
import { type Concept, isMechanical } from './concepts.ts';
import { asksOfQuote, offersLabels } from './questions.ts';
import { hasCode, type Scene, wantsProof } from './scene.ts';
import { hasHit, isRatio, type Sentence } from './sentences.ts';
import { isPersonal } from './voice.ts';
import type { Work } from './work.ts';

/** `You are given an array of integers …`: the way programming problems are put. */
function statesProblem({ told, figures, instruction }: Scene): boolean {
  if (instruction.words < GIVEN_WORDS_MIN) return false;
  const own = figures.numbers > 0 || instruction.payloadTokens > 0 || instruction.asking.some(hasQuoted);
  if (instruction.words < STATEMENT_WORDS_MIN && own) return false;
  if ((told.has('statement') && instruction.words >= STATED_WORDS_MIN) || figures.bounds > 0) return true;
  return [...instruction.asking, ...instruction.context].some(({ hits }) => {
    const given = hits.find((hit) => hit.concept === 'givens' && hit.at <= 3);
    if (given === undefined) return false;
    return hits.some((hit) => hit.concept === 'structure' && hit.at > given.at && hit.at - given.at <= GIVEN_DISTANCE);
  });
}

const GIVEN_DISTANCE = 7;
const GIVEN_WORDS_MIN = 6;
const STATEMENT_WORDS_MIN = 16;
const STATED_WORDS_MIN = 20;

const COPULAS: ReadonlySet<string> = new Set('is was are has vs or and это или и против'.split(' '));
const MEANS: ReadonlySet<string> = new Set(['in', 'using', 'with', 'на']);
const NAMED_WORDS_MIN = 4;

/** `SQL how many orders …`, `find the second largest element in C++`: the language the work is to be done in. */
function isProgramNamed({ instruction, told }: Scene): boolean {
  const { asking, context, questions, words } = instruction;
  if (!told.has('language') || words < NAMED_WORDS_MIN || told.has('topics') || told.has('sample')) return false;
  const [sentence] = [...asking, ...context];
  if (sentence === undefined || asking.length + context.length > 2) return false;
  const languages = sentence.hits.filter((hit) => hit.concept === 'language');
  if (languages.some((hit) => hit.at === 0 && !COPULAS.has(sentence.tokens[hit.size]?.word ?? ''))) return true;
  const last = languages[languages.length - 1];
  const ends = last !== undefined && last.at + last.size === sentence.tokens.length;
  if (ends && sentence.tokens[last.at - 1]?.word === ',') return true;
  if (questions.length > 0 || sentence.hits.some(({ concept }) => NO_PROGRAM.has(concept))) return false;
  return last !== undefined && (ends || MEANS.has(sentence.tokens[last.at - 1]?.word ?? ''));
}

const NO_PROGRAM: ReadonlySet<Concept> = new Set<Concept>([
  'explain',
  'compare',
  'content',
  'essay',
  'long',
  'ideas',
  'me',
]);

function hasQuoted({ tokens }: Sentence): boolean {
  return tokens.some((token) => token.quoted);
}

export function detectCode(scene: Scene, works: readonly Work[], signals: Collector): void {
  const { told, asked, prose } = scene;
  const mechanical =
    works.length > 0 && works.every((work) => isMechanical(work.task.concept) || work.signal === 'extract');
  if (offersLabels(scene)) return;
  if (works.length === 0 && scene.instruction.questions.some((question) => asksOfQuote(question, scene))) return;
  const named = (told.get('language') ?? 0) + (told.get('tech') ?? 0) + prose.inlineCode;
  const way = scene.instruction.questions.some((question) => question.kind === 'how');
  const subject = named === 0 && way && told.has('code') ? 1 : named;
  if (told.has('sample') && (subject > 0 || hasCode(scene))) signals.add('code');
  if (statesProblem(scene)) {
    signals.add('code');
    signals.drop(...MECHANICAL_SIGNALS, 'compose');
  }
  const creates =
    signals.strengthOf('compose') === 1 ||
    (signals.has('long_form', 'roleplay', 'plan', 'ideas') && !asked.has('code'));
  if (mechanical) return;
  if (isProgramNamed(scene)) {
    signals.add('code');
    signals.drop('fact', 'closed', 'define', 'compose', 'roleplay', 'list', 'long_form');
  }
  if (!creates) detectTopic(scene, subject, signals);
  if (hasCode(scene)) detectCodeInput(scene, works, signals);
}

const LATIN_MIN = 3;
const CYRILLIC_FROM = 0x400;

/** Russian that repeats what a machine has said: `ошибка … table or view does not exist`. */
function quotesMachine(sentences: readonly Sentence[]): boolean {
  return sentences.some(({ tokens, hits }) => {
    if (!hits.some((hit) => hit.concept === 'trouble')) return false;
    const words = tokens.filter(({ kind }) => kind === 'word');
    const latin = words.filter(({ word }) => word.charCodeAt(0) < CYRILLIC_FROM).length;
    return latin >= LATIN_MIN && latin < words.length;
  });
}

const AGAINST: ReadonlySet<string> = new Set('but not t doesnt wont cant dont still но не нет все_равно'.split(' '));

/** `My animation stutters in one browser but not in another`: something is not as it should be. */
function isAgainst({ tokens }: Sentence): boolean {
  return tokens.length >= AGAINST_WORDS_MIN && tokens.some(({ word, quoted }) => !quoted && AGAINST.has(word));
}

const AGAINST_WORDS_MIN = 5;
const OWN: ReadonlySet<string> = new Set('my our мой моя мое мои наш меня нас'.split(' '));

/** `My container exits at once`: who tells of his own work wants it to work. */
function isOfOwn({ tokens }: Sentence): boolean {
  return tokens.length >= AGAINST_WORDS_MIN - 1 && tokens.some(({ word }) => OWN.has(word));
}

/** Programming is what it is about; with something that does not work it is a hunt for a fault. */
function detectTopic({ told, asked, prose, instruction }: Scene, subject: number, signals: Collector): void {
  const sentences = [...instruction.asking, ...instruction.context];
  if (subject > 0) {
    const asksHow = signals.has('advice', 'explain', 'debug') && !signals.has('fact', 'define');
    signals.add('code_topic', asksHow ? 0.6 + subject * 0.3 : subject / 2);
  }
  if (told.has('trouble') && quotesMachine(sentences)) signals.add('debug', 0.9);
  const telling = instruction.tasks.length === 0 && instruction.questions.length === 0;
  if (subject > 0 && telling && sentences.some((one) => isAgainst(one) || isOfOwn(one))) signals.add('debug', 0.7);
  if (subject === 0 && prose.codeLines === 0 && !told.has('code')) return;
  if (told.has('bug')) signals.add('debug');
  const troubled = told.has('trouble') && (!signals.has('define') || asked.has('deictic'));
  if (troubled) signals.add('debug', 0.6 + subject / 4);
}

const FEW_WORDS = 10;

function detectCodeInput({ told, prose, instruction }: Scene, works: readonly Work[], signals: Collector): void {
  signals.add('code_input', 0.5 + prose.codeLines / 20);
  if (works.some((work) => work.signal === 'explain')) signals.add('code_topic', 0.7);
  if (told.has('brief') && instruction.questions.length > 0 && !told.has('bug')) signals.add('extract');
  else if (instruction.words <= FEW_WORDS && works.length > 0 && works.every((work) => work.signal === 'compose'))
    signals.add('review');
  else if (works.every((work) => work.signal === 'advice'))
    signals.add(told.has('bug') || !prose.startsWithCode ? 'debug' : 'code');
}

export function detectMathematics(scene: Scene, signals: Collector): void {
  const { figures, told, asked, instruction } = scene;
  if (told.has('logic') && instruction.words >= PUZZLE_WORDS_MIN) {
    signals.add('logic');
    signals.drop('fact', 'closed', 'define', 'classify');
  }
  detectPuzzle(scene, signals);
  if (offersLabels(scene)) return;
  if (signals.has(...MECHANICAL_SIGNALS) && !asked.has('math') && !asked.has('higher')) return;
  const writes = signals.has('long_form', 'plan', 'ideas', 'code', 'debug', 'review', 'roleplay');
  if (isSimpleSum(scene) && !writes && !signals.has('compose') && !asked.has('why')) {
    signals.add('arithmetic');
    signals.drop('fact', 'define', 'closed', 'explain');
    return;
  }
  if (writes || signals.strengthOf('compose') === 1) return;
  const formulas = (isFormula(figures) ? 1 : 0) + figures.signs;
  const terms = (told.get('math') ?? 0) + (told.get('science') ?? 0) * 0.7 + (told.get('higher') ?? 0) * HIGHER;
  // `Is 91 prime?` has one number and a plain answer.
  const known = instruction.words <= FEW_WORDS && !asked.has('quantity') && !asked.has('solve') ? 1 : 0;
  const proves = wantsProof(scene);
  const idle = signals.has('closed', 'fact', 'define') && figures.numbers <= known && !proves;
  if (idle && instruction.words <= SUM_WORDS_MAX && formulas === 0) return;
  const idleTalk = instruction.tasks.length + instruction.questions.length > 0 || instruction.words < BARE_WORDS_MIN;
  const bare = !idleTalk && terms > 0;
  const solving = bare || asked.has('solve') || proves || asked.has('quantity') || asked.has('identify');
  const easy = figures.variables <= EASY_VARIABLES && figures.signs === 0 && terms === 0;
  const strength = formulas * (easy ? 0.2 : 0.6) + terms * 0.3 + (solving ? 0.25 : 0);
  if (terms + formulas > 0) signals.add('math', strength);
  const unasked = signals.has('compose') && !asked.has('solve');
  if (solving && !unasked && tellsStory(scene) && (!signals.has('advice') || figures.numbers >= FIGURES_MANY)) {
    signals.add('word_problem');
    if (signals.strengthOf('logic') < 1) signals.drop('logic');
    signals.drop('fact', 'closed', 'define');
  }
}

const OWN_WORK = WORK_SIGNALS.filter((name) => name !== 'advice' && name !== 'compare');
const CLUES_MIN = 2;
/** So many that a word such as `sort` is the puzzle's. */
const CLUES_SURE = 4;
const CLUES_MANY = 5;
const CLUED_WORDS_MIN = 12;
/** A riddle of fewer words is mostly a trick question. */
const CLUED_WORDS = 30;

/** A situation told by its conditions, and at its end a question with one answer: the question is no mere fact. */
function detectPuzzle({ instruction, told }: Scene, signals: Collector): void {
  const { questions, asking, context, words } = instruction;
  const last = questions[questions.length - 1];
  const clues = told.get('clue') ?? 0;
  if (last === undefined || clues < CLUES_MIN || words < CLUED_WORDS_MIN) return;
  if (asking.length + context.length < 2 || last.kind === 'why' || last.kind === 'how' || last.kind === 'define')
    return;
  const sentences = [...asking, ...context];
  if (sentences.some(isPersonal) || signals.has(...OWN_WORK)) return;
  if (signals.has(...MECHANICAL_SIGNALS) && clues < CLUES_SURE) return;
  signals.add('logic', (clues / CLUES_MANY) * Math.min(1, words / CLUED_WORDS));
  signals.drop('fact', 'closed', 'define', 'advice', ...MECHANICAL_SIGNALS);
}

function isFormula({ variables, operations }: Figures): boolean {
  return variables >= 3 || (variables > 0 && operations > 0);
}

/** A term of higher mathematics counts for two of school. */
const HIGHER = 2;
const EASY_VARIABLES = 3;
const PUZZLE_WORDS_MIN = 12;
const FIGURES_MANY = 5;
const STORY_WORDS_MIN = 14;

/** A story with numbers in it, as school problems tell them. */
function tellsStory({ figures, instruction }: Scene): boolean {
  const sentences = instruction.asking.length + instruction.context.length;
  if (instruction.words < STORY_WORDS_MIN || figures.variables > 0) return false;
  return figures.numbers >= 2 || (figures.numbers === 1 && sentences >= 2);
}

const TOLD_WORDS_MIN = 10;
const SUM_WORDS_MAX = 16;
/** From so many words on, terms of mathematics alone name a problem. */
const BARE_WORDS_MIN = 5;
const ADDING_WORDS_MAX = 22;

/** `… at 9 percent. How much will it be in two years?`: the figures are a story's, not those of a sum. */
function sumsItself({ prose, instruction }: Scene): boolean {
  const at = prose.sentences.findIndex((one) => hasHit(one, 'sum'));
  if (at <= 0 || instruction.words <= TOLD_WORDS_MIN) return true;
  return prose.sentences[at]!.tokens.some(({ kind }) => kind === 'number');
}

const NO_SUM: readonly Concept[] = ['content', 'essay', 'long', 'code', 'language', 'tech', 'plan', 'prove'];

/** `17 * 23`, `15% of 240`, `the area of a square with side 6`: one step, no variable. */
function isSimpleSum(scene: Scene): boolean {
  const { figures, instruction, told } = scene;
  const { asking, context, words } = instruction;
  if (figures.variables > 0 || figures.signs > 0 || figures.numbers === 0) return false;
  if (asking.some(({ tokens }) => tokens.some((_, at) => isRatio(tokens, at)))) return false;
  if (words > (told.has('sum') ? ADDING_WORDS_MAX : SUM_WORDS_MAX)) return false;
  const sentences = asking.length + context.length;
  if (context.length > 0 && figures.numbers >= 2 && words >= TOLD_WORDS_MIN && !told.has('sum')) return false;
  if (sentences > 2 || NO_SUM.some((concept) => told.has(concept))) return false;
  if (told.has('reasoning') || told.has('higher') || (told.get('math') ?? 0) > (told.get('basic') ?? 0)) return false;
  if (told.has('sum') && !told.has('math') && !told.has('science')) return sumsItself(scene);
  if (figures.operations > 0 && (figures.numbers >= 2 || told.has('math') || told.has('basic'))) return true;
  if (sentences > 1 || !told.has('basic')) return false;
  return words <= 8 || told.has('solve') || told.has('define') || told.has('identify');
}
