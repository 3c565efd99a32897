// Tool definitions and `tool_choice`, as the dialects write them.
import Joi from 'joi';
import { constant, type Json, list, object, text } from '../../base/json-schema.ts';
import { isRecord } from '../../base/record.ts';
import type { PredefinedTool, RequestTools } from '../../calls/text/request.ts';
import type { CustomTool, Tool, Tools } from '../../upstream/contract/provider.ts';
import { MESSAGE_TOOL, NO_ARGUMENTS, type ToolShape } from '../../upstream/formats/tools.ts';
import { cacheMarker, readCacheMarker } from './cache.ts';
import { documentAs, invalidField, optional } from './fields.ts';
import { mendToolSchema } from './tool-schema.ts';

export const TOOLS_MAX = 512;
export const TOOLS_CHARACTERS_MAX = 1024 * 1024;
const NAME = /^[a-zA-Z0-9_.-]{1,128}$/;
const NAME_HINT = 'must be 1 to 128 letters, digits, underscores, hyphens or dots';

type Choice = NonNullable<Tools['choice']>;

interface GivenTools {
  readonly tools: unknown;
  /** The field that lists them; default: `tools`. */
  readonly source?: string;
  /** The path of each tool; default: its place in that field. */
  readonly fields?: readonly string[];
  readonly shape: ToolShape;
  /** Custom tools, by name. */
  readonly customs?: ReadonlyMap<string, CustomTool>;
  readonly choice?: Choice | undefined;
  /** The field that names the chosen tool, for refusals. */
  readonly choiceField: string;
  readonly single: boolean;
  /** The only tools that the model may call now, each with the field that names it; absent: all. */
  readonly allowed?: ReadonlyMap<string, string> | undefined;
}

/** A tool as the client wrote it, and its place in the request. */
export interface PlacedTool {
  readonly tool: unknown;
  readonly field: string;
}

/** What chats and responses may say in one word. */
export const CHOICE_WORDS = ['none', 'auto', 'required'] as const;

export type Chosen = Pick<GivenTools, 'choice' | 'allowed'>;

/** Reads a `tool_choice` that is one of these words; others go to `readObject`. */
export function readChoice(given: unknown, readObject: (given: Readonly<Record<string, unknown>>) => Chosen): Chosen {
  if (given === 'auto' || given === 'none') return { choice: given };
  if (given === 'required' || given === 'any') return { choice: 'any' };
  if (!isRecord(given)) throw invalidField('tool_choice', 'must be none, auto, required or an object');
  return readObject(given);
}

/** Undefined if there are none. Throws 400 faults that name the field. */
export function readTools(wanted: GivenTools): RequestTools | undefined {
  const { tools, source = 'tools', fields = [], shape, customs, choice, choiceField, single, allowed } = wanted;
  const given = (tools ?? []) as readonly unknown[];
  if (given.length > TOOLS_MAX) throw invalidField(source, `must have at most ${TOOLS_MAX} tools`);
  const fieldAt = (at: number) => fields[at] ?? `${source}[${at}]`;
  const read = given.map((tool, at) => addCustom(readTool(tool, fieldAt(at), shape), customs));
  const names = new Map<string, number>();
  for (const [at, { name }] of read.entries()) {
    const known = names.get(name);
    if (known !== undefined)
      throw invalidField(nameField(fieldAt(at), shape), `is already the name of ${fieldAt(known)}`);
    names.set(name, at);
  }
  const called = { choice, field: choiceField, source };
  checkChoice(called, names);
  for (const [name, field] of allowed ?? []) checkName({ name, field, source }, names);
  // Tools that may not be called are hidden from the model, which works the same with every upstream.
  const list = allowed ? read.filter(({ name }) => allowed.has(name)) : read;
  if (list.length === 0) {
    // All that are allowed would run at a vendor.
    checkChoice(called, new Map());
    return undefined;
  }
  const predefined = findPredefined(given, read, fieldAt);
  if (describeToolsAsText(read).length > TOOLS_CHARACTERS_MAX) {
    throw invalidField(source, `must have at most ${TOOLS_CHARACTERS_MAX} characters in all`);
  }
  return {
    list,
    text: describeToolsAsText(list),
    ...(choice !== undefined && { choice }),
    ...(single && { single: true }),
    ...(predefined && { predefined }),
  };
}

function addCustom(tool: Tool, customs: GivenTools['customs']): Tool {
  const custom = customs?.get(tool.name);
  return custom ? { ...tool, custom } : tool;
}

function describeToolsAsText(tools: readonly Tool[]): string {
  return tools
    .map(({ name, description = '', schema, messageFields }) => {
      const fields = messageFields ? `\n${JSON.stringify(messageFields)}` : '';
      return `${name}\n${description}\n${JSON.stringify(schema)}${fields}`;
    })
    .join('\n');
}

function findPredefined(
  given: readonly unknown[],
  read: readonly Tool[],
  fieldAt: (at: number) => string,
): PredefinedTool | undefined {
  const at = read.findIndex(({ isPredefined }) => isPredefined);
  return at < 0 ? undefined : { field: `${fieldAt(at)}.type`, type: String((given[at] as { type?: unknown }).type) };
}

type Named = { readonly field: string; readonly source: string };
type Called = Named & { readonly choice: Choice | undefined };

function checkChoice({ choice, field, source }: Called, names: ReadonlyMap<string, number>): void {
  if (choice === undefined || choice === 'auto' || choice === 'none') return;
  if (names.size === 0) {
    const [whole = field] = field.split('.', 1);
    throw invalidField(whole, 'requires a call, but there are no tools');
  }
  if (typeof choice === 'object') checkName({ name: choice.name, field, source }, names);
}

function checkName({ name, field, source }: Named & { name: string }, names: ReadonlyMap<string, number>): void {
  if (!names.has(name)) throw invalidField(field, `is not the name of a tool in \`${source}\``);
}

function nameField(field: string, { inside }: ToolShape): string {
  return `${field}${inside === undefined ? '' : `.${inside}`}.name`;
}

function readTool(tool: unknown, field: string, shape: ToolShape): Tool {
  if (!isRecord(tool)) throw invalidField(field, 'must be an object');
  const { type = shape.type } = tool;
  const marker = readCacheMarker(tool, field);
  if (typeof type === 'string' && shape.predefined?.test(type)) return { ...readPredefined(tool, field), ...marker };
  if (type !== shape.type && type !== null) throw invalidField(`${field}.type`, describeTypes(shape));
  if (isFlat(tool, shape)) return { ...readDefinition(tool, field, shape), ...marker };
  const place = `${field}.${shape.inside}`;
  const inner = tool[shape.inside as string];
  if (!isRecord(inner)) throw invalidField(place, 'must be an object');
  // Some clients mark the function itself.
  return { ...readDefinition(inner, place, shape), ...readCacheMarker(inner, place), ...marker };
}

function describeTypes({ type, predefined }: ToolShape): string {
  if (!predefined) return `must be ${type}`;
  return `must be ${type}, or that of a tool that the client runs, such as bash_20250124: there are no tools that a vendor runs`;
}

/** As the client wrote it, without its cache marker and the callers, which would run at the vendor. */
function readPredefined(tool: Readonly<Record<string, unknown>>, field: string): Tool {
  const { cache_control: _, allowed_callers: __, ...messageFields } = tool;
  // A set of tools has no name.
  const { name = tool.type } = tool;
  if (typeof name !== 'string' || !NAME.test(name)) throw invalidField(`${field}.name`, NAME_HINT);
  return { name, schema: NO_ARGUMENTS, isPredefined: true, messageFields };
}

/** Without an inner object: as in the responses dialect, which clients of the chat dialect send too. */
function isFlat(tool: Readonly<Record<string, unknown>>, { inside }: ToolShape): boolean {
  return inside === undefined || (!isRecord(tool[inside]) && typeof tool.name === 'string');
}

function readDefinition(given: Readonly<Record<string, unknown>>, field: string, shape: ToolShape): Tool {
  const { name, description, strict } = given;
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw invalidField(`${field}.name`, NAME_HINT);
  }
  if (description != null && typeof description !== 'string')
    throw invalidField(`${field}.description`, 'must be a string');
  if (strict != null && typeof strict !== 'boolean') {
    throw invalidField(`${field}.strict`, 'must be a boolean, true or false');
  }
  const schema = given[shape.schema] ?? (shape.inside === undefined ? undefined : NO_ARGUMENTS);
  if (!isRecord(schema)) throw invalidField(`${field}.${shape.schema}`, 'must be an object: a JSON schema');
  if (schema.type != null && ![schema.type].flat().includes('object')) {
    throw invalidField(`${field}.${shape.schema}.type`, 'must be object');
  }
  return {
    name,
    ...(description != null && { description }),
    schema: mendToolSchema(schema),
    ...(strict != null && { strict }),
    ...pickFields(given, field, shape),
  };
}

/** Checked as far as they decide something here; the rest is the vendor's. */
function pickFields(
  given: Readonly<Record<string, unknown>>,
  field: string,
  { fields = [] }: ToolShape,
): Pick<Tool, 'messageFields'> {
  const picked = fields.filter((name) => given[name] !== undefined && given[name] !== null);
  if (picked.length === 0) return {};
  const { defer_loading: deferred } = given;
  if (deferred != null && typeof deferred !== 'boolean') {
    throw invalidField(`${field}.defer_loading`, 'must be a boolean, true or false');
  }
  return { messageFields: Object.fromEntries(picked.map((name) => [name, given[name]])) };
}

/** The field of the dialects; its content is read above. */
export const toolsField = (tool: Json) =>
  optional(
    documentAs(
      Joi.array(),
      list(tool, {
        maxItems: TOOLS_MAX,
        description:
          'Tools that the model may call. Models without tool support do not see them. Names must be unique, and all ' +
          'tools together at most 1 Mi characters. They count as input text.',
      }),
    ),
    'must be an array of tools',
  );

export const parallelField = optional(
  Joi.boolean()
    .description('If false, at most one tool call per response; additional calls are dropped.')
    .default(true),
  'must be a boolean, true or false',
);

const DEFINITION = {
  name: text('Names the tool.', { pattern: NAME.source }),
  description: text('What it is for.'),
};
export const STRICT: Json = {
  type: 'boolean',
  description: 'Whether arguments have to keep to the schema, where the model can.',
};
export const SCHEMA: Json = { type: 'object', description: 'The JSON schema of its arguments, which are an object.' };

const customTool: Json = object(
  {
    ...DEFINITION,
    input_schema: SCHEMA,
    type: constant('custom'),
    strict: STRICT,
    cache_control: cacheMarker,
    defer_loading: {
      type: ['boolean', 'null'],
      description: 'Only loaded when a `tool_reference` names it, where the vendor can.',
    },
  },
  { optional: ['description', 'type', 'strict', 'cache_control', 'defer_loading'] },
);

const predefinedTool: Json = object(
  {
    type: text('A tool that the client runs, for models at vendors of the messages format.', {
      pattern: MESSAGE_TOOL.predefined?.source,
    }),
    name: text('As the vendor names it.', { pattern: NAME.source }),
    cache_control: cacheMarker,
  },
  { optional: ['name', 'cache_control'] },
);

export const messageTool: Json = { anyOf: [customTool, predefinedTool] };

const chatFunction: Json = object(
  {
    type: constant('function'),
    function: object(
      { ...DEFINITION, parameters: SCHEMA, strict: STRICT },
      { optional: ['description', 'parameters', 'strict'] },
    ),
    cache_control: cacheMarker,
  },
  { optional: ['type', 'cache_control'] },
);

const chatCustom: Json = object({
  type: constant('custom'),
  custom: object(
    {
      ...DEFINITION,
      format: { type: 'object', description: 'The grammar of its input. Most models see it in the description.' },
    },
    { optional: ['description', 'format'] },
  ),
});

export const chatTool: Json = { anyOf: [chatFunction, chatCustom] };
