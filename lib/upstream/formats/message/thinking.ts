// How much a model of the messages format thinks: newer ones decide how long and take an effort, older ones a number of
// tokens.
import type { Content, JsonObject, Reasoning, TextCall, ThinkingQuirks } from '../../contract/provider.ts';
import { MESSAGES_FORMAT } from '../names.ts';

export function messageThinking(call: TextCall, quirks: ThinkingQuirks): JsonObject {
  const { reasoning } = call;
  if (!reasoning) return {};
  const effort = chooseEffort(reasoning, quirks);
  return { ...writeThinking(call, reasoning, quirks), ...(effort !== undefined && { output_config: { effort } }) };
}

function writeThinking({ messages, tools }: TextCall, reasoning: Reasoning, quirks: ThinkingQuirks): JsonObject {
  const { by, off, takesUnsigned, needsThoughts = false, stateFormat = MESSAGES_FORMAT } = quirks;
  if (reasoning.mode === 'off') return off === 'low' ? {} : { thinking: { type: off } };
  // Refused where a call is required, or an answer continued.
  if (tools?.choice === 'any' || typeof tools?.choice === 'object' || messages.at(-1)?.role === 'assistant') return {};
  const { display } = reasoning;
  if (by === 'adaptive') return { thinking: { type: 'adaptive', display } };
  // Models that take a budget want the reasoning before each tool call back.
  const isThought = (part: Content) =>
    part.type === 'reasoning' && (takesUnsigned || part.state?.format === stateFormat);
  const lacksReasoning =
    !needsThoughts && messages.some(({ content }) => content.some(isCall) && !content.some(isThought));
  if (reasoning.mode === 'auto' || reasoning.budgetTokens === undefined || lacksReasoning) return {};
  return { thinking: { type: 'enabled', budget_tokens: reasoning.budgetTokens, display } };
}

const isCall = ({ type }: Content) => type === 'tool-call';

/** The effort is that of the whole answer, so it counts without thinking too; some models then refuse the highest. */
function chooseEffort(reasoning: Reasoning, { by, off }: ThinkingQuirks): string | undefined {
  if (reasoning.mode === 'off' && off === 'low') return 'low';
  if (reasoning.mode === 'auto' || by === 'budget') return undefined;
  const { mode, effort } = reasoning;
  if (effort === 'minimal') return 'low';
  return mode === 'off' && (effort === 'xhigh' || effort === 'max') ? 'high' : effort;
}
