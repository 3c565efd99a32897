// Videos of Replicate: predictions whose output is a film.
import type { AccountSettings, Host, JsonObject, VideoProvider } from '../../lib/plugin/contract.ts';
import { isUnknownVersion, targetOf } from './target.ts';

export interface Settings extends AccountSettings {
  /** What a model calls a size (`1792x1024`) or an aspect (`16:9`). */
  readonly sizeMap: Readonly<Record<string, string>>;
  /** The template of the input; pictures and videos have one of their own each. */
  readonly input?: JsonObject;
}

const TEMPLATE = {
  prompt: '{prompt}',
  duration: '{seconds}',
  aspect_ratio: '{aspect}',
  resolution: '{resolution}',
  image: '{image}',
};

export function createVideo(settings: Settings, host: Host): VideoProvider {
  const { start, poll } = host.video.jobs(settings, {
    submission(call, base, { input = TEMPLATE, sizeMap }) {
      const { path, version } = targetOf(call.model);
      return {
        url: base + path,
        body: (base64) => ({ ...version, input: host.video.fill(call, input, { sizeMap, base64 }) }),
        idOf: ({ id }) => id,
        lookAt: (id) => `${base}/predictions/${id}`,
      };
    },
    read({ status, output, error }) {
      const media = async () => host.image.sourcesOf(output)[0];
      return { status: status === 'aborted' ? 'canceled' : status, media, error: errorOf(error) };
    },
  });
  return {
    start: (call, signal) =>
      start(call, signal).catch((error) => {
        throw isUnknownVersion(error) ? host.fault.make('missing', error.detail, { status: 422 }) : error;
      }),
    poll,
  };
}

/** Models refuse contents in words of their own. */
export const CONTENT = /\bnsfw\b|flagged|sensitive|\bsafety\b|moderat|\(E005\)/i;

function errorOf(error: unknown): unknown {
  return typeof error === 'string' && CONTENT.test(error)
    ? { code: 'content_policy_violation', message: error }
    : error;
}
