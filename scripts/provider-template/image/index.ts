// Plugin for Acme: images, generated and edited, in the reply to one request.
import type {
  AccountSettings,
  Host,
  MediaSource,
  Provider,
  ProviderPlugin,
} from '../../../lib/upstream/contract/provider.ts';
import { buildBody } from './request.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 2,
  name: 'acme',
  settings: (_joi, account) => account('https://api.acme.example/v1'),
  faultWords: { quota: 'purse_empty', content: 'bad_manners' },
  create: createProvider,
};

export default plugin;

/** Images arrive inline, several megabytes each. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;

function createProvider(settings: AccountSettings, host: Host): Provider {
  const buildUrl = host.perRoute(settings, ({ baseUrl }) => `${baseUrl}/images`);
  return {
    async image(call, signal) {
      const request = { method: 'POST', auth: host.bearer, body: buildBody(call, host), signal } as const;
      const { value } = await host.json(buildUrl(call), request, REPLY_BYTES_MAX);
      return { images: findImages(value, host) };
    },
  };
}

/** Base64, or URLs that the gateway fetches. A reply without images is a failure: return an empty list. */
function findImages(value: unknown, host: Host): readonly MediaSource[] {
  const { images, error } = host.fields(value);
  if (error !== undefined) throw host.fault.ofComplaint({ error }, true);
  const list: readonly unknown[] = Array.isArray(images) ? images : [];
  return list.flatMap((item): MediaSource[] => {
    const { base64, url } = host.fields(item);
    if (typeof base64 === 'string') return [{ bytes: Buffer.from(base64, 'base64') }];
    return typeof url === 'string' ? [{ url }] : [];
  });
}
