// Plugin for Seedance as served by BytePlus and Volcengine: tasks made of a list of contents.
import type {
  AccountSettings,
  Base64,
  HostVideo,
  ProviderPlugin,
  VideoCall,
} from '../../lib/upstream/contract/provider.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 2,
  name: 'seedance',
  settings: (_joi, account) => account('https://ark.ap-southeast.bytepluses.com/api/v3'),
  faultWords: {
    quota: 'SetLimitExceeded QuotaExceeded',
    missing: 'ModelNotOpen InvalidEndpoint.ClosedEndpoint',
    auth: 'AuthenticationError AccessDenied',
    rate: 'RateLimitExceeded RateLimitExceeded.EndpointRPMExceeded ModelAccountRpmRateLimitExceeded',
    content: sensitiveWords(),
  },
  create: (settings, { video, fields }) => ({
    video: video.jobs(settings, {
      submission(call, base) {
        const url = `${base}/contents/generations/tasks`;
        return {
          url,
          body: (base64) => buildSeedanceBody(call, video, base64),
          idOf: ({ id }) => id,
          lookAt: (id) => `${url}/${id}`,
        };
      },
      read: ({ status, content, error }) => ({ status, error, url: fields(content).video_url }),
      // Only while it is queued; nothing is charged then.
      cancellation: ({ url }) => ({ method: 'DELETE', url }),
    }),
  }),
};

export default plugin;

function buildSeedanceBody(call: VideoCall, video: HostVideo, base64: Base64): object {
  const { model, prompt, seconds, aspect, resolution, image } = call;
  const url = image && video.dataUrl(image, base64);
  const frame = { type: 'image_url', role: 'first_frame', image_url: { url } };
  return {
    model,
    content: [{ type: 'text', text: prompt }, ...(image ? [frame] : [])],
    ratio: image ? 'adaptive' : aspect,
    duration: seconds,
    ...video.resolution(call, 'resolution', resolution ?? undefined),
  };
}

/** What was flagged as sensitive, and why. */
function sensitiveWords(): string {
  const where = ['', 'InputText', 'InputImage', 'OutputText', 'OutputVideo', 'OutputAudio', 'Audio'];
  const why = ['', '.SevereViolation', '.Violence', '.PolicyViolation', '.PrivacyInformation'];
  return where.flatMap((place) => why.map((reason) => `${place}SensitiveContentDetected${reason}`)).join(' ');
}
