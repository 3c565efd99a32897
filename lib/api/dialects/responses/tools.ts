// The tools and `tool_choice` of a responses request. Custom tools, whose input is free text, and namespaces are known to
// few upstreams: most models see plain functions, and their calls go back under the names of the request.
import Joi from 'joi';
import { choice, constant, type Json, list, object, text } from '../../../base/json-schema.ts';
import { isRecord } from '../../../base/record.ts';
import type { RequestTools } from '../../../calls/text/request.ts';
import type { CustomTool } from '../../../upstream/contract/provider.ts';
import { digestHex, NO_ARGUMENTS, RESPONSES_TOOL } from '../../../upstream/formats/tools.ts';
import { describeCustomTool, readCustomTool } from '../custom-tool.ts';
import { documentAs, invalidField, optional } from '../fields.ts';
import {
  CHOICE_WORDS,
  type Chosen,
  parallelField,
  readChoice,
  readTools,
  SCHEMA,
  STRICT,
  toolsField,
} from '../tools.ts';

/** What a request says about tools. */
export interface ToolFields {
  readonly tools?: readonly unknown[] | null;
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: boolean | null;
}

export interface ToolName {
  readonly name: string;
  readonly namespace?: string;
  /** Its calls have an input instead of arguments. */
  readonly isCustom?: true;
  /** It is the client's search for tools, whose calls are items of their own. */
  readonly isSearch?: true;
}

/** The type of a search for tools, and the name under which models see the one that the client runs. */
export const TOOL_SEARCH = 'tool_search';

/** Of such a tool, or of an item of one; others run at a vendor. */
export function isClientSearch({ execution }: Readonly<Record<string, unknown>>): boolean {
  return execution === 'client';
}

/** The tools whose calls do not go back as calls of functions of the same name, by the name that models see. */
export type ToolNames = ReadonlyMap<string, ToolName>;

interface ReadResponsesTools {
  readonly tools: RequestTools | undefined;
  readonly names: ToolNames;
}

/** A tool as written, and where. */
export interface PlacedTool {
  readonly tool: unknown;
  readonly field: string;
}

/** `added` are the tools of items, which a client may tell anew. Throws 400 faults that name the field. */
export function readResponsesTools(
  { tools: given, tool_choice: choice, parallel_tool_calls: parallel }: ToolFields,
  added: readonly PlacedTool[] = [],
): ReadResponsesTools {
  const listed: ListedTools = { functions: [], places: new Map(), names: new Map(), customs: new Map() };
  for (const [at, tool] of (given ?? []).entries()) listTool(tool, `tools[${at}]`, listed);
  for (const { tool, field } of added) listTool(tool, field, listed, { replaces: true });
  const chosen = choice == null ? {} : readChoice(choice, readChosenTool);
  if (chosen.choice === 'any' && listed.functions.length === 0 && listed.hosted !== undefined) {
    throw invalidField('tool_choice', `requires a call, but ${notHere(listed.hosted)}`);
  }
  const tools = readTools({
    tools: listed.functions.map(({ definition }) => definition),
    fields: listed.functions.map(({ field }) => field),
    shape: RESPONSES_TOOL,
    customs: listed.customs,
    choiceField: 'tool_choice.name',
    single: parallel === false,
    ...chosen,
  });
  return { tools, names: listed.names };
}

interface ListedTools {
  readonly functions: { readonly definition: { readonly name?: unknown }; readonly field: string }[];
  /** Where the first function of a name is. */
  readonly places: Map<unknown, number>;
  readonly names: Map<string, ToolName>;
  readonly customs: Map<string, CustomTool>;
  /** The type of one that would run at the vendor. */
  hosted?: string;
}

interface Listing {
  readonly namespace?: string;
  /** A tool of the same name is told anew. */
  readonly replaces?: boolean;
}

/** Tools that would run at the vendor are left out: some clients always list them. */
function listTool(tool: unknown, field: string, listed: ListedTools, listing: Listing = {}): void {
  const { type, name, tools } = checkTool(tool, field);
  if (type !== 'namespace') {
    addTool(tool as Tool, field, listed, listing);
    return;
  }
  if (typeof name !== 'string' || name === '') throw invalidField(`${field}.name`, 'must be a string and not empty');
  if (!Array.isArray(tools)) throw invalidField(`${field}.tools`, 'must be an array of tools');
  for (const [within, inner] of tools.entries()) {
    const place = `${field}.tools[${within}]`;
    addTool(checkTool(inner, place), place, listed, { ...listing, namespace: name });
  }
}

type Tool = Readonly<Record<string, unknown>> & { readonly type: string };

function checkTool(tool: unknown, field: string): Tool {
  if (!isRecord(tool)) throw invalidField(field, 'must be an object');
  if (typeof tool.type !== 'string') throw invalidField(`${field}.type`, 'must be a string');
  return tool as Tool;
}

function addTool(tool: Tool, field: string, listed: ListedTools, { namespace, replaces }: Listing): void {
  const { type, name } = tool;
  if (type === TOOL_SEARCH && isClientSearch(tool)) {
    const { description, parameters } = tool;
    addTool({ type: 'function', name: TOOL_SEARCH, description, parameters }, field, listed, { replaces });
    listed.names.set(TOOL_SEARCH, { name: TOOL_SEARCH, isSearch: true });
    return;
  }
  if (type !== 'function' && type !== 'custom') {
    listed.hosted ??= type;
    return;
  }
  const isCustom = type === 'custom';
  const plain = isCustom
    ? { type: 'function', ...describeCustomTool(tool) }
    : { ...tool, parameters: withoutEncryption(tool.parameters) };
  const seen = typeof name === 'string' && namespace !== undefined ? joinToolName(namespace, name) : name;
  const named = { definition: { ...plain, name: seen }, field };
  const place = listed.places.get(seen);
  if (place === undefined) listed.places.set(seen, listed.functions.length);
  if (place === undefined || !replaces) listed.functions.push(named);
  else {
    listed.functions[place] = named;
    listed.names.delete(`${seen}`);
    listed.customs.delete(`${seen}`);
  }
  if (typeof seen === 'string' && (isCustom || namespace !== undefined)) {
    const own = { name: `${name}`, ...(namespace !== undefined && { namespace }) };
    listed.names.set(seen, isCustom ? { ...own, isCustom } : own);
    if (isCustom) listed.customs.set(seen, readCustomTool(tool));
  }
}

/** A vendor would encrypt what a model writes into such an argument, and only its own models could read that again. */
function withoutEncryption(parameters: unknown): unknown {
  if (!isRecord(parameters)) return parameters ?? NO_ARGUMENTS;
  const { properties } = parameters;
  if (!isRecord(properties) || !Object.values(properties).some(isEncrypted)) return parameters;
  const plain = Object.entries(properties).map(([name, property]) => {
    if (!isEncrypted(property)) return [name, property];
    const { encrypted: _, ...rest } = property;
    return [name, rest];
  });
  return { ...parameters, properties: Object.fromEntries(plain) };
}

function isEncrypted(property: unknown): property is Readonly<Record<string, unknown>> {
  return isRecord(property) && property.encrypted === true;
}

const NAME_CHARACTERS_MAX = 128;
const HASH_CHARACTERS = 8;

/** What a search for tools has found, as a model reads it; the tools themselves are among those of the request. */
export function describeFoundTools(tools: unknown): string {
  const lines = listFound(tools).map(({ name, description }) =>
    typeof description === 'string' && description !== '' ? `${name}: ${description}` : `${name}`,
  );
  return lines.length > 0 ? lines.join('\n') : 'No tools were found.';
}

function listFound(tools: unknown, namespace?: string): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown) => {
    if (!isRecord(tool) || typeof tool.name !== 'string') return [];
    const { type, name } = tool;
    if (type === 'namespace') return listFound(tool.tools, name);
    return [{ ...tool, name: namespace === undefined ? name : joinToolName(namespace, name) }];
  });
}

/** The name of a namespace's tool as models see it. */
export function joinToolName(namespace: string, name: string): string {
  const joined = namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`;
  if (joined.length <= NAME_CHARACTERS_MAX) return joined;
  return `${joined.slice(0, NAME_CHARACTERS_MAX - HASH_CHARACTERS - 1)}_${digestHex(joined, HASH_CHARACTERS)}`;
}

function readChosenTool(given: Readonly<Record<string, unknown>>): Chosen {
  const { type } = given;
  if (type === 'allowed_tools') return readAllowed(given);
  if (type === 'function' || type === 'custom') return { choice: { name: readName(given, 'tool_choice') } };
  if (typeof type !== 'string') throw invalidField('tool_choice.type', 'must be a string');
  throw invalidField('tool_choice.type', `demands a call, but ${notHere(type)}`);
}

/** `{ mode, tools: [{ type: "function", name }] }` */
function readAllowed({ mode, tools }: Readonly<Record<string, unknown>>): Chosen {
  if (mode !== 'auto' && mode !== 'required') throw invalidField('tool_choice.mode', 'must be auto or required');
  if (!Array.isArray(tools) || tools.length === 0) throw invalidField('tool_choice.tools', 'must be a list, not empty');
  const allowed = tools.flatMap((tool: unknown, at): [string, string][] => {
    const place = `tool_choice.tools[${at}]`;
    const own = checkTool(tool, place);
    if (own.type !== 'function' && own.type !== 'custom') return [];
    return [[readName(own, place), `${place}.name`]];
  });
  return { choice: mode === 'auto' ? 'auto' : 'any', allowed: new Map(allowed) };
}

function readName({ name, namespace }: Readonly<Record<string, unknown>>, field: string): string {
  if (typeof name !== 'string') throw invalidField(`${field}.name`, 'must be a string');
  return typeof namespace === 'string' ? joinToolName(namespace, name) : name;
}

const notHere = (type: string) => `no \`${type}\` runs here: tools run at the client`;

const NAMED = { name: text('Its name.'), description: text('What it is for.') };

const functionTool: Json = object(
  { type: constant('function'), ...NAMED, parameters: SCHEMA, strict: STRICT },
  { optional: ['description', 'parameters', 'strict'] },
);

const customTool: Json = object(
  { type: constant('custom'), ...NAMED, format: { type: 'object', description: 'The grammar of its input.' } },
  { optional: ['description', 'format'] },
);

const namespaceTool: Json = object(
  { type: constant('namespace'), ...NAMED, tools: list({ anyOf: [functionTool, customTool] }) },
  { optional: ['description'] },
);

const hostedTool: Json = {
  description:
    'A tool that would run at the vendor, such as `web_search`, is left out unless `tool_choice` demands it. A ' +
    '`tool_search` whose `execution` is `client` is a function to the model, and its calls are items `tool_search_call`.',
  type: 'object',
  required: ['type'],
  properties: { type: { type: 'string', not: { enum: ['function', 'custom', 'namespace'] } } },
};

const chosenTool: Json = object(
  { type: choice(['function', 'custom']), name: text('The tool.'), namespace: text('Its namespace.') },
  { optional: ['namespace'] },
);

export const responsesToolFields = {
  tools: toolsField({ anyOf: [functionTool, customTool, namespaceTool, hostedTool] }),
  tool_choice: optional(
    documentAs(Joi.alternatives(Joi.valid(...CHOICE_WORDS), Joi.object().unknown()), {
      description:
        '`required` and a tool demand a call, and are refused for a model without tools. `allowed_tools` are the only ' +
        'tools that the model sees and may call.',
      anyOf: [
        choice(CHOICE_WORDS),
        chosenTool,
        object({
          type: constant('allowed_tools'),
          mode: choice(['auto', 'required']),
          tools: list(chosenTool, { minItems: 1 }),
        }),
      ],
    }),
    'must be none, auto, required or an object',
  ),
  parallel_tool_calls: parallelField,
};
