// The tools and `tool_choice` of a chat-style request.
import Joi from 'joi';
import { choice, constant, type Json, list, object, text } from '../../../base/json-schema.ts';
import { isRecord } from '../../../base/record.ts';
import type { RequestTools } from '../../../calls/text/request.ts';
import { CHAT_TOOL, NO_ARGUMENTS, RESPONSES_TOOL } from '../../../upstream/formats/tools.ts';
import { describeCustomTool, readCustomTool } from '../custom-tool.ts';
import { documentAs, invalidField, optional } from '../fields.ts';
import { CHOICE_WORDS, type Chosen, chatTool, parallelField, readChoice, readTools, toolsField } from '../tools.ts';
import type { CallEcho } from './call-shape.ts';

/** As written; old clients have functions. */
export interface ChatToolFields {
  readonly tools?: readonly unknown[] | null;
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: boolean | null;
  readonly functions?: readonly unknown[] | null;
  readonly function_call?: unknown;
}

export function readChatTools(fields: ChatToolFields): RequestTools | undefined {
  const { choice: given, ...listed } = isLegacy(fields) ? readFunctions(fields) : listTools(fields);
  const chosen = given == null ? {} : readChoice(given, readChosenTool);
  const customs = new Map(listCustoms(fields).map((custom) => [readName(custom), readCustomTool(flatten(custom))]));
  return readTools({ ...listed, customs, ...chosen });
}

/** What the answer has to know: clients are answered in the shape that they ask in. */
export function readCallEcho(fields: ChatToolFields): { readonly echo?: CallEcho } {
  if (isLegacy(fields)) return { echo: { functions: true } };
  const customNames = listCustoms(fields).map(readName);
  return customNames.length > 0 ? { echo: { customNames } } : {};
}

type WireTool = Readonly<Record<string, unknown>>;

function listCustoms({ tools }: ChatToolFields): readonly WireTool[] {
  return (tools ?? []).map(findCustom).filter((custom) => custom !== undefined);
}

/** What a custom tool says of itself: inside it, or without an inner object as in the responses dialect. */
function findCustom(tool: unknown): WireTool | undefined {
  if (!isRecord(tool) || tool.type !== 'custom' || isMessageTool(tool)) return undefined;
  if (isRecord(tool.custom)) return tool.custom;
  return typeof tool.name === 'string' ? tool : undefined;
}

/** One of another type is refused with the rest of the function. */
function readName({ name }: WireTool): string {
  return typeof name === 'string' ? name : '';
}

/** A custom tool is the function that models see in its place, and one of the messages dialect a flat function. */
function describeTool(tool: unknown, at: number): unknown {
  if (!isRecord(tool)) return tool;
  if (isMessageTool(tool)) return { ...tool, type: 'function', parameters: tool.input_schema };
  if (tool.type !== 'custom') return tool;
  const custom = findCustom(tool);
  if (!custom) throw invalidField(`tools[${at}].custom`, 'must be an object');
  return { type: 'function', function: describeCustomTool(flatten(custom)) };
}

/** Some clients send these to models of their vendor in any dialect. */
function isMessageTool({ name, input_schema: schema, type }: WireTool): boolean {
  return typeof name === 'string' && isRecord(schema) && (type == null || type === 'custom');
}

/** As in the responses dialect. */
function flatten({ name, description, format }: WireTool) {
  const { grammar } = isRecord(format) ? format : {};
  return { name, description, format: isRecord(grammar) ? { type: 'grammar', ...grammar } : format };
}

/** `functions`, and `function_call` to choose one. */
function isLegacy({ tools, functions }: ChatToolFields): boolean {
  return (tools ?? []).length === 0 && functions != null;
}

function listTools({ tools, tool_choice: choice, parallel_tool_calls: parallel }: ChatToolFields) {
  const choiceField = 'tool_choice.function.name';
  return { tools: tools?.map(describeTool), shape: CHAT_TOOL, choice, choiceField, single: parallel === false };
}

/** They are called one at a time. */
function readFunctions({ functions, function_call: choice }: ChatToolFields) {
  const tools = functions?.map(describeFunction);
  const choiceField = 'function_call.name';
  const listed = { tools, source: 'functions', shape: RESPONSES_TOOL, choiceField, single: true };
  if (!isRecord(choice)) return { ...listed, choice };
  if (typeof choice.name !== 'string') throw invalidField(choiceField, 'must be a string');
  return { ...listed, choice: { type: 'function', function: choice } };
}

/** Like a tool of the responses dialect, but its parameters may be absent. */
function describeFunction(given: unknown): unknown {
  return isRecord(given) ? { ...given, type: 'function', parameters: given.parameters ?? NO_ARGUMENTS } : given;
}

function readChosenTool(given: Readonly<Record<string, unknown>>): Chosen {
  const { type } = given;
  if (type === 'allowed_tools') return readAllowed(given.allowed_tools);
  // These and `tool` are of the messages dialect.
  if (type === 'auto' || type === 'any' || type === 'none') return { choice: type };
  if (type !== 'function' && type !== 'custom' && type !== 'tool') {
    throw invalidField('tool_choice.type', 'must be function, custom or allowed_tools');
  }
  return { choice: { name: nameIn(given, 'tool_choice') } };
}

/** `{ mode, tools: [{ type: "function", function: { name } }] }` */
function readAllowed(given: unknown): Chosen {
  const field = 'tool_choice.allowed_tools';
  if (!isRecord(given)) throw invalidField(field, 'must be an object');
  const { mode, tools } = given;
  if (mode !== 'auto' && mode !== 'required') throw invalidField(`${field}.mode`, 'must be auto or required');
  if (!Array.isArray(tools) || tools.length === 0) throw invalidField(`${field}.tools`, 'must be a list, not empty');
  const allowed = tools.map((tool: unknown, at): [string, string] => {
    const place = `${field}.tools[${at}]`;
    if (!isRecord(tool) || (tool.type !== 'function' && tool.type !== 'custom')) {
      throw invalidField(`${place}.type`, 'must be function or custom');
    }
    return [nameIn(tool, place), `${place}.function.name`];
  });
  return { choice: mode === 'auto' ? 'auto' : 'any', allowed: new Map(allowed) };
}

/** `function.name`, `custom.name`, or `name` as in the responses dialect. */
function nameIn({ function: called, custom, name: flat }: Readonly<Record<string, unknown>>, field: string): string {
  const inner = called ?? custom;
  const { name } = isRecord(inner) ? inner : { name: flat };
  if (typeof name !== 'string') throw invalidField(`${field}.function.name`, 'must be a string');
  return name;
}

const named = (description: string): Json =>
  object({ type: constant('function'), function: object({ name: text(description) }) });

export const chatToolFields = {
  tools: toolsField(chatTool),
  tool_choice: optional(
    // Some vendors' word for `required`.
    documentAs(Joi.alternatives(Joi.valid(...CHOICE_WORDS, 'any'), Joi.object().unknown()), {
      description:
        '`required` and a tool name demand a call, and are refused for a model without tools. `allowed_tools` are the only ' +
        'tools that the model sees and may call.',
      anyOf: [
        choice(CHOICE_WORDS),
        named('The tool that must be called.'),
        object({
          type: constant('allowed_tools'),
          allowed_tools: object({
            mode: choice(['auto', 'required']),
            tools: list(named('A tool of `tools`.'), { minItems: 1 }),
          }),
        }),
      ],
    }),
    'must be none, auto, required or an object',
  ),
  functions: optional(
    documentAs(Joi.array(), {
      ...list({ type: 'object' }),
      description: 'The older form of `tools`.',
      deprecated: true,
    }),
    'must be an array of functions',
  ),
  function_call: optional(
    documentAs(Joi.alternatives(Joi.valid('none', 'auto'), Joi.object().unknown()), {
      description: 'The older form of `tool_choice`.',
      deprecated: true,
      anyOf: [choice(['none', 'auto']), object({ name: text('The function that must be called.') })],
    }),
    'must be none, auto or an object',
  ),
  parallel_tool_calls: parallelField,
};
