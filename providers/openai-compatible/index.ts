// Plugin for upstreams with the chat completions API of OpenAI, or nearly so.
import type { CountNames, CountsPlace, Host, Provider, ProviderPlugin } from '../../lib/upstream/contract/provider.ts';
import { buildChatBody, chooseAuth, createChatEmbeddings, EFFORTS, type Settings, STYLES } from './request.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 2,
  name: 'openai-compatible',
  settings(joi, account) {
    const allowOnly = (values: readonly string[]) => joi.valid(...values).default(values[0]);
    const own = Object.entries(STYLES).map(([name, values]) => [name, allowOnly(values)]);
    const inputsMax = joi.number().integer().min(1).max(2048).default(2048);
    const efforts = joi
      .array()
      .items(joi.valid(...EFFORTS))
      .min(1);
    return account.keyOptional('https://api.openai.com/v1', { ...Object.fromEntries(own), inputsMax, efforts });
  },
  // 1110 to 1312 are codes of GLM, 11200 of Spark, 20012 to 30011 of SiliconFlow, `base:` of MiniMax, those with `unsafe` and
  // `too_long` of Qianfan, those in one word of Ark, those of a failed generation of Groq.
  faultWords: {
    quota: `1113 1304 1308 1309 1310 30001 30011 base:1008 base:2056 SetLimitExceeded QuotaExceeded InvalidSubscription`,
    missing: '1211 1220 1221 1222 1311 20012 base:2061 InvalidParameter.UnsupportedParameter',
    auth: '1110 1111 1112 1121 11200 base:1004 base:2049',
    rate: '1302 1303 base:1002 base:1039 base:1041 base:2045',
    overloaded: '1305 1312 base:1033',
    timeout: 'base:1001',
    content: `1301 base:1026 base:1027 system_unsafe user_setting_unsafe functions_unsafe image_url_unsafe
      SensitiveContentDetected.SevereViolation SensitiveContentDetected.Violence`,
    length: '1261 tokens_too_long characters_too_long',
    request: 'base:1042 base:2013',
    server: 'tool_use_failed json_validate_failed output_parse_failed',
  },
  create: createProvider,
};

export default plugin;

const NO_ROUTE = { model: '', options: {} };

/** An image of an answer comes in one event. */
const EVENT_CHARS_MAX = 32 * 1024 * 1024;

const HEADERS = { accept: 'text/event-stream, application/json' };

const BEDROCK: CountNames = {
  input: ['inputTokenCount'],
  cacheRead: ['cacheReadInputTokenCount'],
  cacheWrite: ['cacheWriteInputTokenCount'],
  output: ['outputTokenCount'],
};

/** Counts in places where the format does not have them. */
const COUNTS: readonly CountsPlace[] = [
  { at: ['x_groq', 'usage'] },
  { at: ['amazon-bedrock-invocationMetrics'], names: BEDROCK },
  // Of llama.cpp.
  { at: ['timings'], names: { input: ['prompt_n'], cacheRead: ['cache_n'], output: ['predicted_n'] } },
];

function createProvider(settings: Settings, host: Host): Provider {
  const resolveTarget = host.perRoute(settings, (wire) => {
    const buildPathUrl = (path: string) => host.urlBelow(wire.baseUrl, path);
    return {
      wire,
      url: buildPathUrl('chat/completions'),
      embedUrl: buildPathUrl('embeddings'),
      modelsUrl: buildPathUrl('models'),
      auth: chooseAuth(wire),
    };
  });
  return {
    tools: true,
    // Some vendors refuse a digit at the beginning.
    toolNames: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
    systemMessages: true,
    documents: true,
    audio: true,
    // OpenRouter's formats go together; others may refuse the field.
    answerImages: settings.reasoning === 'reasoning',
    cacheMarkers: settings.cacheMarkers === 'send',
    stateFormat: 'chat',
    text(call, signal) {
      const { wire, url, auth } = resolveTarget(call);
      const { conversation } = call;
      const body = buildChatBody(call, wire, host);
      const request = {
        method: 'POST',
        headers: HEADERS,
        ...auth,
        conversation,
        body,
        signal,
        eventCharsMax: EVENT_CHARS_MAX,
      } as const;
      const toolNames = call.tools?.list.map(({ name }) => name);
      const reader = host.chat.reader({ isCumulative: wire.deltas === 'cumulative', counts: COUNTS, toolNames });
      return host.answer(url, request, reader);
    },
    models(signal) {
      const { modelsUrl, auth } = resolveTarget(NO_ROUTE);
      return host.models(modelsUrl, { ...auth, signal });
    },
    embedsTokens: true,
    embed(call, signal) {
      const { wire, embedUrl: url, auth } = resolveTarget(call);
      const { inputsMax } = wire;
      return host.embed(call, {
        method: 'POST',
        url,
        ...auth,
        format: createChatEmbeddings(wire, host),
        inputsMax,
        signal,
      });
    },
  };
}
