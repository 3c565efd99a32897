// Plugin for upstreams with videos in the shape POST /videos, GET /videos/{id}, GET /videos/{id}/content.
import type {
  AccountSettings,
  Host,
  Multipart,
  Provider,
  ProviderPlugin,
  VideoCall,
} from '../../lib/upstream/contract/provider.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 2,
  name: 'openai-videos',
  settings: (_joi, account) => account.keyOptional('https://api.openai.com/v1'),
  faultWords: { content: 'sentinel_block' },
  create: createProvider,
};

export default plugin;

function createProvider(settings: AccountSettings, host: Host): Provider {
  return {
    video: host.video.jobs(settings, {
      submission(call, base) {
        const url = host.urlBelow(base, 'videos');
        const lookAt = (id: string) => host.urlBelow(url, id);
        return { url, body: buildVideoForm(call, host), idOf: ({ id }) => id, lookAt };
      },
      read({ status, progress, error }, { ref, auth }) {
        const media = async () => ({
          url: host.urlBelow(`${ref.url}`, 'content'),
          headers: await host.authorize(auth, ref.keyId),
        });
        return { status, progress, error, media };
      },
    }),
  };
}

/** A form, because the first of these servers accepted nothing else; all values are text, including the seconds. */
function buildVideoForm(call: VideoCall, host: Host): Multipart {
  const { model, prompt, seconds, size, image } = call;
  const resolution = host.video.resolution(call, 'size', `${size.width}x${size.height}`);
  const fields = Object.entries({ model, prompt, seconds, ...resolution }).map(([name, value]) => {
    return [name, typeof value === 'object' ? JSON.stringify(value) : String(value)];
  });
  const type = image?.mediaType.slice('image/'.length);
  return {
    fields: Object.fromEntries(fields),
    files: image ? [{ field: 'input_reference', fileName: `image.${type}`, ...image }] : [],
  };
}
