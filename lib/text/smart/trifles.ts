// What makes a message light: few words, greetings, short answers, gaps to fill, facts named without a question.
import { type Collector, MECHANICAL_SIGNALS, WORK_SIGNALS } from './collector.ts';
import { hasCode, type Scene } from './scene.ts';
import { hasHit, type Sentence } from './sentences.ts';
import type { Token } from './tokens.ts';
import { isPersonal } from './voice.ts';

/** Alternatives after a long story want it thought through. */
const CHOICE_WORDS = 60;
const SHORT_LENGTH_MAX = 300;
const SHORT_WORDS = 12;
const NOT_SHORT_WORDS = 40;

export function detectTrifles(scene: Scene, signals: Collector): void {
  const { asked, told, instruction, length } = scene;
  const words = instruction.words + instruction.payloadTokens;
  if (length < SHORT_LENGTH_MAX && words <= NOT_SHORT_WORDS) {
    signals.add('short', (NOT_SHORT_WORDS - words) / (NOT_SHORT_WORDS - SHORT_WORDS));
  }
  detectBrevity(scene, signals);
  if (asked.has('simple')) signals.add('simple');
  if (told.has('yes_no')) signals.add('closed');
  if (asksForUnits(scene) && !signals.has(...WORK_SIGNALS)) signals.add('convert');
  if (scene.figures.blanks > 0 && !hasCode(scene)) signals.add('lookup');
  if (countOptions(scene) >= 2) signals.add('choice', CHOICE_WORDS / words);
  detectTalk(scene, signals);
}

/** Alternatives to choose from, one a line or `(a)`, `(b)` in a row. */
function countOptions({ instruction, figures }: Scene): number {
  const lines = [...instruction.asking, ...instruction.context].filter((sentence) => sentence.option);
  return lines.length + figures.options;
}

const BRIEF_WORDS_MAX = 30;

function detectBrevity({ told, limitWords }: Scene, signals: Collector): void {
  if (told.has('brief') || (limitWords > 0 && limitWords <= BRIEF_WORDS_MAX)) signals.add('brief');
  else if (told.has('terse')) signals.add('brief', 0.5);
}

const UNITS_WORDS_MAX = 16;

/** `Сколько будет 5 футов в сантиметрах` */
function asksForUnits({ told, figures, instruction }: Scene): boolean {
  if (instruction.words > UNITS_WORDS_MAX || figures.numbers === 0) return false;
  return (
    instruction.asking.length === 1 && instruction.context.length === 0 && told.has('measure') && told.has('quantity')
  );
}

const GREETING_WORDS_MAX = 10;
const FRAGMENT_WORDS_MIN = 3;

function detectTalk(scene: Scene, signals: Collector): void {
  const { told, instruction } = scene;
  const words = instruction.words + instruction.payloadTokens;
  const works = signals.has(...WORK_SIGNALS, ...MECHANICAL_SIGNALS);
  if (!works && words <= GREETING_WORDS_MAX && isGreeting(scene)) signals.add('greeting');
  if (signals.found.size <= 1 && isNamedFact(scene)) signals.add('fact', 0.8);
  if (signals.found.size <= 1 && isFragment(scene)) signals.add('fragment');
  if (instruction.tasks.length > 0 || instruction.questions.length > 0) return;
  if (told.has('persona')) signals.add('roleplay');
  if (told.has('care')) signals.add('advice');
  if (words > FRAGMENT_WORDS_MIN && !signals.has('greeting', 'fact', 'lookup', 'fragment')) signals.add('chat');
}

const BESIDE_GREETING_MAX = 5;
/** Words that only answer: with more beside them they begin a sentence of its own. */
const ANSWERS: ReadonlySet<string> = new Set(
  'yes no yep nope yeah sure ok okay okey i да нет понял поняла понятно ясно ок угу ага хорошо ладно'.split(' '),
);
const BESIDE_ANSWER_MAX = 1;

/** Begins or ends with a greeting and says little else. */
function isGreeting({ instruction }: Scene): boolean {
  const sentences = [...instruction.asking, ...instruction.context];
  const first = instruction.context[0] ?? instruction.asking[0];
  const thanks = sentences.some(({ tokens, hits }) =>
    hits.some((hit) => hit.concept === 'greeting' && hit.at + hit.size === tokens.length),
  );
  const opens = first?.hits.some((hit) => hit.concept === 'greeting' && hit.at <= 3) === true;
  if (!opens && !thanks) return false;
  if (sentences.some((sentence) => hasHit(sentence, 'why') || isObjection(sentence))) return false;
  let rest = instruction.words;
  let civil = false;
  for (const sentence of sentences) {
    for (const { concept, size, at } of sentence.hits) {
      if (concept !== 'greeting') continue;
      rest -= size;
      civil ||= !ANSWERS.has(sentence.tokens[at]!.word);
    }
    for (const token of sentence.tokens) if (token.kind === 'mark') rest--;
  }
  return rest <= (civil ? BESIDE_GREETING_MAX : BESIDE_ANSWER_MAX);
}

/** `А если …` objects or goes on, `а, точно` does not. */
function isObjection({ tokens }: Sentence): boolean {
  return NEGATED.has(tokens[0]?.word ?? '') && tokens[1]?.word !== ',';
}

const NEGATED: ReadonlySet<string> = new Set(['не', 'но', 'если', 'а', 'not', 'but', 'if']);
const FRAGMENT_WORDS_MAX = 5;

/** A few words that ask for nothing and tell nothing of the speaker. */
function isFragment(scene: Scene): boolean {
  const { tasks, questions, asking, context, words } = scene.instruction;
  if (hasCode(scene) || FULL.some((concept) => scene.told.has(concept)) || [...asking, ...context].some(isForeign))
    return false;
  if (words <= 2) return true;
  const personal = [...asking, ...context].some((one) => isPersonal(one) || one.tokens.some(isLinking));
  return words <= FRAGMENT_WORDS_MAX && tasks.length === 0 && questions.length === 0 && !personal;
}

/** What makes a few words more than a fragment. */
const FULL = ['care', 'topics', 'trouble'] as const;
const LINKS: ReadonlySet<string> = new Set('with about help о об про помогите помоги'.split(' '));

function isLinking({ word }: Token): boolean {
  return LINKS.has(word);
}

/** What is about something is a text to be written. */
const ABOUT: ReadonlySet<string> = new Set(['about', 'for', 'between', 'про', 'о', 'об', 'для', 'тему']);
const SPEAKERS: ReadonlySet<string> = new Set(
  'it he she they you this that there yes no yeah он она оно они вы ты это да нет'.split(' '),
);
/** In a script whose words the reader cannot tell apart: a few words of ours may be a long text. */
function isForeign({ tokens }: Sentence): boolean {
  return tokens.some((token) => token.kind === 'word' && token.word.charCodeAt(0) >= FOREIGN_FROM);
}

const FOREIGN_FROM = 0x530;
const NEGATIONS: ReadonlySet<string> = new Set(['не', 'not', 'no', 't', 'нет', 'doesnt', 'dont', 'isnt']);
const NAMED_FACT_WORDS_MAX = 8;
const NAMED = ['factual', 'who', 'quantity', 'measure', 'sum', 'basic'] as const;
const IFS = ['if', 'если', 'когда', 'when'];

/** `Largest desert in asia`: a few words, no verb of ours, nobody speaking of himself. */
function isNamedFact({ instruction, told, prose }: Scene): boolean {
  const { tasks, questions, asking, context, words } = instruction;
  if (tasks.length > 0 || questions.length > 0 || asking.length + context.length !== 1) return false;
  if (
    words < 2 ||
    words > NAMED_FACT_WORDS_MAX ||
    told.has('me') ||
    told.has('care') ||
    told.has('format') ||
    prose.codeLines > 0
  )
    return false;
  const sentence = asking[0] ?? context[0]!;
  if (isForeign(sentence) || IFS.some((word) => sentence.tokens.some((token) => token.word === word))) return false;
  if (sentence.tokens.some((token) => ABOUT.has(token.word)) && !hasHit(sentence, 'factual')) return false;
  if (SPEAKERS.has(sentence.tokens[0]?.word ?? '') || !NAMED.some((concept) => hasHit(sentence, concept))) return false;
  return !sentence.tokens.some((token) => (token.kind === 'mark' && token.word !== '-') || NEGATIONS.has(token.word));
}
