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

const JSON_BODY = { 'content-type': 'application/json' };

export function createVideo(wireOf: (call: VideoCall) => Settings, host: Host, auth: KeyHeaders): VideoProvider {
  return {
    start(call, signal) {
      const wire = wireOf(call);
      const base = wire.baseUrl.replace(/\/+$/, '');
      const url = urlOf(wire, call.model, 'predictLongRunning');
      const request = { url, headers: JSON_BODY, auth, body: bodyOf(call, host), signal };
      // The name of an operation is a path.
      const lookAt = (id: string) => `${base}/${decodeURIComponent(id)}`;
      return host.video.submit({ ...request, idOf: ({ name }: JsonObject) => name, lookAt });
    },
    poll(ref, signal) {
      const media = async (url: string) => ({ url, headers: await host.authorize(auth, ref.keyId) });
      return host.video.look(ref, { auth, signal }, (operation) => reportOf(operation, media));
    },
  };
}

function bodyOf(call: VideoCall, host: Host): JsonBody {
  const { prompt, seconds, aspect, resolution, image } = call;
  const spelled = host.video.resolution(call, 'resolution', resolution ?? undefined);
  const parameters = { aspectRatio: aspect, durationSeconds: seconds, ...spelled };
  return (base64) => {
    const first = image && { bytesBase64Encoded: base64(image.bytes), mimeType: image.mediaType };
    return { instances: [{ prompt, ...(first && { image: first }) }], parameters };
  };
}

/** An operation has no word for its state. What the safety rules took away is done without a sample. */
function reportOf({ done, error, response }: JsonObject, media: (url: string) => Promise<MediaSource>): VideoReport {
  if (done !== true) return { status: 'processing' };
  if (error) return { status: 'failed', error };
  const { generatedSamples: samples, raiMediaFilteredReasons: reasons } = fieldsOf(
    fieldsOf(response).generateVideoResponse,
  );
  const { uri } = fieldsOf(fieldsOf(Array.isArray(samples) ? samples[0] : undefined).video);
  if (typeof uri === 'string' && uri !== '') return { status: 'completed', media: () => media(uri) };
  const reason = Array.isArray(reasons) ? reasons.join(' ') : 'there is no sample';
  return { status: 'failed', error: { code: reasons ? 'content_policy_violation' : 'internal', message: reason } };
}

function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
