// Plugin for fal: a picture or a video is a request in a queue, which is submitted, asked for its status, and fetched.
import type {
  Host,
  HostRequest,
  JsonBody,
  JsonObject,
  KeyHeaders,
  MediaSource,
  Provider,
  ProviderPlugin,
} from '../../lib/plugin/contract.ts';
import { appOf, createVideo, type Settings } from './video.ts';

const TEMPLATE = {
  prompt: '{prompt}',
  image_size: { width: '{width}', height: '{height}' },
  aspect_ratio: '{aspect}',
  image_urls: '{images}',
};

const plugin: ProviderPlugin<Settings> = {
  contract: 1,
  name: 'fal',
  settings(joi, account) {
    return account('https://queue.fal.run', {
      editModel: joi.string(),
      sizeMap: joi.object().pattern(joi.string(), joi.string()).default({}),
      input: joi.object().unknown(),
    });
  },
  faultWords: {
    picture:
      'image_load_error file_download_error file_too_large image_too_small image_too_large unsupported_image_format',
    content: 'content_policy_violation',
    timeout: 'startup_timeout generation_timeout',
    overloaded: 'runner_scheduling_failure downstream_service_unavailable',
    server: 'runner_connection_timeout runner_disconnected runner_connection_refused runner_connection_error',
  },
  create: createProvider,
};

export default plugin;

const EVERY_MS = 500;
/** Some models answer inline, with data URLs. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;

const auth: KeyHeaders = (key) => ({ authorization: `Key ${key}` });

function createProvider(settings: Settings, host: Host): Provider {
  const wireOf = host.perRoute(settings, (wire) => wire);

  /** The request is known by the app alone, without what follows its name in the submit path. */
  async function submit(
    model: string,
    base: string,
    init: HostRequest,
  ): Promise<{ at: string; keyId: string | undefined }> {
    const { value, keyId } = await host.json(`${base}/${model}`, init);
    const id = fieldsOf(value).request_id;
    if (typeof id !== 'string' || id === '') throw host.fault.make('protocol', 'a submission without a request_id');
    return { at: `${base}/${appOf(model)}/requests/${encodeURIComponent(id)}`, keyId };
  }

  return {
    video: createVideo(settings, host, auth),
    async image(call, signal) {
      const wire = wireOf(call);
      const { sizeMap } = wire;
      const body: JsonBody = (base64) => host.image.fill(call, wire.input ?? TEMPLATE, { sizeMap, base64 });
      const model = call.images.length > 0 ? (wire.editModel ?? call.model) : call.model;
      const post = { method: 'POST', auth, body, signal } as const;
      const { at, keyId } = await submit(model, wire.baseUrl.replace(/\/+$/, ''), post);
      const get = { method: 'GET', auth, keyId, signal } as const;
      const status = await host.poll({
        everyMs: EVERY_MS,
        signal,
        async ask() {
          const { value, retryAfterMs } = await host.json(`${at}/status`, get);
          return isDone(fieldsOf(value)) ? { value: fieldsOf(value) } : { retryAfterMs };
        },
      });
      const fetchResult = async () => ({ value: (await host.json(at, get, REPLY_BYTES_MAX)).value });
      // Of a request that failed the result is its error, and no trouble on the way.
      if (status.error || status.error_type) await fetchResult();
      if (status.error || status.status !== 'COMPLETED') throw host.fault.ofComplaint(status, true);
      return { images: imagesOf(await host.poll({ everyMs: EVERY_MS, signal, ask: fetchResult }), host) };
    },
  };
}

/** The documented end is `COMPLETED`, also of what failed. */
const DONE: ReadonlySet<unknown> = new Set(['COMPLETED', 'FAILED', 'ERROR', 'CANCELED', 'CANCELLED']);

function isDone({ status }: JsonObject): boolean {
  return DONE.has(status);
}

function imagesOf(reply: unknown, host: Host): readonly MediaSource[] {
  const { images, image, has_nsfw_concepts: flags } = fieldsOf(reply);
  const found = Array.isArray(images) ? images : image ? [image] : undefined;
  if (!found) throw host.fault.ofComplaint(reply) ?? host.fault.make('protocol', 'a result without pictures');
  // A flagged picture comes blackened.
  const clean = found.filter((_, at) => !(Array.isArray(flags) && flags[at] === true));
  if (clean.length === 0 && found.length > 0) {
    throw host.fault.make('request', 'all pictures have NSFW concepts', { about: 'content' });
  }
  return host.image.sourcesOf(clean);
}

function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
