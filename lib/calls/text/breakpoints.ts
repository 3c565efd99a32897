// Breakpoints of the vendor's prompt cache in a request whose client sets none, for models with `"cache": "auto"`.
import type { Cacheable, TextCall, TextMessage } from '../../upstream/contract/provider.ts';

type Prompt = Pick<TextCall, 'system' | 'messages' | 'tools'>;

/** Five minutes are the cheaper write, and every reading call extends them. */
const MARKER: Cacheable = { cache: { ttl: '5m' } };

/** Marks the ends of the tools, of the system prompt and of the last user message; nothing if the client marks any. */
export function addBreakpoints<Call extends Prompt>(call: Call): Call {
  const { system, messages, tools } = call;
  if (hasMarkers(call)) return call;
  return {
    ...call,
    ...(tools && { tools: { ...tools, list: markEnd(tools.list) } }),
    ...(system && { system: markEnd(system) }),
    messages: markLastUser(messages),
  };
}

function hasMarkers({ system = [], messages, tools }: Prompt): boolean {
  const isMarked = (part: object) => 'cache' in part && part.cache !== undefined;
  return (
    system.some(isMarked) ||
    tools?.list.some(isMarked) === true ||
    messages.some(({ content }) => content.some(isMarked))
  );
}

function markEnd<Part extends Cacheable>(parts: readonly Part[]): readonly Part[] {
  const last = parts.at(-1);
  return last ? parts.with(-1, { ...last, ...MARKER }) : parts;
}

/** Later turns find it there, whatever the assistant says in between. */
function markLastUser(messages: readonly TextMessage[]): readonly TextMessage[] {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const message = messages[at];
  const last = message?.content.at(-1);
  if (!message || !last || last.type === 'reasoning') return messages;
  return messages.with(at, { ...message, content: message.content.with(-1, { ...last, ...MARKER }) });
}
