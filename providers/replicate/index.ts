// Plugin for Replicate: a picture or a video is a prediction, which is created and asked for until it ends.
import type {
  Host,
  JsonBody,
  JsonObject,
  KeyHeaders,
  MediaSource,
  Provider,
  ProviderPlugin,
} from '../../lib/plugin/contract.ts';
import { isUnknownVersion, targetOf } from './target.ts';
import { CONTENT, createVideo, type Settings } from './video.ts';

const TEMPLATE = {
  prompt: '{prompt}',
  width: '{width}',
  height: '{height}',
  aspect_ratio: '{aspect}',
  input_images: '{images}',
};

const plugin: ProviderPlugin<Settings> = {
  contract: 1,
  name: 'replicate',
  settings(joi, account) {
    return account('https://api.replicate.com/v1', {
      sizeMap: joi.object().pattern(joi.string(), joi.string()).default({}),
      input: joi.object().unknown(),
    });
  },
  create: createProvider,
};

export default plugin;

const EVERY_MS = 1000;
/** Small files come inline, as data URLs. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;

const auth: KeyHeaders = (key) => ({ authorization: `Bearer ${key}` });

function createProvider(settings: Settings, host: Host): Provider {
  const wireOf = host.perRoute(settings, (wire) => wire);
  return {
    video: createVideo(settings, host),
    async image(call, signal) {
      const wire = wireOf(call);
      const base = wire.baseUrl.replace(/\/+$/, '');
      const { path, version } = targetOf(call.model);
      const { sizeMap, input = TEMPLATE } = wire;
      const body: JsonBody = (base64) => ({ ...version, input: host.image.fill(call, input, { sizeMap, base64 }) });
      const post = { method: 'POST', auth, body, signal } as const;
      const created = await host.json(base + path, post, REPLY_BYTES_MAX).catch((error) => {
        throw isUnknownVersion(error) ? host.fault.make('missing', error.detail, { status: 422 }) : error;
      });
      const { id } = fieldsOf(created.value);
      if (typeof id !== 'string' || id === '') {
        throw host.fault.ofComplaint(created.value) ?? host.fault.make('protocol', 'a prediction without an id');
      }
      const get = { method: 'GET', auth, keyId: created.keyId, signal } as const;
      let last = created;
      const ended = await host.poll({
        everyMs: EVERY_MS,
        signal,
        async ask() {
          if (!isEnded(last.value))
            last = await host.json(`${base}/predictions/${encodeURIComponent(id)}`, get, REPLY_BYTES_MAX);
          return isEnded(last.value) ? { value: fieldsOf(last.value) } : { retryAfterMs: last.retryAfterMs };
        },
      });
      return { images: imagesOf(ended, host) };
    },
  };
}

const ENDED: ReadonlySet<unknown> = new Set(['succeeded', 'failed', 'canceled', 'aborted']);

function isEnded(prediction: unknown): boolean {
  return ENDED.has(fieldsOf(prediction).status);
}

function imagesOf({ status, output, error }: JsonObject, { fault, image }: Host): readonly MediaSource[] {
  if (status === 'succeeded') return image.sourcesOf(output);
  const said = typeof error === 'string' && error !== '' ? error : `the prediction is ${status}`;
  if (CONTENT.test(said)) throw fault.make('request', said, { about: 'content' });
  throw fault.ofComplaint({ error: said }, true);
}

function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
