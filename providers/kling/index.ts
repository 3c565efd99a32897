// Plugin for Kling: videos from text or from a first frame, each with its own endpoint.
import type {
  AccountSettings,
  Base64,
  HostVideo,
  ProviderPlugin,
  VideoCall,
} from '../../lib/upstream/contract/provider.ts';
import { createAuth } from './token.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 2,
  name: 'kling',
  settings(joi, account) {
    const pair = joi.string().trim();
    const key = pair.pattern(/^[^:\s]+:[^:\s]+$/, 'access:secret').meta({ secret: true });
    const apiKey = joi.alternatives(key, joi.array().items(key).min(1)).required().meta({ secret: true });
    return account('https://api-singapore.klingai.com/v1', { apiKey });
  },
  // A 403 (1103) means that the account may not use the model; a 429 may be about money, or our address (1304).
  faultWords: {
    quota: '1100 1101 1102',
    auth: '1000 1001 1002 1003 1004 1103 1304',
    missing: '1202 1203',
    content: '1300 1301',
    rate: '1302 1303',
    request: '1200 1201',
    overloaded: '5001',
    timeout: '5002',
  },
  faultTexts: { content: /risk control/i },
  create: (settings, { video, fields, clock }) => ({
    video: video.jobs(settings, {
      auth: createAuth(clock),
      submission(call, base) {
        const url = `${base}/videos/${call.image ? 'image2video' : 'text2video'}`;
        return {
          url,
          body: (base64) => buildKlingBody(call, video, base64),
          idOf: ({ data }) => fields(data).task_id,
          lookAt: (id) => `${url}/${id}`,
        };
      },
      read({ data }) {
        const { task_status: status, task_status_msg: error, task_result: result } = fields(data);
        return { status, error, url: fields(result, 'videos', 0).url };
      },
    }),
  }),
};

export default plugin;

/** The mode stands for a resolution: 720p and 1080p unless the route says otherwise. */
function buildKlingBody(call: VideoCall, video: HostVideo, base64: Base64): object {
  const { model, prompt, seconds, aspect, resolution, image } = call;
  return {
    model_name: model,
    prompt,
    duration: String(seconds),
    // A first frame already has an aspect. Its base64 is sent without a data URL's head.
    ...(image ? { image: base64(image.bytes) } : { aspect_ratio: aspect }),
    ...video.resolution(call, 'mode', resolution === '1080p' ? 'pro' : 'std'),
  };
}
