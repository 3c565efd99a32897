// Work on a given text, told from what only looks like it: fixing a comma is not fixing a program.
import type { Task } from './instruction.ts';
import type { SignalName } from './names.ts';
import { isSubject } from './objects.ts';
import { hasCode, isAboutCode, isMathematical, isTechnical, type Scene } from './scene.ts';
import { hasHit, type Sentence } from './sentences.ts';
import type { Token } from './tokens.ts';

export function mechanicalSignal(task: Task, scene: Scene): SignalName {
  const { concept, sentence } = task;
  const name = concept as SignalName;
  if (concept === 'translate') return translatesCode(sentence) ? 'code' : name;
  if (concept !== 'fix' && !hasHit(sentence, 'grammar') && isProgrammed(task)) return 'code';
  if (concept === 'classify' && hasHit(sentence, 'criteria') && hasHit(sentence, 'strategy')) return 'analysis';
  if (concept === 'lookup' || concept === 'classify' || concept === 'extract') return name;
  if (concept === 'summarize' && hasHit(sentence, 'brief') && scene.instruction.payloadTokens > 0) return 'shorten';
  if (concept === 'summarize') return hasCode(scene) ? 'explain' : name;
  const longer = scene.instruction.payloadTokens > REWRITE_TOKENS_MAX;
  if (concept === 'rewrite' && (longer || changesTelling(sentence) || tellsAnew(sentence, scene))) return 'compose';
  if ((concept === 'rewrite' || concept === 'convert') && becomesContent(task)) return 'compose';
  if (hasHit(sentence, 'grammar')) return name;
  if (concept === 'convert' && (hasHit(sentence, 'format') || hasHit(sentence, 'json'))) return name;
  if (concept === 'fix' && (isAboutCode(sentence) || isTechnical(scene))) return 'debug';
  if (hasCode(scene)) return concept === 'fix' ? 'debug' : 'code';
  return isAboutCode(sentence) ? 'code' : name;
}

/** Another style for a whole text is writing; for a sentence or two it is handling. */
const REWRITE_TOKENS_MAX = 40;
const CHANGES: ReadonlySet<string> = new Set(
  'add mention mentions include perspective добавь добавьте упомяни включи подробнее лица'.split(' '),
);

/** `Rewrite the tale of the wolf`: a text that everyone knows, not one that is given. */
function tellsAnew(sentence: Sentence, { instruction }: Scene): boolean {
  const given = instruction.payloadTokens > 0 || sentence.tokens.some((token) => token.quoted);
  return !given && hasHit(sentence, 'content') && !hasHit(sentence, 'deictic');
}

/** `Rewrite it and mention my experience`, `from the wolf's perspective` ask for new text. */
export function changesTelling({ tokens }: Sentence): boolean {
  return tokens.some((token) => !token.quoted && CHANGES.has(token.word));
}

const AS: ReadonlySet<string> = new Set(['as', 'into', 'to', 'как', 'виде', 'стиле', 'формате', 'форме']);
const AS_DISTANCE = 4;

/** `Rewrite as a formal letter` makes a new text of the old one. */
export function becomesContent({ sentence, at }: Task): boolean {
  const { tokens, hits } = sentence;
  return hits.some((hit) => {
    if (hit.at <= at || (hit.concept !== 'content' && hit.concept !== 'essay')) return false;
    return tokens.slice(Math.max(at, hit.at - AS_DISTANCE), hit.at).some((token) => AS.has(token.word));
  });
}

const INTO: ReadonlySet<string> = new Set(['to', 'into', 'in', 'from', 'на', 'в', 'с', 'под']);

/** `Translate this to Rust` is programming, unless the comments are meant. */
function translatesCode({ tokens, hits }: Sentence): boolean {
  if (hits.some((hit) => hit.concept === 'grammar')) return false;
  return hits.some(({ concept, at, size }) => {
    if (!isSubject(concept)) return false;
    return INTO.has(tokens[at - 1]?.word ?? '') || (size > 1 && INTO.has(tokens[at]!.word));
  });
}

const BY_MEANS: ReadonlySet<string> = new Set('in using with via by на в через помощью'.split(' '));

/** `Sort a list in Python`, `extract emails with a regex`: the work is to be programmed, not done. */
export function isProgrammed({ sentence, at }: Task): boolean {
  const { tokens, hits } = sentence;
  const colon = tokens.findIndex((token, index) => index > at && token.word === ':');
  return hits.some((hit) => {
    if (hit.at <= at || (colon !== -1 && hit.at > colon)) return false;
    if (!isSubject(hit.concept) && hit.concept !== 'code') return false;
    const before = tokens[hit.at - 1]?.word;
    if (hit.concept === 'language' && (before === 'for' || before === 'для')) return true;
    return [1, 2].some((distance) => BY_MEANS.has(tokens[hit.at - distance]?.word ?? ''));
  });
}

/** `Make this paragraph flow better`: the text is there already. */
export function isRework({ sentence, at }: Task, scene: Scene): boolean {
  if (hasCode(scene) || scene.instruction.payloadTokens + scene.instruction.words < REWORK_WORDS_MIN) return false;
  const [first, second] = [sentence.tokens[at + 1]?.word ?? '', sentence.tokens[at + 2]?.word ?? ''];
  if (!THESE.has(first)) return false;
  return (
    sentence.hits.some(
      (hit) => hit.at === at + 2 && (hit.concept === 'label' || hit.concept === 'micro' || hit.concept === 'content'),
    ) || second === ''
  );
}

const REWORK_WORDS_MIN = 16;
const THESE: ReadonlySet<string> = new Set('this these the my этот эту это текст'.split(' '));

export function checkingSignal(task: Task, scene: Scene): SignalName {
  if (hasHit(task.sentence, 'grammar')) return 'fix';
  if (hasCode(scene) || isAboutCode(task.sentence)) return 'review';
  if (hasHit(task.sentence, 'strategy') || hasHit(task.sentence, 'criteria')) return 'analysis';
  return isMathematical(scene) ? 'math' : 'fix';
}

function isColon({ word }: Token): boolean {
  return word === ':';
}

/** `Split the following sentence in two`: handling of a text that is given. */
export function isGivenText({ sentence }: Task, scene: Scene): boolean {
  if (hasCode(scene) || isAboutCode(sentence) || isMathematical(scene)) return false;
  if (
    hasHit(sentence, 'json') ||
    hasHit(sentence, 'piece') ||
    hasHit(sentence, 'deictic') ||
    (scene.instruction.payloadTokens > 0 && (sentence.end === '\n' || sentence.tokens.some(isColon)))
  )
    return true;
  return (
    hasHit(sentence, 'micro') || hasHit(sentence, 'format') || hasHit(sentence, 'label') || hasHit(sentence, 'grammar')
  );
}
