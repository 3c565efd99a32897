// How a chat writes the calls of its answer: as `tool_calls`, or as the one `function_call` of old clients.
import type { ReplyToolBlock } from '../../../stream/part.ts';
import { chatCall } from '../../../upstream/formats/tools.ts';
import { readCustomInput } from '../custom-input.ts';
import { toWireId } from '../tool-id.ts';

/** What a request's echo says about it; absent if all tools are functions. */
export type CallEcho = { readonly functions: true } | { readonly customNames: readonly string[] };

export interface CallShape {
  readonly finishReason: string;
  /** The delta that begins a call. */
  begin(call: ReplyToolBlock, index: number): object;
  /** The JSON of a delta around a fragment of its arguments. */
  around(index: number, isCustom: boolean): readonly [before: string, after: string];
  /** Whether a call is that of a custom tool, of whose arguments the client gets only the input. */
  isCustom(name: string): boolean;
  /** The field of a whole message; `json` are the arguments. */
  writeAll(calls: readonly (ReplyToolBlock & { readonly text: string })[]): object;
}

function createToolCalls(customNames: readonly string[] = []): CallShape {
  const isCustom = (name: string) => customNames.includes(name);
  const write = (call: ReplyToolBlock, json: string) => {
    const id = toWireId(call);
    const { name } = call;
    return isCustom(name) ? { id, type: 'custom', custom: { name, input: json } } : chatCall({ id, name }, json);
  };
  return {
    finishReason: 'tool_calls',
    isCustom,
    begin: (call, index) => ({ tool_calls: [{ index, ...write(call, '') }] }),
    around: (index, custom) => [
      `{"tool_calls":[{"index":${index},${custom ? '"custom":{"input":"' : '"function":{"arguments":"'}`,
      '"}}]}',
    ],
    writeAll: (calls) => ({
      tool_calls: calls.map((call) => write(call, isCustom(call.name) ? readCustomInput(call.text) : call.text)),
    }),
  };
}

const TOOL_CALLS = createToolCalls();

const FUNCTION_CALL: CallShape = {
  finishReason: 'function_call',
  isCustom: () => false,
  begin: ({ name }) => ({ function_call: { name, arguments: '' } }),
  around: () => ['{"function_call":{"arguments":"', '"}}'],
  writeAll: ([call]) => (call ? { function_call: { name: call.name, arguments: call.text } } : {}),
};

/** In the shape that the request had. */
export function findCallShape(echo: object | undefined): CallShape {
  if (!echo) return TOOL_CALLS;
  const given = echo as CallEcho;
  return 'functions' in given ? FUNCTION_CALL : createToolCalls(given.customNames);
}
