// Plugin for upstreams with videos in the shape POST /videos, GET /videos/{id}, GET /videos/{id}/content.
import type {
  AccountSettings,
  Host,
  JsonBody,
  Multipart,
  Provider,
  ProviderPlugin,
  VideoCall,
} from '../../lib/upstream/contract/provider.ts';

const APIS = ['openai', 'openrouter'] as const;

interface Settings extends AccountSettings {
  /** Whose videos API it is. */
  readonly api: (typeof APIS)[number];
}

const plugin: ProviderPlugin<Settings> = {
  contract: 2,
  name: 'openai-videos',
  settings(joi, account) {
    const api = joi
      .string()
      .valid(...APIS)
      .default('openai');
    return account.keyOptional('https://api.openai.com/v1', { api });
  },
  faultWords: { content: 'sentinel_block' },
  create: createProvider,
};

export default plugin;

function createProvider(settings: Settings, host: Host): Provider {
  return {
    video: host.video.jobs(settings, {
      submission(call, base, { api }) {
        const url = host.urlBelow(base, 'videos');
        const lookAt = (id: string) => host.urlBelow(url, id);
        const body = api === 'openai' ? buildVideoForm(call, host) : buildOpenRouterBody(call, host);
        return { url, body, idOf: ({ id }) => id, lookAt };
      },
      read({ status, progress, error }, { ref, auth }) {
        const media = async () => ({
          url: host.urlBelow(`${ref.url}`, 'content'),
          headers: await host.authorize(auth, ref.keyId),
        });
        return { status, progress, error, media };
      },
    }),
  };
}

/** A form, because the first of these servers accepted nothing else; all values are text, including the seconds. */
function buildVideoForm(call: VideoCall, host: Host): Multipart {
  const { model, prompt, seconds, size, image } = call;
  const resolution = host.video.resolution(call, 'size', `${size.width}x${size.height}`);
  const fields = Object.entries({ model, prompt, seconds, ...resolution }).map(([name, value]) => {
    return [name, typeof value === 'object' ? JSON.stringify(value) : String(value)];
  });
  const type = image?.mediaType.slice('image/'.length);
  return {
    fields: Object.fromEntries(fields),
    files: image ? [{ field: 'input_reference', fileName: `image.${type}`, ...image }] : [],
  };
}

/** https://openrouter.ai/docs/api/api-reference/videos: JSON, with a label and an aspect in place of a size. */
function buildOpenRouterBody({ image, ...call }: VideoCall, { video }: Host): JsonBody {
  const { model, prompt, seconds, aspect, resolution } = call;
  const spelled = video.resolution(call, 'resolution', resolution ?? undefined);
  const asked = { model, prompt, duration: seconds, ...spelled };
  // A first frame already has an aspect.
  if (!image) return () => ({ ...asked, aspect_ratio: aspect });
  return (base64) => {
    const url = video.dataUrl(image, base64);
    return { ...asked, frame_images: [{ type: 'image_url', image_url: { url }, frame_type: 'first_frame' }] };
  };
}
