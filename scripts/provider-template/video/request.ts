// The upstream request for one video.
import type { HostVideo, JsonBody, VideoCall } from '../../../lib/upstream/contract/provider.ts';

export function buildBody(call: VideoCall, video: HostVideo): JsonBody {
  const { model, prompt, seconds, aspect, resolution, image } = call;
  return (base64) => ({
    model,
    prompt,
    seconds,
    ...(image ? { first_frame: video.dataUrl(image, base64) } : { aspect }),
    ...video.resolution(call, 'resolution', resolution ?? undefined),
  });
}
