// Plugin for upstreams that speak responses, the newer API beside chat completions.
import type { AccountSettings, Host, Provider, ProviderPlugin } from '../../lib/plugin/contract.ts';
import { readerOf } from './reply.ts';
import { bodyOf } from './request.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 1,
  name: 'openai-responses',
  settings: (_joi, account) => account.keyOptional('https://api.openai.com/v1'),
  create: createProvider,
};

export default plugin;

function createProvider(settings: AccountSettings, host: Host): Provider {
  const urlOf = host.perRoute(settings, ({ baseUrl }) => host.urlBelow(baseUrl, 'responses'));
  const headers = { accept: 'text/event-stream, application/json' };
  const request = { method: 'POST', headers, auth: host.bearer } as const;
  return {
    text(call, signal) {
      return host.answer(urlOf(call), { ...request, body: bodyOf(call), signal }, readerOf(host));
    },
  };
}
