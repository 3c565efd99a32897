// The evidence in one message: the concepts of its request by place, and its shape, written as `subject.place`.
import { type Instruction, readInstruction, readSentences, type Sentence } from './instruction.ts';
import { type Prose, readProse } from './material.ts';
import { findDirection, findSignal } from './names.ts';
import { readShape, readSigns } from './shape.ts';
import { isForeign } from './tokens.ts';
import { listWordings } from './wordings.ts';

/** A message as it is read; it is also scored without some of its sentences or its code. */
export interface Message {
  readonly sentences: readonly Sentence[];
  readonly prose: Prose;
  /** The evidence in its characters. */
  readonly signs: readonly string[];
}

/** What the score of a message depends on. */
export interface Findings {
  readonly evidence: ReadonlySet<string>;
  /** Words and phrases of the request. */
  readonly wordings: readonly string[];
  readonly instruction: Instruction;
  /** Whether there is a task or a question. */
  readonly asks: boolean;
  /** Words of the request. */
  readonly words: number;
}

const FOREIGN_READ = 300;

export function readMessage(text: string, length = text.length): Message {
  const foreign = isForeign(text.slice(0, FOREIGN_READ));
  const prose = readProse(foreign ? '' : text);
  return { sentences: readSentences(prose), prose, signs: foreign ? [FOREIGN] : readSigns(text, length) };
}

const FOREIGN = 'other.script';

export function findEvidence({ sentences, prose, signs }: Message): Findings {
  const instruction = readInstruction(sentences);
  const { asking } = instruction;
  const evidence = new Set(signs);
  const words = countWords(asking);
  let task: string | undefined;
  let question: string | undefined;
  for (const concept of new Set(asking.flatMap(({ hits }) => hits.map(({ concept }) => concept)))) {
    const signal = findSignal(concept);
    // Tasks that lower the score count only where they are asked for: an apology promises to correct, too.
    if (signal !== undefined && findDirection(signal) >= 0) evidence.add(`${concept}.ask`);
  }
  for (const { lead } of asking) {
    question ??= lead.question;
    if (lead.question !== undefined) evidence.add(`${lead.question}.asked`);
    if (lead.task === undefined || !(lead.command || task === undefined)) continue;
    task ??= lead.task.concept;
    evidence.add(`${lead.task.concept}.head`);
  }
  const lead = task ?? question ?? 'bare';
  if (lead === 'bare') evidence.add('bare.head');
  if (signs[0] !== FOREIGN) for (const name of readShape(instruction, prose, lead, words)) evidence.add(name);
  return { evidence, wordings: listWordings(instruction), instruction, asks: lead !== 'bare', words };
}

function countWords(sentences: readonly Sentence[]): number {
  return sentences.reduce((sum, { tokens }) => sum + tokens.filter(({ kind }) => kind !== 'mark').length, 0);
}
