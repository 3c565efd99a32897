// Videos of the Gemini API: long-running operations, polled until they are done.
import type { Host, JsonBody, KeyHeaders, VideoCall, VideoProvider } from '../../lib/upstream/contract/provider.ts';
import { buildGeminiUrl, type Settings } from './request.ts';

export function createVideo(settings: Settings, { authorize, fields, video }: Host, auth: KeyHeaders): VideoProvider {
  return video.jobs(settings, {
    auth,
    submission: (call, base, wire) => ({
      url: buildGeminiUrl(wire, call.model, 'predictLongRunning'),
      body: buildGeminiVideoBody(call, video),
      idOf: ({ name }) => name,
      // The name of an operation is a path.
      lookAt: (id) => `${base}/${decodeURIComponent(id)}`,
    }),
    /** An operation has no word for its state. A video removed by safety rules is done without a sample. */
    read({ done, error, response }, { ref }) {
      if (done !== true) return { status: 'processing' };
      if (error) return { status: 'failed', error };
      const { generateVideoResponse = response } = fields(response);
      const made = fields(generateVideoResponse);
      const { raiMediaFilteredReasons: reasons, raiMediaFilteredCount: filtered } = made;
      const { uri: url } = fields(made.generatedSamples, 0, 'video');
      if (typeof url === 'string' && url !== '') {
        return { status: 'completed', media: async () => ({ url, headers: await authorize(auth, ref.keyId) }) };
      }
      if (!reasons && !filtered) return { status: 'completed' };
      const message = Array.isArray(reasons) ? reasons.join(' ') : 'the safety rules removed the video';
      return { status: 'failed', error: { code: 'content_policy_violation', message } };
    },
  });
}

function buildGeminiVideoBody(call: VideoCall, video: Host['video']): JsonBody {
  const { prompt, seconds, aspect, resolution, image } = call;
  const spelled = video.resolution(call, 'resolution', resolution ?? undefined);
  const parameters = { aspectRatio: aspect, durationSeconds: seconds, ...spelled };
  return (base64) => {
    const first = image && { bytesBase64Encoded: base64(image.bytes), mimeType: image.mediaType };
    return { instances: [{ prompt, ...(first && { image: first }) }], parameters };
  };
}
