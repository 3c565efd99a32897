// Reads the messages of both dialects: strict on types, lenient on blocks and roles that a text gateway does not use.
import { pluralize } from '../../base/pluralize.ts';
import type { RequestContent, RequestMessage, RequestResult } from '../../calls/text/request.ts';
import type { RequestImage } from '../../media/reference.ts';
import { choice, type Json, list, object, ref } from '../openapi/schema.ts';
import { CALL_FIELDS, OpenCalls, readIsError, readToolCalls, readToolUse } from './calls.ts';
import { invalidField } from './fields.ts';
import { isPicture, PICTURE_TYPES, readPicture, type WireBlock } from './pictures.ts';

/** Pictures per message of a user or a tool; other roles have none. */
const PICTURES_MAX = 4;
const WITH_PICTURES: ReadonlySet<string> = new Set(['user', 'tool', 'function']);
/** How deep nested blocks are searched for text. */
const DEPTH_MAX = 4;

const ROLES = ['user', 'assistant', 'system', 'developer', 'tool', 'function'] as const;
/** The roles named in refusals; the others are for clients that know them. */
const NAMED_ROLES = ROLES.slice(0, 3).join(', ');

/** The schema of a message whose content may be blocks of this schema. */
export function describeMessage(block: string): Json {
  const role = choice(ROLES, '`system` and `developer` messages are part of the system prompt wherever they stand.');
  const content = {
    description:
      'Null, like its absence, is for `assistant` messages only. ' +
      `A \`user\` message may hold up to ${PICTURES_MAX} images.`,
    anyOf: [{ type: 'string' }, list(ref(block)), { type: 'null' }],
  };
  return object({ role, content, ...CALL_FIELDS }, { optional: ['content', ...Object.keys(CALL_FIELDS)] });
}

/** The schema of a block of a type that a text gateway does not use. */
export const OTHER_BLOCK: Json = {
  description: 'Blocks of other types never fail a call: the text in them is kept, the rest is dropped.',
  type: 'object',
  required: ['type'],
  properties: { type: { type: 'string', not: { enum: ['text', ...PICTURE_TYPES, 'tool_use', 'tool_result'] } } },
};

export interface ReadMessages {
  /** Texts of `system` and `developer` messages. */
  readonly system: readonly string[];
  /** The other messages that have text, pictures, calls or results, oldest first. */
  readonly messages: readonly RequestMessage[];
  /** Images in user messages and in results. */
  readonly images: number;
  /** Present if there are tool calls. */
  readonly hasCalls?: true;
}

export function readMessages(wire: readonly unknown[]): ReadMessages {
  const system: string[] = [];
  const messages: RequestMessage[] = [];
  const calls = new OpenCalls();
  let images = 0;
  let prompt: { readonly content: readonly RequestContent[]; readonly field: string } | undefined;
  for (const [at, item] of wire.entries()) {
    const field = `messages[${at}]`;
    const message = checkMessage(item, field);
    const { role } = message;
    if (role === 'assistant' && messages.at(-1)?.role === 'user') calls.checkNone();
    const content = readMessage(message, field, calls);
    if (role === 'system' || role === 'developer') addTexts(system, content);
    else if (content.length > 0) addMessage(messages, { role: role === 'assistant' ? role : 'user', content });
    images += countPictures(content);
    if (role === 'user') prompt = { content, field: `${field}.content` };
  }
  if (!prompt) throw invalidField('messages', 'must contain a message with role user');
  if (prompt.content.length === 0) {
    throw invalidField(prompt.field, 'the last user message must contain text or an image');
  }
  calls.checkNone();
  return { system, messages, images, ...(calls.hasAny && { hasCalls: true }) };
}

/** Results of parallel calls belong in one message. */
function addMessage(messages: RequestMessage[], message: RequestMessage): void {
  const last = messages.at(-1);
  const isResult = ({ type }: RequestContent) => type === 'tool-result';
  if (last?.content.every(isResult) && message.content.slice(0, 1).some(isResult)) {
    messages[messages.length - 1] = { role: 'user', content: [...last.content, ...message.content] };
  } else messages.push(message);
}

function countPictures(content: readonly RequestContent[]): number {
  let pictures = 0;
  for (const part of content) {
    if (part.type === 'picture') pictures += 1;
    else if (part.type === 'tool-result') pictures += countPictures(part.content);
  }
  return pictures;
}

function readMessage(message: WireMessage, field: string, calls: OpenCalls): readonly RequestContent[] {
  const { role, content: given } = message;
  const reading = { role, calls, picturesLeft: WITH_PICTURES.has(role) ? PICTURES_MAX : 0 };
  if (role === 'tool') {
    const { id, name } = calls.answer(message.tool_call_id, `${field}.tool_call_id`);
    const content = readContent(given, `${field}.content`, reading) as RequestResult['content'];
    return [{ type: 'tool-result', id, name, isError: false, content }];
  }
  const content = given === null && role === 'assistant' ? [] : readContent(given, `${field}.content`, reading);
  if (role !== 'assistant') return content;
  const called = readToolCalls(message.tool_calls, `${field}.tool_calls`, calls);
  return called.length > 0 ? [...content, ...called] : content;
}

/** The texts of a system prompt given as a field. */
export function readSystem(wire: string | readonly unknown[] | null | undefined): readonly string[] {
  const texts: string[] = [];
  if (wire != null)
    addTexts(texts, readContent(wire, 'system', { role: 'system', calls: new OpenCalls(), picturesLeft: 0 }));
  return texts;
}

/** Joins system prompts; undefined if there is none. */
export function joinSystem(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

interface WireMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: unknown;
}

function checkMessage(item: unknown, field: string): WireMessage {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) throw invalidField(field, 'must be an object');
  const message = item as Partial<WireMessage>;
  const { role, content = null } = message;
  if (!(ROLES as readonly unknown[]).includes(role))
    throw invalidField(`${field}.role`, `must be one of ${NAMED_ROLES}`);
  return { ...message, content } as WireMessage;
}

/** Context for reading blocks. */
interface Reading {
  /** Of the message; empty within a result. */
  readonly role: string;
  readonly calls: OpenCalls;
  picturesLeft: number;
}

function readContent(given: unknown, field: string, reading: Reading): readonly RequestContent[] {
  if (typeof given === 'string') return given === '' ? [] : [{ type: 'text', text: given }];
  if (!Array.isArray(given)) throw invalidField(field, 'must be a string or an array of blocks');
  const content: RequestContent[] = [];
  for (const [at, item] of given.entries()) {
    const place = `${field}[${at}]`;
    const block = checkBlock(item, place);
    if (isPicture(block)) content.push(readOnePicture(block, { place, field, reading }));
    else if (block.type === 'tool_use' && reading.role === 'assistant') {
      content.push(readToolUse(block, place, reading.calls));
    } else if (block.type === 'tool_result' && reading.role === 'user') {
      content.push(readResult(block, place, reading));
    } else for (const text of textsOf(block, 0)) content.push({ type: 'text', text });
  }
  return content;
}

/** `{ type: "tool_result", tool_use_id, content, is_error }` */
function readResult(block: WireBlock, field: string, reading: Reading): RequestResult {
  const { id, name } = reading.calls.answer(block.tool_use_id, `${field}.tool_use_id`);
  const inner = { calls: reading.calls, role: '', picturesLeft: reading.picturesLeft };
  const content = readContent(block.content ?? '', `${field}.content`, inner) as RequestResult['content'];
  reading.picturesLeft = inner.picturesLeft;
  return { type: 'tool-result', id, name, isError: readIsError(block.is_error, `${field}.is_error`), content };
}

function readOnePicture(
  block: WireBlock,
  { place, field, reading }: { readonly place: string; readonly field: string; readonly reading: Reading },
): RequestImage {
  // Before it is decoded, so that one picture too many costs nothing.
  if (reading.picturesLeft === 0) throw invalidField(field, tooManyPictures(reading.role));
  reading.picturesLeft -= 1;
  return readPicture(block, place);
}

function tooManyPictures(role: string): string {
  const isAllowed = role === '' || WITH_PICTURES.has(role);
  return isAllowed
    ? `a message may contain at most ${pluralize(PICTURES_MAX, 'image')}`
    : 'only user messages may contain images';
}

function addTexts(texts: string[], content: readonly RequestContent[]): void {
  for (const part of content) if (part.type === 'text') texts.push(part.text);
}

function checkBlock(item: unknown, field: string): WireBlock {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) throw invalidField(field, 'must be an object');
  const block = item as WireBlock;
  if (typeof block.type !== 'string') throw invalidField(`${field}.type`, 'must be a string');
  if (block.type === 'text' && typeof block.text !== 'string') throw invalidField(`${field}.text`, 'must be a string');
  return block;
}

/** The texts in a block of any type, including nested ones; never fails. */
function textsOf(block: unknown, depth: number): readonly string[] {
  if (typeof block === 'string') return block === '' ? [] : [block];
  if (typeof block !== 'object' || block === null || depth > DEPTH_MAX) return [];
  if (Array.isArray(block)) return block.flatMap((item) => textsOf(item, depth + 1));
  const { text, content, source } = block as { text?: unknown; content?: unknown; source?: unknown };
  if (typeof text === 'string') return textsOf(text, depth);
  return [...textsOf(textOfSource(source), depth + 1), ...textsOf(content, depth + 1)];
}

/** A document has its text in its source; other data is not text. */
function textOfSource(source: unknown): unknown {
  if (typeof source !== 'object' || source === null) return undefined;
  const { type, data, content } = source as { type?: unknown; data?: unknown; content?: unknown };
  return type === 'text' ? data : content;
}
