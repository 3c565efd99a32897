// Plugin for Acme: videos, each a job that is submitted and polled until it ends.
import type {
  AccountSettings,
  Host,
  JsonObject,
  Provider,
  ProviderPlugin,
  VideoReport,
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

function createProvider(settings: AccountSettings, { video }: Host): Provider {
  return {
    video: video.jobs(settings, {
      submission(call, base) {
        const url = `${base}/videos`;
        return { url, body: buildBody(call, video), idOf: ({ id }) => id, lookAt: (id) => `${url}/${id}` };
      },
      read: readReport,
    }),
  };
}

/** The host knows the words that upstreams commonly use for states; any other means `processing`. */
function readReport({ state, percent, result, error }: JsonObject): VideoReport {
  const { url } = (result ?? {}) as JsonObject;
  return { status: state, progress: percent, url, error };
}
