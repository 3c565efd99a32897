// Reads the messages of both dialects: strict on types, lenient on blocks and roles that a text gateway does not use.
import { countOf } from '../../count.ts';
import type { RequestContent, RequestMessage } from '../../text/request.ts';
import { choice, type Json, list, object, ref } from '../openapi/schema.ts';
import { invalidField } from './fields.ts';
import { isPicture, PICTURE_TYPES, readPicture, type WireBlock } from './pictures.ts';

/** Pictures in one message of a user or a tool; those of other roles have none. */
const PICTURES_MAX = 4;
const WITH_PICTURES: ReadonlySet<string> = new Set(['user', 'tool', 'function']);
/** Blocks inside blocks whose text is kept. */
const DEPTH_MAX = 4;

const ROLES = ['user', 'assistant', 'system', 'developer', 'tool', 'function'] as const;
/** Named in refusals; the others are for clients that know them. */
const NAMED_ROLES = ROLES.slice(0, 3).join(', ');

/** What the API document says of a message whose content may be blocks of this schema. */
export function describeMessage(block: string): Json {
  const role = choice(ROLES, '`system` and `developer` messages are part of the system prompt wherever they stand.');
  const content = {
    description:
      'Null, like its absence, is for `assistant` messages only. ' +
      `A \`user\` message may hold up to ${PICTURES_MAX} images.`,
    anyOf: [{ type: 'string' }, list(ref(block)), { type: 'null' }],
  };
  return object({ role, content }, { optional: ['content'] });
}

/** And of a block of a type that a text gateway does not use. */
export const OTHER_BLOCK: Json = {
  description: 'Blocks of other types never fail a call: the text in them is kept, the rest is dropped.',
  type: 'object',
  required: ['type'],
  properties: { type: { type: 'string', not: { enum: ['text', ...PICTURE_TYPES] } } },
};

export interface ReadMessages {
  /** Texts of messages with the roles `system` and `developer`. */
  readonly system: readonly string[];
  /** The other messages that have text, oldest first. */
  readonly messages: readonly RequestMessage[];
  /** Images in user messages. */
  readonly images: number;
}

export function readMessages(wire: readonly unknown[]): ReadMessages {
  const system: string[] = [];
  const messages: RequestMessage[] = [];
  let images = 0;
  let prompt: { readonly content: readonly RequestContent[]; readonly field: string } | undefined;
  for (const [at, item] of wire.entries()) {
    const field = `messages[${at}].content`;
    const { role, content: given } = checkMessage(item, `messages[${at}]`);
    const content =
      given === null && role === 'assistant'
        ? []
        : readContent(given, field, WITH_PICTURES.has(role) ? PICTURES_MAX : 0);
    if (role === 'system' || role === 'developer') addTexts(system, content);
    else if (content.length > 0) messages.push({ role: role === 'assistant' ? role : 'user', content });
    for (const part of content) if (part.type === 'picture') images += 1;
    if (role === 'user') prompt = { content, field };
  }
  if (!prompt) throw invalidField('messages', 'must contain a message with role user');
  if (prompt.content.length === 0) {
    throw invalidField(prompt.field, 'the last user message must contain text or an image');
  }
  return { system, messages, images };
}

/** The texts of a system prompt given as a field. */
export function readSystem(wire: string | readonly unknown[] | null | undefined): readonly string[] {
  const texts: string[] = [];
  if (wire != null) addTexts(texts, readContent(wire, 'system', 0));
  return texts;
}

/** Joins system prompts; undefined when there is none. */
export function joinSystem(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

function checkMessage(item: unknown, field: string): { role: string; content: unknown } {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) throw invalidField(field, 'must be an object');
  const { role, content = null } = item as { role?: unknown; content?: unknown };
  if (!(ROLES as readonly unknown[]).includes(role))
    throw invalidField(`${field}.role`, `must be one of ${NAMED_ROLES}`);
  return { role: role as string, content };
}

function readContent(given: unknown, field: string, picturesMax: number): readonly RequestContent[] {
  if (typeof given === 'string') return given === '' ? [] : [{ type: 'text', text: given }];
  if (!Array.isArray(given)) throw invalidField(field, 'must be a string or an array of blocks');
  const content: RequestContent[] = [];
  let pictures = 0;
  for (const [at, item] of given.entries()) {
    const block = checkBlock(item, `${field}[${at}]`);
    if (!isPicture(block)) {
      for (const text of textsOf(block, 0)) content.push({ type: 'text', text });
      continue;
    }
    pictures += 1;
    // Before it is decoded: one picture too many costs nothing.
    if (pictures > picturesMax) throw invalidField(field, tooManyPictures(picturesMax));
    content.push(readPicture(block, `${field}[${at}]`));
  }
  return content;
}

function tooManyPictures(picturesMax: number): string {
  return picturesMax === 0
    ? 'only user messages may contain images'
    : `a message may contain at most ${countOf(picturesMax, 'image')}`;
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

/** The texts in a block of any type, also in what it contains; it never fails. */
function textsOf(block: unknown, depth: number): readonly string[] {
  if (typeof block === 'string') return block === '' ? [] : [block];
  if (typeof block !== 'object' || block === null || depth > DEPTH_MAX) return [];
  if (Array.isArray(block)) return block.flatMap((item) => textsOf(item, depth + 1));
  const { text, content, source } = block as { text?: unknown; content?: unknown; source?: unknown };
  if (typeof text === 'string') return textsOf(text, depth);
  return [...textsOf(textOfSource(source), depth + 1), ...textsOf(content, depth + 1)];
}

/** A document has its text in its source; other kinds of data are not text. */
function textOfSource(source: unknown): unknown {
  if (typeof source !== 'object' || source === null) return undefined;
  const { type, data, content } = source as { type?: unknown; data?: unknown; content?: unknown };
  return type === 'text' ? data : content;
}
