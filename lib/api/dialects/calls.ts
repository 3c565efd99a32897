// Tool calls and their results in a history, in every dialect, and checks that they match.

import { constant, type Json, list, object, ref, text } from '../../base/json-schema.ts';
import { isRecord } from '../../base/record.ts';
import { replaceLoneSurrogates } from '../../base/well-formed.ts';
import { isEmptyList, writeArguments } from '../../stream/arguments.ts';
import { numberCallId } from '../../stream/call-id.ts';
import type { ToolCallContent } from '../../upstream/contract/provider.ts';
import { readCacheMarker } from './cache.ts';
import { writeCustomArguments } from './custom-tool.ts';
import { invalidField } from './fields.ts';
import type { WireBlock } from './images.ts';
import { readWireId } from './tool-id.ts';

/** Long, because the state an upstream wants back travels in the id. */
const ID_CHARACTERS_MAX = 128 * 1024;
const NAME_CHARACTERS_MAX = 256;

const ID: Json = { type: 'string', minLength: 1, maxLength: ID_CHARACTERS_MAX };
const NAME: Json = { type: 'string', minLength: 1, maxLength: NAME_CHARACTERS_MAX };

/** A call as in a reply, and as a history gives it back. */
const functionCall: Json = object({
  id: ID,
  type: constant('function'),
  function: object({ name: NAME, arguments: text('JSON of an object, as the model wrote it.') }),
});

const customCall: Json = object({
  id: ID,
  type: constant('custom'),
  custom: object({ name: NAME, input: { type: 'string', description: 'Plain text.' } }, { optional: ['input'] }),
});

export const toolCall: Json = { anyOf: [functionCall, customCall] };

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

/** A tool with `defer_loading` that a search by the client has found, in the result of the search. */
export const toolReferenceBlock: Json = object({ type: constant('tool_reference'), tool_name: NAME });

/** The fields of messages besides their content. */
export const CALL_FIELDS: Readonly<Record<string, Json>> = {
  tool_calls: {
    description: 'Calls of an `assistant` message; each needs its result before the next one.',
    anyOf: [list(toolCall), { type: 'null' }],
  },
  refusal: { description: 'Of an earlier answer: the text of an `assistant` message without content.' },
  images: {
    description:
      'Of an earlier answer: images of an `assistant` message, as the answer had them. Models that see no images are not ' +
      'sent them.',
    type: ['array', 'null'],
    items: ref('ChatImagePart'),
  },
  tool_call_id: text('The call that a `tool` message is the result of.'),
  reasoning_content: {
    type: ['string', 'null'],
    description: 'Earlier reasoning of an `assistant` message, for models whose vendor wants it back.',
  },
};

interface Answered {
  readonly id: string;
  readonly name: string;
}

interface OpenCall extends Answered {
  readonly wireId: string;
  /** The path of its id. */
  readonly field: string;
  isAnswered: boolean;
}

/** Calls in order; those before `next` are answered. */
interface CallQueue {
  readonly calls: OpenCall[];
  next: number;
}

/**
 * The calls of a history: each has an id of its own, even if the client's ids repeat, and waits for its result. A body has
 * room for tens of thousands, so none is searched for.
 */
export class OpenCalls {
  /** By wire id, those without a result. */
  readonly #open = new Map<string, CallQueue>();
  /** By name, those that are the next of their wire id. */
  readonly #byName = new Map<string, CallQueue>();
  /** By id, the number that a repetition of it gets next. */
  readonly #repetitions = new Map<string, number>();
  /** True once there was a call. */
  hasAny = false;

  /** Adds a call and returns its id; `field` is the path of the id. */
  add(wireId: string, name: string, field: string): string {
    const id = this.#makeUnique(readWireId(wireId).id);
    const call: OpenCall = { id, name, wireId, field, isAnswered: false };
    if (!this.#open.has(wireId)) pushCall(this.#byName, name, call);
    pushCall(this.#open, wireId, call);
    this.hasAny = true;
    return id;
  }

  #makeUnique(id: string): string {
    const next = this.#repetitions.get(id);
    if (next === undefined) {
      this.#repetitions.set(id, 2);
      return id;
    }
    const unique = numberCallId(id, (each) => this.#repetitions.has(each), next);
    this.#repetitions.set(id, unique.number + 1).set(unique.id, 2);
    return unique.id;
  }

  /** The call that a result belongs to; of several with the same id, the first. Without an id, the only one there is. */
  answer(named: unknown, field: string): Answered {
    const wireId = named == null || named === '' ? (this.#findOnly() ?? named) : named;
    checkText(wireId, field, ID_CHARACTERS_MAX);
    const call = this.#takeFirst(wireId);
    if (!call) throw invalidField(field, 'names no unanswered call of an earlier assistant message');
    return call;
  }

  #findOnly(): string | undefined {
    const [only, other] = this.#open.keys();
    const { calls, next } = this.#open.get(only ?? '') ?? { calls: [], next: 0 };
    return other === undefined && calls.length - next === 1 ? only : undefined;
  }

  /** The same for a result that names only its tool. */
  answerNamed(name: unknown): Answered | undefined {
    const queue = this.#byName.get(name as string);
    if (!queue) return undefined;
    while (queue.calls[queue.next]?.isAnswered) queue.next += 1;
    const first = queue.calls[queue.next];
    return first && this.#takeFirst(first.wireId);
  }

  #takeFirst(wireId: string): Answered | undefined {
    const queue = this.#open.get(wireId);
    const first = queue?.calls[queue.next];
    if (!queue || !first) return undefined;
    first.isAnswered = true;
    queue.next += 1;
    const next = queue.calls[queue.next];
    if (next) pushCall(this.#byName, next.name, next);
    else this.#open.delete(wireId);
    return { id: first.id, name: first.name };
  }

  /** Whether a call waits for its result. */
  get hasOpen(): boolean {
    return this.#open.size > 0;
  }

  /** No upstream accepts calls without results. */
  checkNone(): void {
    for (const { calls, next } of this.#open.values()) {
      const first = calls[next];
      if (first) throw invalidField(first.field, 'is the id of a call without a result');
    }
  }
}

function pushCall(queues: Map<string, CallQueue>, name: string, call: OpenCall): void {
  const queue = queues.get(name);
  if (queue) queue.calls.push(call);
  else queues.set(name, { calls: [call], next: 0 });
}

/** `{ type: "tool_use", id, name, input }` */
export function readToolUse(block: WireBlock, field: string, calls: OpenCalls): ToolCallContent {
  const { id, name } = block;
  const input = isEmptyList(block.input) ? {} : (block.input ?? {});
  checkToolName(name, `${field}.name`);
  if (!isRecord(input)) throw invalidField(`${field}.input`, 'must be an object');
  const call = addCall({ id, name, json: writeArguments(input) }, `${field}.id`, calls);
  return { ...call, ...readCacheMarker(block, field) };
}

/** The id of a call of old clients, which write none: there is one call a message. */
const LEGACY_ID = 'function_call';

/** `function_call: { name, arguments }`, the only call of a message. */
export function readFunctionCall(wire: unknown, field: string, calls: OpenCalls): readonly ToolCallContent[] {
  if (wire === undefined || wire === null) return [];
  if (!isRecord(wire)) throw invalidField(field, 'must be an object');
  return [readCalled(wire, { id: LEGACY_ID, field, idField: field, calls })];
}

/** `tool_calls: [{ id, type: "function", function: { name, arguments } }]` */
export function readToolCalls(wire: unknown, field: string, calls: OpenCalls): readonly ToolCallContent[] {
  if (wire === undefined || wire === null) return [];
  if (!Array.isArray(wire)) throw invalidField(field, 'must be an array');
  return wire.map((call: unknown, at) => readToolCall(call, `${field}[${at}]`, calls));
}

function readToolCall(call: unknown, field: string, calls: OpenCalls): ToolCallContent {
  if (!isRecord(call)) throw invalidField(field, 'must be an object');
  const { id, function: called, custom } = call;
  const type = call.type ?? 'function';
  if (type !== 'function' && type !== 'custom') throw invalidField(`${field}.type`, 'must be function or custom');
  const reading = { id, field: `${field}.${type}`, idField: `${field}.id`, calls };
  const marker = readCacheMarker(call, field);
  if (type === 'custom') return { ...readCustomCall(custom, reading), ...marker };
  if (!isRecord(called)) throw invalidField(reading.field, 'must be an object');
  return { ...readCalled(called, reading), ...marker };
}

/** `{ name, input }`, whose input is plain text. */
export function readCustomCall(custom: unknown, reading: ReadingCall): ToolCallContent {
  const { field } = reading;
  if (!isRecord(custom)) throw invalidField(field, 'must be an object');
  const { name, input = '' } = custom;
  if (typeof input !== 'string') throw invalidField(`${field}.input`, 'must be a string');
  return { ...readCalled({ name, arguments: writeCustomArguments(input) }, reading), isCustom: true };
}

export interface ReadingCall {
  readonly id: unknown;
  readonly field: string;
  readonly idField: string;
  readonly calls: OpenCalls;
}

/** `{ name, arguments }` */
export function readCalled(
  { name, arguments: given }: Readonly<Record<string, unknown>>,
  { id, field, idField, calls }: ReadingCall,
): ToolCallContent {
  const json = given ?? '';
  checkToolName(name, `${field}.name`);
  if (typeof json !== 'string') throw invalidField(`${field}.arguments`, 'must be a string of JSON');
  return addCall({ id, name, json: json.trim() === '' ? '{}' : json }, idField, calls);
}

function addCall(
  { id: wireId, name, json }: { readonly id: unknown; readonly name: string; readonly json: string },
  field: string,
  calls: OpenCalls,
): ToolCallContent {
  checkText(wireId, field, ID_CHARACTERS_MAX);
  const { state } = readWireId(wireId);
  const id = calls.add(wireId, name, field);
  return { type: 'tool-call', id, name, json: replaceLoneSurrogates(json), ...(state && { state }) };
}

/** Whether the result of a tool failed: `is_error`. */
export function readIsError(value: unknown, field: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw invalidField(field, 'must be a boolean, true or false');
  return value;
}

export function checkToolName(value: unknown, field: string): asserts value is string {
  checkText(value, field, NAME_CHARACTERS_MAX);
}

function checkText(value: unknown, field: string, charactersMax: number): asserts value is string {
  if (typeof value !== 'string' || value === '') throw invalidField(field, 'must be a string and not empty');
  if (value.length > charactersMax) throw invalidField(field, `must have at most ${charactersMax} characters`);
}
