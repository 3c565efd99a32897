// Plugin for Acme: videos, each a job that is submitted and looked at until it ends.
import type {
  AccountSettings,
  Host,
  JsonObject,
  KeyHeaders,
  Provider,
  ProviderPlugin,
  VideoReport,
} from '../../../lib/plugin/contract.ts';
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
  const urlOf = host.perRoute(settings, ({ baseUrl }) => `${baseUrl.replace(/\/+$/, '')}/videos`);
  return {
    video: {
      start(call, signal) {
        const url = urlOf(call);
        const body = JSON.stringify(bodyOf(call, host));
        return host.video.submit({
          url,
          headers,
          auth,
          body,
          signal,
          idOf: ({ id }) => id,
          lookAt: (id) => `${url}/${id}`,
        });
      },
      poll: (ref, signal) => host.video.look(ref, { auth, signal }, reportOf),
    },
  };
}

/** Words for the state that upstreams use are known to the host; any other is `processing`. */
function reportOf({ state, percent, result, error }: JsonObject): VideoReport {
  const { url } = (result ?? {}) as JsonObject;
  return { status: state, progress: percent, url, error };
}
