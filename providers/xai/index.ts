// Plugin for the videos of xAI.
import type {
  AccountSettings,
  Host,
  JsonObject,
  KeyHeaders,
  Provider,
  ProviderPlugin,
  VideoCall,
  VideoReport,
} from '../../lib/plugin/contract.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 1,
  name: 'xai',
  settings: (_joi, account) => account('https://api.x.ai/v1'),
  create: createProvider,
};

export default plugin;

const JSON_BODY = { 'content-type': 'application/json' };
const auth: KeyHeaders = (key) => ({ authorization: `Bearer ${key}` });

function createProvider(settings: AccountSettings, host: Host): Provider {
  const baseOf = host.perRoute(settings, ({ baseUrl }) => `${baseUrl.replace(/\/+$/, '')}/videos`);
  return {
    video: {
      start(call, signal) {
        const base = baseOf(call);
        const request = { url: `${base}/generations`, headers: JSON_BODY, auth, signal };
        const body = JSON.stringify(bodyOf(call, host));
        const idOf = ({ request_id }: JsonObject) => request_id;
        return host.video.submit({ ...request, body, idOf, lookAt: (id) => `${base}/${id}` });
      },
      poll: (ref, signal) => host.video.look(ref, { auth, signal }, reportOf),
    },
  };
}

function bodyOf(call: VideoCall, host: Host): object {
  const { model, prompt, seconds, aspect, resolution, image } = call;
  return {
    model,
    prompt,
    duration: seconds,
    // A first picture has an aspect already.
    ...(image ? { image: { url: host.video.dataUrl(image) } } : { aspect_ratio: aspect }),
    ...host.video.resolution(call, 'resolution', resolution ?? undefined),
  };
}

/** A request that the moderation blocks is done all the same: without a URL, and with a reason or a flag. */
function reportOf({ status, progress, video, error }: JsonObject): VideoReport {
  const { url, respect_moderation: isRespected } = (video ?? {}) as JsonObject;
  const reason = typeof error === 'string' ? error : '';
  const isBlocked = status === 'done' && !url && (isRespected === false || reason !== '');
  if (!isBlocked) return { status, progress, url, error };
  return { status: 'failed', error: { code: 'moderation', message: reason || 'the video breaks the content rules' } };
}
