// What kind of work each task of a message is, once its object is known.
import { isMechanical } from './concepts.ts';
import type { Task } from './instruction.ts';
import {
  becomesContent,
  changesTelling,
  checkingSignal,
  isGivenText,
  isProgrammed,
  isRework,
  mechanicalSignal,
} from './mechanical.ts';
import type { SignalName } from './names.ts';
import { objectSignal, readNounRequest } from './objects.ts';
import { hasCode, isAboutCode, isMathematical, type Scene } from './scene.ts';
import { hasHit, type Sentence } from './sentences.ts';

export interface Work {
  readonly signal: SignalName;
  readonly task: Task;
  /** A thing that is long by its nature: a novel, a thesis, a business plan. */
  readonly long: boolean;
}

/** `Write it out`: nothing says what is to be written. */
export function isVague({ signal, task }: Work): boolean {
  return signal === 'compose' && !hasHit(task.sentence, 'content');
}

/** The works asked for, in order; a task that is only mentioned in a how-to question is none. */
export function readWorks(scene: Scene): Work[] {
  const named = readNamedThing(scene);
  if (named !== undefined) return [named];
  const works: Work[] = [];
  for (const task of scene.instruction.tasks) {
    const question = scene.instruction.questions.find((one) => one.sentence === task.sentence);
    const asksHow =
      question !== undefined && (question.kind === 'how' || question.kind === 'why') && task.at > question.at;
    if (asksHow && !ASKED_ANYHOW.has(task.concept)) continue;
    const formula = isMathematical(scene) || scene.figures.operations > 0;
    if (task.concept === 'classify' && formula && scene.figures.variables > 0) continue;
    const signal = signalOf(task, scene);
    if (signal !== undefined) works.push({ signal, task, long: isLong(signal, task) });
  }
  return works;
}

/** `How do I say it in Dutch` wants it said. */
const ASKED_ANYHOW: ReadonlySet<string> = new Set(['compare', 'solve', 'translate']);

/** The thing itself instead of a request for it, when nothing else is asked for before it is named. */
function readNamedThing(scene: Scene): Work | undefined {
  const { tasks, questions, asking, context } = scene.instruction;
  const sentence = asking[0] ?? context[0];
  if (sentence === undefined || questions.length > 0) return undefined;
  const found = readNounRequest(sentence, scene);
  if (found === undefined || tasks.some((task) => isBefore(task, sentence, found.at))) return undefined;
  const task: Task = { concept: 'write', command: false, sentence, at: found.at - 1 };
  return { signal: found.signal, task, long: isLong(found.signal, task) };
}

/** A mention elsewhere does not count: only what is asked for outright, or named first. */
function isBefore(task: Task, sentence: Sentence, at: number): boolean {
  return task.sentence === sentence ? task.at < at : task.command;
}

function isLong(signal: SignalName, { sentence, at }: Task): boolean {
  if (signal !== 'long_form' && signal !== 'compose') return false;
  if (sentence.hits.some((hit) => hit.at > at && hit.concept === 'feature')) return true;
  const object = sentence.hits.find((hit) => hit.at > at && (hit.concept === 'long' || hit.concept === 'essay'));
  return signal === 'long_form' && object?.concept === 'long';
}

function signalOf(task: Task, scene: Scene): SignalName | undefined {
  const { concept, sentence } = task;
  if (isMechanical(concept)) return mechanicalSignal(task, scene);
  switch (concept) {
    case 'give':
      return givingSignal(task, scene);
    case 'write':
    case 'develop':
      return writingSignal(task, scene);
    case 'design':
      return isAboutCode(sentence) || isTechnicalDesign(scene) ? 'design' : (objectSignal(task, scene) ?? 'design');
    case 'check':
      return checkingSignal(task, scene);
    case 'review':
      if (hasCode(scene) || isAboutCode(sentence)) return 'review';
      return hasHit(sentence, 'content') && !hasHit(sentence, 'criteria') ? 'advice' : 'analysis';
    case 'implement':
      return 'code';
    case 'operate':
      return hasCode(scene) || isAboutCode(sentence) ? 'code' : 'advice';
    case 'complete':
    case 'change':
      if (hasCode(scene) || isAboutCode(sentence)) return 'code';
      if (scene.instruction.tasks.find((one) => one.sentence === sentence) !== task) return undefined;
      if (concept === 'complete' && (hasHit(sentence, 'content') || hasHit(sentence, 'essay') || goesOnWith(sentence)))
        return 'compose';
      return hasHit(sentence, 'micro') && scene.length < 400 ? 'rewrite' : undefined;
    case 'explain':
      return explainingSignal(task);
    case 'advise':
      return weightySignal(task, scene) ?? 'advice';
    case 'analyze':
      return isSmallAnalysis(sentence) ? 'classify' : 'analysis';
    case 'compare':
      if (hasHit(sentence, 'factual') && sentence.tokens.length <= SMALL_WORDS) return 'fact';
      return hasHit(sentence, 'analyze') || hasHit(sentence, 'criteria') ? 'analysis' : 'compare';
    case 'prove':
      return 'proof';
    case 'solve':
      return undefined;
    case 'act':
      return tradeOf(task) ?? 'roleplay';
    case 'list':
      return hasHit(sentence, 'convert') ? 'convert' : listingSignal(task, scene);
    case 'handle':
      if (becomesContent(task)) return 'compose';
      if (hasHit(sentence, 'extract') && hasHit(sentence, 'deictic') && !hasCode(scene)) return 'extract';
      if (!hasCode(scene) && sentence.tokens.some(({ word }) => word === '(') && offersLabels(task)) return 'classify';
      return hasHit(sentence, 'convert') || isGivenText(task, scene) ? 'convert' : undefined;
    case 'identify':
      if (offersLabels(task)) return 'classify';
      if (hasHit(sentence, 'criteria') || hasHit(sentence, 'reasoning')) return 'analysis';
      if (isSmallChoice(task, scene)) return wantsIdeas(task, scene) ? 'ideas' : 'classify';
      return hasHit(sentence, 'ideas') ? 'ideas' : undefined;
    default:
      return undefined;
  }
}

const TRADE_DISTANCE = 6;

/** `Act as a translator`: the trade is work on the texts that follow. */
function tradeOf({ sentence, at }: Task): SignalName | undefined {
  const trade = sentence.hits.find((hit) => hit.at > at && hit.at - at <= TRADE_DISTANCE && TRADES.has(hit.concept));
  return trade?.concept as SignalName | undefined;
}

const TRADES: ReadonlySet<string> = new Set(['translate', 'fix', 'classify', 'shorten', 'summarize']);

/** `Tell me the currency of Norway` wants a fact, `tell me the gist of this` a summary. */
function explainingSignal({ sentence, at }: Task): SignalName {
  const reasons = hasHit(sentence, 'how') || hasHit(sentence, 'why');
  if (hasHit(sentence, 'factual') && !reasons && sentence.tokens.length <= SMALL_WORDS) return 'fact';
  const tells = sentence.tokens[at]!.word === 'tell';
  return tells && hasHit(sentence, 'summarize') ? 'summarize' : 'explain';
}

/** `Write about Docker` wants a text, not a program. */
const ABOUT: ReadonlySet<string> = new Set(['about', 'on', 'про', 'о', 'об']);

const WEIGHTY: ReadonlySet<SignalName> = new Set(['code', 'design', 'analysis', 'strategy', 'proof']);

/** `Suggest an architecture` is design, `suggest a film` is advice. */
function weightySignal(task: Task, scene: Scene): SignalName | undefined {
  const signal = objectSignal(task, scene);
  if (signal === 'analysis' && !hasHit(task.sentence, 'analyze')) return undefined;
  return signal !== undefined && WEIGHTY.has(signal) ? signal : undefined;
}

const EXAMPLE_WORDS_MAX = 8;

/** `Name a dish` is a short list whatever the thing; an example of a situation is a small story. */
function listingSignal(task: Task, scene: Scene): SignalName {
  if (hasCode(scene)) return 'extract';
  if (hasHit(task.sentence, 'advise')) return 'advice';
  const { word } = task.sentence.tokens[task.at]!;
  if ((word === 'give' || word.startsWith('приведи')) && task.sentence.tokens.length > EXAMPLE_WORDS_MAX)
    return 'explain';
  const signal = givingSignal(task, scene);
  return signal === undefined || signal === 'compose' ? 'list' : signal;
}

const FROM: ReadonlySet<string> = new Set(['from', 'из']);

/** `From this CV give me name and phone`, `from the log below list the codes` */
function takesFrom({ tokens, hits }: Sentence): boolean {
  return hits.some(({ concept, at }) => {
    if (concept !== 'label' && concept !== 'deictic') return false;
    const distances = concept === 'label' ? [1, 2] : [1, 2, 3];
    return distances.some((distance) => FROM.has(tokens[at - distance]?.word ?? ''));
  });
}

/** `Give me the names of the seven dwarfs` asks for facts, `give me names for a cat` for ideas. */
function givingSignal(task: Task, scene: Scene): SignalName | undefined {
  if (takesFrom(task.sentence)) return 'extract';
  const signal = objectSignal(task, scene);
  const factual = hasHit(task.sentence, 'factual');
  if (signal === undefined) return factual ? 'fact' : undefined;
  return signal === 'ideas' && factual ? 'list' : signal;
}

/** What is written decides: the first object after the verb; a language before another object only describes it. */
function writingSignal(task: Task, scene: Scene): SignalName {
  if (isProgrammed(task) && !(hasHit(task.sentence, 'content') && isAboutThing(task))) return 'code';
  if (isRework(task, scene)) return changesTelling(task.sentence) ? 'compose' : 'rewrite';
  const found = objectSignal(task, scene);
  if (found === 'long_form' && task.concept === 'develop') return 'strategy';
  if (found === 'ideas' && takesFrom(task.sentence)) return 'shorten';
  if (found !== undefined) return found;
  if (hasCode(scene) && task.sentence.tokens.length <= SMALL_WORDS) return 'code';
  const next = task.sentence.tokens[task.at + 1]?.word ?? '';
  return isAboutCode(task.sentence) && !ABOUT.has(next) ? 'code' : 'compose';
}

/** `A poem about Java`, `a letter on Excel`, `an email in HTML` as against `a poem generator in Python`. */
function isAboutThing({ sentence, at }: Task): boolean {
  const { tokens, hits } = sentence;
  const content = hits.find((hit) => hit.at > at && hit.concept === 'content');
  const means = hits.find((hit) => hit.at > at && hit.concept === 'language');
  if (content === undefined || means === undefined) return true;
  const between = tokens.slice(content.at + content.size, means.at);
  return between.length <= 2 || between.some(({ word }) => ABOUT.has(word) || word === 'for' || word === 'для');
}

function isTechnicalDesign(scene: Scene): boolean {
  return scene.asked.has('criteria') || scene.asked.has('strategy') || scene.asked.has('expert');
}

function wantsIdeas({ sentence }: Task, scene: Scene): boolean {
  const given = scene.instruction.payloadTokens > 0 || sentence.tokens.some((token) => token.quoted);
  return hasHit(sentence, 'ideas') && !given;
}

const BEGINNING_WORDS_MIN = 5;

/** `Continue: "The last train left …"`: a beginning in words, not a row of numbers. */
function goesOnWith({ tokens }: Sentence): boolean {
  const colon = tokens.findIndex(({ word }) => word === ':');
  const given = tokens.filter((token, at) => token.kind === 'word' && (token.quoted || (colon !== -1 && at > colon)));
  return given.length >= BEGINNING_WORDS_MIN;
}

const LABEL_WORDS_MAX = 12;

/** `Determine the relation: entailment, contradiction or neutral`: names to choose from behind a colon or in brackets. */
function offersLabels({ sentence, at, command }: Task): boolean {
  if (!command) return false;
  const { tokens } = sentence;
  const open = tokens.findIndex(({ word }, index) => index > at && (word === ':' || word === '('));
  const names = tokens.slice(open + 1);
  if (open === -1 || names.length > LABEL_WORDS_MAX || names.some(({ kind }) => kind === 'number')) return false;
  const commas = names.filter(({ word }) => word === ',').length;
  return commas >= 2 || (commas === 1 && names.some(({ word }) => word === 'or' || word === 'или'));
}

const SMALL_WORDS = 14;

/** `Identify the verb in this sentence` is a label; `find the length of AD` is not. */
function isSmallChoice({ sentence }: Task, scene: Scene): boolean {
  const formulas = scene.figures.signs > 0 || scene.figures.variables > 0 || isMathematical(scene);
  if (formulas || hasCode(scene) || isAboutCode(sentence)) return false;
  const given = ['deictic', 'classify', 'micro', 'factual', 'lookup'] as const;
  if (scene.instruction.payloadTokens > 0 || sentence.tokens.some((token) => token.quoted)) return true;
  return given.some((concept) => hasHit(sentence, concept));
}

/** The tone of a sentence is a label, not an analysis. */
function isSmallAnalysis(sentence: Sentence): boolean {
  const small = hasHit(sentence, 'classify') || hasHit(sentence, 'micro') || hasHit(sentence, 'lookup');
  return small && !hasHit(sentence, 'criteria') && !hasHit(sentence, 'detailed');
}
