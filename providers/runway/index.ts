// Plugin for Runway: videos from text or from a first picture, each with an endpoint of its own.
import type {
  AccountSettings,
  Host,
  JsonObject,
  KeyHeaders,
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
const HEADERS = { 'content-type': 'application/json', ...VERSION };
const auth: KeyHeaders = (key) => ({ authorization: `Bearer ${key}` });

function createProvider(settings: AccountSettings, host: Host): Provider {
  const baseOf = host.perRoute(settings, ({ baseUrl }) => baseUrl.replace(/\/+$/, ''));
  return {
    video: {
      start(call, signal) {
        const base = baseOf(call);
        const request = { url: `${base}/${call.image ? 'image' : 'text'}_to_video`, headers: HEADERS, auth, signal };
        const body = JSON.stringify(bodyOf(call, host));
        const idOf = ({ id }: JsonObject) => id;
        return host.video.submit({ ...request, body, idOf, lookAt: (id) => `${base}/tasks/${id}` });
      },
      poll(ref, signal) {
        return host.video.look(ref, { headers: VERSION, auth, signal }, (task) => {
          const { status, progress, output } = task;
          return { status, progress, url: Array.isArray(output) ? output[0] : undefined, error: errorOf(task) };
        });
      },
    },
  };
}

/** The ratio is the size in pixels. */
function bodyOf(call: VideoCall, host: Host): object {
  const { model, prompt, seconds, size, image } = call;
  return {
    model,
    promptText: prompt,
    duration: seconds,
    ...(image && { promptImage: host.video.dataUrl(image) }),
    ...host.video.resolution(call, 'ratio', `${size.width}:${size.height}`),
  };
}

/** The end of a failure code says where it was found; its beginning says what it is. */
function errorOf({ failure, failureCode }: JsonObject): JsonObject {
  const code = String(failureCode ?? '');
  const message = failure ?? code;
  if (/(^|\.)SAFETY(\.|$)/.test(code)) return { code: 'moderation', message };
  return code.startsWith('ASSET.') ? { code: 'invalid_image', message } : { code, message };
}
