// Plugin for upstreams that speak responses, the newer API beside chat completions.
import type { Host, Provider, ProviderPlugin } from '../../lib/plugin/contract.ts';
import { readerOf } from './reply.ts';
import { bodyOf, type Settings } from './request.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 1,
  name: 'openai-responses',
  settings(joi) {
    const url = () => joi.string().uri({ scheme: ['http', 'https'] });
    const key = () => joi.string().trim().meta({ secret: true });
    return joi.object<Settings, true>({
      baseUrl: url().default('https://api.openai.com/v1'),
      apiKey: joi.alternatives(key(), joi.array().items(key()).min(1)).meta({ secret: true }),
      proxy: url(),
    });
  },
  create: createProvider,
};

export default plugin;

function createProvider(settings: Settings, host: Host): Provider {
  const urlOf = host.perRoute(settings, ({ baseUrl }) => `${baseUrl.replace(/\/+$/, '')}/responses`);
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream, application/json' };
  const request = { method: 'POST', headers, auth: (key: string) => ({ authorization: `Bearer ${key}` }) } as const;
  return {
    text(call, signal) {
      return host.answer(urlOf(call), { ...request, body: bodyOf(call), signal }, readerOf(host.fault));
    },
  };
}
