// Plugin for MiniMax: both versions of its video API, distinguished by the end of `baseUrl`.
import type {
  AccountSettings,
  Host,
  JsonBody,
  Provider,
  ProviderPlugin,
} from '../../lib/upstream/contract/provider.ts';
import { buildMinimaxBody, readTaskReport } from './task.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 2,
  name: 'minimax',
  settings: (_joi, account) => account('https://api.minimax.io/v1'),
  faultWords: {
    quota: 'base:1008 base:2056 1008 2056',
    missing: 'base:2061 2061',
    auth: 'base:1004 base:2049 1004 2049',
    rate: 'base:1002 base:1039 base:1041 1002 1039 1041',
    overloaded: 'base:1033 1033',
    timeout: 'base:1001 1001',
    content: 'base:1026 base:1027 1026 1027',
    request: 'base:2013 2013',
  },
  create: createProvider,
};

export default plugin;

function createProvider(settings: AccountSettings, host: Host): Provider {
  return {
    video: host.video.jobs(settings, {
      submission(call, base) {
        const isSecond = base.endsWith('/v2');
        const query = `${base}/query/video_generation${isSecond ? '/' : '?task_id='}`;
        const body: JsonBody = (base64) => buildMinimaxBody(call, { video: host.video, base64, isSecond });
        return { url: `${base}/video_generation`, body, idOf: ({ task_id }) => task_id, lookAt: (id) => query + id };
      },
      read: (value, looking) => readTaskReport(value, looking, host),
    }),
  };
}
