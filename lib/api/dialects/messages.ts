// Reads the messages of both dialects: strict on types, lenient on blocks and roles that a text gateway does not use.
import { countOf } from '../../count.ts';
import type { TextContent } from '../../plugin/contract.ts';
import type { RequestMessage } from '../../text/request.ts';
import { invalidField } from './fields.ts';
import { isImageBlock, type WireBlock } from './image-block.ts';

/** Images in one message. */
const IMAGES_MAX = 4;
/** Blocks inside blocks whose text is kept. */
const DEPTH_MAX = 4;

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system', 'developer', 'tool', 'function']);

export interface ReadMessages {
  /** Texts of messages with the roles `system` and `developer`. */
  readonly system: readonly string[];
  /** The other messages that have text, oldest first. */
  readonly messages: readonly RequestMessage[];
  /** Images in user messages. */
  readonly images: number;
}

interface Content {
  readonly texts: readonly string[];
  readonly images: number;
}

export function readMessages(wire: readonly unknown[]): ReadMessages {
  const system: string[] = [];
  const messages: RequestMessage[] = [];
  let images = 0;
  let prompt: (Content & { field: string }) | undefined;
  for (const [at, item] of wire.entries()) {
    const field = `messages[${at}].content`;
    const { role, content } = checkMessage(item, `messages[${at}]`);
    const imagesMax = role === 'user' ? IMAGES_MAX : Number.POSITIVE_INFINITY;
    const read =
      content === null && role === 'assistant'
        ? NOTHING
        : readContent(content, { field, isImage: isImageBlock, imagesMax });
    if (role === 'system' || role === 'developer') addAll(system, read.texts);
    else if (read.texts.length > 0)
      messages.push({ role: role === 'assistant' ? role : 'user', content: blocksOf(read) });
    if (role !== 'user') continue;
    images += read.images;
    prompt = { ...read, field };
  }
  if (!prompt) throw invalidField('messages', 'must contain a message with role user');
  if (prompt.texts.length + prompt.images === 0) {
    throw invalidField(prompt.field, 'the last user message must contain text or an image');
  }
  return { system, messages, images };
}

/** The texts of a system prompt given as a field. */
export function readSystem(wire: string | readonly unknown[] | null | undefined): readonly string[] {
  return wire == null ? [] : readContent(wire, { field: 'system', isImage: () => false, imagesMax: 0 }).texts;
}

/** Joins system prompts; undefined when there is none. */
export function joinSystem(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

const NOTHING: Content = { texts: [], images: 0 };

function blocksOf({ texts }: Content): readonly TextContent[] {
  return texts.map((text) => ({ type: 'text', text }));
}

function checkMessage(item: unknown, field: string): { role: string; content: unknown } {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) throw invalidField(field, 'must be an object');
  const { role, content = null } = item as { role?: unknown; content?: unknown };
  if (!ROLES.has(role)) throw invalidField(`${field}.role`, `must be one of ${[...ROLES].slice(0, 3).join(', ')}`);
  return { role: role as string, content };
}

interface ContentRules {
  readonly field: string;
  readonly isImage: (block: WireBlock, field: string) => boolean;
  readonly imagesMax: number;
}

function readContent(content: unknown, { field, isImage, imagesMax }: ContentRules): Content {
  if (typeof content === 'string') return content === '' ? NOTHING : { texts: [content], images: 0 };
  if (!Array.isArray(content)) throw invalidField(field, 'must be a string or an array of blocks');
  const texts: string[] = [];
  let images = 0;
  for (const [at, item] of content.entries()) {
    const block = checkBlock(item, `${field}[${at}]`);
    if (!isImage(block, `${field}[${at}]`)) addAll(texts, textsOf(block, 0));
    else if (images < imagesMax) images += 1;
    else throw invalidField(field, `a message may contain at most ${countOf(imagesMax, 'image')}`);
  }
  return { texts, images };
}

/** Not `push(...more)`: a block may have more texts than a call takes arguments. */
function addAll(texts: string[], more: readonly string[]): void {
  for (const text of more) texts.push(text);
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

/** A document has its text in its source; what is data of another kind is no text. */
function textOfSource(source: unknown): unknown {
  if (typeof source !== 'object' || source === null) return undefined;
  const { type, data, content } = source as { type?: unknown; data?: unknown; content?: unknown };
  return type === 'text' ? data : content;
}
