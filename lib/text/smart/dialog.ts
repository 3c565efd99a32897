// The whole request: the last user turn decides, history supplies its subject, the system prompt its standing order.
import { Collector } from './collector.ts';
import { isMechanical } from './concepts.ts';
import { detectSignals } from './detect.ts';
import type { Task } from './instruction.ts';
import type { SignalName, Strengths } from './names.ts';
import { readScene, type Scene } from './scene.ts';
import type { View } from './view.ts';

/** Signals of the whole request. */
export function adoptHistory(view: View): Strengths {
  const scene = readScene(view.prompt, view.promptLength);
  const standing = view.system === '' ? undefined : readStanding(view.system);
  if (standing?.mechanical !== undefined) return mechanicalReply(standing.mechanical, standing, view, scene);
  const signals = detectSignals(scene);
  if (standing !== undefined && signals.strengthOf('fact') < 0.9) signals.drop('fact');
  if (view.earlier.length > 0 && leansOnHistory(scene, signals)) inherit(view, scene, signals);
  if (standing !== undefined) adoptStanding(standing, scene, signals);
  if (view.turns > 1) signals.add('dialog', (view.turns - 1) / 6);
  return signals.found;
}

interface Standing {
  /** The mechanical work the system prompt orders for every message. */
  readonly mechanical: SignalName | undefined;
  readonly json: boolean;
  readonly brief: boolean;
  readonly code: boolean;
}

const BRIEF_WORDS_MAX = 40;

/** A standing order is work on the user's text; a mere role (`you are a professor`) is none. */
function readStanding(system: string): Standing {
  const scene = readScene(system, system.length);
  const first = scene.instruction.tasks.find((task) => task.concept !== 'write');
  const ordered = first !== undefined && isMechanical(first.concept) && (isRole(first) || isOrder(first, scene));
  const mechanical = ordered ? (first.concept as SignalName) : undefined;
  const code = scene.told.has('role_code');
  const brief = scene.told.has('brief') || (scene.askedWords > 0 && scene.askedWords <= BRIEF_WORDS_MAX);
  return { mechanical, json: scene.told.has('json'), brief, code };
}

const CONDITIONS: ReadonlySet<string> = new Set(['if', 'when', 'unless', 'если', 'когда']);
/** What a user sends, by the beginnings of its names. */
const SENT = (
  'message input text review ticket sentence comment email utterance query everything whatever line article ' +
  'сообщени текст отзыв обращени запрос письм комментари фраз предложени реплик все слов'
).split(' ');

/** `Translate every message` is an order; `summarize long answers` and `if he complains, classify it` are not. */
function isOrder({ sentence, command, at }: Task, { prose }: Scene): boolean {
  if (!command || sentence.tokens.slice(0, at).some((token) => CONDITIONS.has(token.word))) return false;
  if (prose.sentences.length === 1) return true;
  return sentence.tokens.some(({ word }) => SENT.some((stem) => word.startsWith(stem)));
}

const ROLE_DISTANCE = 5;

/** `You are a translator` orders translation; `you can translate and write code` orders nothing. */
function isRole({ sentence, at }: Task): boolean {
  const { tokens, hits } = sentence;
  if (tokens.slice(0, at).some((token) => token.word === 'can' || token.word === 'который' || token.word === 'that'))
    return false;
  const persona = hits.some((hit) => hit.concept === 'persona' && hit.at <= 1);
  return at <= ROLE_DISTANCE && (persona || tokens[0]!.word === 'ты' || tokens[0]!.word === 'вы');
}

function mechanicalReply(name: SignalName, standing: Standing, view: View, scene: Scene): Strengths {
  const signals = new Collector();
  signals.add(name);
  if (standing.brief) signals.add('brief');
  if (standing.json) signals.add('json');
  if (scene.length < 200) signals.add('short');
  if (scene.length > 1500) signals.add('long_input', scene.length / 8000);
  if (view.turns > 1) signals.add('dialog', (view.turns - 1) / 6);
  return signals.found;
}

const LEANING_WORDS_MAX = 30;
const TERSE_WORDS_MAX = 6;
/** `And in winter?` asks the same again of something else. */
const ECHOED = [
  'fact',
  'define',
  'closed',
  'arithmetic',
  'advice',
  'explain',
  'compose',
  'ideas',
  'plan',
  'translate',
  'lookup',
  'convert',
] as const;
const OWN_SUBJECT = [
  'greeting',
  'translate',
  'summarize',
  'lookup',
  'long_form',
  'plan',
  'roleplay',
  'ideas',
  'arithmetic',
  'code',
  'debug',
  'review',
  'define',
  'proof',
] as const satisfies readonly SignalName[];

function leansOnHistory(scene: Scene, signals: Collector): boolean {
  if (scene.instruction.words > LEANING_WORDS_MAX) return false;
  const sure = signals.strengthOf('fact') === 1 || signals.strengthOf('compose') === 1;
  if (sure || signals.strengthOf('math') > 0.6) return false;
  const own = OWN_SUBJECT.filter((name) => name !== 'arithmetic' || !scene.told.has('follow'));
  return !signals.has(...own);
}

/** What an earlier turn was about counts for less than what this one says. */
const INHERITED = 0.9;
const SUBJECTS = [
  'code',
  'debug',
  'review',
  'code_topic',
  'math',
  'proof',
  'logic',
  'analysis',
  'strategy',
  'design',
  'expert',
  'long_form',
  'long_output',
  'word_problem',
] as const satisfies readonly SignalName[];
const CODE_WORK = ['fix', 'rewrite', 'shorten', 'convert', 'closed', 'fragment', 'chat', 'choice'] as const;

/** What is answered at length; a question about the answer goes on with it, unless it asks who, when or how many. */
const TALKS = ['advice', 'explain', 'compose', 'plan', 'ideas', 'compare', 'summarize'] as const;
/** `Shorter` is work on a text; `shorter, less stiff, and mention Anna` is writing it anew. */
const REWORK_WORDS_MIN = 4;

/** The subject of the nearest earlier turn that has one. */
function inherit(view: View, scene: Scene, signals: Collector): void {
  for (const text of view.earlier) {
    const earlier = detectSignals(readScene(text, text.length));
    if (earlier.has('greeting')) continue;
    const taken = SUBJECTS.filter((name) => earlier.has(name));
    const mechanical = signals.has('fix', 'shorten', 'rewrite', 'classify', 'extract', 'convert');
    const code = earlier.has('code', 'debug', 'review');
    if (taken.length === 0 && !earlier.has(...OWN_SUBJECT) && text !== view.earlier[view.earlier.length - 1]) continue;
    const reworks = signals.has('rewrite') || (signals.has('shorten') && scene.instruction.words >= REWORK_WORDS_MIN);
    if (reworks && earlier.has('compose', 'long_form', 'plan', 'ideas')) {
      signals.drop('rewrite', 'shorten');
      signals.add('compose');
    }
    if (taken.length === 0) {
      signals.drop('fragment');
      if (signals.strengthOf('fact') < 1 && earlier.has(...TALKS)) signals.drop('fact', 'closed', 'define', 'list');
      if (scene.instruction.words <= TERSE_WORDS_MAX && !signals.has('advice', 'explain', 'compare')) {
        signals.drop('fact', 'closed', 'list');
        for (const name of ECHOED) if (earlier.has(name)) signals.add(name, earlier.strengthOf(name));
      }
      signals.add('follow_up');
      return;
    }
    if (mechanical && !code) return;
    for (const name of taken) signals.add(name, earlier.strengthOf(name) * INHERITED);
    if (code) signals.drop(...CODE_WORK);
    signals.drop('fragment', 'closed', 'chat');
    if (signals.strengthOf('fact') < 1) signals.drop('fact');
    if (taken.includes('math')) signals.drop('arithmetic');
    signals.add('follow_up');
    return;
  }
}

function adoptStanding(standing: Standing, scene: Scene, signals: Collector): void {
  if (standing.json) signals.add('json', 0.5);
  if (standing.code && scene.told.has('tech')) signals.add('code');
}
