// What a question expects: a fact, a word, a definition, an explanation or advice.
import type { Collector } from './collector.ts';
import { MECHANICAL_SIGNALS } from './collector.ts';
import type { Concept } from './concepts.ts';
import type { SignalName } from './names.ts';
import type { Question } from './question.ts';
import type { Scene } from './scene.ts';
import { hasHit, type Prose, type Sentence } from './sentences.ts';
import { addressesYou, isPersonal } from './voice.ts';
import type { Work } from './work.ts';

interface Answer {
  readonly signal: SignalName;
  readonly strength?: number;
}

export function detectQuestions(scene: Scene, works: readonly Work[], signals: Collector): void {
  if (offersLabels(scene)) {
    signals.add('classify');
    return;
  }
  for (const question of scene.instruction.questions) {
    const mechanical = works.some(({ task, signal }) => task.sentence === question.sentence && isWorkOnText(signal));
    if (mechanical) continue;
    if (hasHit(question.sentence, 'compare') && !asksMeasure(question.sentence)) signals.add('compare');
    const answer = readAnswer(question, scene);
    if (answer !== undefined) signals.add(answer.signal, answer.strength);
  }
}

function isWorkOnText(signal: SignalName): boolean {
  return (MECHANICAL_SIGNALS as readonly SignalName[]).includes(signal);
}

/** `The difference in hours`, `which is heavier`: compared, but with a plain answer. */
function asksMeasure(sentence: Sentence): boolean {
  return hasHit(sentence, 'factual') || hasHit(sentence, 'measure');
}

function readAnswer(question: Question, scene: Scene): Answer | undefined {
  if (isAboutGivenText(question, scene) || asksOfQuote(question, scene)) return { signal: 'extract' };
  if (asksForSpelling(question)) return { signal: 'lookup' };
  if (isCompound(question) || asksForReasons(question)) return { signal: 'explain' };
  if (supposes(question)) return undefined;
  if (asksOfCase(question, scene)) return { signal: 'advice' };
  if (asksForOpinion(question)) return { signal: 'advice' };
  const { sentence, kind } = question;
  if (addressesYou(sentence) && kind !== 'how' && scene.instruction.words <= SMALL_TALK_WORDS_MAX)
    return readSmallTalk(question);
  if (kind !== 'closed' && (isPersonal(sentence) || asksWhatToDo(question))) return { signal: 'advice' };
  if (hasHit(sentence, 'compare') && !asksMeasure(sentence)) return undefined;
  return readPlainAnswer(question, scene);
}

const SMALL_TALK_WORDS_MAX = 7;
const CLOSED_WORDS_MAX = 30;
const DEFINE_WORDS_MAX = 9;
const WHAT_WORDS_MAX = 16;
const OTHER_WORDS_MAX = 8;

/** `Can you sing?` is a plain question, `do you ever feel lonely?` begins a talk. */
function readSmallTalk({ sentence, at, kind }: Question): Answer {
  const word = sentence.tokens[at]?.word;
  const feels = kind === 'closed' && (word === 'do' || word === 'have' || word === 'would');
  return { signal: feels ? 'advice' : 'closed' };
}

function readPlainAnswer(question: Question, scene: Scene): Answer | undefined {
  const { sentence, kind } = question;
  const { words } = scene.instruction;
  const factual = hasHit(sentence, 'factual');
  if ((kind === 'what' || kind === 'define') && !factual && isTechnical(sentence)) return { signal: 'define' };
  switch (kind) {
    case 'what':
      return { signal: 'fact', strength: words <= WHAT_WORDS_MAX && !asksForMany(question) ? 0.95 : 0.3 };
    case 'how':
      if (sentence.tokens.some((token) => EXPLAINED.has(token.word))) return { signal: 'explain' };
      return { signal: factual ? 'fact' : 'advice' };
    case 'fact':
      return { signal: 'fact', strength: tellsOfSelf(question, scene) && words >= STORY_WORDS ? 0.35 : 1 };
    case 'define':
      if (factual) return { signal: 'fact' };
      if (sentence.tokens.some((token) => IFS.has(token.word))) return { signal: 'explain' };
      if (sentence.tokens.some((token) => EXPLAINED.has(token.word))) return { signal: 'explain' };
      return words <= DEFINE_WORDS_MAX ? { signal: 'define' } : { signal: 'explain', strength: 0.5 };
    case 'closed':
      if (asksLeave(question, scene) || scene.told.has('reasoning')) return { signal: 'advice' };
      if (hasHit(sentence, 'debatable') || tellsOfSelf(question, scene) || isPersonal(sentence))
        return { signal: 'advice' };
      return words <= CLOSED_WORDS_MAX ? { signal: 'closed' } : undefined;
    default:
      if (factual) return { signal: 'fact' };
      if (words > OTHER_WORDS_MAX || hasHit(sentence, 'change') || hasHit(sentence, 'opinion')) return undefined;
      return { signal: 'fact', strength: 0.9 };
  }
}

const IFS: ReadonlySet<string> = new Set(['if', 'suppose', 'если', 'допустим', 'пусть']);

/** `If yesterday was …, what day is it?`: something is to be worked out first. */
function supposes({ sentence, at }: Question): boolean {
  return IFS.has(sentence.tokens[0]!.word) && at > 0;
}

const CASE_WORDS_MIN = 4;
const CASE_QUESTION_MAX = 4;

/** `The leaves wither. What is wrong?`: a few words that ask about the case told before. */
function asksOfCase({ sentence }: Question, { instruction, prose }: Scene): boolean {
  if (sentence.tokens.length > CASE_QUESTION_MAX || hasHit(sentence, 'factual')) return false;
  const before = prose.sentences.slice(0, Math.max(0, prose.sentences.indexOf(sentence)));
  const told = instruction.context.filter((one) => before.includes(one) && !hasHit(one, 'greeting'));
  return told.reduce((sum, one) => sum + one.tokens.length, 0) >= CASE_WORDS_MIN;
}

function asksForReasons(question: Question): boolean {
  const { sentence, kind, at } = question;
  if (sentence.tokens[at]?.word === 'о' && !hasHit(sentence, 'deictic')) return true;
  if (kind === 'why') return true;
  if (kind === 'what' && sentence.tokens[at]!.word === 'чем') return !asksWhatToDo(question);
  return kind !== 'closed' && hasHit(sentence, 'topics');
}

function asksForOpinion({ sentence, kind }: Question): boolean {
  if (hasHit(sentence, 'advise')) return true;
  if (kind === 'closed' || hasHit(sentence, 'factual') || !hasHit(sentence, 'opinion')) return false;
  return kind === 'what' || kind === 'define' || hasHit(sentence, 'better');
}

function isTechnical(sentence: Sentence): boolean {
  return hasHit(sentence, 'tech') || hasHit(sentence, 'language');
}

/** `What do we learn from it`, `what is the song about` */
const EXPLAINED: ReadonlySet<string> = new Set('do about влияет влияют зависит affect affects'.split(' '));
const MANY: ReadonlySet<string> = new Set(['какие', 'каких', 'какими']);

/** `Какие привычки помогают`: more than one fact, unless they are counted or well known. */
function asksForMany({ sentence, at }: Question): boolean {
  if (!MANY.has(sentence.tokens[at]!.word) || hasHit(sentence, 'factual')) return false;
  return !sentence.tokens.some((token) => token.kind === 'number');
}

/** `My friends ignore me. Is that normal?` asks for advice. */
function tellsOfSelf({ sentence }: Question, { instruction }: Scene): boolean {
  return [...instruction.context, ...instruction.asking].some((one) => one !== sentence && isPersonal(one));
}

const LEAVE: ReadonlySet<string> = new Set('можно могу могут можем надо нужно can should could must'.split(' '));
const STORY_WORDS_MIN = 6;
/** A question after a story of one's own is seldom a plain fact. */
const STORY_WORDS = 18;

/** `The seller does not answer. Can the money be had back?`: what is allowed in the case that is told. */
function asksLeave({ sentence, at }: Question, { instruction }: Scene): boolean {
  if (!LEAVE.has(sentence.tokens[at]!.word)) return false;
  const told = instruction.context.filter((one) => one.paragraph === sentence.paragraph);
  return told.reduce((sum, one) => sum + one.tokens.length, 0) >= STORY_WORDS_MIN;
}

/** A question and below it, in a paragraph of its own, the text that answers it. */
function isAboutGivenText({ sentence, kind }: Question, { instruction, prose }: Scene): boolean {
  if (prose.dataLines >= 2 && kind !== 'why') return true;
  if (kind === 'why' || kind === 'how' || kind === 'other') return false;
  const below = instruction.context.filter((one) => one.paragraph > sentence.paragraph);
  const words = below.reduce((sum, one) => sum + one.tokens.length, 0) + instruction.payloadTokens;
  return words >= GIVEN_WORDS_MIN;
}

const MEANING: ReadonlySet<string> = new Set(['mean', 'means', 'wrong', 'значит', 'означает', 'так']);
const IN: ReadonlySet<string> = new Set(['in', 'from', 'в', 'из']);

/** `What is the code in this message: "…"?`: to be found in what is quoted. */
export function asksOfQuote({ sentence, kind }: Question, { prose }: Scene): boolean {
  const { tokens, hits } = sentence;
  if (kind === 'why' || kind === 'how' || tokens.some(({ word }) => MEANING.has(word))) return false;
  const pointing = hits.some(
    ({ concept, at }) =>
      (concept === 'label' || concept === 'content') &&
      [1, 2].some((distance) => IN.has(tokens[at - distance]?.word ?? '')),
  );
  return pointing && countQuoted(prose) >= CHOSEN_TEXT_MIN;
}

function countQuoted({ sentences }: Prose): number {
  return sentences.flatMap(({ tokens }) => tokens).filter(({ quoted }) => quoted).length;
}

const CHOICE_WORDS_MAX = 14;
const CHOSEN_TEXT_MIN = 3;

/** `Complaint or thanks? "The app …"`, `algebra or geometry: "…"`: labels to choose from, and a text in quotes. */
export function offersLabels({ prose, instruction }: Scene): boolean {
  const [first, second] = prose.sentences;
  if (first === undefined || instruction.tasks.some(({ concept }) => !CHOOSING.has(concept))) return false;
  const own = first.tokens.findIndex(({ quoted }) => quoted);
  const head = own === -1 ? first.tokens : first.tokens.slice(0, own);
  const closed =
    head.length < first.tokens.length ? head[head.length - 1]?.word === ':' : second?.tokens[0]?.quoted === true;
  if (!closed || head.length > CHOICE_WORDS_MAX || countQuoted(prose) < CHOSEN_TEXT_MIN) return false;
  return head.some(({ word }, at) => at > 0 && (word === 'or' || word === 'или'));
}

const CHOOSING: ReadonlySet<Concept> = new Set<Concept>(['classify', 'identify']);

/** `Как правильно: «ложить» или «класть»?` */
function asksForSpelling(question: Question): boolean {
  const { sentence } = question;
  const tokens = sentence.tokens.filter((token, at, all) => !token.quoted || !all[at - 1]?.quoted);
  const quoted = tokens.filter((token) => token.quoted).length;
  const or = tokens.some((token) => !token.quoted && (token.word === 'or' || token.word === 'или'));
  if (quoted >= 2 && or && tokens.length <= SPELLING_WORDS_MAX) return true;
  const right = tokens.findIndex((token) => RIGHT.has(token.word));
  if (right === -1 || tokens.length > SPELLING_WORDS_MAX) return false;
  if (tokens.some((token) => token.quoted || token.word === ':')) return true;
  return or && !asksWhatToDo(question) && tokens.length <= SPELLING_PLAIN_MAX;
}

const RIGHT: ReadonlySet<string> = new Set('правильно правильнее верно грамотно correct right grammatical'.split(' '));
const SPELLING_WORDS_MAX = 16;
const SPELLING_PLAIN_MAX = 9;
const GIVEN_WORDS_MIN = 10;

/** `Who were they and what did they want?` */
function isCompound({ sentence, kind, at }: Question): boolean {
  if (kind !== 'fact' && kind !== 'define' && kind !== 'what') return false;
  return sentence.hits.some((hit) => {
    const near = sentence.tokens[hit.at - 1]?.word;
    const joint = near === 'на' || near === 'в' || near === 'for' ? sentence.tokens[hit.at - 2]?.word : near;
    const further = kind === 'define' && hit.concept === 'who';
    const asks = further || hit.concept === 'what' || hit.concept === 'how' || hit.concept === 'why';
    return hit.at > at + 1 && asks && (joint === 'and' || joint === 'и');
  });
}

/** `Чем заняться`, `куда поехать`: a question word and an infinitive ask for advice. */
function asksWhatToDo({ sentence, at, kind }: Question): boolean {
  if (kind === 'fact' && hasHit(sentence, 'quantity')) return false;
  if (sentence.tokens[at + 1]?.word === 'to') return true;
  const next = sentence.tokens.slice(at + 1, at + 1 + INFINITIVE_DISTANCE);
  return next.some(
    ({ word, quoted }) => !quoted && word.charCodeAt(0) >= 0x400 && INFINITIVES.some((ending) => word.endsWith(ending)),
  );
}

const INFINITIVE_DISTANCE = 3;
/** Infinitives, and verbs in the second person: `что скажешь`. */
const INFINITIVES = ['ть', 'ться', 'ти', 'чь', 'тись', 'шь'];
