// A plugin of an invented vendor of images and videos, both made as jobs: what the suite's checks of them are tried on.
import type {
  AccountSettings,
  Host,
  ImageCall,
  ImageResult,
  JsonObject,
  JsonReply,
  KeyHeaders,
  MediaSource,
  Provider,
  ProviderPlugin,
  VideoCall,
  VideoRef,
  VideoState,
} from '../../../../lib/upstream/contract/provider.ts';

const plugin: ProviderPlugin<AccountSettings> = {
  contract: 1,
  name: 'studio',
  settings: (_joi, account) => account('https://api.studio.example/v1'),
  faultWords: { content: 'nsfw', image: 'bad_frame' },
  create: (settings, host) => createProvider(settings, host),
};

export default plugin;

const auth: KeyHeaders = (key) => ({ authorization: `Key ${key}` });
const JSON_BODY = { 'content-type': 'application/json' };

/** Four images of 8 MiB in base64. */
const REPLY_BYTES_MAX = 48 * 1024 * 1024;

function createProvider(settings: AccountSettings, host: Host): Provider {
  const chooseBaseUrl = host.perRoute(settings, (own) => own.baseUrl);

  async function image(call: ImageCall, signal: AbortSignal): Promise<ImageResult> {
    const baseUrl = chooseBaseUrl(call);
    const submitted = await host.json(...submission(call, signal));
    const id = idOf(submitted, host);
    const ask = async () => {
      const request = { method: 'GET', auth, keyId: submitted.keyId, signal } as const;
      const { value, retryAfterMs } = await host.json(`${baseUrl}/jobs/${id}`, request, REPLY_BYTES_MAX);
      const images = imagesOf(fieldsOf(value), host);
      return images ? { value: { images } } : { retryAfterMs };
    };
    return host.poll<ImageResult>({ ask, everyMs: 1000, signal });
  }

  function submission(call: ImageCall, signal: AbortSignal): Parameters<Host['json']> {
    const { model, prompt, size, images } = call;
    const baseUrl = chooseBaseUrl(call);
    const sized: Record<string, string> = size ? { size: `${size.width}x${size.height}` } : {};
    const request = { method: 'POST', auth, signal } as const;
    if (images.length === 0) {
      const body = JSON.stringify({ model, prompt, ...sized });
      return [`${baseUrl}/images`, { ...request, headers: JSON_BODY, body }];
    }
    const files = images.map(({ mediaType, bytes }, at) => {
      return { field: 'image[]', fileName: `${at}.${mediaType.slice(6)}`, mediaType, bytes };
    });
    return [`${baseUrl}/edits`, { ...request, body: { fields: { model, prompt, ...sized }, files } }];
  }

  async function start(call: VideoCall, signal: AbortSignal): Promise<VideoRef> {
    const { model, prompt, seconds, resolution, image } = call;
    if (image) throw host.fault.make('request', 'the studio takes no first frame', { about: 'image' });
    const baseUrl = chooseBaseUrl(call);
    const body = JSON.stringify({ model, prompt, seconds, ...(resolution !== null && { resolution }) });
    const reply = await host.json(`${baseUrl}/videos`, { method: 'POST', headers: JSON_BODY, auth, body, signal });
    const { keyId } = reply;
    return { id: idOf(reply, host), ...(keyId !== undefined && { keyId }) };
  }

  async function poll({ id, keyId }: VideoRef, signal: AbortSignal): Promise<VideoState> {
    const url = `${settings.baseUrl}/videos/${id}`;
    const { value, retryAfterMs } = await host.json(url, { method: 'GET', auth, keyId, signal });
    const { state, percent, error } = fieldsOf(value);
    if (state === 'failed') return { status: 'failed', fault: host.fault.ofComplaint({ error }, true) };
    if (state === 'done') {
      const headers = await host.authorize(auth, keyId);
      return { status: 'completed', result: { url: `${url}/content`, headers } };
    }
    return {
      status: state === 'queued' ? 'queued' : 'processing',
      ...(typeof percent === 'number' && { progress: percent }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
  }

  return { image, video: { start, poll } };
}

function idOf({ value }: JsonReply, host: Host): string {
  const { id } = fieldsOf(value);
  if (typeof id !== 'string' || id === '')
    throw host.fault.make('protocol', `a job without an id: ${JSON.stringify(value)}`);
  return id;
}

/** Undefined while the job runs. */
function imagesOf({ state, images, error }: JsonObject, host: Host): readonly MediaSource[] | undefined {
  if (state === 'failed') throw host.fault.ofComplaint({ error }, true);
  if (state !== 'done') return undefined;
  return (Array.isArray(images) ? images : []).map(({ b64, url }: { b64?: string; url?: string }) =>
    url === undefined ? { bytes: Buffer.from(b64 ?? '', 'base64') } : { url },
  );
}

function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
