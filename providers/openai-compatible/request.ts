// Settings of a chat completions upstream, and the request for one text call.
import type {
  AccountSettings,
  EmbeddingsFormat,
  Host,
  HostRequest,
  JsonBody,
  OutputFormat,
  Reasoning,
  TextCall,
  Tools,
} from '../../lib/upstream/contract/provider.ts';

/** The values of each setting; the first is the default. */
export const STYLES = {
  maxTokensParam: ['max_tokens', 'max_completion_tokens'],
  usage: ['stream_options', 'usage_include', 'none'],
  auth: ['bearer', 'api-key', 'x-api-key', 'none'],
  deltas: ['incremental', 'cumulative'],
  reasoning: ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'none'],
  toolReasoning: ['free', 'off', 'blank', 'reasoning'],
  toolChoice: ['any', 'words'],
  parallelCalls: ['send', 'omit'],
  stop: ['send', 'omit'],
  history: ['any', 'mistral'],
  cacheKey: ['omit', 'send', 'key'],
  systemMessages: ['prompt', 'in_place', 'user'],
  cacheMarkers: ['omit', 'send'],
  schemas: ['streamed', 'whole'],
  verbosity: ['omit', 'send'],
  vectors: ['base64', 'float'],
} as const;

/** Ascending. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

type Style<Name extends keyof typeof STYLES> = (typeof STYLES)[Name][number];

/** How requests look; a route's `options` may override it for one model. */
interface Wire {
  /** Up to and without `/chat/completions`; a query string stays at the end. An override stays on the same origin. */
  readonly baseUrl: string;
  /** The field that limits the answer: the vendor's reasoning models often take only `max_completion_tokens`. */
  readonly maxTokensParam: Style<'maxTokensParam'>;
  /**
   * How token counts are requested: `stream_options` sends `stream_options: {include_usage: true}`, `usage_include`
   * sends `usage: {include: true}` (OpenRouter), `none` sends nothing, for servers that refuse both or count anyway.
   */
  readonly usage: Style<'usage'>;
  /** The header of the key: `authorization: Bearer`, `api-key` (Azure), `x-api-key`, or none. */
  readonly auth: Style<'auth'>;
  /** `cumulative` for an upstream whose every delta repeats the whole text so far. */
  readonly deltas: Style<'deltas'>;
  /**
   * How reasoning is requested: by `reasoning_effort`; by OpenRouter's object `reasoning`; by `thinking: {type}` plus
   * `reasoning_effort`, as DeepSeek and GLM do; by `enable_thinking` and `thinking_budget`, as Qwen's vendor does; `none`
   * for servers that know none of these.
   */
  readonly reasoning: Style<'reasoning'>;
  /** The efforts that the models take, if not all: the nearest one of them is requested, and the least for none. */
  readonly efforts?: readonly (typeof EFFORTS)[number][];
  /**
   * With tools: `off`, or `blank`: reasoning before calls goes back, at least a blank; off where one is required. With
   * `reasoning` it goes back in a field of that name, if there is any.
   */
  readonly toolReasoning: Style<'toolReasoning'>;
  /** `words` for servers that refuse the name of a tool in `tool_choice`. */
  readonly toolChoice: Style<'toolChoice'>;
  /** `omit` for models that refuse `parallel_tool_calls`; the gateway drops what is too many all the same. */
  readonly parallelCalls: Style<'parallelCalls'>;
  /** `omit` for models that refuse stop strings; the gateway applies them all the same. */
  readonly stop: Style<'stop'>;
  /**
   * `mistral` for Mistral and servers of its models, which refuse ids of calls that are not nine letters and digits, and a
   * user's message right behind results.
   */
  readonly history: Style<'history'>;
  /** `send` for an upstream that takes `prompt_cache_key` and `prompt_cache_retention`, `key` for one with the first only. */
  readonly cacheKey: Style<'cacheKey'>;
  /**
   * `in_place` for an upstream that takes system messages between others, so that its cache knows what precedes them;
   * `user` for one that would move them to the front, or refuses them.
   */
  readonly systemMessages: Style<'systemMessages'>;
  /** `send` for an upstream that takes `cache_control`, as OpenRouter does for the models of some vendors. */
  readonly cacheMarkers: Style<'cacheMarkers'>;
  /** `whole` for servers that do not stream answers with a schema. */
  readonly schemas: Style<'schemas'>;
  /** `send` for models that take a client's `verbosity`. */
  readonly verbosity: Style<'verbosity'>;
  /** How embeddings are asked for; `float` for servers that refuse `encoding_format: base64`, a quarter as long. */
  readonly vectors: Style<'vectors'>;
  /** Inputs of one request for embeddings, for vendors that take fewer. */
  readonly inputsMax: number;
}

export type Settings = AccountSettings & Wire;

export function chooseAuth({ auth }: Wire): Pick<HostRequest, 'auth'> {
  if (auth === 'none') return {};
  if (auth === 'bearer') return { auth: (key) => ({ authorization: `Bearer ${key}` }) };
  return { auth: (key) => ({ [auth]: key }) };
}

export function buildChatBody(call: TextCall, wire: Wire, host: Host): JsonBody {
  const { maxTokensParam, usage, toolReasoning } = wire;
  const known = {
    ...call,
    ...(wire.cacheKey === 'key' && { cacheRetention: undefined }),
    ...(call.tools && { tools: fitTools(call.tools, wire) }),
  };
  const isWhole = wire.schemas === 'whole' && call.format?.type === 'json-schema';
  // OpenRouter's format. Without `strict`, some models behind it fill arguments that they should leave out.
  const isRouter = wire.reasoning === 'reasoning';
  const reasoning = isThoughtless(call, toolReasoning) ? ({ mode: 'off' } as const) : call.reasoning;
  return (base64) => ({
    ...host.chat.body(known, base64, {
      needsThoughts: toolReasoning === 'blank',
      takesThoughts: toolReasoning === 'reasoning',
      takesDetails: isRouter,
      saysNotStrict: isRouter,
      takesCacheKey: wire.cacheKey !== 'omit',
      keepsSystemMessages: wire.systemMessages === 'in_place',
      mergesSystemMessages: wire.systemMessages === 'user',
      takesMarkers: wire.cacheMarkers === 'send',
      omitsStops: wire.stop === 'omit',
      needsShortIds: wire.history === 'mistral',
      answersResults: wire.history === 'mistral',
    }),
    ...(isWhole && { stream: false }),
    [maxTokensParam]: call.maxTokens,
    ...(usage === 'stream_options' && !isWhole && { stream_options: { include_usage: true } }),
    ...(usage === 'usage_include' && { usage: { include: true } }),
    ...(call.format && { response_format: writeResponseFormat(call.format) }),
    ...(wire.verbosity === 'send' && call.verbosity && { verbosity: call.verbosity }),
    ...(reasoning && writeReasoning(reasoning, wire, host)),
  });
}

/** Of one tool, that a call is required says the same as its name. */
function fitTools({ single, ...tools }: Tools, { toolChoice, parallelCalls }: Wire): Tools {
  const { choice, list } = tools;
  const fit = { ...tools, ...(single && parallelCalls === 'send' && { single }) };
  if (toolChoice === 'any' || typeof choice !== 'object') return fit;
  return { ...fit, list: list.filter(({ name }) => name === choice.name), choice: 'any' };
}

/** What comes as numbers all the same is read, too. */
export function createChatEmbeddings({ vectors }: Wire, { embeddings }: Host): EmbeddingsFormat {
  return { ...embeddings, body: (call) => ({ ...embeddings.body(call), encoding_format: vectors }) };
}

function isThoughtless({ tools }: TextCall, style: Wire['toolReasoning']): boolean {
  if (style !== 'blank') return style === 'off' && tools !== undefined;
  return tools?.choice === 'any' || typeof tools?.choice === 'object';
}

function writeResponseFormat(format: OutputFormat): object {
  if (format.type === 'json') return { type: 'json_object' };
  const { type: _, ...schema } = format;
  return { type: 'json_schema', json_schema: schema };
}

/** If nothing is said, the model reasons as it sees fit. */
function writeReasoning(wish: Reasoning, { reasoning: style, efforts = EFFORTS }: Wire, { fitEffort }: Host): object {
  if (style === 'enable_thinking') return writeThinking(wish);
  if (style === 'none' || wish.mode === 'auto') return {};
  const effort = fitEffort(wish, efforts);
  if (style === 'reasoning_effort') return { reasoning_effort: effort };
  if (style === 'reasoning') return { reasoning: { effort } };
  return wish.mode === 'off'
    ? { thinking: { type: 'disabled' } }
    : { thinking: { type: 'enabled' }, reasoning_effort: effort };
}

/** Models that only think if they are told to are told so. */
function writeThinking(wish: Reasoning): object {
  if (wish.mode === 'off') return { enable_thinking: false };
  const budget = wish.mode === 'on' && wish.budgetTokens;
  return { enable_thinking: true, ...(budget && { thinking_budget: budget }) };
}
