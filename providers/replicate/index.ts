// Plugin for Replicate: an image or a video is a prediction, which is created and polled until it ends.
import type {
  AccountSettings,
  Host,
  JobSubmission,
  JsonBody,
  JsonObject,
  Provider,
  ProviderPlugin,
} from '../../lib/upstream/contract/provider.ts';

interface Settings extends AccountSettings {
  /** What a model calls a size (`1792x1024`) or an aspect (`16:9`). */
  readonly sizeMap: Readonly<Record<string, string>>;
  /** The template of the input, separately for images and videos. */
  readonly input?: JsonObject;
}

const plugin: ProviderPlugin<Settings> = {
  contract: 2,
  name: 'replicate',
  settings(joi, account) {
    return account('https://api.replicate.com/v1', {
      sizeMap: joi.object().pattern(joi.string(), joi.string()).default({}),
      input: joi.object().unknown(),
    });
  },
  faultTexts: {
    // About the route, not the client's input, which is refused with the same status.
    missing: /version does not exist|invalid version/i,
    // Models refuse content in their own words.
    content: /\bnsfw\b|flagged|sensitive|\bsafety\b|moderat|\(E005\)/i,
  },
  create: createProvider,
};

export default plugin;

const IMAGE_TEMPLATE = {
  prompt: '{prompt}',
  width: '{width}',
  height: '{height}',
  aspect_ratio: '{aspect}',
  input_images: '{images}',
};

const VIDEO_TEMPLATE = {
  prompt: '{prompt}',
  duration: '{seconds}',
  aspect_ratio: '{aspect}',
  resolution: '{resolution}',
  image: '{image}',
};

/** Small results are sent inline, as data URLs; the input is repeated, with its images. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;

const ENDS: ReadonlySet<unknown> = new Set(['succeeded', 'failed', 'canceled', 'aborted']);

function createProvider(settings: Settings, { fault, fields, image, video }: Host): Provider {
  return {
    image: image.jobs(settings, {
      everyMs: 1000,
      replyBytesMax: REPLY_BYTES_MAX,
      submission(call, base, { input = IMAGE_TEMPLATE, sizeMap }) {
        return createPredictionSubmission(base, call.model, (base64) => image.fill(call, input, { sizeMap, base64 }));
      },
      isEnded: ({ status }) => ENDS.has(String(status).toLowerCase()),
      sourcesOf({ status, output, error }) {
        if (String(status).toLowerCase() === 'succeeded') return image.sourcesOf(output);
        throw fault.ofComplaint({ error: error || `the prediction is ${status}` }, true);
      },
    }),
    video: video.jobs(settings, {
      replyBytesMax: REPLY_BYTES_MAX,
      submission(call, base, { input = VIDEO_TEMPLATE, sizeMap }) {
        return createPredictionSubmission(base, call.model, (base64) => video.fill(call, input, { sizeMap, base64 }));
      },
      read({ status, output, error }) {
        // A model may name other files, such as the last frame, beside its video.
        const { video: film = output } = fields(output);
        const media = async () => image.sourcesOf(film)[0];
        return { status, media, error };
      },
      cancellation: ({ url }) => ({ method: 'POST', url: `${url}/cancel` }),
    }),
  };
}

/** `owner/name` runs the version that its owner keeps current, `owner/name:version` that version. */
function createPredictionSubmission(
  base: string,
  model: string,
  input: JsonBody,
): Omit<JobSubmission, 'auth' | 'signal'> {
  const [name, version] = model.split(':', 2);
  return {
    url: version === undefined ? `${base}/models/${name}/predictions` : `${base}/predictions`,
    body: (base64) => ({ ...(version !== undefined && { version }), input: input(base64) }),
    idOf: ({ id }) => id,
    lookAt: (id) => `${base}/predictions/${id}`,
  };
}
