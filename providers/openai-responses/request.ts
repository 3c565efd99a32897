// Settings of a responses upstream, and the request for one text call.
import type {
  AccountSettings,
  Host,
  JsonBody,
  JsonObject,
  TextCall,
  Tools,
} from '../../lib/upstream/contract/provider.ts';
import { writeSchema } from './schema.ts';

export interface Settings extends AccountSettings {
  /** The effort sent for no reasoning: `low` for models that cannot do without, and know no less. */
  readonly off: 'none' | 'low';
  /** `omit` for an upstream that refuses `prompt_cache_key` and `prompt_cache_retention`. */
  readonly cacheKey: 'send' | 'omit';
  /** `omit` for models that refuse `text.verbosity`. */
  readonly verbosity: 'send' | 'omit';
  /** `omit` for no summaries of the reasoning, which some accounts may not have. */
  readonly summary: 'send' | 'omit';
  /** `function` for models that refuse custom tools. */
  readonly customTools: 'send' | 'function';
  /** `omit` for models that refuse `parallel_tool_calls`; the gateway drops what is too many all the same. */
  readonly parallelCalls: 'send' | 'omit';
  /** `prompt` for an upstream that takes no system messages between others. */
  readonly systemMessages: 'in_place' | 'prompt';
}

/** Whether the request asks for a summary of the reasoning. */
export function asksForSummary({ reasoning }: TextCall, { summary }: Settings): boolean {
  if (!reasoning || reasoning.mode === 'off' || summary === 'omit') return false;
  return reasoning.display === 'summarized' || reasoning.isShown === true;
}

export function buildResponsesBody(call: TextCall, settings: Settings, { responses }: Host): JsonBody {
  const { cacheKey, customTools, systemMessages } = settings;
  const { format, reasoning, mayReason, tools } = call;
  const fitted = tools?.single && settings.parallelCalls === 'omit' ? { ...call, tools: dropSingle(tools) } : call;
  const text = writeText(call, settings);
  const wanted = writeReasoning(call, settings);
  const quirks = {
    takesCacheKey: cacheKey === 'send',
    takesCustomTools: customTools === 'send',
    keepsSystemMessages: systemMessages === 'in_place',
  };
  return (base64) => ({
    ...placeInstructions(responses.body(fitted, base64, quirks), format?.type === 'json'),
    ...(text && { text }),
    ...(wanted && { reasoning: wanted }),
    // Nothing is stored there, so that reasoning can only go on from what comes back with the next request.
    ...(mayReason && reasoning?.mode !== 'off' && { include: ['reasoning.encrypted_content'] }),
  });
}

function dropSingle({ single: _, ...tools }: Tools): Tools {
  return tools;
}

function writeText({ format, verbosity }: TextCall, settings: Settings): object | undefined {
  const text = {
    ...(format && { format: format.type === 'json' ? { type: 'json_object' } : writeSchema(format) }),
    ...(settings.verbosity === 'send' && verbosity && { verbosity }),
  };
  return Object.keys(text).length > 0 ? text : undefined;
}

/** JSON without a schema is refused unless a message asks for it, and the instructions are none. */
function placeInstructions(body: JsonObject, isAskedFor: boolean): JsonObject {
  const { instructions, input, ...others } = body;
  if (!isAskedFor || instructions === undefined) return body;
  const message = { role: 'developer', content: [{ type: 'input_text', text: instructions }] };
  return { ...others, input: [message, ...(input as readonly object[])] };
}

function writeReasoning(call: TextCall, settings: Settings): object | undefined {
  const { reasoning } = call;
  const { off } = settings;
  if (!reasoning) return undefined;
  if (reasoning.mode === 'off') return { effort: off };
  const wanted = {
    ...(reasoning.mode === 'on' && {
      effort: reasoning.effort === 'minimal' && off === 'low' ? off : reasoning.effort,
    }),
    ...(asksForSummary(call, settings) && { summary: 'auto' }),
  };
  return Object.keys(wanted).length > 0 ? wanted : undefined;
}
