// Plugin for Runway: videos from text or from a first frame, each with its own endpoint.
import type { AccountSettings, JsonObject, ProviderPlugin } from '../../lib/upstream/contract/provider.ts';

/** The API version that the vendor requires with every request. */
const VERSION = { 'x-runway-version': '2024-11-06' };

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 2,
  name: 'runway',
  settings: (_joi, account) => account('https://api.dev.runwayml.com/v1'),
  create: (settings, { video, fields }) => ({
    video: video.jobs(settings, {
      headers: VERSION,
      submission: (call, base) => ({
        url: `${base}/${call.image ? 'image' : 'text'}_to_video`,
        body: (base64) => ({
          model: call.model,
          promptText: call.prompt,
          duration: call.seconds,
          ...(call.image && { promptImage: video.dataUrl(call.image, base64) }),
          // The ratio is the size in pixels.
          ...video.resolution(call, 'ratio', `${call.size.width}:${call.size.height}`),
        }),
        idOf: ({ id }) => id,
        lookAt: (id) => `${base}/tasks/${id}`,
      }),
      read(task) {
        const { status, progress, output } = task;
        return { status, progress, url: fields(output)[0], error: readRunwayError(task) };
      },
      cancellation: ({ url }) => ({ method: 'DELETE', url }),
    }),
  }),
};

export default plugin;

/** The end of a failure code says where it was found; its start says what it is. */
function readRunwayError({ failure, failureCode }: JsonObject): JsonObject {
  const code = String(failureCode ?? '');
  const message = failure ?? code;
  if (/(^|\.)SAFETY(\.|$)/.test(code)) return { code: 'moderation', message };
  return code.startsWith('ASSET.') ? { code: 'invalid_image', message } : { code, message };
}
