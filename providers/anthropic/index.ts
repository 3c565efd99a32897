// Plugin for upstreams with the messages API of Anthropic.
import type { Host, MessageQuirks, Provider, ProviderPlugin } from '../../lib/upstream/contract/provider.ts';
import defaultBetas from './betas.json' with { type: 'json' };
import {
  AUTH_STYLES,
  buildMessagesBody,
  buildMessagesHeaders,
  buildMessagesUrl,
  CACHE_STYLES,
  chooseKeyHeaders,
  OFF_STYLES,
  type Settings,
  SYSTEM_STYLES,
  THINKING_STYLES,
  UNSIGNED_STYLES,
} from './request.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 2,
  name: 'anthropic',
  settings(joi, account) {
    return account.keyOptional('https://api.anthropic.com', {
      version: joi.string().default('2023-06-01'),
      auth: joi.valid(...AUTH_STYLES).default('x-api-key'),
      thinking: joi.valid(...THINKING_STYLES).default('adaptive'),
      thinkingOff: joi.valid(...OFF_STYLES).default('disabled'),
      unsignedThinking: joi.valid(...UNSIGNED_STYLES).default('omit'),
      cachedInput: joi.valid(...CACHE_STYLES).default('beside'),
      systemMessages: joi.valid(...SYSTEM_STYLES).default('in_place'),
      // By default those that change neither a price nor where code runs.
      betas: joi.array().items(joi.string()).default(defaultBetas),
    });
  },
  // Codes of GLM's endpoint.
  faultWords: {
    quota: '1113 1308 1309 1310',
    auth: '1112 1121',
    missing: '1311',
    rate: '1302',
    overloaded: '1305 1312',
  },
  create: createProvider,
};

export default plugin;

/** An image of an answer comes in one event: from gateways that have other vendors' answers in this format. */
const EVENT_CHARS_MAX = 32 * 1024 * 1024;

/** Bedrock adds counts to the last event. */
const COUNTS: Pick<MessageQuirks, 'counts'> = {
  counts: {
    at: ['amazon-bedrock-invocationMetrics'],
    names: {
      input: ['inputTokenCount'],
      cacheRead: ['cacheReadInputTokenCount'],
      cacheWrite: ['cacheWriteInputTokenCount'],
      output: ['outputTokenCount'],
    },
  },
};

function createProvider(settings: Settings, host: Host): Provider {
  const resolveTarget = host.perRoute(settings, (wire) => ({
    url: buildMessagesUrl(wire),
    wire,
    request: { method: 'POST', auth: chooseKeyHeaders(wire, host) } as const,
    quirks: { ...COUNTS, countsCacheInside: wire.cachedInput === 'included' },
  }));
  return {
    tools: true,
    toolNames: /^[a-zA-Z0-9_-]{1,128}$/,
    argumentNames: /^[a-zA-Z0-9_.-]{1,64}$/,
    documents: true,
    messageFormat: true,
    systemMessages: true,
    cacheMarkers: true,
    stateFormat: 'messages',
    models(signal) {
      const { wire, request } = resolveTarget({ model: '', options: {} });
      const headers = { 'anthropic-version': wire.version };
      return host.models(`${wire.baseUrl}/v1/models?limit=1000`, { headers, auth: request.auth, signal });
    },
    text(call, signal) {
      const { url, request, wire, quirks } = resolveTarget(call);
      const { conversation } = call;
      const body = buildMessagesBody(call, wire, host);
      const headers = buildMessagesHeaders(call, wire);
      const asked = { ...request, headers, conversation, body, signal, eventCharsMax: EVENT_CHARS_MAX };
      return host.answer(url, asked, host.message.reader(quirks));
    },
  };
}
