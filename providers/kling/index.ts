// Plugin for Kling: videos from text or from a first picture, each with an endpoint of its own.
import type {
  AccountSettings,
  Base64,
  Host,
  HostVideo,
  JsonBody,
  JsonObject,
  Provider,
  ProviderPlugin,
  VideoCall,
} from '../../lib/plugin/contract.ts';
import { createAuth } from './token.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 1,
  name: 'kling',
  settings(joi, account) {
    const pair = joi.string().trim();
    const key = pair.pattern(/^[^:\s]+:[^:\s]+$/, 'access:secret').meta({ secret: true });
    const apiKey = joi.alternatives(key, joi.array().items(key).min(1)).required().meta({ secret: true });
    return account('https://api-singapore.klingai.com/v1', { apiKey });
  },
  // A 403 (1103) says that the account may not use the model, a 429 may be about money.
  faultWords: {
    quota: '1100 1101 1102',
    auth: '1000 1001 1002 1003 1004 1103',
    missing: '1202 1203',
    content: '1301',
    rate: '1302 1303',
    request: '1200 1201',
    overloaded: '5001',
    timeout: '5002',
  },
  create: createProvider,
};

export default plugin;

function createProvider(settings: AccountSettings, { video, clock }: Host): Provider {
  return {
    video: video.jobs(settings, {
      auth: createAuth(clock),
      submission(call, base) {
        const url = `${base}/videos/${call.image ? 'image2video' : 'text2video'}`;
        const body: JsonBody = (base64) => bodyOf(call, video, base64);
        return { url, body, idOf: ({ data }) => fieldsOf(data).task_id, lookAt: (id) => `${url}/${id}` };
      },
      read: ({ data }) => reportOf(fieldsOf(data)),
    }),
  };
}

/** The mode is what the vendor has for a resolution: 720p and 1080p unless the route says otherwise. */
function bodyOf(call: VideoCall, video: HostVideo, base64: Base64): object {
  const { model, prompt, seconds, aspect, resolution, image } = call;
  return {
    model_name: model,
    prompt,
    duration: String(seconds),
    // A first picture has an aspect already. Its base64 comes without the head of a URL.
    ...(image ? { image: base64(image.bytes) } : { aspect_ratio: aspect }),
    ...video.resolution(call, 'mode', resolution === '1080p' ? 'pro' : 'std'),
  };
}

function reportOf({ task_status, task_status_msg, task_result }: JsonObject) {
  const { videos } = fieldsOf(task_result);
  const isRisk = /risk control/i.test(String(task_status_msg));
  return {
    status: task_status,
    url: Array.isArray(videos) ? fieldsOf(videos[0]).url : undefined,
    error: isRisk ? { code: 1301, message: task_status_msg } : task_status_msg,
  };
}

function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
