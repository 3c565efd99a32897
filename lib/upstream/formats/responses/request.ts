// Writes messages and tools of a call as items of the responses format.
import type {
  Base64,
  Content,
  JsonObject,
  ReasoningContent,
  ResponsesQuirks,
  TextCall,
  TextMessage,
  Tool,
  Tools,
} from '../../contract/provider.ts';
import { createDataUrl } from '../../host/data-url.ts';
import { parseFields } from '../../host/fields.ts';
import { writeDocumentText } from '../document-text.ts';
import { RESPONSES_FORMAT } from '../names.ts';
import { moveSystemMessages } from '../system-messages.ts';
import { CUSTOM_INPUT, completeArguments } from '../tools.ts';
import { isCompaction } from './item.ts';

/** How the items of one request are written. */
interface ItemForm {
  readonly base64: Base64;
  /** The calls of custom tools, unless the upstream knows them as functions. */
  readonly customIds: ReadonlySet<string>;
}

/** Fewer are refused; the gateway ends the answer where the client wants it to. */
const OUTPUT_TOKENS_MIN = 16;

/** Nothing is stored there for a later call. */
export function responsesBody(given: TextCall, base64: Base64, quirks: ResponsesQuirks = {}): JsonObject {
  const { takesCacheKey, takesCustomTools } = quirks;
  const call = quirks.keepsSystemMessages ? given : moveSystemMessages(given);
  const { model, system, messages, maxTokens, tools, sampling, cacheKey, cacheRetention } = call;
  const form = { base64, customIds: new Set(takesCustomTools ? listCustomIds(messages) : []) };
  return {
    model,
    ...(system && { instructions: system.map(({ text }) => text).join('\n\n') }),
    input: messages.flatMap((message) => [...writeItems(message, form)]),
    ...(tools && writeResponsesTools(takesCustomTools ? tools : withoutCustom(tools))),
    max_output_tokens: Math.max(maxTokens, OUTPUT_TOKENS_MIN),
    // The format has no others. Undefined fields are not sent.
    temperature: sampling?.temperature,
    top_p: sampling?.topP,
    ...(takesCacheKey && { prompt_cache_key: cacheKey, prompt_cache_retention: cacheRetention }),
    store: false,
    stream: true,
  };
}

function listCustomIds(messages: readonly TextMessage[]): readonly string[] {
  return messages.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === 'tool-call' && part.isCustom ? part.id : [])),
  );
}

/** Calls, results and reasoning are separate items beside messages; between two reasonings, calls come last. */
function* writeItems({ role, content }: TextMessage, form: ItemForm): Iterable<object> {
  let between: Content[] = [];
  for (const part of content) {
    if (part.type !== 'reasoning') between.push(part);
    else {
      yield* writeBetween(role, between, form);
      yield* writeReasoningItem(part);
      between = [];
    }
  }
  yield* writeBetween(role, between, form);
}

function writeBetween(role: TextMessage['role'], content: readonly Content[], form: ItemForm): readonly object[] {
  const said = content.filter(({ type }) => type === 'text' || type === 'image' || type === 'document');
  const message = role === 'assistant' ? writeAnswers(said) : writeInput(role, said, form);
  const items = content.flatMap((part) => writeItem(part, form));
  return role === 'assistant' ? [...message, ...items] : [...items, ...message];
}

function writeInput(role: TextMessage['role'], said: readonly Content[], { base64 }: ItemForm): readonly object[] {
  return said.length > 0 ? [{ role, content: said.map((part) => writeInputPart(part, base64)) }] : [];
}

/** Each phase is a message of its own. */
function writeAnswers(said: readonly Content[]): readonly object[] {
  const answers: { readonly role: 'assistant'; readonly content: object[]; readonly phase?: string }[] = [];
  for (const part of said) {
    const phase = part.type === 'text' ? part.phase : undefined;
    const last = answers.at(-1);
    if (last && last.phase === phase) last.content.push(writeToolOutput(part));
    else answers.push({ role: 'assistant', content: [writeToolOutput(part)], ...(phase !== undefined && { phase }) });
  }
  return answers;
}

/**
 * An item as the upstream gave it, or what it encrypted; reasoning of other upstreams is left out. A client may have made
 * it up, so it is never an item that says or calls something.
 */
function writeReasoningItem({ text, state }: ReasoningContent): readonly object[] {
  if (state?.format !== RESPONSES_FORMAT) return [];
  const item = parseFields(state.value);
  if (item) return [{ ...item, type: isCompaction(item.type) ? item.type : 'reasoning' }];
  // What it encrypted.
  const summary = text === '' ? [] : [{ type: 'summary_text', text }];
  return [{ type: 'reasoning', summary, encrypted_content: state.value }];
}

function writeItem(part: Content, { base64, customIds }: ItemForm): object | [] {
  if (part.type === 'tool-call') {
    const { id, name, json } = part;
    if (!customIds.has(id)) return { type: 'function_call', call_id: id, name, arguments: completeArguments(json) };
    return { type: 'custom_tool_call', call_id: id, name, input: parseFields(json)?.[CUSTOM_INPUT] };
  }
  if (part.type !== 'tool-result') return [];
  const error = part.isError ? [{ type: 'input_text', text: 'Error:' }] : [];
  const output = [...error, ...part.content.map((inner) => writeInputPart(inner, base64))];
  const type = customIds.has(part.id) ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: part.id, output: output.length > 0 ? output : '' };
}

function writeToolOutput(content: Content): object {
  return content.type === 'text' ? { type: 'output_text', text: content.text } : {};
}

function writeInputPart(content: Content, base64: Base64): object {
  switch (content.type) {
    case 'text':
      return { type: 'input_text', text: content.text };
    case 'image':
      return {
        type: 'input_image',
        image_url: createDataUrl(content, base64),
        ...(content.detail && { detail: content.detail }),
      };
    case 'document': {
      const { mediaType, name = 'document.pdf' } = content;
      if (mediaType.startsWith('text/')) return { type: 'input_text', text: writeDocumentText(content) };
      return { type: 'input_file', filename: name, file_data: createDataUrl(content, base64) };
    }
    default:
      return {};
  }
}

function withoutCustom({ list, ...tools }: Tools): Tools {
  return { ...tools, list: list.map(({ custom: _, ...tool }) => tool) };
}

function writeResponsesTools({ list, choice, single }: Tools): object {
  const named = typeof choice === 'object' ? writeChosenTool(choice.name, list) : choice;
  return {
    tools: list.map(writeResponsesTool),
    ...(named && { tool_choice: named === 'any' ? 'required' : named }),
    ...(single && { parallel_tool_calls: false }),
  };
}

function writeChosenTool(name: string, list: readonly Tool[]): object {
  const isCustom = list.some((tool) => tool.name === name && tool.custom);
  return { type: isCustom ? 'custom' : 'function', name };
}

/** By default arguments must conform to the schema here, which few schemas are made for. */
function writeResponsesTool({ name, description, schema: parameters, strict = false, custom }: Tool): object {
  if (custom) return { type: 'custom', name, ...custom };
  return { type: 'function', name, description, parameters, strict };
}
