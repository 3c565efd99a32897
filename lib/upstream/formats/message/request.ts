// Writes messages and tools of a call in the messages format.

import { readArguments } from '../../../stream/arguments.ts';
import type {
  Base64,
  Content,
  DocumentContent,
  JsonObject,
  MessageQuirks,
  ReasoningContent,
  Sampling,
  TextCall,
  TextContent,
  TextMessage,
  Tool,
  Tools,
} from '../../contract/provider.ts';
import { chooseMarkers, type Markers, resultsFirst } from '../cache-markers.ts';
import { writeCitationBack } from '../citations.ts';
import { MESSAGES_FORMAT } from '../names.ts';
import { moveSystemMessages, placeSystemMessages } from '../system-messages.ts';
import { createCallIds, MESSAGE_TOOL, messageCall, writeTool } from '../tools.ts';

/** What the parts of one request share. */
interface Writing {
  readonly base64: Base64;
  readonly shortenCallId: (id: string) => string;
  readonly markers: Markers;
  /** In order, whether each document of the request may be cited. */
  readonly citable: readonly boolean[];
  readonly keepsUnsignedThoughts: boolean;
  readonly needsThoughts: boolean;
}

export function messageBody(given: TextCall, base64: Base64, quirks: MessageQuirks = {}): JsonObject {
  const call = quirks.keepsSystemMessages ? placeSystemMessages(given) : moveSystemMessages(given);
  const { model, maxTokens, system, messages, stops, sampling, reasoning } = call;
  const shortenCallId = createCallIds({ charactersMax: ID_CHARACTERS_MAX, spell: spellId });
  const { keepsUnsignedThoughts = false } = quirks;
  const needsThoughts = quirks.needsThoughts === true && reasoning?.mode !== 'off';
  const noted = { markers: chooseMarkers(call), citable: listCitable(messages), keepsUnsignedThoughts, needsThoughts };
  const writing: Writing = { base64, shortenCallId, ...noted };
  const sequences = stops?.filter((stop) => stop.trim() !== '') ?? [];
  return {
    model,
    max_tokens: maxTokens,
    ...(system && { system: writeSystem(system, writing) }),
    messages: messages.map((message, at) => writeMessage(message, at === messages.length - 1, writing)),
    ...writeMessageTools(call, writing.markers),
    ...(sequences.length > 0 && { stop_sequences: sequences }),
    // Refused beside thinking.
    ...(sampling && (!reasoning || reasoning.mode === 'off') && writeMessageSampling(sampling)),
    stream: true,
  };
}

const TEMPERATURE_MAX = 1;

/** Models refuse a temperature and a `top_p` together. */
function writeMessageSampling({ temperature, topP, topK }: Sampling): object {
  if (temperature === undefined) return { top_p: topP, top_k: topK };
  return { temperature: Math.min(temperature, TEMPERATURE_MAX), top_k: topK };
}

function listCitable(messages: readonly TextMessage[]): readonly boolean[] {
  const documentsIn = (part: Content): readonly boolean[] => {
    if (part.type === 'tool-result') return part.content.flatMap(documentsIn);
    return part.type === 'document' ? [part.citations === true] : [];
  };
  return messages.flatMap(({ content }) => resultsFirst(content).flatMap(documentsIn));
}

const ID_CHARACTERS_MAX = 64;

/** Ids from other upstreams may have other characters, and differ only in these. */
function spellId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, (character) => `_${character.charCodeAt(0).toString(16)}`);
}

/** A plain string unless there are markers: small servers accept nothing else. */
function writeSystem(system: NonNullable<TextCall['system']>, { markers }: Writing): unknown {
  if (!system.some(({ cache }) => cache)) return system.map(({ text }) => text).join('\n\n');
  return system.map((part) => markers.mark(part, { type: 'text', text: part.text }));
}

/**
 * A single block of text is sent as a plain string: it means the same, and small servers accept nothing else. Not where
 * there are markers, which move on from turn to turn: what they leave behind stays as it was.
 */
function writeMessage({ role, content: given }: TextMessage, isLast: boolean, writing: Writing): object {
  const { keepsUnsignedThoughts, needsThoughts } = writing;
  const kept = given.filter((part) => part.type !== 'reasoning' || goesBack(part, keepsUnsignedThoughts));
  const content = needsThoughts && lacksThought(kept) ? [BLANK_THOUGHT, ...kept] : kept;
  const [first] = content;
  const isPrefill = isLast && role === 'assistant';
  if (first?.type === 'text' && content.length === 1 && !writing.markers.hasAny && !isCited(first, writing)) {
    return { role, content: isPrefill ? first.text.trimEnd() : first.text };
  }
  const blocks = resultsFirst(content).map((part) => writing.markers.mark(part, writeMessageBlock(part, writing)));
  return { role, content: isPrefill ? blocks.map(trimLast) : blocks };
}

/** An empty one is refused. */
const BLANK_THOUGHT: ReasoningContent = { type: 'reasoning', text: ' ' };

function lacksThought(content: readonly Content[]): boolean {
  return content.some(({ type }) => type === 'tool-call') && !content.some(({ type }) => type === 'reasoning');
}

function goesBack({ state, text }: ReasoningContent, unsigned: boolean): boolean {
  return state ? state.format === MESSAGES_FORMAT : unsigned && text !== '';
}

/** An answer to be continued is refused if it ends in white space. */
function trimLast(block: object, at: number, blocks: readonly object[]): object {
  const { text } = block as { readonly text?: unknown };
  return at === blocks.length - 1 && typeof text === 'string' ? { ...block, text: text.trimEnd() } : block;
}

function writeMessageBlock(content: Content, writing: Writing): object {
  const { base64, shortenCallId } = writing;
  switch (content.type) {
    case 'text':
      return { type: 'text', text: content.text, ...writeCitations(content, writing) };
    case 'image': {
      const { mediaType, bytes } = content;
      return { type: 'image', source: { type: 'base64', media_type: mediaType, data: base64(bytes) } };
    }
    case 'document':
      return writeMessageDocument(content, base64);
    case 'audio':
      throw new Error('the messages format has no audio');
    case 'reasoning':
      return writeThinkingBlock(content);
    case 'tool-reference':
      return { type: 'tool_reference', tool_name: content.name };
    case 'tool-call':
      return messageCall({ id: shortenCallId(content.id), name: content.name }, readArguments(content.json));
    case 'tool-result': {
      const { id, isError, content: blocks } = content;
      const result = {
        type: 'tool_result',
        tool_use_id: shortenCallId(id),
        content: blocks.map((part) => writeMessageBlock(part, writing)),
      };
      return isError ? { ...result, is_error: true } : result;
    }
  }
}

const isCited = (content: TextContent, writing: Writing) => 'citations' in writeCitations(content, writing);

/** Only of documents that the request has and lets be cited: a vendor may refuse others. */
function writeCitations({ citations = [] }: TextContent, { citable }: Writing): object {
  const kept = citations.flatMap((citation) => {
    const isThere = citation.document !== undefined && citable[citation.document] === true;
    return isThere ? (writeCitationBack(citation) ?? []) : [];
  });
  return kept.length > 0 ? { citations: kept } : {};
}

function writeMessageDocument(content: DocumentContent, base64: Base64): object {
  const { name, citations } = content;
  return {
    type: 'document',
    source: writeDocumentSource(content, base64),
    ...(name !== undefined && { title: name }),
    ...(citations && { citations: { enabled: true } }),
  };
}

function writeDocumentSource({ mediaType, bytes, pieces }: DocumentContent, base64: Base64): object {
  if (pieces) return { type: 'content', content: pieces.map((text) => ({ type: 'text', text })) };
  return mediaType.startsWith('text/')
    ? { type: 'text', media_type: 'text/plain', data: new TextDecoder().decode(bytes) }
    : { type: 'base64', media_type: mediaType, data: base64(bytes) };
}

/** Unchanged: even without text, a signature is wanted back. */
function writeThinkingBlock({ text, redacted, state }: ReasoningContent): object {
  const signature = state?.value ?? '';
  return redacted ? { type: 'redacted_thinking', data: signature } : { type: 'thinking', thinking: text, signature };
}

/** A history with calls is refused without definitions. */
function writeMessageTools({ tools, messages }: TextCall, markers: Markers): object {
  if (tools) {
    return {
      tools: tools.list.map((tool) => markers.mark(tool, writeMessageTool(tool))),
      ...writeMessageToolChoice(tools),
    };
  }
  const names = new Set<string>();
  for (const { content } of messages) for (const part of content) if (part.type === 'tool-call') names.add(part.name);
  if (names.size === 0) return {};
  return {
    tools: [...names].map((name) => writeTool({ name, schema: { type: 'object' } }, MESSAGE_TOOL)),
    tool_choice: { type: 'none' },
  };
}

function writeMessageTool({ isPredefined, messageFields, ...tool }: Tool): object {
  return isPredefined ? { ...messageFields } : { ...writeTool(tool, MESSAGE_TOOL), ...messageFields };
}

function writeMessageToolChoice({ choice, single }: Tools): object {
  if (choice === undefined && !single) return {};
  if (choice === 'none') return { tool_choice: { type: 'none' } };
  const type = typeof choice === 'object' ? { type: 'tool', name: choice.name } : { type: choice ?? 'auto' };
  return { tool_choice: { ...type, ...(single && { disable_parallel_tool_use: true }) } };
}
