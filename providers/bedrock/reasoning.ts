// How much a model reasons, in the fields of its family: Converse passes them on as they are.
import type { Host, JsonObject, TextCall } from '../../lib/upstream/contract/provider.ts';

export const STATE_FORMAT = 'converse';

/** By the ids that the vendor documents. Those of later models of Claude have no date, and refuse a budget. */
const FAMILIES = {
  budget: /claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[15])?-20\d{6})/,
  adaptive: /(?:^|[./])anthropic\.claude-/,
  reasoning_effort: /(?:^|[./])openai\.gpt-oss-/,
  reasoning_config: /(?:^|[./])amazon\.nova-2-/,
} as const;
type Family = keyof typeof FAMILIES;

export type ReasoningStyle = Family | 'auto' | 'none';
const FAMILY_NAMES = Object.keys(FAMILIES) as Family[];
export const REASONING_STYLES: readonly ReasoningStyle[] = ['auto', ...FAMILY_NAMES, 'none'];

export function writeReasoning(call: TextCall, style: ReasoningStyle, { message, fitEffort }: Host): JsonObject {
  const { reasoning, model } = call;
  if (!reasoning) return {};
  const family = style === 'auto' ? FAMILY_NAMES.find((name) => FAMILIES[name].test(model)) : style;
  switch (family) {
    case 'budget':
    case 'adaptive':
      return message.thinking(call, { by: family, off: 'disabled', stateFormat: STATE_FORMAT });
    case 'reasoning_effort':
      return reasoning.mode === 'auto' ? {} : { reasoning_effort: fitEffort(reasoning, ['low', 'medium', 'high']) };
    case 'reasoning_config': {
      if (reasoning.mode === 'off') return {};
      // The highest effort is refused beside a limit of tokens.
      return { reasoningConfig: { type: 'enabled', maxReasoningEffort: fitEffort(reasoning, ['low', 'medium']) } };
    }
    default:
      return {};
  }
}
