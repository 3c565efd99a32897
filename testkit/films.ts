// A video upstream on this machine, and the providers that use it: what they send, and what they make of answers.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  ProviderPlugin,
  VideoCall,
  VideoProvider,
  VideoRef,
  VideoState,
} from '../lib/upstream/contract/provider.ts';
import { createProvider, type OpenProvider } from '../lib/upstream/host/settings.ts';

interface Sent {
  readonly method: string | undefined;
  /** Includes its query. */
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Studio {
  readonly origin: string;
  /** The requests of this test. */
  readonly sent: Sent[];
  /** Starts a video; the upstream replies `answer`. */
  start(call: Partial<VideoCall>, answer: object, settings?: object): Promise<{ ref: VideoRef; body: unknown }>;
  /** One poll, by a new provider, with a ref that has been stored; the upstream replies with `answers` in turn. */
  look(ref: VideoRef, ...answers: readonly object[]): Promise<VideoState>;
  /** Gives it up, by a new provider. Undefined if its plugin cannot. */
  cancel(ref: VideoRef): Promise<void> | undefined;
}

export const CALL: VideoCall = {
  model: 'film-1',
  prompt: 'A red square turns',
  seconds: 5,
  size: { width: 1280, height: 720 },
  aspect: '16:9',
  resolution: '720p',
  options: {},
};

export const PORTRAIT: Pick<VideoCall, 'size' | 'aspect'> = { size: { width: 720, height: 1280 }, aspect: '9:16' };

export const IMAGE: NonNullable<VideoCall['image']> = { mediaType: 'image/png', bytes: new Uint8Array([1, 2, 3]) };

/** The base64 of `IMAGE`. */
export const IMAGE_BASE64 = 'AQID';

/** Call in a `describe`; `path` is the end of the plugin's `baseUrl`. */
export function useStudio(plugin: ProviderPlugin, path: string, apiKey: unknown = 'sk-films'): Studio {
  const sent: Sent[] = [];
  const answers: object[] = [];
  const opened: OpenProvider[] = [];
  const server = createServer(async (incoming, response) => {
    const { method, url, headers } = incoming;
    sent.push({ method, path: url, headers, body: Buffer.concat(await incoming.toArray()).toString() });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers.shift() ?? {}));
  });
  const readOrigin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterEach(async () => {
    for (const { close } of opened.splice(0)) await close();
    for (const list of [sent, answers]) list.length = 0;
  });
  after(() => server.close());

  function video(more: object = {}): VideoProvider {
    const settings = { baseUrl: `${readOrigin()}${path}`, apiKey, ...more };
    const open = createProvider({ plugin, upstream: 'main', settings, log: { warn() {} } });
    opened.push(open);
    if (!open.provider.video) throw new Error(`${plugin.name} makes no videos`);
    return open.provider.video;
  }

  return {
    get origin() {
      return readOrigin();
    },
    sent,
    async start(call, answer, settings) {
      answers.push(answer);
      const ref = await video(settings).start({ ...CALL, ...call }, AbortSignal.timeout(5000));
      const { body } = sent.at(-1) as Sent;
      return { ref, body: body.startsWith('{') ? JSON.parse(body) : body };
    },
    look(ref, ...said) {
      answers.push(...said);
      return video().poll(JSON.parse(JSON.stringify(ref)), AbortSignal.timeout(5000));
    },
    cancel: (ref) => video().cancel?.(ref, AbortSignal.timeout(5000)),
  };
}
