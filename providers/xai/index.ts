// Plugin for the videos of xAI.
import type { AccountSettings, JsonObject, ProviderPlugin, VideoReport } from '../../lib/upstream/contract/provider.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 2,
  name: 'xai',
  settings: (_joi, account) => account('https://api.x.ai/v1'),
  faultWords: { content: 'imagine:content-moderated' },
  create: (settings, { video }) => ({
    video: video.jobs(settings, {
      submission: (call, base) => ({
        url: `${base}/videos/generations`,
        body: (base64) => ({
          model: call.model,
          prompt: call.prompt,
          duration: call.seconds,
          // A first frame already has an aspect.
          ...(call.image ? { image: { url: video.dataUrl(call.image, base64) } } : { aspect_ratio: call.aspect }),
          ...video.resolution(call, 'resolution', call.resolution ?? undefined),
        }),
        idOf: ({ request_id }) => request_id,
        lookAt: (id) => `${base}/videos/${id}`,
      }),
      read: readXaiReport,
    }),
  }),
};

export default plugin;

/**
 * A request blocked by moderation is still done: without a URL, and with a reason or a flag. A finished one may come
 * without a status.
 */
function readXaiReport({ status: said, progress, video, error }: JsonObject): VideoReport {
  const { url, respect_moderation: isRespected } = (video ?? {}) as JsonObject;
  const status = said ?? (video ? 'done' : undefined);
  const reason = typeof error === 'string' ? error : '';
  const isBlocked = status === 'done' && !url && (isRespected === false || reason !== '');
  if (!isBlocked) return { status, progress, url, error };
  return { status: 'failed', error: { code: 'moderation', message: reason || 'the video breaks the content rules' } };
}
