// Plugin for Acme: text, streamed as server-sent events.
import type { Host, KeyHeaders, Provider, ProviderPlugin } from '../../../lib/plugin/contract.ts';
import { readerOf } from './parts.ts';
import { bodyOf, type Settings } from './request.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 1,
  name: 'acme',
  settings(joi) {
    const url = () => joi.string().uri({ scheme: ['http', 'https'] });
    const key = () => joi.string().trim().meta({ secret: true });
    return joi.object<Settings>({
      baseUrl: url().default('https://api.acme.example/v1'),
      apiKey: joi.alternatives(key(), joi.array().items(key()).min(1)).required().meta({ secret: true }),
      proxy: url(),
    });
  },
  faultWords: { quota: 'purse_empty', content: 'bad_manners' },
  create: createProvider,
};

export default plugin;

const auth: KeyHeaders = (key) => ({ authorization: `Bearer ${key}` });
const headers = { 'content-type': 'application/json' };

function createProvider(settings: Settings, host: Host): Provider {
  const urlOf = host.perRoute(settings, ({ baseUrl }) => `${baseUrl.replace(/\/+$/, '')}/generate`);
  return {
    text(call, signal) {
      const request = { method: 'POST', headers, auth, body: JSON.stringify(bodyOf(call)), signal } as const;
      return host.answer(urlOf(call), request, readerOf(host));
    },
  };
}
