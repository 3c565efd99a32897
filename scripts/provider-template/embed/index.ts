// Plugin for Acme: vectors that stand for texts.
import type { AccountSettings, Host, Provider, ProviderPlugin } from '../../../lib/upstream/contract/provider.ts';
import { createFormat } from './request.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 2,
  name: 'acme',
  settings: (_joi, account) => account('https://api.acme.example/v1'),
  faultWords: { quota: 'purse_empty', content: 'bad_manners' },
  create: createProvider,
};

export default plugin;

/** Of one request; more are sent in several. */
const INPUTS_MAX = 100;

function createProvider(settings: AccountSettings, host: Host): Provider {
  const buildUrl = host.perRoute(settings, ({ baseUrl }) => `${baseUrl}/vectors`);
  const format = createFormat(host);
  return {
    embed(call, signal) {
      const request = { method: 'POST', auth: host.bearer, signal } as const;
      return host.embed(call, { ...request, url: buildUrl(call), format, inputsMax: INPUTS_MAX });
    },
  };
}
