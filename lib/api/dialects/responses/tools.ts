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
  type PlacedTool,
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

/** `added` are the tools of items, which a client may tell anew. Throws 400 faults that name the field. */
export function readResponsesTools(
  { tools: given, tool_choice: choice, parallel_tool_calls: parallel }: ToolFields,
  added: readonly PlacedTool[] = [],
): ReadResponsesTools {
  const listed = new ListedTools();
  for (const [at, tool] of (given ?? []).entries()) listed.add(tool, `tools[${at}]`);
  for (const { tool, field } of added) listed.add(tool, field, { replaces: true });
  const { functions, names, customs, hosted } = listed;
  const chosen = choice == null ? {} : readChoice(choice, readChosenTool);
  if (chosen.choice === 'any' && functions.length === 0 && hosted !== undefined) {
    throw invalidField('tool_choice', `requires a call, but ${notHere(hosted)}`);
  }
  const tools = readTools({
    tools: functions.map(({ definition }) => definition),
    fields: functions.map(({ field }) => field),
    shape: RESPONSES_TOOL,
    customs,
    choiceField: 'tool_choice.name',
    single: parallel === false,
    ...chosen,
  });
  return { tools, names };
}

/** As this dialect has them: some clients send the tools of a chat. */
export function flattenTools<Fields extends ToolFields>(fields: Fields): Fields {
  const { tools, tool_choice: choice } = fields;
  if (![...(tools ?? []), choice].some(isNested)) return fields;
  return { ...fields, tools: tools?.map(flatten), tool_choice: flatten(choice) };
}

/** `{ type: "function", function: { name, … } }` */
function isNested(given: unknown): given is WireTool & { readonly function: WireTool } {
  return isRecord(given) && given.type === 'function' && given.name === undefined && isRecord(given.function);
}

function flatten(given: unknown): unknown {
  if (!isNested(given)) return given;
  const { function: inner, ...outer } = given;
  return { ...inner, ...outer };
}

interface Listing {
  readonly namespace?: string;
  /** A tool of the same name is told anew. */
  readonly replaces?: boolean;
}

type WireTool = Readonly<Record<string, unknown>>;
type Tool = WireTool & { readonly type: string };

/** The tools of a request as functions. Those that would run at the vendor are left out: some clients always list them. */
class ListedTools {
  /** Under the names that models see. */
  readonly functions: { readonly definition: WireTool; readonly field: string }[] = [];
  readonly names = new Map<string, ToolName>();
  readonly customs = new Map<string, CustomTool>();
  /** The type of the first that would run at the vendor. */
  hosted: string | undefined;
  /** Where the first function of a name is. */
  readonly #places = new Map<unknown, number>();

  /** A tool, or all of a namespace. */
  add(given: unknown, field: string, listing: Listing = {}): void {
    const tool = checkTool(given, field);
    if (tool.type !== 'namespace') {
      this.#addTool(tool, field, listing);
      return;
    }
    const { name, tools } = tool;
    if (typeof name !== 'string' || name === '') throw invalidField(`${field}.name`, 'must be a string and not empty');
    if (!Array.isArray(tools)) throw invalidField(`${field}.tools`, 'must be an array of tools');
    for (const [within, inner] of tools.entries()) {
      const place = `${field}.tools[${within}]`;
      this.#addTool(checkTool(inner, place), place, { ...listing, namespace: name });
    }
  }

  #addTool(tool: Tool, field: string, listing: Listing): void {
    if (tool.type === 'function') this.#addFunction(tool, field, listing);
    else if (tool.type === 'custom') this.#addCustom(tool, field, listing);
    else if (tool.type === TOOL_SEARCH && isClientSearch(tool)) this.#addSearch(tool, field, listing);
    else this.hosted ??= tool.type;
  }

  #addFunction(tool: Tool, field: string, { namespace, replaces }: Listing): void {
    const { name, parameters } = tool;
    const seen = nameTool(name, namespace);
    this.#put({ ...tool, parameters: withoutEncryption(parameters), name: seen }, field, replaces);
    if (typeof seen === 'string' && namespace !== undefined) this.names.set(seen, { name: `${name}`, namespace });
  }

  #addCustom(tool: Tool, field: string, { namespace, replaces }: Listing): void {
    const { name } = tool;
    const seen = nameTool(name, namespace);
    this.#put({ type: 'function', ...describeCustomTool(tool), name: seen }, field, replaces);
    if (typeof seen !== 'string') return;
    this.names.set(seen, { name: `${name}`, ...(namespace !== undefined && { namespace }), isCustom: true });
    this.customs.set(seen, readCustomTool(tool));
  }

  /** In no namespace. */
  #addSearch({ description, parameters: given }: Tool, field: string, { replaces }: Listing): void {
    const parameters = withoutEncryption(given);
    this.#put({ type: 'function', name: TOOL_SEARCH, description, parameters }, field, replaces);
    this.names.set(TOOL_SEARCH, { name: TOOL_SEARCH, isSearch: true });
  }

  #put(definition: WireTool, field: string, replaces = false): void {
    const { name } = definition;
    const place = this.#places.get(name);
    if (place === undefined) this.#places.set(name, this.functions.length);
    if (place === undefined || !replaces) {
      this.functions.push({ definition, field });
      return;
    }
    this.functions[place] = { definition, field };
    this.names.delete(`${name}`);
    this.customs.delete(`${name}`);
  }
}

function checkTool(tool: unknown, field: string): Tool {
  if (!isRecord(tool)) throw invalidField(field, 'must be an object');
  if (typeof tool.type !== 'string') throw invalidField(`${field}.type`, 'must be a string');
  return tool as Tool;
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

/** One of another type is refused with the rest of the tool. */
function nameTool(name: unknown, namespace: string | undefined): unknown {
  return typeof name === 'string' && namespace !== undefined ? joinToolName(namespace, name) : name;
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
