// Writes messages and tools of a call as items of the responses format.
import type {
  Base64,
  Content,
  JsonObject,
  ReasoningContent,
  ResponsesQuirks,
  TextCall,
  TextMessage,
} from '../../contract/provider.ts';
import { createDataUrl } from '../../host/data-url.ts';
import { parseFields } from '../../host/fields.ts';
import { RESPONSES_STATE } from './item.ts';

/** Nothing is stored there for a later call. */
export function responsesBody(call: TextCall, base64: Base64, { takesCacheKey }: ResponsesQuirks = {}): JsonObject {
  const { model, system, messages, maxTokens, tools, cacheKey, cacheRetention } = call;
  return {
    model,
    ...(system && { instructions: system.map(({ text }) => text).join('\n\n') }),
    input: messages.flatMap((message) => writeItems(message, base64)),
    ...(tools && writeResponsesTools(tools)),
    max_output_tokens: maxTokens,
    // Undefined fields are not sent.
    ...(takesCacheKey && { prompt_cache_key: cacheKey, prompt_cache_retention: cacheRetention }),
    store: false,
    stream: true,
  };
}

/** Calls, results and reasoning are separate items beside messages; between two reasonings, calls come last. */
function writeItems({ role, content }: TextMessage, base64: Base64): readonly object[] {
  const at = content.findIndex((part) => part.type === 'reasoning');
  const reasoning = content[at];
  if (reasoning?.type === 'reasoning') {
    const before = writeItems({ role, content: content.slice(0, at) }, base64);
    return [
      ...before,
      ...writeReasoningItem(reasoning),
      ...writeItems({ role, content: content.slice(at + 1) }, base64),
    ];
  }
  const said = content.filter(({ type }) => type === 'text' || type === 'image' || type === 'document');
  const blocks = said.map((part) => (role === 'assistant' ? writeToolOutput(part) : writeInputPart(part, base64)));
  const message = blocks.length > 0 ? [{ role, content: blocks }] : [];
  const items = content.flatMap((part) => writeItem(part, base64));
  return role === 'assistant' ? [...message, ...items] : [...items, ...message];
}

/**
 * An item as the upstream gave it, or what it encrypted; reasoning of other upstreams is left out. A client may have made
 * it up, so it is never an item of another type.
 */
function writeReasoningItem({ text, state }: ReasoningContent): readonly object[] {
  if (state?.format !== RESPONSES_STATE) return [];
  const item = parseFields(state.value);
  if (item) return [{ ...item, type: 'reasoning' }];
  // What it encrypted.
  const summary = text === '' ? [] : [{ type: 'summary_text', text }];
  return [{ type: 'reasoning', summary, encrypted_content: state.value }];
}

function writeItem(part: Content, base64: Base64): object | [] {
  if (part.type === 'tool-call') {
    return { type: 'function_call', call_id: part.id, name: part.name, arguments: part.json };
  }
  if (part.type !== 'tool-result') return [];
  const error = part.isError ? [{ type: 'input_text', text: 'Error:' }] : [];
  const output = [...error, ...part.content.map((inner) => writeInputPart(inner, base64))];
  return { type: 'function_call_output', call_id: part.id, output: output.length > 0 ? output : '' };
}

function writeToolOutput(content: Content): object {
  return content.type === 'text' ? { type: 'output_text', text: content.text } : {};
}

function writeInputPart(content: Content, base64: Base64): object {
  switch (content.type) {
    case 'text':
      return { type: 'input_text', text: content.text };
    case 'image':
      return { type: 'input_image', image_url: createDataUrl(content, base64) };
    case 'document': {
      const { mediaType, bytes, name = 'document.pdf' } = content;
      if (mediaType.startsWith('text/')) return { type: 'input_text', text: new TextDecoder().decode(bytes) };
      return { type: 'input_file', filename: name, file_data: createDataUrl(content, base64) };
    }
    default:
      return {};
  }
}

/** By default arguments must conform to the schema here, which few schemas are made for. */
function writeResponsesTools({ list, choice, single }: NonNullable<TextCall['tools']>): object {
  const type = 'function';
  const named = typeof choice === 'object' ? { type, name: choice.name } : choice;
  return {
    tools: list.map(({ name, description, schema: parameters, strict = false }) => ({
      type,
      name,
      description,
      parameters,
      strict,
    })),
    ...(named && { tool_choice: named === 'any' ? 'required' : named }),
    ...(single && { parallel_tool_calls: false }),
  };
}
