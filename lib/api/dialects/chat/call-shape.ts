// How a chat writes the calls of its answer: as `tool_calls`, or as the one `function_call` of old clients.
import type { ReplyToolBlock } from '../../../stream/part.ts';
import { chatCall } from '../../../upstream/formats/tools.ts';
import { toWireId } from '../tool-id.ts';

/** What a request's echo says about it; nothing for tools. */
export interface FunctionsEcho {
  readonly functions: true;
}

export interface CallShape {
  readonly finishReason: string;
  /** The delta that begins a call. */
  begin(call: ReplyToolBlock, index: number): object;
  /** The JSON of a delta around a fragment of its arguments. */
  around(index: number): readonly [before: string, after: string];
  /** The field of a whole message; `json` are the arguments. */
  writeAll(calls: readonly (ReplyToolBlock & { readonly text: string })[]): object;
}

function writeToolCall(call: ReplyToolBlock, json: string): object {
  return chatCall({ id: toWireId(call), name: call.name }, json);
}

const TOOL_CALLS: CallShape = {
  finishReason: 'tool_calls',
  begin: (call, index) => ({ tool_calls: [{ index, ...writeToolCall(call, '') }] }),
  around: (index) => [`{"tool_calls":[{"index":${index},"function":{"arguments":"`, '"}}]}'],
  writeAll: (calls) => ({ tool_calls: calls.map((call) => writeToolCall(call, call.text)) }),
};

const FUNCTION_CALL: CallShape = {
  finishReason: 'function_call',
  begin: ({ name }) => ({ function_call: { name, arguments: '' } }),
  around: () => ['{"function_call":{"arguments":"', '"}}'],
  writeAll: ([call]) => (call ? { function_call: { name: call.name, arguments: call.text } } : {}),
};

/** In the shape that the request had. */
export function findCallShape(echo: object | undefined): CallShape {
  return echo && 'functions' in echo ? FUNCTION_CALL : TOOL_CALLS;
}
