// Plugin for the videos of Alibaba Model Studio: tasks of Wan and its neighbours.
import type {
  AccountSettings,
  Base64,
  Host,
  HostVideo,
  JsonObject,
  Provider,
  ProviderPlugin,
  VideoCall,
} from '../../lib/plugin/contract.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 1,
  name: 'dashscope',
  settings: (_joi, account) => account('https://dashscope-intl.aliyuncs.com/api/v1'),
  faultWords: {
    missing: 'ModelNotFound Model.NotFound InvalidParameter.Model',
    auth: 'InvalidApiKey',
    content: 'DataInspectionFailed IPInfringementSuspect',
    rate: 'Throttling.BurstRate',
  },
  create: createProvider,
};

export default plugin;

/** Without it the vendor refuses the request: it makes no videos while one waits. */
const HEADERS = { 'x-dashscope-async': 'enable' };

function createProvider(settings: AccountSettings, { video }: Host): Provider {
  return {
    video: video.jobs(settings, {
      submission: (call, base) => ({
        url: `${base}/services/aigc/video-generation/video-synthesis`,
        headers: HEADERS,
        body: (base64) => bodyOf(call, video, base64),
        idOf: ({ output }) => fieldsOf(output).task_id,
        lookAt: (id) => `${base}/tasks/${id}`,
      }),
      read({ output }) {
        const { task_status: status, video_url: url, code, message } = fieldsOf(output);
        return { status, url, error: { code, message } };
      },
    }),
  };
}

/** Text is given a size in pixels; a first picture has a shape already, and is given a resolution. */
function bodyOf(call: VideoCall, video: HostVideo, base64: Base64): object {
  const { model, prompt, seconds, size, resolution, image } = call;
  const spelled = image
    ? video.resolution(call, 'resolution', resolution?.toUpperCase())
    : video.resolution(call, 'size', `${size.width}*${size.height}`);
  return {
    model,
    input: { prompt, ...(image && { img_url: video.dataUrl(image, base64) }) },
    parameters: { duration: seconds, ...spelled },
  };
}

function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
