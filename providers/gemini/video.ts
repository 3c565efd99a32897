// The videos of the Gemini API: operations that run long, and are looked at until they are done.
import type {
  Host,
  JsonBody,
  JsonObject,
  KeyHeaders,
  MediaSource,
  VideoCall,
  VideoProvider,
  VideoReport,
} from '../../lib/plugin/contract.ts';
import { type Settings, urlOf } from './request.ts';

export function createVideo(settings: Settings, host: Host, auth: KeyHeaders): VideoProvider {
  return host.video.jobs(settings, {
    auth,
    submission: (call, base, wire) => ({
      url: urlOf(wire, call.model, 'predictLongRunning'),
      body: bodyOf(call, host.video),
      idOf: ({ name }) => name,
      // The name of an operation is a path.
      lookAt: (id) => `${base}/${decodeURIComponent(id)}`,
    }),
    read(operation, { ref }) {
      return reportOf(operation, host.fields, async (url) => ({ url, headers: await host.authorize(auth, ref.keyId) }));
    },
  });
}

function bodyOf(call: VideoCall, video: Host['video']): JsonBody {
  const { prompt, seconds, aspect, resolution, image } = call;
  const spelled = video.resolution(call, 'resolution', resolution ?? undefined);
  const parameters = { aspectRatio: aspect, durationSeconds: seconds, ...spelled };
  return (base64) => {
    const first = image && { bytesBase64Encoded: base64(image.bytes), mimeType: image.mediaType };
    return { instances: [{ prompt, ...(first && { image: first }) }], parameters };
  };
}

/** An operation has no word for its state. What the safety rules took away is done without a sample. */
function reportOf(
  { done, error, response }: JsonObject,
  fields: Host['fields'],
  media: (url: string) => Promise<MediaSource>,
): VideoReport {
  if (done !== true) return { status: 'processing' };
  if (error) return { status: 'failed', error };
  const { generatedSamples: samples, raiMediaFilteredReasons: reasons } = fields(response, 'generateVideoResponse');
  const { uri } = fields(samples, 0, 'video');
  if (typeof uri === 'string' && uri !== '') return { status: 'completed', media: () => media(uri) };
  const reason = Array.isArray(reasons) ? reasons.join(' ') : 'there is no sample';
  return { status: 'failed', error: { code: reasons ? 'content_policy_violation' : 'internal', message: reason } };
}
