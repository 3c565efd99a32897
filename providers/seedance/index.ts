// Plugin for Seedance, as BytePlus and Volcengine serve it: tasks made of a list of contents.
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
  name: 'seedance',
  settings: (_joi, account) => account('https://ark.ap-southeast.bytepluses.com/api/v3'),
  faultWords: {
    quota: 'SetLimitExceeded QuotaExceeded',
    missing: 'ModelNotOpen InvalidEndpoint.ClosedEndpoint',
    auth: 'AuthenticationError AccessDenied',
    rate: 'RateLimitExceeded RateLimitExceeded.EndpointRPMExceeded ModelAccountRpmRateLimitExceeded',
    content: sensitiveWords(),
  },
  create: createProvider,
};

export default plugin;

const JSON_BODY = { 'content-type': 'application/json' };
const auth: KeyHeaders = (key) => ({ authorization: `Bearer ${key}` });

function createProvider(settings: AccountSettings, host: Host): Provider {
  const urlOf = host.perRoute(settings, ({ baseUrl }) => `${baseUrl.replace(/\/+$/, '')}/contents/generations/tasks`);
  return {
    video: {
      start(call, signal) {
        const url = urlOf(call);
        const body = JSON.stringify(bodyOf(call, host));
        const idOf = ({ id }: JsonObject) => id;
        return host.video.submit({ url, headers: JSON_BODY, auth, body, signal, idOf, lookAt: (id) => `${url}/${id}` });
      },
      poll(ref, signal) {
        return host.video.look(ref, { auth, signal }, ({ status, content, error }) => {
          return { status, error, url: (content as JsonObject | null | undefined)?.video_url };
        });
      },
    },
  };
}

function bodyOf(call: VideoCall, host: Host): object {
  const { model, prompt, seconds, aspect, resolution, image } = call;
  const url = image && host.video.dataUrl(image);
  const picture = { type: 'image_url', role: 'first_frame', image_url: { url } };
  return {
    model,
    content: [{ type: 'text', text: prompt }, ...(image ? [picture] : [])],
    ratio: image ? 'adaptive' : aspect,
    duration: seconds,
    ...host.video.resolution(call, 'resolution', resolution ?? undefined),
  };
}

/** What was found to be sensitive, and why. */
function sensitiveWords(): string {
  const where = ['', 'InputText', 'InputImage', 'OutputText', 'OutputVideo', 'OutputAudio', 'Audio'];
  const why = ['', '.SevereViolation', '.Violence', '.PolicyViolation', '.PrivacyInformation'];
  return where.flatMap((place) => why.map((reason) => `${place}SensitiveContentDetected${reason}`)).join(' ');
}
