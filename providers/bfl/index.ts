// Plugin for Black Forest Labs: a picture is a task, which is submitted to a model and looked at until it ends.
import type {
  Host,
  JsonBody,
  JsonObject,
  KeyHeaders,
  MediaSource,
  Provider,
  ProviderPlugin,
} from '../../lib/plugin/contract.ts';
import { bodyOf, POLLING_ORIGINS, type Settings } from './request.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 1,
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

const EVERY_MS = 500;

const auth: KeyHeaders = (key) => ({ 'x-key': key });

function createProvider(settings: Settings, host: Host): Provider {
  const wireOf = host.perRoute(settings, (wire) => wire);
  return {
    async image(call, signal) {
      const wire = wireOf(call);
      const base = wire.baseUrl.replace(/\/+$/, '');
      const body: JsonBody = (base64) => bodyOf(call, wire, base64);
      const post = { method: 'POST', auth, body, signal } as const;
      const { value, keyId } = await host.json(`${base}/${call.model}`, post);
      const { id, polling_url: pollingUrl } = fieldsOf(value);
      if (typeof id !== 'string' || id === '') {
        throw host.fault.ofComplaint(value) ?? host.fault.make('protocol', 'a task without an id');
      }
      const at = isNamed(pollingUrl, wire) ? pollingUrl : `${base}/get_result?id=${encodeURIComponent(id)}`;
      const task = await host.poll({
        everyMs: EVERY_MS,
        signal,
        async ask() {
          const reply = await host.json(at, { method: 'GET', auth, keyId, signal });
          return isEnded(reply.value) ? { value: fieldsOf(reply.value) } : { retryAfterMs: reply.retryAfterMs };
        },
      });
      return { images: imagesOf(task, host) };
    },
  };
}

/** A task is known in the region that it was given to; the key goes only where the settings say. */
function isNamed(url: unknown, { baseUrl, pollingUrl }: Settings): url is string {
  const origin = typeof url === 'string' ? URL.parse(url)?.origin : undefined;
  return origin !== undefined && [baseUrl, pollingUrl].flat().some((named) => URL.parse(named)?.origin === origin);
}

const MODERATED: ReadonlySet<unknown> = new Set(['Request Moderated', 'Content Moderated']);
const FAILED: ReadonlySet<unknown> = new Set(['Error', 'Failed', 'Task not found']);

function isEnded(task: unknown): boolean {
  const { status } = fieldsOf(task);
  return status === 'Ready' || MODERATED.has(status) || FAILED.has(status);
}

function imagesOf({ status, result, details }: JsonObject, { fault, image }: Host): readonly MediaSource[] {
  const said = `${status} ${JSON.stringify(details ?? result ?? null)}`;
  if (MODERATED.has(status)) throw fault.make('request', said, { about: 'content' });
  if (status !== 'Ready') throw fault.make('server', said);
  return image.sourcesOf(fieldsOf(result).sample);
}

function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
