// All that is known of one user message before it is judged.
import { countFigures, type Figures, readAskedItems, readAskedWords } from './amounts.ts';
import { type Concept, type ConceptHit, isMechanical } from './concepts.ts';
import { type Instruction, readInstruction } from './instruction.ts';
import { endsInGap } from './pattern.ts';
import { asksWho } from './question.ts';
import { type Prose, readProse, type Sentence } from './sentences.ts';

export interface Scene {
  readonly prose: Prose;
  readonly instruction: Instruction;
  /** Characters of the whole message. */
  readonly length: number;
  /** Concepts of what is asked, without what a mechanical task works on. */
  readonly asked: ReadonlyMap<Concept, number>;
  /** Concepts of the asking sentences and of the situation told beside them. */
  readonly told: ReadonlyMap<Concept, number>;
  readonly figures: Figures;
  readonly askedWords: number;
  /** As `askedWords`, work on a given text included. */
  readonly limitWords: number;
  readonly askedItems: number;
  /** Examples are given, and the last of them has a gap. */
  readonly gap: boolean;
}

export function readScene(text: string, length: number): Scene {
  const prose = readProse(text);
  const instruction = readInstruction(prose);
  const { asking, context } = instruction;
  const asked = new Map<Concept, number>();
  const told = new Map<Concept, number>();
  for (const sentence of asking) {
    const own = ownHits(sentence, instruction);
    count(own, asked);
    count(own, told);
  }
  for (const sentence of context) count(sentence.hits, told);
  const free = asking.filter((sentence) => !isMechanicalSentence(sentence, instruction));
  return {
    prose,
    instruction,
    length,
    asked,
    told,
    figures: countFigures([...free, ...context]),
    askedWords: readAskedWords([...free, ...context]),
    limitWords: readAskedWords(asking),
    askedItems: readAskedItems(free),
    gap: endsInGap(text),
  };
}

function count(hits: readonly ConceptHit[], into: Map<Concept, number>): void {
  for (const { concept } of hits) into.set(concept, (into.get(concept) ?? 0) + 1);
}

/** A mechanical task swallows its sentence up to a further task joined to it. */
function ownHits(sentence: Sentence, instruction: Instruction): readonly ConceptHit[] {
  const own = instruction.tasks.filter((task) => task.sentence === sentence);
  const head = own[0];
  if (head === undefined || !isMechanicalSentence(sentence, instruction)) return sentence.hits;
  const further = own.find((task) => !isMechanical(task.concept));
  return sentence.hits.filter((hit) => hit.at <= head.at || (further !== undefined && hit.at >= further.at));
}

/** `Translate: …`, but not `how do I extract a number in Java`, which asks for the way. */
export function isMechanicalSentence(sentence: Sentence, { tasks, questions }: Instruction): boolean {
  const head = tasks.find((task) => task.sentence === sentence);
  if (head === undefined || !isMechanical(head.concept)) return false;
  return !questions.some((one) => one.sentence === sentence && one.kind === 'how' && one.at < head.at);
}

/** `Who proved the theorem` asks for a name. */
export function wantsProof({ asked, instruction }: Scene): boolean {
  if (instruction.tasks.some((task) => task.concept === 'prove')) return true;
  return asked.has('prove') && !instruction.questions.some(asksWho);
}

const CODE_CONCEPTS: ReadonlySet<Concept> = new Set(['code', 'language', 'tech', 'bug', 'implement']);

export function hasCode(scene: Scene): boolean {
  return scene.prose.codeLines > 0;
}

export function isAboutCode(sentence: Sentence): boolean {
  return sentence.hits.some((hit) => CODE_CONCEPTS.has(hit.concept));
}

export function isTechnical({ told }: Scene): boolean {
  return told.has('tech') || told.has('language') || told.has('bug');
}

export function isMathematical({ told }: Scene): boolean {
  return told.has('math') || told.has('higher');
}
