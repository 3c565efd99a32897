// Settings of a responses upstream, and the request for one text call.
import type { AccountSettings, Host, JsonBody, Reasoning, TextCall } from '../../lib/upstream/contract/provider.ts';

export interface Settings extends AccountSettings {
  /** The effort sent for no reasoning: `low` for models that cannot do without. */
  readonly off: 'none' | 'low';
  /** `omit` for an upstream that refuses `prompt_cache_key` and `prompt_cache_retention`. */
  readonly cacheKey: 'send' | 'omit';
  /** `function` for models that refuse custom tools. */
  readonly customTools: 'send' | 'function';
}

export function buildResponsesBody(
  call: TextCall,
  { off, cacheKey, customTools }: Settings,
  { responses }: Host,
): JsonBody {
  const { format, reasoning, mayReason } = call;
  const wanted = writeReasoning(reasoning, off);
  return (base64) => ({
    ...responses.body(call, base64, { takesCacheKey: cacheKey === 'send', takesCustomTools: customTools === 'send' }),
    ...(format && { text: { format: { ...format, type: format.type === 'json' ? 'json_object' : 'json_schema' } } }),
    ...(wanted && { reasoning: wanted }),
    // Nothing is stored there, so that reasoning can only go on from what comes back with the next request.
    ...(mayReason && reasoning?.mode !== 'off' && { include: ['reasoning.encrypted_content'] }),
  });
}

function writeReasoning(reasoning: Reasoning | undefined, off: Settings['off']): object | undefined {
  if (!reasoning) return undefined;
  if (reasoning.mode === 'off') return { effort: off };
  const wanted = {
    ...(reasoning.mode === 'on' && { effort: reasoning.effort }),
    ...(reasoning.display === 'summarized' && { summary: 'auto' }),
  };
  return Object.keys(wanted).length > 0 ? wanted : undefined;
}
