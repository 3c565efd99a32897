// Reads the messages of a request, and its system prompt.

import { choice, type Json, list, object, ref } from '../../base/json-schema.ts';
import { isRecord } from '../../base/record.ts';
import type { RequestContent, RequestFiles, RequestMessage } from '../../calls/text/request.ts';
import type { TextContent } from '../../upstream/contract/provider.ts';
import { markLast, readCacheMarker } from './cache.ts';
import { CALL_FIELDS, OpenCalls, readFunctionCall, readToolCalls } from './calls.ts';
import {
  createResult,
  type FoundFiles,
  IMAGES_MAX,
  IMAGES_TOTAL_MAX,
  type Reading,
  readAnswerImages,
  readContent,
  startReading,
} from './content.ts';
import { invalidField } from './fields.ts';
import { NO_FILE } from './files.ts';
import { IMAGE_BLOCK_TYPES } from './images.ts';
import { readReasoningFields } from './reasoning-content.ts';

const ROLES = ['user', 'assistant', 'system', 'developer', 'tool', 'function'] as const;
/** The roles named in refusals; the others are for clients that know them. */
const NAMED_ROLES = ROLES.slice(0, 3).join(', ');

/** The schema of a message whose content may be blocks of this schema, with further fields. */
export function describeMessage(block: string, more: Readonly<Record<string, Json>> = {}): Json {
  const role = choice(ROLES, '`system` and `developer` messages are part of the system prompt wherever they stand.');
  const content = {
    description:
      'Null, like its absence, is for `assistant` messages only. ' +
      `A \`user\` message may hold up to ${IMAGES_MAX} images beside those of its results, a request ${IMAGES_TOTAL_MAX}.`,
    anyOf: [{ type: 'string' }, list(ref(block)), { type: 'null' }],
  };
  const optional = { ...CALL_FIELDS, ...more };
  return object({ role, content, ...optional }, { optional: ['content', ...Object.keys(optional)] });
}

/** The schema of a block of a type that a text gateway does not use. */
export const OTHER_BLOCK: Json = {
  description:
    'Blocks of other types never fail a call, unless they are files: the text in them is kept, the rest is dropped.',
  type: 'object',
  required: ['type'],
  properties: {
    type: {
      type: 'string',
      allOf: [{ not: { enum: ['text', ...IMAGE_BLOCK_TYPES, 'tool_use', 'tool_result', 'tool_reference'] } }, NO_FILE],
    },
  },
};

export interface ReadMessages {
  /** What `system` and `developer` messages before all others say. */
  readonly system: readonly TextContent[];
  /** The messages from there on that have text, images, files, calls or results, oldest first. */
  readonly messages: readonly RequestMessage[];
  /** Images in user messages and in results. */
  readonly images: number;
  /** Images in assistant messages; absent if there are none. */
  readonly answerImages?: number;
  /** Present if there are documents or audio. */
  readonly files?: RequestFiles;
  /** Present if there are tool calls. */
  readonly hasCalls?: true;
  /** Present if there are tool references. */
  readonly hasReferences?: true;
}

interface MessagesOptions {
  /** Adds to the content of a message who says it. */
  readonly prefixSpeaker?: (message: WireMessage, content: readonly RequestContent[]) => readonly RequestContent[];
}

export function readMessages(wire: readonly unknown[], { prefixSpeaker }: MessagesOptions = {}): ReadMessages {
  const system: TextContent[] = [];
  const messages: RequestMessage[] = [];
  const calls = new OpenCalls();
  const found: FoundFiles = { hasAny: false, images: 0 };
  let before = '';
  let speaker: 'user' | 'assistant' | undefined;
  let prompt: { readonly content: readonly RequestContent[]; readonly field: string } | undefined;
  for (const [at, item] of wire.entries()) {
    const field = `messages[${at}]`;
    const message = checkMessage(item, field);
    const { role } = message;
    if (role === 'assistant' && speaker === 'user') calls.checkNone();
    const said = readMessage(message, field, { calls, files: found, followsResults: before === 'tool' });
    const content = prefixSpeaker ? prefixSpeaker(message, said) : said;
    before = role;
    if (role === 'system' || role === 'developer') {
      const texts = textsIn(content);
      if (messages.length === 0) system.push(...texts);
      else if (texts.length > 0) messages.push({ role: 'system', content: texts });
    } else if (content.some(({ type }) => type !== 'reasoning')) {
      speaker = role === 'assistant' ? role : 'user';
      messages.push({ role: speaker, content });
    }
    if (role === 'user') prompt = { content, field: `${field}.content` };
  }
  if (!prompt) throw invalidField('messages', 'must contain a message with role user');
  if (prompt.content.length === 0) {
    throw invalidField(prompt.field, 'the last user message must contain text or an image');
  }
  calls.checkNone();
  return { system, messages: placeResults(messages), ...describeContents(found, calls) };
}

/** What was found in the contents of all messages. */
export function describeContents(
  { hasAny, hasReferences, images, answerImages, ...files }: FoundFiles,
  calls: OpenCalls,
): Omit<ReadMessages, 'system' | 'messages'> {
  return {
    images,
    ...(answerImages !== undefined && { answerImages }),
    ...(hasAny && { files }),
    ...(calls.hasAny && { hasCalls: true }),
    ...(hasReferences && { hasReferences }),
  };
}

/**
 * Results of parallel calls belong in one message right behind the calls, and in their order: some models know only by it
 * which call a result is of. Many clients put what a result shows between them, as messages of the user.
 */
export function placeResults(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  const turns = [new Turn()];
  for (const message of messages) {
    if (message.role === 'assistant') turns.push(new Turn(message));
    else turns.at(-1)?.add(message);
  }
  return turns.flatMap((turn) => turn.list());
}

/** An answer, and what comes before the next one. */
class Turn {
  readonly #answer: RequestMessage | undefined;
  readonly #results: RequestContent[] = [];
  /** What is said with results, before any other message. */
  readonly #said: RequestContent[] = [];
  readonly #others: RequestMessage[] = [];

  constructor(answer?: RequestMessage) {
    this.#answer = answer;
  }

  add(message: RequestMessage): void {
    const { content } = message;
    if (content[0]?.type !== 'tool-result') {
      this.#others.push(message);
      return;
    }
    const said: RequestContent[] = [];
    for (const part of content) (part.type === 'tool-result' ? this.#results : said).push(part);
    if (this.#others.length === 0) for (const part of said) this.#said.push(part);
    else if (said.length > 0) this.#others.push({ role: 'user', content: said });
  }

  list(): readonly RequestMessage[] {
    const list: RequestMessage[] = this.#answer ? [this.#answer] : [];
    if (this.#results.length > 0) list.push({ role: 'user', content: [...this.#orderResults(), ...this.#said] });
    return [...list, ...this.#others];
  }

  /** Agents send them as the calls have ended. */
  #orderResults(): readonly RequestContent[] {
    if (this.#results.length === 1) return this.#results;
    const places = new Map<string, number>();
    for (const part of this.#answer?.content ?? []) if (part.type === 'tool-call') places.set(part.id, places.size);
    const findPlace = (part: RequestContent) => (part.type === 'tool-result' && places.get(part.id)) || 0;
    return this.#results.toSorted((one, other) => findPlace(one) - findPlace(other));
  }
}

function readMessage(
  message: WireMessage,
  field: string,
  { calls, files, followsResults }: Pick<Reading, 'calls' | 'files'> & { readonly followsResults: boolean },
): readonly RequestContent[] {
  const { role, content: given } = message;
  const place = `${field}.content`;
  const reading = startReading(role, calls, files, followsResults);
  const marker = readCacheMarker(message, field);
  if (role === 'tool') {
    const call = calls.answer(message.tool_call_id, `${field}.tool_call_id`);
    return [{ ...createResult(call, readContent(given, place, reading)), ...marker }];
  }
  const call = role === 'function' ? calls.answerNamed(message.name) : undefined;
  if (call) return [{ ...createResult(call, readContent(given ?? '', place, reading)), ...marker }];
  const said = role === 'assistant' ? (given ?? readRefusal(message)) : isSettingAlone(message) ? [] : given;
  const content = readContent(said, place, reading);
  const marked = markLast(content, marker);
  if (role !== 'assistant') return marked;
  return [
    ...readReasoningFields(message, field),
    ...marked,
    ...readAnswerImages(message.images, `${field}.images`, reading),
    ...readToolCalls(message.tool_calls, `${field}.tool_calls`, calls),
    ...readFunctionCall(message.function_call, `${field}.function_call`, calls),
  ];
}

/** Whether a system message has no content, only settings. */
function isSettingAlone({ role, content, output_config: config }: WireMessage): boolean {
  return role === 'system' && content === null && isRecord(config);
}

/** A chat has the refusal of an earlier answer beside its content. */
function readRefusal({ refusal }: WireMessage): string | readonly unknown[] {
  return typeof refusal === 'string' ? refusal : [];
}

/** The texts of a system prompt given as a field. */
export function readSystem(
  wire: string | readonly unknown[] | null | undefined,
  field = 'system',
): readonly TextContent[] {
  if (wire === null || wire === undefined) return [];
  return textsIn(readContent(wire, field, startReading('system', new OpenCalls(), { hasAny: false, images: 0 })));
}

/** Of a system prompt. */
export function textsIn(content: readonly RequestContent[]): readonly TextContent[] {
  return content.flatMap((part) => {
    if (part.type !== 'text') return [];
    const text = part.text.replace(BILLING_LINE, '');
    return text === part.text ? part : text === '' ? [] : { ...part, text };
  });
}

/**
 * Some agents begin their system prompt with a line for the bills of its vendor. It says nothing to a model and differs in
 * each call, so that no cache would know again what follows it.
 */
const BILLING_LINE = /^x-[a-z]+-billing-header:[^\n]{0,300}(?:\n+|$)/;

interface WireMessage extends Readonly<Record<string, unknown>> {
  readonly role: string;
  readonly content: unknown;
}

function checkMessage(item: unknown, field: string): WireMessage {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) throw invalidField(field, 'must be an object');
  const message = item as Partial<WireMessage>;
  const { role, content = null } = message;
  if (!(ROLES as readonly unknown[]).includes(role))
    throw invalidField(`${field}.role`, `must be one of ${NAMED_ROLES}`);
  return { ...message, content } as WireMessage;
}
