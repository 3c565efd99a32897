// Plugin for upstreams with the responses API, the newer one beside chat completions.
import type { Host, Provider, ProviderPlugin } from '../../lib/upstream/contract/provider.ts';
import { buildResponsesBody, type Settings } from './request.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 2,
  name: 'openai-responses',
  settings: (joi, account) =>
    account.keyOptional('https://api.openai.com/v1', {
      off: joi.valid('none', 'low').default('none'),
      cacheKey: joi.valid('send', 'omit').default('send'),
      verbosity: joi.valid('send', 'omit').default('send'),
      summary: joi.valid('send', 'omit').default('send'),
      customTools: joi.valid('send', 'function').default('send'),
      systemMessages: joi.valid('in_place', 'prompt').default('in_place'),
    }),
  create: createProvider,
};

export default plugin;

/** An image of an answer comes in one event. */
const EVENT_CHARS_MAX = 32 * 1024 * 1024;

function createProvider(settings: Settings, host: Host): Provider {
  const resolveWire = host.perRoute(settings, (wire) => ({ wire, url: host.urlBelow(wire.baseUrl, 'responses') }));
  const headers = { accept: 'text/event-stream, application/json' };
  const request = { method: 'POST', headers, auth: host.bearer } as const;
  return {
    tools: true,
    documents: true,
    systemMessages: true,
    stateFormat: 'responses',
    models(signal) {
      const { baseUrl } = resolveWire({ model: '', options: {} }).wire;
      return host.models(host.urlBelow(baseUrl, 'models'), { auth: host.bearer, signal });
    },
    text(call, signal) {
      const { wire, url } = resolveWire(call);
      const { conversation } = call;
      const body = buildResponsesBody(call, wire, host);
      return host.answer(
        url,
        { ...request, conversation, body, signal, eventCharsMax: EVENT_CHARS_MAX },
        host.responses.reader(),
      );
    },
  };
}
