// The evidence in one message: the concepts of its request by place, and its shape, written as `subject.place`.
import { readInstruction, readSentences, type Sentence } from './instruction.ts';
import { type Prose, readProse } from './material.ts';
import { MENTIONS } from './names.ts';
import { readShape, readSigns } from './shape.ts';
import { isForeign } from './tokens.ts';
import { listWordings } from './wordings.ts';

/** A message as it is read; it is also scored without some of its sentences or its code. */
export interface Message {
  readonly sentences: readonly Sentence[];
  /** Which kinds of lines it has. */
  readonly kinds: Prose['kinds'];
  /** The evidence in its characters. */
  readonly signs: readonly string[];
}

/** What the score of a message depends on. */
export interface Findings {
  readonly evidence: Set<string>;
  /** Words and phrases of the request. */
  readonly wordings: readonly string[];
  /** Whether the request comes first and the text to work on last. */
  readonly endsInPayload: boolean;
}

const FOREIGN_READ = 300;

export function readMessage(text: string, length = text.length): Message {
  const foreign = isForeign(text.slice(0, FOREIGN_READ));
  const { lines, kinds } = readProse(foreign ? '' : text);
  return { sentences: readSentences(lines), kinds, signs: foreign ? [FOREIGN] : readSigns(text, length) };
}

const FOREIGN = 'other.script';

export function findEvidence({ sentences, kinds, signs }: Message): Findings {
  const instruction = readInstruction(sentences);
  const { asking } = instruction;
  const evidence = new Set(signs);
  let task: string | undefined;
  let question: string | undefined;
  for (const { hits, lead } of asking) {
    for (const { concept } of hits) {
      const mention = MENTIONS.get(concept);
      if (mention !== undefined) evidence.add(mention);
    }
    question ??= lead.question;
    if (lead.question !== undefined) evidence.add(`${lead.question}.asked`);
    if (lead.task === undefined || !(lead.command || task === undefined)) continue;
    task ??= lead.task.concept;
    evidence.add(`${lead.task.concept}.head`);
  }
  const lead = task ?? question ?? 'bare';
  if (lead === 'bare') evidence.add('bare.head');
  if (signs[0] !== FOREIGN) for (const name of readShape(instruction, kinds, lead)) evidence.add(name);
  return { evidence, wordings: listWordings(asking), endsInPayload: instruction.endsInPayload };
}
