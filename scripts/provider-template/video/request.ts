// Settings of an upstream, and the request that one video becomes.
import type { Host, VideoCall } from '../../../lib/plugin/contract.ts';

export function bodyOf(call: VideoCall, host: Host): object {
  const { model, prompt, seconds, aspect, resolution, image } = call;
  return {
    model,
    prompt,
    seconds,
    ...(image ? { first_frame: host.video.dataUrl(image) } : { aspect }),
    ...host.video.resolution(call, 'resolution', resolution ?? undefined),
  };
}
