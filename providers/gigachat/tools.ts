// Functions of GigaChat: one call a message, without an id, answered by the message after it.
import type { Host, ToolCallContent, ToolResultContent, Tools } from '../../lib/upstream/contract/provider.ts';
import { isObject, simplifySchema } from './schema.ts';

/** Names of the vendor's own functions would run them. */
export const NAMES = /^(?!(?:text2image|text2model3d|get_file_content)$)[a-zA-Z_]\w{0,63}$/;

/** What a call's message says of the functions it was made with. */
export const STATE = { field: 'functions_state_id', format: 'gigachat' } as const;

/** A call may be required of one function only. */
export function writeFunctions({ list, choice }: Tools): object {
  const [first] = list;
  const functions = list.map(({ name, description, schema }) => ({
    name,
    description,
    parameters: simplifySchema(schema),
  }));
  return { functions, function_call: choice === 'any' ? { name: first?.name } : choice };
}

/** Every call is followed by its result. */
export function writeCall(
  { name, json, state }: ToolCallContent,
  result: ToolResultContent | undefined,
  text: string,
  host: Host,
): readonly object[] {
  const made = { role: 'assistant', content: text, function_call: { name, arguments: host.argumentsOf(json) } };
  const call = state?.format === STATE.format ? { ...made, [STATE.field]: state.value } : made;
  return result ? [call, { role: 'function', name, content: writeResult(result, host) }] : [call];
}

/** The text of a JSON object. */
function writeResult({ isError, content }: ToolResultContent, { textOf }: Host): string {
  const text = textOf(content);
  if (isError) return JSON.stringify({ error: text });
  return isObject(parse(text)) ? text : JSON.stringify({ result: text });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
