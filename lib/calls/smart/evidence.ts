// The evidence in one message: the concepts of its request by place, and its shape, written as `subject.place`.
import { has, type Instruction, isMechanical, type Lead, readInstruction, type Sentence } from './instruction.ts';
import { isSignalSubject } from './names.ts';
import { readShape } from './shape.ts';
import { isForeign } from './tokens.ts';

export interface Reading {
  readonly evidence: ReadonlySet<string>;
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
const FACTS = new Set('who quantity factual define what closed'.split(' '));
const WRITING = new Set('write give complete act'.split(' '));

const FOREIGN_READ = 300;

export function readMessage(text: string, length: number): Reading {
  if (isForeign(text.slice(0, FOREIGN_READ))) return readMessage('', 0);
  const instruction = readInstruction(text);
  const { asking, context } = instruction;
  const evidence = new Set<string>();
  const words = countWords(asking) + countWords(context);
  const size = words <= 8 ? 'short' : words > 24 ? 'long' : 'middle';
  let task: string | undefined;
  let question: string | undefined;
  for (const sentence of asking) {
    const lead = sentence.lead;
    addConcepts(sentence, lead, evidence);
    if (lead.question !== undefined) {
      evidence.add(`${lead.question}.asked`);
      if (question === undefined) evidence.add(`${lead.question}.${size}`);
      if (question === undefined && has(sentence, 'me')) evidence.add(`${lead.question}.me`);
      question ??= lead.question;
    }
    if (lead.task === undefined || !(lead.command || task === undefined)) continue;
    const { concept } = lead.task;
    evidence.add(`${concept}.${task !== undefined ? 'next' : lead.command ? 'head' : 'named'}`);
    if (task === undefined) evidence.add(`${concept}.${size}`);
    task ??= concept;
  }
  const lead = task ?? question ?? 'bare';
  addContext(context, lead === 'bare', size, evidence);
  const shape = { lead, mechanical: isMechanical(lead), question: question !== undefined, words };
  for (const name of readShape(text, length, instruction, shape, evidence)) evidence.add(name);
  return { evidence, instruction, lead, words };
}

function countWords(sentences: readonly Sentence[]): number {
  return sentences.reduce((sum, { tokens }) => sum + tokens.filter(({ kind }) => kind !== 'mark').length, 0);
}

function addConcepts(sentence: Sentence, lead: Lead, evidence: Set<string>): void {
  const kind = findSentenceKind(lead);
  const { task, question } = lead;
  for (const { concept } of sentence.hits) {
    if (!isSignalSubject(concept)) continue;
    evidence.add(`${concept}.ask`);
    if (kind !== undefined) evidence.add(`${concept}.${kind}`);
  }
  const subject = task?.concept ?? question;
  if (subject === undefined) return;
  for (const { concept, at } of sentence.hits) {
    if (at > (task?.at ?? -1) && OBJECTS.has(concept)) evidence.add(`${subject}.${concept}`);
  }
}

/** The kind of a sentence, if it changes the meaning of its concepts. */
function findSentenceKind({ task, command, question }: Lead): string | undefined {
  if (task !== undefined && isMechanical(task.concept)) return 'handled';
  if (task !== undefined) return WRITING.has(task.concept) ? 'written' : undefined;
  return question !== undefined && !command && FACTS.has(question) ? 'fact' : undefined;
}

/** Adds the situation; without a request, the situation is the request. */
function addContext(context: readonly Sentence[], bare: boolean, size: string, evidence: Set<string>): void {
  for (const { hits } of context) {
    for (const { concept } of hits) if (isSignalSubject(concept)) evidence.add(`${concept}.${bare ? 'bare' : 'told'}`);
  }
  if (!bare) return;
  evidence.add(`bare.${size}`);
  const first = context[0]?.hits.find(({ concept }) => OBJECTS.has(concept));
  if (first !== undefined && isSignalSubject(first.concept)) evidence.add(`${first.concept}.first`);
}
