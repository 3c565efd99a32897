// Plugin for Acme: text, streamed as server-sent events.
import type { AccountSettings, Host, KeyHeaders, Provider, ProviderPlugin } from '../../../lib/plugin/contract.ts';
import { readerOf } from './parts.ts';
import { bodyOf } from './request.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 1,
  name: 'acme',
  settings: (_joi, account) => account('https://api.acme.example/v1'),
  faultWords: { quota: 'purse_empty', content: 'bad_manners' },
  create: createProvider,
};

export default plugin;

const auth: KeyHeaders = (key) => ({ authorization: `Bearer ${key}` });
const headers = { 'content-type': 'application/json' };

function createProvider(settings: AccountSettings, host: Host): Provider {
  const urlOf = host.perRoute(settings, ({ baseUrl }) => `${baseUrl.replace(/\/+$/, '')}/generate`);
  return {
    text(call, signal) {
      const request = { method: 'POST', headers, auth, body: JSON.stringify(bodyOf(call)), signal } as const;
      return host.answer(urlOf(call), request, readerOf(host));
    },
  };
}
