// Plugin for Runway: videos from text or from a first picture, each with an endpoint of its own.
import type {
  AccountSettings,
  Base64,
  Host,
  HostVideo,
  JsonObject,
  Provider,
  ProviderPlugin,
  VideoCall,
} from '../../lib/plugin/contract.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 1,
  name: 'runway',
  settings: (_joi, account) => account('https://api.dev.runwayml.com/v1'),
  create: createProvider,
};

export default plugin;

/** The version that the vendor asks for with every request. */
const VERSION = { 'x-runway-version': '2024-11-06' };

function createProvider(settings: AccountSettings, { video }: Host): Provider {
  return {
    video: video.jobs(settings, {
      headers: VERSION,
      submission: (call, base) => ({
        url: `${base}/${call.image ? 'image' : 'text'}_to_video`,
        body: (base64) => bodyOf(call, video, base64),
        idOf: ({ id }) => id,
        lookAt: (id) => `${base}/tasks/${id}`,
      }),
      read(task) {
        const { status, progress, output } = task;
        return { status, progress, url: Array.isArray(output) ? output[0] : undefined, error: errorOf(task) };
      },
    }),
  };
}

/** The ratio is the size in pixels. */
function bodyOf(call: VideoCall, video: HostVideo, base64: Base64): object {
  const { model, prompt, seconds, size, image } = call;
  return {
    model,
    promptText: prompt,
    duration: seconds,
    ...(image && { promptImage: video.dataUrl(image, base64) }),
    ...video.resolution(call, 'ratio', `${size.width}:${size.height}`),
  };
}

/** The end of a failure code says where it was found; its beginning says what it is. */
function errorOf({ failure, failureCode }: JsonObject): JsonObject {
  const code = String(failureCode ?? '');
  const message = failure ?? code;
  if (/(^|\.)SAFETY(\.|$)/.test(code)) return { code: 'moderation', message };
  return code.startsWith('ASSET.') ? { code: 'invalid_image', message } : { code, message };
}
