// Plugin for fal: an image or a video is a queued request that is submitted, polled for its status, and fetched.
import type {
  AccountSettings,
  Host,
  JobLooking,
  JsonObject,
  KeyHeaders,
  MediaSource,
  Provider,
  ProviderPlugin,
  UpstreamFault,
} from '../../lib/upstream/contract/provider.ts';
import { buildResultUrl, cancelFalRequest, createFalSubmission } from './queue.ts';

interface Settings extends AccountSettings {
  /** The submit path for edits, and for videos from a first frame, if it differs. */
  readonly editModel?: string;
  /** What a model calls a size (`1792x1024`) or an aspect (`16:9`). */
  readonly sizeMap: Readonly<Record<string, string>>;
  /** The template of the input, separately for images and videos. */
  readonly input?: JsonObject;
}

const plugin: ProviderPlugin<Settings> = {
  contract: 2,
  name: 'fal',
  settings(joi, account) {
    return account('https://queue.fal.run', {
      editModel: joi.string(),
      sizeMap: joi.object().pattern(joi.string(), joi.string()).default({}),
      input: joi.object().unknown(),
    });
  },
  faultWords: {
    image: 'image_load_error file_download_error file_too_large unsupported_image_format',
    timeout: 'startup_timeout generation_timeout',
    overloaded: 'runner_scheduling_failure downstream_service_unavailable',
    server: 'runner_connection_timeout runner_disconnected runner_connection_refused runner_connection_error',
  },
  create: createProvider,
};

export default plugin;

const IMAGE_TEMPLATE = {
  prompt: '{prompt}',
  image_size: { width: '{width}', height: '{height}' },
  aspect_ratio: '{aspect}',
  image_urls: '{images}',
};

const VIDEO_TEMPLATE = {
  prompt: '{prompt}',
  duration: '{duration}',
  aspect_ratio: '{aspect}',
  resolution: '{resolution}',
  image_url: '{image}',
};

const EVERY_MS = 500;
/** Some models answer inline, with data URLs. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;

/** The documented end is `COMPLETED`, even for failures. */
const ENDS: ReadonlySet<unknown> = new Set(['completed', 'failed', 'error', 'canceled', 'cancelled']);

const auth: KeyHeaders = (key) => ({ authorization: `Key ${key}` });

function createProvider(settings: Settings, host: Host): Provider {
  const { fault, fields, image, video } = host;

  /** The result of a completed request; a workflow wraps it. Throws the refusal that a failed one has instead. */
  async function fetchFalResult({ ref, signal }: JobLooking): Promise<JsonObject> {
    const get = { method: 'GET', auth, keyId: ref.keyId, signal } as const;
    const result = fields((await host.json(buildResultUrl(ref), get, REPLY_BYTES_MAX)).value);
    return { ...result, ...fields(result.output) };
  }

  return {
    image: image.jobs(settings, {
      auth,
      everyMs: EVERY_MS,
      submission(call, base, { editModel, input = IMAGE_TEMPLATE, sizeMap }) {
        const model = call.images.length > 0 ? (editModel ?? call.model) : call.model;
        return createFalSubmission(base, model, (base64) => image.fill(call, input, { sizeMap, base64 }));
      },
      isEnded: ({ status }) => ENDS.has(String(status).toLowerCase()),
      async sourcesOf(job, looking) {
        if (job.error || job.error_type) await fetchFalResult(looking);
        if (job.error || String(job.status).toLowerCase() !== 'completed') throw fault.ofComplaint(job, true);
        // The image is made and paid for: trouble fetching it is no reason to give up.
        const ask = async () => ({ value: await fetchFalResult(looking) });
        return readFalImages(await host.poll({ everyMs: EVERY_MS, signal: looking.signal, ask }), host);
      },
    }),
    video: video.jobs(settings, {
      auth,
      submission(call, base, { editModel, input = VIDEO_TEMPLATE, sizeMap }) {
        const how = { sizeMap, isAspectOfImage: true };
        const model = (call.image && editModel) || call.model;
        return createFalSubmission(base, model, (base64) => video.fill(call, input, { ...how, base64 }));
      },
      read({ status, error, error_type: type }, looking) {
        if (error || type) return { status: 'failed', error: { code: type, message: error } };
        const media = async () => {
          const { videos, video } = await fetchFalResult(looking);
          return image.sourcesOf(Array.isArray(videos) ? videos : video)[0];
        };
        return { status, media: () => media().catch(readFalVerdict) };
      },
      cancellation: cancelFalRequest,
    }),
  };
}

/** A failed request has a refusal as its result; a mere 400 or 404 is a result that is not there yet. */
function readFalVerdict(thrown: UpstreamFault): { readonly fault: UpstreamFault } {
  const { kind, status, about } = thrown;
  if (kind === 'request' && (status === 422 || about !== undefined)) return { fault: thrown };
  throw thrown;
}

function readFalImages(result: JsonObject, { fault, image }: Host): readonly MediaSource[] {
  const found = Array.isArray(result.images) ? result.images : result.image ? [result.image] : undefined;
  if (!found) throw fault.ofComplaint(result) ?? fault.make('protocol', 'a result without images');
  const flags = result.has_nsfw_concepts;
  // A flagged image is returned blacked out.
  const clean = found.filter((_, at) => !(Array.isArray(flags) && flags[at] === true));
  if (clean.length > 0 || found.length === 0) return image.sourcesOf(clean);
  throw fault.make('request', 'all images have NSFW concepts', { about: 'content' });
}
