// Writes messages and tools of a call as chat completions.
import type {
  AudioContent,
  Base64,
  ChatQuirks,
  Content,
  DocumentContent,
  ImageContent,
  JsonObject,
  ReasoningContent,
  Sampling,
  TextCall,
  TextContent,
  TextMessage,
  ToolCallContent,
  ToolResultContent,
  Tools,
} from '../../contract/provider.ts';
import { createDataUrl } from '../../host/data-url.ts';
import { isFields, parseFields } from '../../host/fields.ts';
import { chooseMarkers, type Markers } from '../cache-markers.ts';
import { writeDocumentText } from '../document-text.ts';
import { CHAT_FORMAT } from '../names.ts';
import { mergeSystemMessages, moveSystemMessages } from '../system-messages.ts';
import { CHAT_TOOL, chatCall, completeArguments, createCallIds, digestHex, writeTool } from '../tools.ts';

const STOPS_MAX = 4;

export function chatBody(given: TextCall, base64: Base64, quirks: ChatQuirks = {}): JsonObject {
  const call = placeSystemMessages(given, quirks);
  const { model, system, messages, tools, stops, sampling, modalities, cacheKey, cacheRetention } = call;
  const { needsThoughts = false, takesThoughts = false, takesDetails = false } = quirks;
  const { takesCacheKey = false, omitsStops = false } = quirks;
  // Its tools have no place for markers.
  const markers = chooseMarkers(quirks.takesMarkers ? { system, messages } : {});
  const writing: Writing = { base64, markers, spellCallId: quirks.needsShortIds ? createCallIds(SHORT_IDS) : keepId };
  const isToolLoop = tools !== undefined || messages.some(hasCalls);
  const written = messages.flatMap((message) => {
    const made = writeChatMessages(message, writing);
    if (message.role !== 'assistant') return made;
    const extra = {
      ...(needsThoughts && isToolLoop && { reasoning_content: joinThoughts(message) || BLANK_THOUGHTS }),
      ...(takesThoughts && isToolLoop && { reasoning: joinThoughts(message) || undefined }),
      ...(takesDetails && writeChatReasoningDetails(message)),
    };
    return made.map((each) => ({ ...each, ...extra }));
  });
  if (system) written.unshift({ role: 'system', content: writeChatSystem(system, markers) });
  return {
    model,
    messages: quirks.answersResults ? acknowledgeResults(written) : written,
    ...(tools && writeChatTools(tools, quirks)),
    ...(stops && !omitsStops && { stop: stops.slice(0, STOPS_MAX) }),
    ...(sampling && writeChatSampling(sampling)),
    ...(modalities && { modalities }),
    // Undefined fields are not sent.
    ...(takesCacheKey && { prompt_cache_key: cacheKey, prompt_cache_retention: cacheRetention }),
    stream: true,
  };
}

function placeSystemMessages(call: TextCall, { keepsSystemMessages, mergesSystemMessages }: ChatQuirks): TextCall {
  if (keepsSystemMessages) return call;
  return mergesSystemMessages ? mergeSystemMessages(call) : moveSystemMessages(call);
}

/** Says least, for vendors that refuse a user's message right behind results. */
const ACKNOWLEDGED = { role: 'assistant', content: 'OK.' };

function acknowledgeResults(messages: readonly object[]): readonly object[] {
  const roleAt = (at: number) => (messages[at] as { readonly role?: unknown } | undefined)?.role;
  return messages.flatMap((message, at) =>
    roleAt(at) === 'user' && roleAt(at - 1) === 'tool' ? [ACKNOWLEDGED, message] : [message],
  );
}

/** `top_k` is no field of the vendor that made the format, but of most servers that have it. */
function writeChatSampling({ temperature, topP, topK, seed, presencePenalty, frequencyPenalty }: Sampling): object {
  return {
    temperature,
    top_p: topP,
    top_k: topK,
    seed,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
  };
}

/** What the parts of one request share. */
interface Writing {
  readonly base64: Base64;
  readonly markers: Markers;
  readonly spellCallId: (id: string) => string;
}

const keepId = (id: string): string => id;

/** Ids of nine letters and digits; others are replaced by their digests. */
const SHORT_IDS = {
  charactersMax: 9,
  spell: (id: string) => (/^[a-zA-Z0-9]{9}$/.test(id) ? id : digestHex(id, 9)),
};

function writeChatSystem(system: NonNullable<TextCall['system']>, { hasAny, mark }: Markers): unknown {
  if (!hasAny) return system.map(({ text }) => text).join('\n\n');
  return system.map((part) => mark(part, { type: 'text', text: part.text }));
}

/** Not empty, because an empty list is refused. */
const BLANK_THOUGHTS = ' ';

function joinThoughts({ content }: TextMessage): string {
  const texts = reasoningIn(content).map(({ text }) => text);
  return texts.filter((text) => text !== '').join('\n\n');
}

/** As the upstream gave them, one or several in each state. */
function writeChatReasoningDetails({ content }: TextMessage): object {
  const details = reasoningIn(content).flatMap(({ text, redacted, state }): unknown => {
    if (!state) return [];
    const given = parseFields(state.value);
    if (given) return given;
    // A bare signature.
    if (redacted) return { type: 'reasoning.encrypted', data: state.value };
    return { type: 'reasoning.text', text, signature: state.value };
  });
  return details.length > 0 ? { reasoning_details: joinLateSignatures(details) } : {};
}

/** A signature may come behind the answer, as a detail without a text: alone it would be the signature of nothing. */
function joinLateSignatures(details: readonly unknown[]): readonly unknown[] {
  const joined: unknown[] = [];
  for (const detail of details) {
    const at = isFields(detail) && detail.signature && !detail.text ? findUnsigned(joined, detail) : -1;
    if (at < 0) joined.push(detail);
    else joined[at] = { ...(joined[at] as JsonObject), signature: (detail as JsonObject).signature };
  }
  return joined;
}

function findUnsigned(details: readonly unknown[], { type, index }: JsonObject): number {
  return details.findLastIndex(
    (other) => isFields(other) && other.type === type && other.index === index && other.text && !other.signature,
  );
}

/** Reasoning of another format goes nowhere. */
function reasoningIn(content: readonly Content[]): readonly ReasoningContent[] {
  return content
    .filter((part) => part.type === 'reasoning')
    .filter(({ state }) => !state || state.format === CHAT_FORMAT);
}

function hasCalls({ content }: TextMessage): boolean {
  return content.some(({ type }) => type === 'tool-call');
}

/** One message or several: tool results are separate messages, and come first. */
function writeChatMessages({ role, content }: TextMessage, writing: Writing): readonly object[] {
  const images = role === 'assistant' ? content.filter((part) => part.type === 'image') : [];
  const said = content.filter(isSaid).filter((part) => !(images as readonly Said[]).includes(part));
  const beside = images.length > 0 && { images: images.map((image) => writeChatBlock(image, writing.base64)) };
  const calls = content.filter((part) => part.type === 'tool-call');
  if (role === 'assistant' && calls.length > 0) {
    const made = calls.map((call) => writeChatCall(call, writing));
    return [{ role, content: said.length > 0 ? writeChatContent(said, writing) : null, ...beside, tool_calls: made }];
  }
  const results = content.filter((part) => part.type === 'tool-result');
  if (beside) return [{ role, content: said.length > 0 ? writeChatContent(said, writing) : '', ...beside }];
  if (results.length === 0) return [{ role, content: writeChatContent(said, writing) }];
  return [
    ...results.map((result) => writeToolMessage(result, writing)),
    ...writeFileMessages(results, writing),
    ...(said.length > 0 ? [{ role, content: writeChatContent(said, writing) }] : []),
  ];
}

/** Some upstreams want more back with a call than the format has: that, and nothing else that a client may have put there. */
function writeChatCall({ id, name, json, state }: ToolCallContent, { spellCallId }: Writing): object {
  const call = chatCall({ id: spellCallId(id), name }, completeArguments(json));
  if (state?.format !== CHAT_FORMAT) return call;
  const extra = parseFields(state.value)?.extra_content;
  return isFields(extra) ? { ...call, extra_content: extra } : call;
}

type Said = TextContent | ImageContent | DocumentContent | AudioContent;

function isSaid(part: Content): part is Said {
  return part.type === 'text' || part.type === 'image' || part.type === 'document' || part.type === 'audio';
}

/**
 * A single block of text is sent as a plain string: small servers read nothing else. Not where there are markers, which
 * move on from turn to turn.
 */
function writeChatContent(content: readonly Said[], { base64, markers }: Writing): unknown {
  const [first] = content;
  if (first?.type === 'text' && content.length === 1 && !markers.hasAny) return first.text;
  return content.map((part) => markers.mark(part, writeChatBlock(part, base64)));
}

function writeChatBlock(content: Said, base64: Base64): object {
  switch (content.type) {
    case 'text':
      return { type: 'text', text: content.text };
    case 'image': {
      // Servers of this format refuse the newest word.
      const detail = content.detail !== 'original' && content.detail;
      return { type: 'image_url', image_url: { url: createDataUrl(content, base64), ...(detail && { detail }) } };
    }
    case 'audio':
      return { type: 'input_audio', input_audio: { data: base64(content.bytes), format: audioFormat(content) } };
    case 'document': {
      const { mediaType, name = 'document.pdf' } = content;
      if (mediaType.startsWith('text/')) return { type: 'text', text: writeDocumentText(content) };
      return { type: 'file', file: { filename: name, file_data: createDataUrl(content, base64) } };
    }
  }
}

/** Where the format's names are not those of the media types. */
const AUDIO_FORMATS: Readonly<Record<string, string>> = { mpeg: 'mp3', mp4: 'm4a' };

function audioFormat({ mediaType }: AudioContent): string {
  const format = mediaType.replace(/^audio\/(?:x-)?/, '');
  return AUDIO_FORMATS[format] ?? format;
}

/** The format has no field for errors, so the text says it. */
function writeToolMessage(result: ToolResultContent, { markers: { hasAny, mark }, spellCallId }: Writing): object {
  const { id, isError, content } = result;
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (texts.length === 0) texts.push(content.length > 0 ? followsNote(content) : '');
  if (isError) texts[0] = `Error: ${texts[0]}`;
  const blocks = texts.map((text): object => ({ type: 'text', text }));
  const isPlain = texts.length === 1 && (!hasAny || texts[0] === '');
  const last = blocks.at(-1) as object;
  return {
    role: 'tool',
    tool_call_id: spellCallId(id),
    content: isPlain ? texts[0] : blocks.with(-1, mark(result, last)),
  };
}

function followsNote(content: ToolResultContent['content']): string {
  return content.some(({ type }) => type === 'document') ? 'The document follows.' : 'The image follows.';
}

/** Nor may a result contain images or documents: they follow in a user message. */
function writeFileMessages(results: readonly ToolResultContent[], { base64, spellCallId }: Writing): readonly object[] {
  const blocks = results.flatMap(({ id, content }) => {
    const files = content.filter((part) => part.type === 'image' || part.type === 'document');
    if (files.length === 0) return [];
    return [
      { type: 'text', text: `Of the result of ${spellCallId(id)}:` },
      ...files.map((file) => writeChatBlock(file, base64)),
    ];
  });
  return blocks.length > 0 ? [{ role: 'user', content: blocks }] : [];
}

function writeChatTools({ list, choice, single }: Tools, { saysNotStrict = false }: ChatQuirks): object {
  const defaults = saysNotStrict && { strict: false };
  return {
    tools: list.map((tool) => writeTool({ ...defaults, ...tool }, CHAT_TOOL)),
    ...(choice !== undefined && { tool_choice: writeChatToolChoice(choice) }),
    ...(single && { parallel_tool_calls: false }),
  };
}

function writeChatToolChoice(choice: NonNullable<Tools['choice']>): unknown {
  if (typeof choice === 'object') return { type: 'function', function: { name: choice.name } };
  return choice === 'any' ? 'required' : choice;
}
