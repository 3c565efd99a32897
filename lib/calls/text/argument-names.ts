// Names of a tool's arguments as a vendor takes them, and the names as the client knows them in the calls of its answer.

import { parseExactJson, renameFields } from '../../base/exact-json.ts';
import { isRecord } from '../../base/record.ts';
import type { Content, JsonObject, Provider, ProviderPart, Tool, Tools } from '../../upstream/contract/provider.ts';
import { type FittedCall, shortenName, type ToolParts } from './tool-rules.ts';

/** The same name becomes the same in every request, so that the vendor's cache still knows the history. */
export function fitArguments<Fitted extends ToolParts>(
  call: Fitted,
  { argumentNames }: Pick<Provider, 'argumentNames'>,
): FittedCall<Fitted> {
  const { tools } = call;
  const refused = argumentNames ? listArguments(tools).filter((name) => name.search(argumentNames) < 0) : [];
  const vendorNames = new Map(refused.map((name) => [name, shortenName(name)]));
  const clientNames = new Map([...vendorNames].map(([name, short]) => [short, name]));
  if (!tools || vendorNames.size === 0) return { call, clientNames };
  const toVendorName = (name: string) => vendorNames.get(name) ?? name;
  const messages = call.messages.map((message) => ({
    ...message,
    content: message.content.map((part) => fitCall(part, toVendorName)),
  }));
  const list = tools.list.map((tool) => fitDefinition(tool, toVendorName));
  return { call: { ...call, messages, tools: { ...tools, list } }, clientNames };
}

function listArguments(tools: Tools | undefined): readonly string[] {
  return (tools?.list ?? []).flatMap(({ schema: { properties } }) =>
    isRecord(properties) ? Object.keys(properties) : [],
  );
}

/** What is no JSON of an object stays as it is. */
function fitCall(part: Content, toVendorName: (name: string) => string): Content {
  if (part.type !== 'tool-call') return part;
  try {
    const input = parseExactJson(part.json);
    if (!isRecord(input) || Object.keys(input).every((name) => toVendorName(name) === name)) return part;
    return { ...part, json: JSON.stringify(renameFields(input, toVendorName)) };
  } catch {
    return part;
  }
}

function fitDefinition({ schema, messageFields, ...tool }: Tool, toVendorName: (name: string) => string): Tool {
  return {
    ...tool,
    schema: fitSchema(schema, toVendorName),
    ...(messageFields && { messageFields: fitExamples(messageFields, toVendorName) }),
  };
}

function fitSchema(schema: JsonObject, toVendorName: (name: string) => string): JsonObject {
  const { properties, required } = schema;
  return {
    ...schema,
    ...(isRecord(properties) && { properties: renameFields(properties, toVendorName) }),
    ...(Array.isArray(required) && { required: required.map(toVendorName) }),
  };
}

/** The vendor checks them against the schema. */
function fitExamples(fields: JsonObject, toVendorName: (name: string) => string): JsonObject {
  const { input_examples: examples } = fields;
  if (!Array.isArray(examples)) return fields;
  const fitted = examples.map((input) => (isRecord(input) ? renameFields(input, toVendorName) : input));
  return { ...fields, input_examples: fitted };
}

/** The answer with the client's names. */
export function restoreArguments(
  answer: AsyncIterable<readonly ProviderPart[]>,
  clientNames: ReadonlyMap<string, string>,
): AsyncIterable<readonly ProviderPart[]> {
  return clientNames.size === 0 ? answer : restoreAll(answer, clientNames);
}

async function* restoreAll(
  answer: AsyncIterable<readonly ProviderPart[]>,
  clientNames: ReadonlyMap<string, string>,
): AsyncGenerator<readonly ProviderPart[]> {
  const calls = new ArgumentRestorer(clientNames);
  for await (const batch of answer) yield Array.isArray(batch) ? batch.flatMap((part) => calls.restore(part)) : batch;
  const rest = calls.flush();
  if (rest.length > 0) yield rest;
}

/** A name as it may stand for a client's; its hash keeps it apart from whatever else a model writes. */
const QUOTED = /"(\w+)"/g;
/** The end of a fragment that may be the beginning of such a name, which is nowhere longer. */
const BEGINNING = /"\w{0,63}$/;

/** The calls that an answer is in the midst of: a name may come in pieces. */
class ArgumentRestorer {
  readonly #clientNames: ReadonlyMap<string, string>;
  /** By the index of a block, the end of its JSON that waits for the rest of a name. */
  readonly #held = new Map<number, string>();

  constructor(clientNames: ReadonlyMap<string, string>) {
    this.#clientNames = clientNames;
  }

  restore(part: ProviderPart): readonly ProviderPart[] {
    if (part?.type === 'block-start' && part.block?.type === 'tool') this.#held.set(part.index, '');
    if (part?.type === 'block-delta') return [this.#restoreDelta(part.index, part.text) ?? part];
    return part?.type === 'block-end' ? [...this.#end(part.index), part] : [part];
  }

  #restoreDelta(index: number, text: string): ProviderPart | undefined {
    const held = this.#held.get(index);
    if (held === undefined || typeof text !== 'string') return undefined;
    const restored = (held + text).replace(QUOTED, (quoted, name) => this.#toClientName(name) ?? quoted);
    const end = restored.search(BEGINNING);
    this.#held.set(index, end < 0 ? '' : restored.slice(end));
    const whole = end < 0 ? restored : restored.slice(0, end);
    return whole === '' ? { type: 'alive' } : { type: 'block-delta', index, text: whole };
  }

  #toClientName(vendorName: string): string | undefined {
    const name = this.#clientNames.get(vendorName);
    return name === undefined ? undefined : JSON.stringify(name);
  }

  #end(index: number): readonly ProviderPart[] {
    const text = this.#held.get(index) ?? '';
    this.#held.delete(index);
    return text === '' ? [] : [{ type: 'block-delta', index, text }];
  }

  /** Of an answer that ended in the midst of calls. */
  flush(): readonly ProviderPart[] {
    return [...this.#held.keys()].flatMap((index) => this.#end(index));
  }
}
