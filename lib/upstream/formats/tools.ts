// How each wire format writes tools and tool calls, to clients and upstreams alike.

import { hash } from 'node:crypto';
import { isRecord } from '../../base/record.ts';
import { readArguments } from '../../stream/arguments.ts';
import type { ToolBlock } from '../../stream/provider-part.ts';
import type { Tool } from '../contract/provider.ts';

/** Where a format keeps the definition of a tool. */
export interface ToolShape {
  /** The object with name and description; undefined if it is the tool itself. */
  readonly inside: string | undefined;
  readonly schema: string;
  /** What `type` may be besides absent. */
  readonly type: string;
  /** The types of tools that the format itself defines and the client runs. */
  readonly predefined?: RegExp;
  /** Further fields that go unchanged to upstreams of the same format. */
  readonly fields?: readonly string[];
}

export const CHAT_TOOL: ToolShape = { inside: 'function', schema: 'parameters', type: 'function' };
export const MESSAGE_TOOL: ToolShape = {
  inside: undefined,
  schema: 'input_schema',
  type: 'custom',
  predefined: /^(?:bash|text_editor|memory|computer)(?:_toolset)?_\d{8}$/,
  fields: ['defer_loading', 'input_examples', 'eager_input_streaming'],
};
export const RESPONSES_TOOL: ToolShape = { inside: undefined, schema: 'parameters', type: 'function' };

/** The only argument of a function that stands for a custom tool. */
export const CUSTOM_INPUT = 'input';

/** The schema of a tool without arguments. */
export const NO_ARGUMENTS = { type: 'object', properties: {} };

export function writeTool(
  { name, description, schema, strict }: Omit<Tool, 'messageFields'>,
  shape: ToolShape,
): object {
  const definition = { name, description, [shape.schema]: schema, strict };
  return shape.inside === undefined ? definition : { type: shape.type, [shape.inside]: definition };
}

/** Many servers parse the arguments of earlier calls, and refuse what was cut off, or is no object. */
export function completeArguments(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    if (isRecord(value)) return json;
  } catch {
    // As below.
  }
  return JSON.stringify(readArguments(json));
}

type Named = Pick<ToolBlock, 'id' | 'name'>;

/** A call in the chat format, its arguments as text. */
export function chatCall({ id, name }: Named, json: string): object {
  return { id, type: 'function', function: { name, arguments: json } };
}

/** A call in the message format, its arguments as an object. */
export function messageCall({ id, name }: Named, input: object): object {
  return { type: 'tool_use', id, name, input };
}

interface CallIdRules {
  readonly charactersMax: number;
  /** In the vendor's alphabet; default: as it is. */
  readonly spell?: (id: string) => string;
}

/** The ids of one request as a vendor takes them: the same for a call and its result, and different for each call. */
export function createCallIds({ charactersMax, spell = (id) => id }: CallIdRules): (id: string) => string {
  const written = new Map<string, string>();
  const taken = new Set<string>();
  return (id) => {
    const known = written.get(id);
    if (known !== undefined) return known;
    const spelled = spell(id);
    const fits = spelled.length <= charactersMax && !taken.has(spelled);
    const unique = fits ? spelled : `call_${digestHex(id, HASH_CHARACTERS)}`;
    written.set(id, unique);
    taken.add(unique);
    return unique;
  };
}

const HASH_CHARACTERS = 24;

export function digestHex(text: string, characters: number): string {
  return hash('sha256', text).slice(0, characters);
}
