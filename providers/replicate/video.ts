// Videos of Replicate: predictions whose output is a film.
import type { Host, JsonObject, KeyHeaders, VideoCall, VideoProvider } from '../../lib/plugin/contract.ts';
import { fillVideo, type Settings } from './input.ts';
import { isUnknownVersion, targetOf } from './target.ts';

const JSON_BODY = { 'content-type': 'application/json' };

export function createVideo(wireOf: (call: VideoCall) => Settings, host: Host, auth: KeyHeaders): VideoProvider {
  return {
    async start(call, signal) {
      const wire = wireOf(call);
      const base = wire.baseUrl.replace(/\/+$/, '');
      const { path, version } = targetOf(call.model);
      const fill = fillVideo(call, wire, host.video.resolution(call, 'resolution', call.resolution ?? undefined));
      const body = (base64: Parameters<typeof fill>[0]) => ({ ...version, input: fill(base64) });
      const request = { url: base + path, headers: JSON_BODY, auth, body, signal };
      const lookAt = (id: string) => `${base}/predictions/${id}`;
      try {
        return await host.video.submit({ ...request, idOf: ({ id }: JsonObject) => id, lookAt });
      } catch (error) {
        throw isUnknownVersion(error) ? host.fault.make('missing', error.detail, { status: 422 }) : error;
      }
    },
    poll(ref, signal) {
      return host.video.look(ref, { auth, signal }, ({ status, output, error }) => {
        const [first] = [output].flat() as unknown[];
        return { status: status === 'aborted' ? 'canceled' : status, url: urlOf(first), error: errorOf(error) };
      });
    },
  };
}

/** Output is a URL, a list of them, or an object that has one. */
function urlOf(output: unknown): unknown {
  return typeof output === 'object' && output !== null ? (output as JsonObject).url : output;
}

/** Models refuse contents in words of their own. */
export const CONTENT = /\bnsfw\b|flagged|sensitive|\bsafety\b|moderat|\(E005\)/i;

function errorOf(error: unknown): unknown {
  return typeof error === 'string' && CONTENT.test(error)
    ? { code: 'content_policy_violation', message: error }
    : error;
}
