// Names of tools and ids of calls as a vendor takes them, and the names as the client knows them in its answer: one place
// for all wire formats and plugins.
import type {
  Content,
  Provider,
  ProviderPart,
  TextCall,
  ToolResultContent,
  Tools,
} from '../../upstream/contract/provider.ts';
import { digestHex } from '../../upstream/formats/tools.ts';

/** Names that most vendors accept. */
const NAMES = /^[a-zA-Z0-9_-]{1,64}$/;
/** The shortest limit of any vendor. */
const ID_CHARACTERS_MAX = 40;
/** The part of a name that is kept before its hash. */
const NAME_CHARACTERS_KEPT = 54;

/** The parts of a call in which tools are named. */
export type ToolParts = Pick<TextCall, 'messages' | 'tools'>;

export interface FittedCall<Fitted extends ToolParts> {
  readonly call: Fitted;
  /** By the name that the vendor knows, the client's; only those that differ. */
  readonly clientNames: ReadonlyMap<string, string>;
}

/** The same names and ids become the same in every request, so that the vendor's cache still knows the history. */
export function fitTools<Fitted extends ToolParts>(
  call: Fitted,
  { toolNames = NAMES }: Pick<Provider, 'toolNames'>,
): FittedCall<Fitted> {
  const vendorNames = new Map<string, string>();
  for (const name of listNames(call)) {
    if (!vendorNames.has(name) && name.search(toolNames) < 0) vendorNames.set(name, shortenName(name));
  }
  const clientNames = new Map([...vendorNames].map(([name, short]) => [short, name]));
  if (vendorNames.size === 0 && !call.messages.some(({ content }) => content.some(hasLongId)))
    return { call, clientNames };
  const toVendorName = (name: string) => vendorNames.get(name) ?? name;
  const messages = call.messages.map((message) => ({
    ...message,
    content: message.content.map((part) => fitPart(part, toVendorName)),
  }));
  return {
    call: { ...call, messages, ...(call.tools && { tools: fitDefinitions(call.tools, toVendorName) }) },
    clientNames,
  };
}

function* listNames({ messages, tools }: ToolParts): Iterable<string> {
  for (const { name } of tools?.list ?? []) yield name;
  for (const { content } of messages) {
    for (const part of content) if (part.type === 'tool-call' || part.type === 'tool-result') yield part.name;
  }
}

function hasLongId(part: Content): boolean {
  return (part.type === 'tool-call' || part.type === 'tool-result') && part.id.length > ID_CHARACTERS_MAX;
}

function fitPart(part: Content, toVendorName: (name: string) => string): Content {
  if (part.type !== 'tool-call' && part.type !== 'tool-result') return part;
  const fitted = {
    ...part,
    name: toVendorName(part.name),
    id: hasLongId(part) ? `call_${digestHex(part.id, 24)}` : part.id,
  };
  return fitted.type === 'tool-result' ? { ...fitted, content: fitReferences(fitted.content, toVendorName) } : fitted;
}

function fitReferences(content: ToolResultContent['content'], toVendorName: (name: string) => string) {
  const isReference = ({ type }: Content) => type === 'tool-reference';
  if (!content.some(isReference)) return content;
  return content.map((part) => (part.type === 'tool-reference' ? { ...part, name: toVendorName(part.name) } : part));
}

function fitDefinitions({ list, choice, ...tools }: Tools, toVendorName: (name: string) => string): Tools {
  return {
    ...tools,
    list: list.map((tool) => ({ ...tool, name: toVendorName(tool.name) })),
    ...(choice !== undefined && { choice: typeof choice === 'object' ? { name: toVendorName(choice.name) } : choice }),
  };
}

/** Of characters that every vendor takes; its hash keeps it apart from every other name. */
export function shortenName(name: string): string {
  const plain = name.replace(/\W/g, '_').replace(/^(?=[^a-zA-Z])/, 'f_');
  return `${plain.slice(0, NAME_CHARACTERS_KEPT)}_${digestHex(name, 8)}`;
}

/** The answer with the client's names. */
export function restoreNames(
  answer: AsyncIterable<readonly ProviderPart[]>,
  clientNames: ReadonlyMap<string, string>,
): AsyncIterable<readonly ProviderPart[]> {
  return clientNames.size === 0 ? answer : renameAll(answer, clientNames);
}

async function* renameAll(
  answer: AsyncIterable<readonly ProviderPart[]>,
  clientNames: ReadonlyMap<string, string>,
): AsyncGenerator<readonly ProviderPart[]> {
  for await (const batch of answer)
    yield Array.isArray(batch) ? batch.map((part) => renameTool(part, clientNames)) : batch;
}

function renameTool(part: ProviderPart, clientNames: ReadonlyMap<string, string>): ProviderPart {
  if (part?.type !== 'block-start' || part.block?.type !== 'tool') return part;
  const name = clientNames.get(part.block.name);
  return name === undefined ? part : { ...part, block: { ...part.block, name } };
}
