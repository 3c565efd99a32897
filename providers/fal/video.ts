// Videos of fal: a request in its queue, looked at until it is over, and then its result.
import type {
  AccountSettings,
  Host,
  JsonObject,
  KeyHeaders,
  MediaSource,
  VideoLooking,
  VideoProvider,
} from '../../lib/plugin/contract.ts';

export interface Settings extends AccountSettings {
  /** The submit path of edits, and of videos from a first picture, where it is another one. */
  readonly editModel?: string;
  /** What a model calls a size (`1792x1024`) or an aspect (`16:9`). */
  readonly sizeMap: Readonly<Record<string, string>>;
  /** The template of the input; pictures and videos have one of their own each. */
  readonly input?: JsonObject;
}

const TEMPLATE = {
  prompt: '{prompt}',
  duration: '{duration}',
  aspect_ratio: '{aspect}',
  resolution: '{resolution}',
  image_url: '{image}',
};

export function createVideo(settings: Settings, host: Host, auth: KeyHeaders): VideoProvider {
  return host.video.jobs(settings, {
    auth,
    submission(call, base, { editModel, input = TEMPLATE, sizeMap }) {
      const model = (call.image && editModel) || call.model;
      return {
        url: `${base}/${model}`,
        body: (base64) => host.video.fill(call, input, { sizeMap, base64, isAspectOfPicture: true }),
        idOf: ({ request_id }) => request_id,
        lookAt: (id) => `${base}/${appOf(model)}/requests/${id}/status`,
      };
    },
    read({ status, error, error_type: type }, looking) {
      if (error || type) return { status: 'failed', error: { code: type, message: error } };
      return { status, media: () => resultOf(looking, host) };
    },
  });
}

/** Before owner and name of these apps. */
const NAMESPACES: ReadonlySet<string> = new Set(['workflows', 'comfy']);

/** A request is known by its app alone, without what follows its name in the submit path. */
export function appOf(model: string): string {
  const parts = model.split('/');
  return parts.slice(0, NAMESPACES.has(parts[0] ?? '') ? 3 : 2).join('/');
}

/** Of a request that failed, although it is completed, the result is a refusal: it is thrown. */
async function resultOf({ ref, auth, signal }: VideoLooking, host: Host): Promise<MediaSource | undefined> {
  const url = String(ref.url).replace(/\/status$/, '');
  const { value } = await host.json(url, { method: 'GET', auth, keyId: ref.keyId, signal });
  const { video, videos } = fieldsOf(value);
  return host.image.sourcesOf(Array.isArray(videos) ? videos : video)[0];
}

function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
