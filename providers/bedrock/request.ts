// The body of a Converse request: messages of blocks, each with one field that names what it is.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type {
  AccountSettings,
  Content,
  Host,
  JsonSchemaFormat,
  Sampling,
  TextCall,
  TextMessage,
  Tools,
} from '../../lib/upstream/contract/provider.ts';
import { type ReasoningStyle, STATE_FORMAT, writeReasoning } from './reasoning.ts';

export interface Settings extends AccountSettings {
  readonly region: string;
  readonly cacheMarkers: 'omit' | 'send';
  /** The fields that say how much a model reasons; `auto`: by its id. */
  readonly reasoning: ReasoningStyle;
}

type Quirks = Pick<Settings, 'cacheMarkers' | 'reasoning'>;

const CACHE_POINTS_MAX = 4;
/** For five minutes: only some models know an hour. */
const CACHE_POINT = { cachePoint: { type: 'default' } };

export function buildConverseBody(call: TextCall, host: Host, { cacheMarkers, reasoning }: Quirks): object {
  const { system, messages, maxTokens, tools, stops = [], sampling, format } = call;
  const marked = cacheMarkers === 'send' ? chooseMarked(call) : new Set();
  const mark = (part: object, blocks: object[]) => (marked.has(part) ? [...blocks, CACHE_POINT] : blocks);
  const stopSequences = stops.filter((stop) => stop.trim() !== '').slice(0, 4);
  const modelFields = writeReasoning(call, reasoning, host);
  const { thinking } = modelFields as { readonly thinking?: { readonly type: string } };
  const isThinking = thinking !== undefined && thinking.type !== 'disabled';
  const turns = messages[0]?.role === 'assistant' ? [HELLO, ...messages] : messages;
  const begun = messages.at(-1)?.role === 'assistant' ? messages.at(-1)?.content.at(-1) : undefined;
  const toolConfig = tools && tools.choice !== 'none' ? buildToolConfig(tools) : forbidCalls(messages);
  return {
    ...(system && { system: system.flatMap((part) => mark(part, [{ text: part.text }])) }),
    messages: host.joinTurns(turns).map(({ role, content }) => ({
      role,
      content: content.flatMap((part) => mark(part, buildBlock(part, host, part === begun))),
    })),
    inferenceConfig: {
      maxTokens,
      ...(stopSequences.length > 0 && { stopSequences }),
      // Refused beside thinking.
      ...(sampling && !isThinking && buildSampling(sampling)),
    },
    // JSON without a schema is not supported here.
    ...(format?.type === 'json-schema' && { outputConfig: { textFormat: buildTextFormat(format, host) } }),
    ...(Object.keys(modelFields).length > 0 && { additionalModelRequestFields: modelFields }),
    ...(toolConfig && { toolConfig }),
  };
}

function buildTextFormat({ schema, name, description }: JsonSchemaFormat, { closeSchema }: Host): object {
  const jsonSchema = { schema: JSON.stringify(closeSchema(schema)), name, ...(description && { description }) };
  return { type: 'json_schema', structure: { jsonSchema } };
}

/** The end of the system prompt, which covers the tools (some models refuse marks there), and the latest of the others. */
function chooseMarked({ system = [], messages }: TextCall): ReadonlySet<object> {
  const shared = system.filter(({ cache }) => cache).slice(-1);
  const said = messages.flatMap(({ content }) => content).filter((part) => 'cache' in part && part.cache);
  return new Set([...shared, ...said.slice(shared.length - CACHE_POINTS_MAX)]);
}

/** Stands before a greeting of the assistant: a user has to begin. */
const HELLO: TextMessage = { role: 'user', content: [{ type: 'text', text: 'Hello.' }] };

/** Other parameters are known to some models only. Models of one vendor refuse these two together. */
function buildSampling({ temperature, topP }: Sampling): object {
  if (temperature !== undefined) return { temperature: Math.min(temperature, 1) };
  return topP === undefined ? {} : { topP };
}

/** An answer to be continued is refused if it ends in white space. */
function buildBlock(part: Content, host: Host, isBegun = false): object[] {
  switch (part.type) {
    case 'text':
      return [{ text: isBegun ? part.text.trimEnd() : part.text }];
    case 'image': {
      const bytes = Buffer.from(part.bytes).toString('base64');
      return [{ image: { format: part.mediaType.slice('image/'.length), source: { bytes } } }];
    }
    case 'tool-call':
      return [{ toolUse: { toolUseId: spellCallId(part.id), name: part.name, input: host.argumentsOf(part.json) } }];
    case 'tool-result': {
      const content = part.content.flatMap((each) => buildBlock(each, host));
      return [{ toolResult: { toolUseId: spellCallId(part.id), content, status: part.isError ? 'error' : 'success' } }];
    }
    case 'reasoning': {
      if (part.state?.format !== STATE_FORMAT) return [];
      const { text, redacted, state } = part;
      const reasoningText = { text, signature: state.value };
      return [{ reasoningContent: redacted ? { redactedContent: state.value } : { reasoningText } }];
    }
    default:
      return [];
  }
}

/** Ids of other vendors may have characters that are refused here. */
function spellCallId(id: string): string {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}

/** The format cannot say that nothing may be called, and refuses a history with calls without any tool. */
function forbidCalls(messages: readonly TextMessage[]): object | undefined {
  if (!messages.some(({ content }) => content.some(({ type }) => type === 'tool-call'))) return undefined;
  const json = { type: 'object', properties: {} };
  const toolSpec = { name: 'none', description: 'Does nothing. Never call it.', inputSchema: { json } };
  return { tools: [{ toolSpec }] };
}

/** A blank description is refused, and by some models even the word for the default. */
function buildToolConfig({ list, choice = 'auto' }: Tools): object {
  const toolChoice = typeof choice === 'string' ? { [choice]: {} } : { tool: { name: choice.name } };
  const specs = list.map(({ name, description, schema }) => ({
    name,
    ...(description?.trim() && { description }),
    inputSchema: { json: schema },
  }));
  return { tools: specs.map((toolSpec) => ({ toolSpec })), ...(choice !== 'auto' && { toolChoice }) };
}
