// Plugin for Black Forest Labs: an image is a task, submitted to a model and polled until it ends.
import type {
  Host,
  JsonObject,
  KeyHeaders,
  MediaSource,
  Provider,
  ProviderPlugin,
} from '../../lib/upstream/contract/provider.ts';
import { buildBflBody, POLLING_ORIGINS, type Settings } from './request.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 2,
  name: 'bfl',
  settings(joi, account) {
    const url = () => joi.string().uri({ scheme: ['http', 'https'] });
    return account('https://api.bfl.ai/v1', {
      pollingUrl: joi.alternatives(url(), joi.array().items(url()).min(1)).default(POLLING_ORIGINS),
      sizeMap: joi
        .object()
        .pattern(joi.string(), joi.string().pattern(/^\d+[x:]\d+$/))
        .default({}),
      input: joi.object().unknown().default({}),
    });
  },
  create: createProvider,
};

export default plugin;

const auth: KeyHeaders = (key) => ({ 'x-key': key });

const MODERATED: ReadonlySet<unknown> = new Set(['request moderated', 'content moderated']);
const ENDS: ReadonlySet<unknown> = new Set(['ready', ...MODERATED, 'error', 'failed']);

function createProvider(settings: Settings, host: Host): Provider {
  return {
    image: host.image.jobs(settings, {
      auth,
      everyMs: 500,
      submission: (call, base, wire) => ({
        url: `${base}/${call.model}`,
        body: (base64) => buildBflBody(call, wire, base64),
        idOf: ({ id }) => id,
        lookAt: (id, { polling_url: at }) => (isNamed(at, wire) ? at : `${base}/get_result?id=${id}`),
      }),
      isEnded({ status }) {
        const word = String(status).toLowerCase();
        // As a 404 elsewhere: a new task may not be known yet.
        if (word === 'task not found') throw host.fault.make('server', word);
        return ENDS.has(word);
      },
      sourcesOf: (task) => readTaskImages(task, host),
    }),
  };
}

/** A task is known only in its own region; the key is sent only where the settings allow. */
function isNamed(url: unknown, { baseUrl, pollingUrl }: Settings): url is string {
  const origin = typeof url === 'string' ? URL.parse(url)?.origin : undefined;
  return origin !== undefined && [baseUrl, pollingUrl].flat().some((named) => URL.parse(named)?.origin === origin);
}

function readTaskImages(
  { status, result, details }: JsonObject,
  { fault, fields, image }: Host,
): readonly MediaSource[] {
  const word = String(status).toLowerCase();
  if (word === 'ready') return image.sourcesOf(fields(result).sample);
  const said = `${status} ${JSON.stringify(details ?? result ?? null)}`;
  throw MODERATED.has(word) ? fault.make('request', said, { about: 'content' }) : fault.make('server', said);
}
