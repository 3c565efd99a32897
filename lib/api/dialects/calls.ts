// Tool calls and their results in a history, in both dialects, and checks that they match.

import { writeArguments } from '../../stream/arguments.ts';
import type { ToolCallContent } from '../../upstream/contract/provider.ts';
import { constant, type Json, list, object, ref, text } from '../openapi/schema.ts';
import { invalidField, isRecord } from './fields.ts';
import type { WireBlock } from './pictures.ts';
import { readWireId } from './tool-id.ts';

/** Long, because the state an upstream wants back travels in the id. */
const ID_CHARACTERS_MAX = 128 * 1024;
const NAME_CHARACTERS_MAX = 256;

const ID: Json = { type: 'string', minLength: 1, maxLength: ID_CHARACTERS_MAX };
const NAME: Json = { type: 'string', minLength: 1, maxLength: NAME_CHARACTERS_MAX };

/** A call as in a reply, and as a history gives it back. */
export const toolCall: Json = object({
  id: ID,
  type: constant('function'),
  function: object({ name: NAME, arguments: text('JSON of an object, as the model wrote it.') }),
});

export const toolUseBlock: Json = object({ type: constant('tool_use'), id: ID, name: NAME, input: { type: 'object' } });

/** A result, whose blocks have this schema. */
export const toolResultBlock = (block: string): Json =>
  object(
    {
      type: constant('tool_result'),
      tool_use_id: { ...ID, description: 'Of a call in an earlier `assistant` message that has no result yet.' },
      content: { anyOf: [{ type: 'string' }, list(ref(block)), { type: 'null' }] },
      is_error: { type: ['boolean', 'null'] },
    },
    { optional: ['content', 'is_error'] },
  );

/** The fields of messages besides their content. */
export const CALL_FIELDS: Readonly<Record<string, Json>> = {
  tool_calls: {
    description: 'Calls of an `assistant` message; each needs its result before the next one.',
    anyOf: [list(toolCall), { type: 'null' }],
  },
  tool_call_id: text('The call that a `tool` message is the result of.'),
};

export interface Answered {
  readonly id: string;
  readonly name: string;
}

/** The calls of a history that have no result yet. */
export class OpenCalls {
  /** By wire id: name and field of each call. */
  readonly #open = new Map<string, { readonly name: string; readonly field: string }>();
  /** True once there was a call. */
  hasAny = false;

  /** Adds a call; `field` is the path of its id. */
  add(wireId: string, name: string, field: string): void {
    if (this.#open.has(wireId)) throw invalidField(field, 'is already the id of another call');
    this.#open.set(wireId, { name, field });
    this.hasAny = true;
  }

  /** The call that a result belongs to. */
  answer(wireId: unknown, field: string): Answered {
    checkText(wireId, field, ID_CHARACTERS_MAX);
    const call = this.#open.get(wireId);
    if (!call) throw invalidField(field, 'names no unanswered call of an earlier assistant message');
    this.#open.delete(wireId);
    return { id: readWireId(wireId).id, name: call.name };
  }

  /** No upstream accepts calls without results. */
  checkNone(): void {
    for (const { field } of this.#open.values()) throw invalidField(field, 'is the id of a call without a result');
  }
}

/** `{ type: "tool_use", id, name, input }` */
export function readToolUse({ id, name, input = {} }: WireBlock, field: string, calls: OpenCalls): ToolCallContent {
  checkName(name, `${field}.name`);
  if (!isRecord(input)) throw invalidField(`${field}.input`, 'must be an object');
  return addCall({ id, name, json: writeArguments(input) }, `${field}.id`, calls);
}

/** `tool_calls: [{ id, type: "function", function: { name, arguments } }]` */
export function readToolCalls(wire: unknown, field: string, calls: OpenCalls): readonly ToolCallContent[] {
  if (wire === undefined || wire === null) return [];
  if (!Array.isArray(wire)) throw invalidField(field, 'must be an array');
  return wire.map((call: unknown, at) => readToolCall(call, `${field}[${at}]`, calls));
}

function readToolCall(call: unknown, field: string, calls: OpenCalls): ToolCallContent {
  if (!isRecord(call)) throw invalidField(field, 'must be an object');
  const { id, type = 'function', function: called } = call;
  if (type !== 'function') throw invalidField(`${field}.type`, 'must be function');
  if (!isRecord(called)) throw invalidField(`${field}.function`, 'must be an object');
  const { name, arguments: json = '' } = called;
  checkName(name, `${field}.function.name`);
  if (typeof json !== 'string') throw invalidField(`${field}.function.arguments`, 'must be a string of JSON');
  return addCall({ id, name, json: json.trim() === '' ? '{}' : json }, `${field}.id`, calls);
}

function addCall(
  { id: wireId, name, json }: { readonly id: unknown; readonly name: string; readonly json: string },
  field: string,
  calls: OpenCalls,
): ToolCallContent {
  checkText(wireId, field, ID_CHARACTERS_MAX);
  calls.add(wireId, name, field);
  return { type: 'tool-call', ...readWireId(wireId), name, json };
}

/** Whether the result of a tool failed: `is_error`. */
export function readIsError(value: unknown, field: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw invalidField(field, 'must be a boolean, true or false');
  return value;
}

function checkName(value: unknown, field: string): asserts value is string {
  checkText(value, field, NAME_CHARACTERS_MAX);
}

function checkText(value: unknown, field: string, charactersMax: number): asserts value is string {
  if (typeof value !== 'string' || value === '') throw invalidField(field, 'must be a string and not empty');
  if (value.length > charactersMax) throw invalidField(field, `must have at most ${charactersMax} characters`);
}
