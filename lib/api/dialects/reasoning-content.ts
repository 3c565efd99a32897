// The model's reasoning in each dialect: how it is delivered, and how a history gives it back.

import { isRecord } from '../../base/record.ts';
import type { BlockState } from '../../stream/provider-part.ts';
import type { ReasoningContent } from '../../upstream/contract/provider.ts';
import { CHAT_FORMAT, CONTENTS_FORMAT, MESSAGES_FORMAT, RESPONSES_FORMAT } from '../../upstream/formats/names.ts';
import { invalidField } from './fields.ts';
import type { WireBlock } from './images.ts';
import { readState, writeState } from './tool-id.ts';

/** Stands for the state of reasoning that is all text: clients send no item back without any. */
const PLAIN = 'text';

/**
 * `{ type: "thinking", thinking, signature }` or `{ type: "redacted_thinking", data }`; undefined for a block of another
 * type. A signature of another format says so in front.
 */
export function readThinkingBlock(block: WireBlock, field: string): ReasoningContent | undefined {
  if (block.type === 'thinking') {
    const thinking = joinThinking(block.thinking ?? '');
    const signature = block.signature ?? '';
    if (typeof thinking !== 'string') throw invalidField(`${field}.thinking`, 'must be a string');
    if (typeof signature !== 'string') throw invalidField(`${field}.signature`, 'must be a string');
    return {
      type: 'reasoning',
      text: thinking,
      ...(signature !== '' && { state: readState(signature, MESSAGES_FORMAT) }),
    };
  }
  if (block.type !== 'redacted_thinking') return undefined;
  const { data } = block;
  if (typeof data !== 'string') throw invalidField(`${field}.data`, 'must be a string');
  return { type: 'reasoning', text: '', redacted: true, state: readState(data, MESSAGES_FORMAT) };
}

/** Clients of some vendors have it in parts: `[{ type: "text", text }]`. Anything else stays as it is. */
function joinThinking(thinking: unknown): unknown {
  const texts = Array.isArray(thinking) ? thinking.map((part) => isRecord(part) && part.text) : [thinking];
  return texts.every((text) => typeof text === 'string') ? texts.join('') : thinking;
}

/** What a thinking block carries for its upstream, as `readThinkingBlock` reads it. */
export function writeSignature(state: BlockState): string {
  return writeState(state, MESSAGES_FORMAT);
}

/** In front of a state: its reasoning has no text that anybody may see. */
const REDACTED = 'redacted:';

/** What a reasoning item carries, as `readReasoningItem` reads it. */
export function writeEncryptedContent({ redacted, state }: Partial<DeliveredReasoning>): string {
  if (!state) return `${PLAIN}:`;
  return `${redacted ? REDACTED : ''}${state.format}:${state.value}`;
}

/** `{ type: "reasoning", summary: [{ text }], content?: [{ text }], encrypted_content }` */
export function readReasoningItem(
  { summary, content, encrypted_content: encrypted }: Readonly<Record<string, unknown>>,
  field: string,
): ReasoningContent {
  if (encrypted != null && typeof encrypted !== 'string') {
    throw invalidField(`${field}.encrypted_content`, 'must be a string');
  }
  const said = readParagraphs(content, `${field}.content`);
  const text = said === '' ? readParagraphs(summary, `${field}.summary`) : said;
  if (!encrypted) return { type: 'reasoning', text };
  const redacted = encrypted.startsWith(REDACTED);
  const state = readState(redacted ? encrypted.slice(REDACTED.length) : encrypted, RESPONSES_FORMAT);
  if (state.format === PLAIN) return { type: 'reasoning', text };
  return { type: 'reasoning', text, ...(redacted && { redacted }), state };
}

function readParagraphs(parts: unknown, field: string): string {
  if (parts === undefined || parts === null) return '';
  if (!Array.isArray(parts)) throw invalidField(field, 'must be an array');
  const texts = parts.map((part: unknown, at) => {
    if (!isRecord(part) || typeof part.text !== 'string')
      throw invalidField(`${field}[${at}].text`, 'must be a string');
    return part.text;
  });
  return texts.join('\n\n');
}

interface DeliveredReasoning {
  readonly text: string;
  readonly redacted?: boolean | undefined;
  readonly state: BlockState;
}

/** Entries of `reasoning_details` for a block that an upstream wants back, as `readReasoningFields` reads them. */
export function writeReasoningDetails({ text, redacted, state }: DeliveredReasoning, index: number): readonly object[] {
  const { format, value } = state;
  // An upstream's own entries go out, and come back, as they were.
  if (format === CHAT_FORMAT && /^[[{]/.test(value)) return [JSON.parse(value)].flat();
  const named = OWN_FORMATS.includes(format) ? format : `${PLUGIN}${format}`;
  if (redacted) return [{ type: 'reasoning.encrypted', data: value, format: named, index }];
  return [{ type: 'reasoning.text', text, signature: value, format: named, index }];
}

/** `reasoning_content` and `reasoning_details` of an assistant message. */
export function readReasoningFields(
  { reasoning_content: content, reasoning, reasoning_details: details }: Readonly<Record<string, unknown>>,
  field: string,
): readonly ReasoningContent[] {
  if (content !== undefined && content !== null && typeof content !== 'string') {
    throw invalidField(`${field}.reasoning_content`, 'must be a string');
  }
  // Some clients know it by its other name.
  const text = content ?? reasoning;
  const read = readDetails(details, `${field}.reasoning_details`);
  const isSaid = read.some((part) => part.text !== '');
  return typeof text === 'string' && text !== '' && !isSaid ? [{ type: 'reasoning', text }, ...read] : read;
}

function readDetails(details: unknown, field: string): readonly ReasoningContent[] {
  if (details === undefined || details === null) return [];
  if (!Array.isArray(details)) throw invalidField(field, 'must be an array');
  return details.map((detail: unknown, at) => {
    if (!isRecord(detail)) throw invalidField(`${field}[${at}]`, 'must be an object');
    return readDetail(detail);
  });
}

/**
 * The formats of states that we hand out; a detail of any other is one of an upstream, which wants it back as it was,
 * unless it is a plugin's: these say so in front.
 */
const OWN_FORMATS: readonly string[] = [MESSAGES_FORMAT, CONTENTS_FORMAT, RESPONSES_FORMAT, CHAT_FORMAT];
const PLUGIN = 'plugin:';

/** Undefined for a detail of an upstream. */
function readOwnFormat(format: unknown): string | undefined {
  if (typeof format !== 'string') return undefined;
  return format.startsWith(PLUGIN) ? format.slice(PLUGIN.length) : OWN_FORMATS.find((own) => own === format);
}

function readDetail(detail: Readonly<Record<string, unknown>>): ReasoningContent {
  const { type, text, summary, data, signature, format } = detail;
  const said = [text, summary].find((each) => typeof each === 'string') ?? '';
  const own = [signature, data].find((each) => typeof each === 'string' && each !== '');
  const ours = readOwnFormat(format);
  const state = ours
    ? own !== undefined && { format: ours, value: `${own}` }
    : { format: CHAT_FORMAT, value: JSON.stringify(detail) };
  return {
    type: 'reasoning',
    text: `${said}`,
    ...(type === 'reasoning.encrypted' && { redacted: true }),
    ...(state && { state }),
  };
}
