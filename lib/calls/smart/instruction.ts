// Splits a message into the request, the situation described with it, and the payload to work on.
import { findHits, type Hit } from './lexicon.ts';
import { type Prose, readProse } from './material.ts';
import { plainText, readTokens, type Token } from './tokens.ts';

export interface Sentence {
  readonly tokens: readonly Token[];
  readonly hits: readonly Hit[];
  /** `.`, `?`, `!`, `;`, a line break, or nothing at the end of a paragraph. */
  readonly end: string;
  readonly paragraph: number;
  /** Counted from the start of the paragraph. */
  readonly line: number;
  readonly lead: Lead;
}

export interface Instruction {
  readonly asking: readonly Sentence[];
  /** The situation described beside the request. */
  readonly context: readonly Sentence[];
  /** Words of the material that the request is about. */
  readonly payload: number;
  /** Whether the material stands last. */
  readonly endsInPayload: boolean;
  readonly prose: Prose;
}

/** Mechanical work on a given text: the content of the text does not make it harder. */
const MECHANICAL = new Set('translate fix shorten rewrite classify extract convert lookup summarize'.split(' '));
const TASKS = new Set(
  (
    'check write give complete explain advise list identify analyze compare prove solve design develop implement ' +
    'operate review act change handle'
  ).split(' '),
);
const HANDLING = new Set('check handle identify change'.split(' '));
const QUESTIONS = ['why', 'quantity', 'who', 'define', 'what', 'how', 'closed', 'factual'] as const;

export function isMechanical(concept: string): boolean {
  return MECHANICAL.has(concept);
}

export function has({ hits }: Sentence, ...concepts: readonly string[]): boolean {
  return hits.some(({ concept }) => concepts.includes(concept));
}

/** What a sentence asks for: its first command, or else its question, or else a task that is only mentioned. */
interface Lead {
  readonly task: Hit | undefined;
  readonly command: boolean;
  readonly question: string | undefined;
}

/** Lines of a request that were read before: a part of it is scored again without the end or the start. */
export type LinesRead = Map<string, readonly Sentence[]>;

export function readInstruction(text: string, known: LinesRead): Instruction {
  const prose = readProse(text);
  const sentences = prose.paragraphs.flatMap((lines, paragraph) =>
    lines.flatMap((line, index) => readLine(line, { paragraph, line: index, last: index === lines.length - 1 }, known)),
  );
  const roles = assignRoles(sentences, prose);
  const of = (role: Role) => sentences.filter((_, index) => roles[index] === role);
  const asking = of('asking').map(cutPayload);
  const context = of('context');
  const payload = countTokens(sentences) - countTokens(asking) - countTokens(context);
  return { asking, context, payload, endsInPayload: roles.at(-1) === 'payload', prose };
}

const ENDS = new Set(['.', '?', '!', ';', '…', '。', '？', '！']);
/** A dash, a number or heading marks before a line. */
const BULLET = /^[ \t]*(?:[-*•·–—#]+|\d{1,2}[.)])(?=\s)/;

interface LinePlace {
  readonly paragraph: number;
  readonly line: number;
  /** Of its paragraph. */
  readonly last: boolean;
}

function readLine(text: string, { paragraph, line, last }: LinePlace, known: LinesRead): readonly Sentence[] {
  const key = `${paragraph} ${line} ${last} ${text}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const tokens = readTokens(plainText(text).replace(BULLET, ''));
  const sentences: Sentence[] = [];
  let from = 0;
  for (let at = 0; at <= tokens.length; at++) {
    const token = tokens[at];
    if (token !== undefined && (token.quoted || !ENDS.has(token.word))) continue;
    const part = tokens.slice(from, at);
    if (part.length > 0) {
      const hits = findHits(part);
      const end = token?.word ?? (last ? '' : '\n');
      sentences.push({ tokens: part, hits, end, paragraph, line, lead: readLead(part, hits, end) });
    } else if (token?.word === '?' && sentences.length > 0) sentences.push({ ...sentences.pop()!, end: '?' });
    from = at + 1;
  }
  known.set(key, sentences);
  return sentences;
}

function readLead(tokens: readonly Token[], hits: readonly Hit[], end: string): Lead {
  const tasks = hits.filter(isTask);
  const command = tasks.find((hit) => isCommand(tokens, hit));
  const task = command ?? tasks[0];
  const asks = end === '?';
  const reach = (kind: string) => (asks ? 3 : kind === 'closed' ? 0 : 1);
  const question = QUESTIONS.find((kind) => hits.some(({ concept, at }) => concept === kind && at <= reach(kind)));
  const asked = asks ? (question ?? 'other') : question === 'factual' ? undefined : question;
  if (asked !== undefined && !(command !== undefined && command.at <= 1))
    return { task, command: false, question: asked };
  return { task, command: command !== undefined, question: undefined };
}

export function isTask({ concept }: Hit): boolean {
  return MECHANICAL.has(concept) || TASKS.has(concept);
}

const JOINTS = new Set('please pls you and then also just me us or to и затем потом не now next help'.split(' '));
const COMMAND = /(и|й|те|ть|ти|ь|дай|ну)$/;

/** Whether a task is a command: at the start, after a courtesy or a joint, or in a Russian imperative or infinitive. */
function isCommand(tokens: readonly Token[], { at, size }: Hit): boolean {
  if (at === 0) return true;
  const { word } = tokens[at]!;
  if (size === 1 && word.charCodeAt(0) >= 0x400) return COMMAND.test(word);
  const before = tokens[at - 1]!;
  return before.kind === 'mark' ? before.word !== '(' && before.word !== '/' : JOINTS.has(before.word);
}

type Role = 'asking' | 'context' | 'payload';

const OPENING_SENTENCES = 4;
const OPENING_TOKENS = 60;
const CLOSING_TOKENS = 45;
const MATERIAL_TOKENS = 40;

function assignRoles(sentences: readonly Sentence[], prose: Prose): Role[] {
  const opening = findOpening(sentences);
  const closing = findClosing(sentences, prose);
  if (opening !== -1) return afterOpening(sentences, opening);
  if (closing !== -1) return sentences.map((_, index) => (index < closing ? 'payload' : 'asking'));
  return sentences.map(({ lead }) => (isRequest(lead) ? 'asking' : 'context'));
}

function isRequest({ task, question }: Lead): boolean {
  return task !== undefined || question !== undefined;
}

function countTokens(sentences: readonly Sentence[]): number {
  return sentences.reduce((sum, { tokens }) => sum + tokens.length, 0);
}

/** The sentence at the start that commands work on what follows it, or announces it. */
function findOpening(sentences: readonly Sentence[]): number {
  let seen = 0;
  for (let index = 0; index < Math.min(OPENING_SENTENCES, sentences.length) && seen < OPENING_TOKENS; index++) {
    if (opensPayload(sentences, index)) return index;
    seen += sentences[index]!.tokens.length;
  }
  return -1;
}

function opensPayload(sentences: readonly Sentence[], index: number): boolean {
  const sentence = sentences[index]!;
  const { task, command, question } = sentence.lead;
  const rest = sentences.slice(index + 1);
  const colon = findColon(sentence);
  if (sentence.paragraph > 1 || sentence.line > 1) return false;
  const mechanical = task !== undefined && isWorkOnText(sentence, task);
  if (mechanical && (command || colon !== -1)) return true;
  if (countTokens(rest) < MATERIAL_TOKENS) return false;
  if (sentence.end !== '\n' && rest[0]!.paragraph === sentence.paragraph && colon === -1) return false;
  return (command && task!.at <= 3) || (question !== undefined && has(sentence, 'deictic', 'label'));
}

function beginsLine(sentences: readonly Sentence[], index: number): boolean {
  const before = sentences[index - 1];
  const sentence = sentences[index]!;
  return before === undefined || before.paragraph !== sentence.paragraph || before.line !== sentence.line;
}

/** `Check the spelling` is work on a text, `check whether it is prime` is not. */
function isWorkOnText(sentence: Sentence, { concept }: Hit): boolean {
  return isMechanical(concept) || (concept === 'check' && has(sentence, 'grammar'));
}

function afterOpening(sentences: readonly Sentence[], opening: number): Role[] {
  const head = sentences[opening]!;
  let open = findColon(head) === -1;
  return sentences.map((sentence, index) => {
    if (index < opening) return isRequest(sentence.lead) ? 'asking' : 'context';
    open &&= index === opening || (sentence.paragraph === head.paragraph && continuesRequest(sentence));
    return open || index === opening ? 'asking' : 'payload';
  });
}

/** `Keep it formal.`, `Then list the dates.` add to the request before the material comes. */
function continuesRequest({ tokens, hits, lead: { task, command } }: Sentence): boolean {
  if (tokens.length > CLOSING_TOKENS) return false;
  if (
    hits.some(
      ({ concept, at }) => at <= 1 && (concept === 'constraint' || concept === 'politeness' || concept === 'brief'),
    )
  )
    return true;
  return command && task!.at <= 2;
}

/** A request at the end, on a line of its own, about what precedes it. */
function findClosing(sentences: readonly Sentence[], prose: Prose): number {
  let before = countTokens(sentences) + prose.fenced / 6;
  let after = 0;
  let found = -1;
  for (let index = sentences.length - 1; index >= 0; index--) {
    const sentence = sentences[index]!;
    const { task, command } = sentence.lead;
    before -= sentence.tokens.length;
    after += sentence.tokens.length;
    if (after > CLOSING_TOKENS || before < Math.max(after, CLOSING_MATERIAL)) break;
    const works = task !== undefined && isWorkOnText(sentence, task);
    if (works && beginsLine(sentences, index) && (command || has(sentence, 'deictic', 'label'))) found = index;
  }
  return found;
}

const CLOSING_MATERIAL = 10;

/** The position of an unquoted colon, other than in a ratio or a time. */
function findColon({ tokens }: Sentence): number {
  return tokens.findIndex(
    ({ word, quoted }, at) =>
      word === ':' && !quoted && at > 0 && !(tokens[at - 1]!.kind === 'number' && tokens[at + 1]?.kind === 'number'),
  );
}

/** `Translate: write a quicksort` is read as `Translate:`. */
function cutPayload(sentence: Sentence): Sentence {
  const colon = findColon(sentence);
  const { task } = sentence.lead;
  const handles = task !== undefined && task.at < colon && (isMechanical(task.concept) || HANDLING.has(task.concept));
  if (!handles || colon === sentence.tokens.length - 1) return sentence;
  return {
    ...sentence,
    tokens: sentence.tokens.slice(0, colon + 1),
    hits: sentence.hits.filter(({ at, size }) => at + size <= colon),
  };
}
