// Tells the request from its material: which sentences ask for something, what they ask for, and what is only payload.
import { type Concept, type ConceptHit, isMechanical, isTask, type TaskConcept } from './concepts.ts';
import { asksWho, isCounted, isNoTask } from './no-tasks.ts';
import { type Question, readQuestion } from './question.ts';
import { hasHit, type Prose, type Sentence } from './sentences.ts';
import type { Token } from './tokens.ts';

export interface Task {
  readonly concept: TaskConcept;
  /** A command; otherwise the word is only mentioned. */
  readonly command: boolean;
  readonly sentence: Sentence;
  /** Index of its word in the sentence. */
  readonly at: number;
}

export interface Instruction {
  /** Sentences that ask for something, limits and wishes included. */
  readonly asking: readonly Sentence[];
  /** Sentences beside them that only tell the situation. */
  readonly context: readonly Sentence[];
  readonly tasks: readonly Task[];
  readonly questions: readonly Question[];
  /** Tokens taken for payload, as far as read. */
  readonly payloadTokens: number;
  /** Words of the asking sentences and the context. */
  readonly words: number;
}

interface Lead {
  /** Without the text that its task works on. */
  readonly sentence: Sentence;
  /** Tokens of that text. */
  readonly payload: number;
  readonly tasks: readonly Task[];
  readonly question: Question | undefined;
}

export function readInstruction(whole: Prose): Instruction {
  const sentences = withoutTakenBack(whole.sentences);
  const prose = { ...whole, sentences };
  const leads = sentences.map((sentence, index) => readLead(sentence, index === 0));
  const roles = assignRoles(prose, leads);
  const asking: Sentence[] = [];
  const context: Sentence[] = [];
  const tasks: Task[] = [];
  const questions: Question[] = [];
  let payloadTokens = 0;
  let words = 0;
  for (const [index, sentence] of sentences.entries()) {
    if (roles[index] === 'payload') {
      payloadTokens += sentence.tokens.length;
      continue;
    }
    const lead = leads[index]!;
    words += lead.sentence.tokens.length;
    payloadTokens += lead.payload;
    if (roles[index] === 'context') context.push(lead.sentence);
    else {
      asking.push(lead.sentence);
      tasks.push(...lead.tasks);
      if (lead.question !== undefined) questions.push(lead.question);
    }
  }
  return { asking, context, tasks, questions, payloadTokens, words };
}

const REFUSALS: ReadonlySet<string> = new Set(['no', 'nope', 'нет', 'actually']);
const INSTEAD: ReadonlySet<string> = new Set(['just', 'only', 'rather', 'instead', 'просто', 'лучше', 'только']);

/** `Fix this program? No, just tell me what it is called.`: only the last word counts. */
function withoutTakenBack(sentences: readonly Sentence[]): readonly Sentence[] {
  const from = sentences.findIndex(({ tokens }, index) => {
    if (index === 0 || !REFUSALS.has(tokens[0]!.word)) return false;
    return INSTEAD.has((tokens[1]?.kind === 'mark' ? tokens[2] : tokens[1])?.word ?? '');
  });
  return from === -1 ? sentences : sentences.slice(from);
}

type Role = 'asking' | 'context' | 'payload';

function assignRoles(prose: Prose, leads: readonly Lead[]): Role[] {
  const { sentences } = prose;
  const closing = findClosingRequest(prose, leads);
  const roles: Role[] = [];
  let payload = closing !== undefined;
  let pending = false;
  let paragraph = -1;
  let labelled = false;
  for (const [index, sentence] of sentences.entries()) {
    const lead = leads[index]!;
    const label = readLabel(sentence);
    const last = index === sentences.length - 1 && labelled && lead.question !== undefined;
    const wasPending: boolean = pending;
    if (pending && !limits(sentence)) payload = true;
    pending = false;
    if (label === 'restart' || last) payload = false;
    else if (index === closing || (payload && closing === undefined && reopens(sentence, lead, paragraph)))
      payload = false;
    if (payload) {
      roles.push('payload');
      continue;
    }
    if (label === 'material') {
      labelled = true;
      payload = true;
      roles.push('payload');
      continue;
    }
    roles.push(asksAnything(lead) ? 'asking' : 'context');
    const next = sentences[index + 1];
    if (opensPayload(sentence, lead, next, leads[index + 1])) {
      const begun = sentence.tokens.some((token) => token.word === ':') || lead.payload > 0;
      if (!begun && next !== undefined && goesOn(sentence, next) && limits(next)) pending = true;
      else payload = true;
    } else if (limits(sentence)) pending = wasPending;
    paragraph = sentence.paragraph;
  }
  // Labels such as `Context:` that were all there is did not set material apart.
  const apart = !labelled || roles.includes('asking');
  return apart ? roles : leads.map((lead) => (asksAnything(lead) ? 'asking' : 'context'));
}

const CLOSING_SENTENCES = 3;
const CLOSING_MATERIAL_MIN = 60;

/** A long text without any request at its beginning and one at its end: everything before is material. */
function findClosingRequest({ sentences }: Prose, leads: readonly Lead[]): number | undefined {
  const total = sentences.reduce((sum, sentence) => sum + sentence.tokens.length, 0);
  for (let index = 0; index < Math.min(2, sentences.length); index++) {
    if (leads[index]!.tasks.some(isFirm) || leads[index]!.question !== undefined) return undefined;
  }
  const last = sentences[sentences.length - 1]?.paragraph;
  const from = Math.max(1, sentences.length - CLOSING_SENTENCES);
  const own = sentences.findIndex((sentence, index) => index >= from && sentence.paragraph === last);
  for (let index = last === sentences[0]?.paragraph ? from : Math.max(from, own); index < sentences.length; index++) {
    const before = sentences.slice(0, index).reduce((sum, sentence) => sum + sentence.tokens.length, 0);
    const mechanical = leads[index]!.tasks[0] !== undefined && isMechanical(leads[index]!.tasks[0]!.concept);
    const pointing = hasHit(sentences[index]!, 'deictic');
    const clear = leads[index]!.question === undefined || pointing;
    if (
      asksAnything(leads[index]) &&
      ((mechanical && clear && before * 2 > total) || (pointing && before >= CLOSING_MATERIAL_MIN))
    )
      return index;
  }
  return undefined;
}

function isFirm(task: Task): boolean {
  return task.at <= 6;
}

/** After payload a request may go on: in a paragraph of its own, or with a word such as `then`. */
function reopens(sentence: Sentence, lead: Lead, paragraph: number): boolean {
  if (lead.tasks.length === 0) return false;
  const first = sentence.hits[0];
  const connected =
    first !== undefined && first.at === 0 && first.concept === 'connector' && sentence.tokens.length < 40;
  if (connected && lead.tasks.some((task) => task.at <= 4)) return true;
  const constraint = first !== undefined && first.at <= 1 && first.concept === 'constraint';
  return constraint && sentence.paragraph === paragraph;
}

/** Work on a given text takes all that follows as its text; so does any task that ends in a colon at a line's end. */
function opensPayload(sentence: Sentence, lead: Lead, next: Sentence | undefined, nextLead: Lead | undefined): boolean {
  const first = handles(sentence, lead) ? 'classify' : lead.tasks[0]?.concept;
  if (next === undefined) return false;
  const colon = sentence.tokens[sentence.tokens.length - 1]?.word === ':';
  const apart = next.paragraph !== sentence.paragraph;
  if (colon && apart && first === undefined && !asksAnything(nextLead)) return true;
  if (asksAboutText(sentence, lead)) return true;
  if (first === undefined) return false;
  const mentioned = !lead.tasks[0]!.command && lead.question === undefined;
  const below = apart && isMechanical(first);
  if (mentioned && !below && !sentence.tokens.some((token) => token.word === ':')) return false;
  if (isMechanical(first)) {
    if (sentence.tokens.some((token) => token.word === ':')) return true;
    const joined = nextLead !== undefined && nextLead.tasks.length > 0 && startsWith(next, 'connector');
    return !(goesOn(sentence, next) && joined);
  }
  if (GIVEN_WORK.has(first) && apart && nextLead?.tasks.length === 0 && !next.bullet) return true;
  return colon && TEXT_WORK.has(first) && sentence.end === '\n' && !next.bullet;
}

function goesOn(sentence: Sentence, next: Sentence): boolean {
  return next.paragraph === sentence.paragraph && sentence.end !== '\n';
}

/** `Only one line per question.`, `Answer with one word.` say how, before the material comes. */
function limits(sentence: Sentence): boolean {
  return startsWith(sentence, 'constraint') || startsWith(sentence, 'politeness');
}

/** `Analyse the following questions and assign them to one of these categories` */
function handles(sentence: Sentence, { tasks }: Lead): boolean {
  if (!tasks.some((task) => task.concept === 'handle') || !hasHit(sentence, 'deictic')) return false;
  return hasHit(sentence, 'classify') && !isMechanical(tasks[0]!.concept);
}

/** `Are these two the same? …`, `is this review positive? …` */
function asksAboutText(sentence: Sentence, { tasks, question }: Lead): boolean {
  if (question === undefined || tasks.some((task) => task.command)) return false;
  if (question.kind !== 'closed' && question.kind !== 'what' && question.kind !== 'fact') return false;
  return hasHit(sentence, 'deictic') && !hasHit(sentence, 'opinion') && !hasHit(sentence, 'advise');
}

function asksAnything(lead: Lead | undefined): boolean {
  return lead !== undefined && (lead.tasks.length > 0 || lead.question !== undefined);
}

/** Work that mostly has a text of its own below it. */
const GIVEN_WORK: ReadonlySet<Concept> = new Set<TaskConcept>([
  'handle',
  'identify',
  'change',
  'complete',
  'check',
  'list',
]);

const TEXT_WORK: ReadonlySet<Concept> = new Set<TaskConcept>(['write', 'analyze', 'explain', 'review', 'check']);

function startsWith(sentence: Sentence, concept: Concept): boolean {
  return sentence.hits.some((hit) => hit.at === 0 && hit.concept === concept);
}

/** `Text:` begins material, `Question:` ends it. */
function readLabel(sentence: Sentence): 'material' | 'restart' | undefined {
  const found = sentence.tokens.findIndex((token) => token.word === ':');
  const colon = found === -1 && sentence.end === '\n' ? sentence.tokens.length : found;
  if (colon < 1 || colon > (found === -1 ? 1 : 3)) return undefined;
  const hits = sentence.hits.filter((hit) => hit.at + hit.size <= colon);
  if (hits.some((hit) => hit.concept === 'restart')) return 'restart';
  const only = hits.some((hit) => hit.concept === 'label' && hit.at === 0 && hit.size === colon);
  return only ? 'material' : undefined;
}

function readLead(sentence: Sentence, first: boolean): Lead {
  const start = skipOpening(sentence);
  const question = readQuestion(sentence, start);
  const tasks = readTasks(sentence, start, question !== undefined, first);
  const colon = sentence.tokens.findIndex((token, at) => token.word === ':' && at > (tasks[0]?.at ?? at));
  const whole = colon === -1 || colon === sentence.tokens.length - 1 || !worksOnText(tasks[0]!, colon);
  return whole ? { sentence, payload: 0, tasks, question } : cutPayload(sentence, colon, first);
}

const MADE_DISTANCE = 3;
const RESHAPED: ReadonlySet<Concept> = new Set<TaskConcept>(['shorten', 'rewrite', 'fix']);

/** `Make it shorter: …`, `turn into bullet points: …` handle their text as much as `translate: …` does. */
function worksOnText({ concept, sentence, at }: Task, colon: number): boolean {
  if (isMechanical(concept)) return true;
  const before = sentence.hits.filter((hit) => hit.at > at && hit.at < colon);
  if (concept === 'write') return before.some((hit) => hit.at <= at + MADE_DISTANCE && RESHAPED.has(hit.concept));
  return concept === 'handle' && before.some((hit) => hit.concept === 'format' || hit.concept === 'convert');
}

/** `Translate: write a quicksort` is read as `Translate:`. */
function cutPayload(sentence: Sentence, colon: number, first: boolean): Lead {
  const tokens = sentence.tokens.slice(0, colon + 1);
  const hits = sentence.hits.filter((hit) => hit.at + hit.size <= colon);
  const lead = readLead({ ...sentence, tokens, hits }, first);
  return { ...lead, payload: sentence.tokens.length - tokens.length };
}

/** Greetings, courtesies and `can you` say nothing about the task. */
function skipOpening(sentence: Sentence): number {
  let start = 0;
  let moved = true;
  while (moved && start < sentence.tokens.length) {
    moved = false;
    if (sentence.tokens[start]!.kind === 'mark') {
      start++;
      moved = true;
      continue;
    }
    const at = start;
    const courtesy = sentence.hits.find((hit) => hit.at === at && isCourtesy(hit));
    const task = sentence.hits.some((hit) => hit.at === at && isTask(hit.concept) && hit.concept !== 'write');
    if (courtesy !== undefined && !task) {
      start += courtesy.size;
      moved = true;
    }
  }
  return start;
}

const OPENINGS: ReadonlySet<Concept> = new Set<Concept>(['politeness', 'greeting', 'connector', 'brief', 'terse']);

function isCourtesy(hit: ConceptHit): boolean {
  return OPENINGS.has(hit.concept);
}

const TASKS_MAX = 5;

/** The tasks of a sentence: commands rather than mentions. Work on a given text takes the rest of the sentence. */
function readTasks(sentence: Sentence, start: number, question: boolean, first: boolean): Task[] {
  const tasks: Task[] = [];
  let mention: Task | undefined;
  const colon = sentence.tokens.findIndex((token, index) => index > start && token.word === ':');
  for (const hit of sentence.hits) {
    if (hit.at < start || !isTask(hit.concept)) continue;
    if (isNoTask(sentence, hit, start)) continue;
    const command = isCommand(sentence, hit, start);
    const task: Task = { concept: hit.concept, command, sentence, at: hit.at };
    const named = tasks.length > 0 || (mention !== undefined && isMechanical(mention.concept));
    if (named && colon !== -1 && hit.at > colon) break;
    if (!command) {
      if (SELVES.has(sentence.tokens[hit.at - 1]?.word ?? '')) continue;
      const stronger = isMechanical(task.concept)
        ? !isMechanical(mention?.concept ?? 'give')
        : mention?.concept === 'give';
      if (mention === undefined || stronger) mention = task;
      continue;
    }
    const head = tasks[0];
    const swallowed = head !== undefined && isMechanical(head.concept) && !follows(sentence.tokens, hit.at);
    if (!swallowed) tasks.push(task);
    if (tasks.length === TASKS_MAX) break;
  }
  const spoken = readTongueTask(
    sentence,
    tasks.every((task) => task.concept === 'change'),
  );
  if (spoken !== undefined && !tasks.some((task) => isMechanical(task.concept))) return [spoken];
  if (tasks.length > 0 || mention === undefined) return tasks;
  if (isCounted(sentence, mention, start) || asksWho(sentence, mention, start)) return [];
  const counts = question || first || hasHit(sentence, 'politeness') || hasHit(sentence, 'deictic');
  return counts ? [mention] : [];
}

/** `I will name a city`: what the writer does himself. */
const SELVES: ReadonlySet<string> = new Set(['я', 'мы', 'will', 'll']);
const TONGUE_WORDS_MAX = 12;
const TONGUE_ALONE_MAX = 4;
const INTO_TONGUE: ReadonlySet<string> = new Set(['into', 'in', 'to', 'на', 'по']);

/** `Put the following into German`, `с русского на испанский: …`: a translation without its verb. */
function readTongueTask(sentence: Sentence, alone: boolean): Task | undefined {
  const { tokens, hits } = sentence;
  const tongues = hits.filter((hit) => hit.concept === 'tongue');
  const heading = (hit: ConceptHit) => hit.at === 0 && tokens[1]?.word === ':';
  const target = tongues.find((hit) => heading(hit) || INTO_TONGUE.has(tokens[hit.at - 1]?.word ?? ''));
  if (target === undefined || hasHit(sentence, 'content')) return undefined;
  const only = tokens.length <= TONGUE_ALONE_MAX && target.at <= 2;
  const asked = alone && tokens.length <= TONGUE_WORDS_MAX && (only || tokens[target.at - 1]?.word === 'по');
  const given = hits.some((hit) => hit.concept === 'deictic') || tokens.some((token) => token.word === ':');
  if (!given && !asked && !tokens.some((token) => token.quoted) && tongues.length < 2) return undefined;
  return { concept: 'translate', command: true, sentence, at: 0 };
}

/** At the start, after a courtesy or a joint, or in a Russian imperative or infinitive. */
function isCommand(sentence: Sentence, hit: ConceptHit, start: number): boolean {
  if (hit.at === start) return true;
  const { tokens } = sentence;
  const word = tokens[hit.at]!.word;
  if (hit.size === 1 && word.charCodeAt(0) >= 0x400) return COMMAND_ENDINGS.some((ending) => word.endsWith(ending));
  const before = tokens[hit.at - 1];
  if (before === undefined) return true;
  if (before.word === 'to') return INTENTS.has(tokens[hit.at - 2]?.word ?? 'you');
  if (before.kind === 'mark') return before.word !== '(' && before.word !== '/';
  return JOINTS.has(before.word);
}

const COMMAND_ENDINGS = ['и', 'й', 'те', 'ть', 'ти', 'ь', 'дай', 'ну'];
/** `I need to write` asks for it, `he has to write` tells of it. */
const INTENTS: ReadonlySet<string> = new Set('you want need like me us is task try how help job goal'.split(' '));
const JOINTS: ReadonlySet<string> = new Set(
  'please pls you and then also just me us or и затем потом не now next help either'.split(' '),
);

function follows(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  return before !== undefined && before.kind === 'word' && FOLLOWS.has(before.word);
}

const FOLLOWS: ReadonlySet<string> = new Set('and then also и затем потом а'.split(' '));
