// Plugins of contract 1 in the gateway of contract 2: they are given texts, images and calls alone, the system prompt
// and states as strings, and what they yield becomes what contract 2 has for it.
import type { BlockState, ProviderPart, ToolBlock } from '../../stream/provider-part.ts';
import type {
  Content,
  ContentsCall,
  Host,
  Provider,
  ProviderPlugin,
  TextCall,
  TextContent,
  TextMessage,
  Tools,
} from '../contract/provider.ts';
import { CONTENTS_FORMAT, PLUGIN_FORMAT } from '../formats/names.ts';

/** The names of tools that contract 1 has. */
const TOOL_NAMES = /^[a-zA-Z0-9_-]{1,128}$/;

export function adaptPlugin(plugin: ProviderPlugin): ProviderPlugin {
  return {
    ...plugin,
    contract: 2,
    settings: (joi, account) => plugin.settings(joi, account),
    create: (settings, host) => adaptProvider(plugin.create(settings, adaptHost(host))),
  };
}

/** Its methods may use `this`. */
function adaptProvider(provider: Provider): Provider {
  const { tools, video } = provider;
  if (!provider.text) return provider;
  return {
    text: (call, signal) => readParts((provider as Answering).text(narrowCall(call) as unknown as TextCall, signal)),
    ...(tools !== undefined && { tools }),
    toolNames: TOOL_NAMES,
    ...(provider.image && { image: (call, signal) => (provider as Answering).image(call, signal) }),
    ...(video && { video }),
    close: async () => provider.close?.(),
  };
}

type Answering = Required<Pick<Provider, 'text' | 'image'>>;

interface NarrowContent extends Readonly<Record<string, unknown>> {
  readonly type: string;
}

interface NarrowCall extends Pick<TextCall, 'model' | 'options' | 'maxTokens' | 'tools' | 'format' | 'reasoning'> {
  readonly system?: string;
  readonly messages: readonly { readonly role: TextMessage['role']; readonly content: readonly NarrowContent[] }[];
}

function narrowCall(call: TextCall): NarrowCall {
  const { model, options, maxTokens, system, messages, tools, format, reasoning } = call;
  return {
    model,
    options,
    maxTokens,
    ...(format && { format }),
    ...(reasoning && { reasoning }),
    ...(system && { system: system.map(({ text }) => text).join('\n\n') }),
    messages: messages.map(({ role, content }) => ({ role, content: content.flatMap(narrowContent) })),
    ...(tools && { tools: narrowTools(tools) }),
  };
}

function narrowTools({ list, ...tools }: Tools): Tools {
  return { ...tools, list: list.map(({ cache: _, custom: __, ...tool }) => tool) };
}

function narrowContent(part: Content): readonly NarrowContent[] {
  switch (part.type) {
    case 'reasoning':
    case 'document':
    case 'audio':
    case 'tool-reference':
      return [];
    case 'tool-call': {
      const { cache: _, isCustom: __, state, ...call } = part;
      return [{ ...call, ...(state && isOwn(state) && { state: state.value }) }];
    }
    case 'tool-result': {
      const { cache: _, content, ...result } = part;
      return [{ ...result, content: content.flatMap(narrowContent) }];
    }
    default: {
      const { cache: _, ...plain } = part;
      return [plain.type === 'text' ? { type: 'text', text: plain.text } : plain];
    }
  }
}

/** Contents was the only wire format that had states. */
function isOwn({ format }: BlockState): boolean {
  return format === PLUGIN_FORMAT || format === CONTENTS_FORMAT;
}

/** The formats of the host take calls of contract 2. */
function adaptHost(host: Host): Host {
  const { chat, message, contents } = host;
  return {
    ...host,
    chat: { ...chat, body: (call, base64, quirks) => chat.body(widenCall(call), base64, widenQuirks(quirks)) },
    message: { ...message, body: (call, base64, quirks) => message.body(widenCall(call), base64, quirks) },
    contents: { ...contents, body: (call, base64, quirks) => contents.body(widenCall(call), base64, quirks) },
  };
}

/** Reasoning that has to come back had another name. */
function widenQuirks<Quirks extends object>(quirks: Quirks | undefined): Quirks | undefined {
  const { hasBlankThoughts } = (quirks ?? {}) as { readonly hasBlankThoughts?: boolean };
  return quirks && hasBlankThoughts ? { ...quirks, needsThoughts: true } : quirks;
}

function widenCall<Call extends ContentsCall>(call: Call): Call {
  const system = call.system as unknown;
  const text: TextContent | undefined = typeof system === 'string' ? { type: 'text', text: system } : undefined;
  const messages = call.messages.map(({ role, content }) => ({ role, content: content.map(widenContent) }));
  return { ...call, messages, ...(text && { system: [text] }) };
}

function widenContent(part: Content): Content {
  const state = part.type === 'tool-call' ? (part.state as unknown) : undefined;
  return typeof state === 'string' ? ({ ...part, state: { format: CONTENTS_FORMAT, value: state } } as Content) : part;
}

/** The state of a call was in its block. */
async function* readParts(answer: AsyncIterable<readonly ProviderPart[]>): AsyncGenerator<readonly ProviderPart[]> {
  for await (const batch of answer) {
    const hasStates = Array.isArray(batch) && batch.some((part) => stateIn(part) !== undefined);
    yield hasStates ? batch.flatMap(readPart) : batch;
  }
}

function readPart(part: ProviderPart): readonly ProviderPart[] {
  const value = stateIn(part);
  if (value === undefined || part.type !== 'block-start') return [part];
  const { id, name } = part.block as ToolBlock;
  return [
    { ...part, block: { type: 'tool', id, name } },
    { type: 'block-state', index: part.index, state: { format: PLUGIN_FORMAT, value } },
  ];
}

function stateIn(part: ProviderPart | undefined): string | undefined {
  if (part?.type !== 'block-start') return undefined;
  const { state } = (part.block ?? {}) as { readonly state?: unknown };
  return typeof state === 'string' && state !== '' ? state : undefined;
}
