// Plugin for videos of Alibaba Model Studio: tasks of Wan and related models.
import type {
  AccountSettings,
  Base64,
  HostVideo,
  ProviderPlugin,
  VideoCall,
} from '../../lib/upstream/contract/provider.ts';

interface Settings extends AccountSettings {
  /** The model for videos from a first frame, if it is another. */
  readonly editModel?: string;
}

/** Required: the vendor makes videos only asynchronously. */
const HEADERS = { 'x-dashscope-async': 'enable' };

const plugin: ProviderPlugin<Settings> = {
  contract: 2,
  name: 'dashscope',
  settings: (joi, account) => account('https://dashscope-intl.aliyuncs.com/api/v1', { editModel: joi.string() }),
  faultWords: {
    missing: 'Model.NotFound InvalidParameter.Model',
    auth: 'InvalidApiKey',
    content: 'IPInfringementSuspect',
    rate: 'Throttling.BurstRate',
  },
  create: (settings, { video, fields, fault }) => ({
    video: video.jobs(settings, {
      submission(call, base, { editModel }) {
        const model = (call.image && editModel) || call.model;
        // It would leave the frame out, and make another video than the one that is paid for.
        if (call.image && TEXT_ALONE.test(model)) throw fault.make('request', `${model} takes no first frame`);
        return {
          url: `${base}/services/aigc/video-generation/video-synthesis`,
          headers: HEADERS,
          body: (base64) => buildDashscopeBody({ ...call, model }, video, base64),
          idOf: ({ output }) => fields(output).task_id,
          lookAt: (id) => `${base}/tasks/${id}`,
        };
      },
      read({ output }) {
        const { task_status: status, video_url: url, code, message } = fields(output);
        return { status, url, error: { code, message } };
      },
      // Only while it waits; nothing is charged then.
      cancellation: ({ url }) => ({ method: 'POST', url: `${url}/cancel` }),
    }),
  }),
};

export default plugin;

const TEXT_ALONE = /-t2v\b/;

/** For text, a size in pixels; a first frame already has a shape, so a resolution. */
function buildDashscopeBody(call: VideoCall, video: HostVideo, base64: Base64): object {
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
