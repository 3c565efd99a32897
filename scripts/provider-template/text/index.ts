// Plugin for Acme: text, streamed as server-sent events.
import type { AccountSettings, Host, Provider, ProviderPlugin } from '../../../lib/upstream/contract/provider.ts';
import { createReader } from './parts.ts';
import { buildBody } from './request.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 2,
  name: 'acme',
  settings: (_joi, account) => account('https://api.acme.example/v1'),
  faultWords: { quota: 'purse_empty', content: 'bad_manners' },
  create: createProvider,
};

export default plugin;

const headers = { 'content-type': 'application/json' };

function createProvider(settings: AccountSettings, host: Host): Provider {
  const buildUrl = host.perRoute(settings, ({ baseUrl }) => `${baseUrl}/generate`);
  return {
    text(call, signal) {
      const body = JSON.stringify(buildBody(call, host));
      const request = { method: 'POST', headers, auth: host.bearer, body, signal } as const;
      return host.answer(buildUrl(call), request, createReader(host));
    },
  };
}
