// Splits a message into the request, with what is told beside it, and the payload to work on.
import { findHits, type Hit, type Token } from './lexicon.ts';
import type { Prose } from './material.ts';
import { readTokens } from './tokens.ts';

export interface Sentence {
  readonly tokens: readonly Token[];
  readonly hits: readonly Hit[];
  /** `.`, `?`, `!`, `;`, or nothing at the end of a line. */
  readonly end: string;
  readonly line: number;
  readonly lead: Lead;
}

export interface Instruction {
  readonly asking: readonly Sentence[];
  /** Whether there is material that the request is about. */
  readonly hasPayload: boolean;
  /** Whether the material stands last. */
  readonly endsInPayload: boolean;
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

/** The sentences of prose, in order. */
export function readSentences(lines: Prose['lines']): Sentence[] {
  return lines.flatMap(readLine);
}

export function readInstruction(sentences: readonly Sentence[]): Instruction {
  const opening = findOpening(sentences);
  const from = opening === -1 ? findClosing(sentences) : 0;
  const to = opening === -1 ? sentences.length : findEnd(sentences, opening);
  const asking = sentences.slice(from, to).map(cutPayload);
  return { asking, hasPayload: countTokens(asking) < countTokens(sentences), endsInPayload: to < sentences.length };
}

const ENDS = new Set(['.', '?', '!', ';', '…', '。', '？', '！']);

function readLine(text: string, line: number): Sentence[] {
  const tokens = readTokens(text);
  const sentences: Sentence[] = [];
  let from = 0;
  for (let at = 0; at <= tokens.length; at++) {
    const token = tokens[at];
    if (token !== undefined && (token.quoted || !ENDS.has(token.word))) continue;
    if (at > from) sentences.push(toSentence({ line, tokens: tokens.slice(from, at), end: token?.word ?? '' }));
    from = at + 1;
  }
  return sentences;
}

/** A part of a sentence. */
export function cutSentence(sentence: Sentence, from: number, to = sentence.tokens.length): Sentence {
  if (to - from === sentence.tokens.length) return sentence;
  const end = to === sentence.tokens.length ? sentence.end : '';
  return toSentence({ ...sentence, tokens: sentence.tokens.slice(from, to), end });
}

function toSentence(sentence: Omit<Sentence, 'hits' | 'lead'>): Sentence {
  const { tokens, end } = sentence;
  const hits = findHits(tokens);
  return { ...sentence, hits, lead: readLead(tokens, hits, end) };
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

const OPENING_SENTENCES = 4;
const CLOSING_TOKENS = 45;
const MATERIAL_TOKENS = 40;

function countTokens(sentences: readonly Sentence[]): number {
  return sentences.reduce((sum, { tokens }) => sum + tokens.length, 0);
}

/** The sentence at the start that commands work on what follows it, or announces it. */
function findOpening(sentences: readonly Sentence[]): number {
  return sentences.slice(0, OPENING_SENTENCES).findIndex((sentence, index) => {
    const { task, command, question } = sentence.lead;
    const colon = findColon(sentence);
    if (isWorkOnText(sentence, task) && (command || colon !== -1)) return true;
    const rest = sentences.slice(index + 1);
    if (countTokens(rest) < MATERIAL_TOKENS || (rest[0]!.line === sentence.line && colon === -1)) return false;
    return (command && task!.at <= 3) || (question !== undefined && has(sentence, 'deictic', 'label'));
  });
}

/** `Check the spelling` is work on a text, `check whether it is prime` is not. */
function isWorkOnText(sentence: Sentence, task: Hit | undefined): boolean {
  return task !== undefined && (isMechanical(task.concept) || (task.concept === 'check' && has(sentence, 'grammar')));
}

/** Where the request that opens a payload ends. */
function findEnd(sentences: readonly Sentence[], opening: number): number {
  const head = sentences[opening]!;
  let end = opening + 1;
  if (findColon(head) !== -1) return end;
  while (continuesRequest(sentences[end], sentences[end - 1]!)) end++;
  return end;
}

/** `Then list the dates.` adds to the request before the material comes, if no empty line separates the two. */
function continuesRequest(sentence: Sentence | undefined, before: Sentence): boolean {
  if (sentence === undefined || sentence.line > before.line + 1) return false;
  const { command, task } = sentence.lead;
  return command && task!.at <= 2 && sentence.tokens.length <= CLOSING_TOKENS;
}

/** Where a request at the end, on a line of its own, begins that works on what precedes it; 0 if there is none. */
function findClosing(sentences: readonly Sentence[]): number {
  let before = countTokens(sentences);
  let after = 0;
  let found = 0;
  for (let index = sentences.length - 1; index >= 0; index--) {
    const sentence = sentences[index]!;
    before -= sentence.tokens.length;
    after += sentence.tokens.length;
    if (after > CLOSING_TOKENS || before < Math.max(after, CLOSING_MATERIAL)) break;
    if (isWorkOnText(sentence, sentence.lead.task) && sentence.line !== sentences[index - 1]?.line) found = index;
  }
  return found;
}

const CLOSING_MATERIAL = 10;

/** The position of an unquoted colon, other than in a ratio or a time. */
export function findColon({ tokens }: Sentence): number {
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
  return cutSentence(sentence, 0, colon + 1);
}
