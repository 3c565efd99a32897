// An instruction we do not know that comes with a text of its own: most likely some handling of that text.
import type { Collector } from './collector.ts';
import { isMathematical, isTechnical, type Scene } from './scene.ts';
import { isRatio, type Sentence } from './sentences.ts';
import { speaksOfSelf } from './voice.ts';
import { isVague, type Work } from './work.ts';

const GIVEN_WORDS_MAX = 25;
const GIVEN_TEXT_MIN = 3;

/** A short instruction of unknown kind with a text of its own after a colon, a line break or in quotes. */
export function detectGivenText(scene: Scene, works: readonly Work[], signals: Collector): void {
  const { instruction, prose, told } = scene;
  if (works.some((work) => !isVague(work)) || instruction.words > GIVEN_WORDS_MAX || prose.codeLines > 0) return;
  if (signals.has('explain', 'advice', 'compare') || told.has('bug') || isMathematical(scene) || isTechnical(scene))
    return;
  const first = instruction.asking[0] ?? instruction.context[0];
  if (first === undefined || speaksOfSelf(first) || scene.figures.variables > 0 || told.has('solve')) return;
  if (instruction.tasks.length === 0 && !looksLikeCommand(first)) return;
  const given = instruction.payloadTokens + givenTokens(first);
  if (given < GIVEN_TEXT_MIN) return;
  signals.add('given_text');
}

const DETERMINERS: ReadonlySet<string> = new Set('the this all each every these any it both'.split(' '));
const IMPERATIVES = ['и', 'й', 'йте', 'ите', 'ь', 'ьте'];

/** `Underline the verbs`, `подчеркни глаголы`: a verb we do not know. */
function looksLikeCommand({ tokens, hits }: Sentence): boolean {
  const word = tokens[0]?.word ?? '';
  if (hits.some((hit) => hit.concept === 'deictic')) return true;
  if (word.charCodeAt(0) >= 0x400) return IMPERATIVES.some((ending) => word.endsWith(ending));
  return DETERMINERS.has(tokens[1]?.word ?? '');
}

function givenTokens({ tokens }: Sentence): number {
  const colon = tokens.findIndex(({ word }, at) => word === ':' && !isRatio(tokens, at));
  const quoted = tokens.filter((token) => token.quoted).length;
  return Math.max(quoted, colon > 1 ? tokens.length - colon - 1 : 0);
}
