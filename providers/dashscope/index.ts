// Plugin for the videos of Alibaba Model Studio: tasks of Wan and its neighbours.
import type {
  AccountSettings,
  Host,
  JsonObject,
  KeyHeaders,
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

/** Without the second header the vendor refuses the request: it makes no videos while one waits. */
const HEADERS = { 'content-type': 'application/json', 'x-dashscope-async': 'enable' };
const auth: KeyHeaders = (key) => ({ authorization: `Bearer ${key}` });

function createProvider(settings: AccountSettings, host: Host): Provider {
  const baseOf = host.perRoute(settings, ({ baseUrl }) => baseUrl.replace(/\/+$/, ''));
  return {
    video: {
      start(call, signal) {
        const base = baseOf(call);
        const request = {
          url: `${base}/services/aigc/video-generation/video-synthesis`,
          headers: HEADERS,
          auth,
          signal,
        };
        const body = JSON.stringify(bodyOf(call, host));
        const idOf = ({ output }: JsonObject) => fieldsOf(output).task_id;
        return host.video.submit({ ...request, body, idOf, lookAt: (id) => `${base}/tasks/${id}` });
      },
      poll(ref, signal) {
        return host.video.look(ref, { auth, signal }, ({ output }) => {
          const { task_status: status, video_url: url, code, message } = fieldsOf(output);
          return { status, url, error: { code, message } };
        });
      },
    },
  };
}

/** Text is given a size in pixels; a first picture has a shape already, and is given a resolution. */
function bodyOf(call: VideoCall, host: Host): object {
  const { model, prompt, seconds, size, resolution, image } = call;
  const spelled = image
    ? host.video.resolution(call, 'resolution', resolution?.toUpperCase())
    : host.video.resolution(call, 'size', `${size.width}*${size.height}`);
  return {
    model,
    input: { prompt, ...(image && { img_url: host.video.dataUrl(image) }) },
    parameters: { duration: seconds, ...spelled },
  };
}

function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
