// Plugin for the videos of xAI.
import type {
  AccountSettings,
  Base64,
  Host,
  HostVideo,
  JsonObject,
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

function createProvider(settings: AccountSettings, { video }: Host): Provider {
  return {
    video: video.jobs(settings, {
      submission: (call, base) => ({
        url: `${base}/videos/generations`,
        body: (base64) => bodyOf(call, video, base64),
        idOf: ({ request_id }) => request_id,
        lookAt: (id) => `${base}/videos/${id}`,
      }),
      read: reportOf,
    }),
  };
}

function bodyOf(call: VideoCall, video: HostVideo, base64: Base64): object {
  const { model, prompt, seconds, aspect, resolution, image } = call;
  return {
    model,
    prompt,
    duration: seconds,
    // A first picture has an aspect already.
    ...(image ? { image: { url: video.dataUrl(image, base64) } } : { aspect_ratio: aspect }),
    ...video.resolution(call, 'resolution', resolution ?? undefined),
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
