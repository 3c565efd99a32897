// The evidence in one message: the concepts of its request by place, and its shape, written as `subject.place`.
import { type Instruction, isMechanical, type LinesRead, readInstruction, type Sentence } from './instruction.ts';
import { findDirection, findSignal, isSignalSubject } from './names.ts';
import { readShape } from './shape.ts';
import { isForeign } from './tokens.ts';
import { listWordings } from './wordings.ts';

/** What the score of a message depends on. */
export interface Findings {
  readonly evidence: ReadonlySet<string>;
  /** Words and phrases of the request. */
  readonly wordings: readonly string[];
  readonly endsInPayload: boolean;
  /** Whether there is a task or a question. */
  readonly asks: boolean;
  readonly hasCode: boolean;
}

export interface Reading extends Findings {
  readonly instruction: Instruction;
  /** The leading task or question, or `bare`. */
  readonly lead: string;
  /** Words of the request and the situation. */
  readonly words: number;
}

/** Objects that change the meaning of a task. */
const OBJECTS = new Set(
  'content essay long code software media micro ideas format strategy plan language tech tongue factual label deictic grammar piece who'.split(
    ' ',
  ),
);
/** Tasks that lower the score count only where they are asked for: an apology promises to correct, too. */
const ASKED_ONLY = new Set(
  'translate fix shorten summarize classify extract'.split(' ').filter((task) => findDirection(findSignal(task)) < 0),
);

const FOREIGN_READ = 300;

export function readMessage(text: string, length: number, known: LinesRead = new Map()): Reading {
  if (isForeign(text.slice(0, FOREIGN_READ))) {
    return { ...readMessage('', 0), evidence: new Set(['other.script']) };
  }
  const instruction = readInstruction(text, known);
  const { asking, context } = instruction;
  const evidence = new Set<string>();
  const words = countWords(asking) + countWords(context);
  const size = words <= 8 ? 'short' : words > 24 ? 'long' : 'middle';
  let task: string | undefined;
  let question: string | undefined;
  addConcepts(asking, 'ask', evidence);
  for (const { hits, lead } of asking) {
    const subject = lead.task?.concept ?? lead.question;
    const from = lead.task?.at ?? -1;
    for (const { concept, at } of hits)
      if (subject !== undefined && at > from && OBJECTS.has(concept)) evidence.add(`${subject}.${concept}`);
    if (lead.question !== undefined) {
      evidence.add(`${lead.question}.asked`);
      question ??= lead.question;
    }
    if (lead.task === undefined || !(lead.command || task === undefined)) continue;
    const { concept } = lead.task;
    evidence.add(`${concept}.${task !== undefined ? 'next' : lead.command ? 'head' : 'named'}`);
    if (task === undefined) evidence.add(`${concept}.${size}`);
    task ??= concept;
  }
  const lead = task ?? question ?? 'bare';
  // Without a request, the situation is the request.
  addConcepts(context, lead === 'bare' ? 'bare' : 'told', evidence);
  if (lead === 'bare') evidence.add(`bare.${size}`);
  const shape = { lead, mechanical: isMechanical(lead), words };
  for (const name of readShape(text, length, instruction, shape)) evidence.add(name);
  return {
    evidence,
    wordings: listWordings(instruction),
    endsInPayload: instruction.endsInPayload,
    asks: lead !== 'bare',
    hasCode: instruction.prose.codeLines > 0,
    instruction,
    lead,
    words,
  };
}

function countWords(sentences: readonly Sentence[]): number {
  return sentences.reduce((sum, { tokens }) => sum + tokens.filter(({ kind }) => kind !== 'mark').length, 0);
}

function isMentionable(concept: string): boolean {
  return isSignalSubject(concept) && !ASKED_ONLY.has(concept);
}

function addConcepts(sentences: readonly Sentence[], place: string, evidence: Set<string>): void {
  for (const { hits } of sentences) {
    for (const { concept } of hits) if (isMentionable(concept)) evidence.add(`${concept}.${place}`);
  }
}
