// Settings of a responses upstream, and the request for one text call.
import type {
  AccountSettings,
  Base64,
  Content,
  JsonBody,
  TextCall,
  TextMessage,
} from '../../lib/upstream/contract/provider.ts';

export interface Settings extends AccountSettings {
  /** The effort sent for no reasoning: `low` for models that cannot do without. */
  readonly off: 'none' | 'low';
}

/** Nothing is stored there for a later call. */
export function bodyOf(call: TextCall, { off }: Pick<Settings, 'off'>): JsonBody {
  const { model, system, messages, maxTokens, tools, format, reasoning } = call;
  return (base64) => ({
    model,
    ...(system !== undefined && { instructions: system }),
    input: messages.flatMap((message) => itemsOf(message, base64)),
    ...(tools && toolsOf(tools)),
    max_output_tokens: maxTokens,
    store: false,
    stream: true,
    ...(format && { text: { format: { ...format, type: format.type === 'json' ? 'json_object' : 'json_schema' } } }),
    ...(reasoning &&
      reasoning.mode !== 'auto' && { reasoning: { effort: reasoning.mode === 'on' ? reasoning.effort : off } }),
  });
}

/** Calls and results are separate items beside messages; results come first, calls last. */
function itemsOf({ role, content }: TextMessage, base64: Base64): readonly object[] {
  const said = content.filter(({ type }) => type === 'text' || type === 'image');
  const blocks = said.map((part) => (role === 'assistant' ? { ...part, type: 'output_text' } : inputOf(part, base64)));
  const message = blocks.length > 0 ? [{ role, content: blocks }] : [];
  const items = content.flatMap((part) => itemOf(part, base64));
  return role === 'assistant' ? [...message, ...items] : [...items, ...message];
}

function itemOf(part: Content, base64: Base64): object | [] {
  if (part.type === 'tool-call') {
    return { type: 'function_call', call_id: part.id, name: part.name, arguments: part.json };
  }
  if (part.type !== 'tool-result') return [];
  const error = part.isError ? [{ type: 'input_text', text: 'Error:' }] : [];
  const output = [...error, ...part.content.map((inner) => inputOf(inner, base64))];
  return { type: 'function_call_output', call_id: part.id, output: output.length > 0 ? output : '' };
}

function inputOf(content: Content, base64: Base64): object {
  if (content.type === 'text') return { type: 'input_text', text: content.text };
  if (content.type !== 'image') return {};
  return { type: 'input_image', image_url: `data:${content.mediaType};base64,${base64(content.bytes)}` };
}

/** By default arguments must conform to the schema here, which few schemas are made for. */
function toolsOf({ list, choice, single }: NonNullable<TextCall['tools']>): object {
  const type = 'function';
  const named = typeof choice === 'object' ? { type, name: choice.name } : choice;
  return {
    tools: list.map(({ schema: parameters, strict = false, ...tool }) => ({ type, ...tool, parameters, strict })),
    ...(named && { tool_choice: named === 'any' ? 'required' : named }),
    ...(single && { parallel_tool_calls: false }),
  };
}
