// Three kinds of upstreams behind one gateway: what each is asked for is what its client is billed for and told.
import { expect } from 'chai';
import { send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { GENERATIONS } from '../../testkit/images.ts';
import { startUpstream, type TestUpstream, type UpstreamCall } from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';

const VIDEOS = '/api/v1/videos';

/** Begins any video, in both shapes; makes any image. */
function answer({ request, response }: UpstreamCall): void {
  const job = request.url?.includes('text2video') ? { code: 0, data: { task_id: '1' } } : { id: '1', status: 'queued' };
  const image = { created: 1, data: [{ b64_json: PNG.toString('base64') }] };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(request.url?.includes('/images/') ? image : job));
}

function buildCatalog(url: string): object {
  const settings = { baseUrl: `${url}/v1`, apiKey: 'access:up-secret-key-1' };
  const video = (id: string, price: object, more: object = {}) => {
    const upstream = id.startsWith('form') ? 'form' : 'modes';
    return { id, type: 'video', provider: 'Test', routes: [{ upstream, model: 'up-film' }], price, ...more };
  };
  return {
    upstreams: {
      images: { plugin: 'openai-images', settings },
      form: { plugin: 'openai-videos', settings },
      modes: { plugin: 'kling', settings },
    },
    models: [
      video('form-two', { second: { '720p': '8', '1080p': '15' } }, { seconds: [4, 8] }),
      video('form-one', { second: { '720p': '8' } }, { seconds: [4, 8] }),
      video('modes-two', { second: { '720p': '8', '1080p': '15' } }, { seconds: [5, 10] }),
      {
        id: 'draw',
        type: 'image',
        provider: 'Test',
        price: { request: '10' },
        routes: [{ upstream: 'images', model: 'up-image' }],
      },
    ],
    defaults: { image: ['draw'] },
  };
}

describe('requests to upstreams', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream(answer);
    // Nobody looks at a video before it is begun: what is asked last is its submission.
    gateway = await startGateway({ catalog: buildCatalog(upstream.url), env: { VIDEO_POLL_MS: '60000' } });
  });
  beforeEach(async () => {
    account = await gateway.account();
    upstream.calls.length = 0;
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const post = (path: string, body: object) => send(gateway.url + path, { key: account.key, body });

  /** In a form: a field and its text. */
  const readField = (name: string) =>
    new RegExp(`name="${name}"\r\n(?:[^\r]+\r\n)*\r\n([^\r]*)`).exec(upstream.calls[0]?.bytes.toString() ?? '')?.[1];

  const films: readonly [asked: object, size: string, seconds: number, billed: string, rub: number][] = [
    [{}, '1920x1080', 4, '1080p', 60],
    [{ seconds: 8 }, '1920x1080', 8, '1080p', 120],
    [{ resolution: '720p' }, '1280x720', 4, '720p', 32],
    [{ resolution: '720p', size: '1920x1080' }, '1280x720', 4, '720p', 32],
    [{ size: '1080x1920' }, '1080x1920', 4, '1080p', 60],
    [{ size: '700x1300' }, '720x1280', 4, '720p', 32],
    [{ aspect: '9:16', resolution: '720p' }, '720x1280', 4, '720p', 32],
    [{ size: '1280x720', aspect: '9:16' }, '1280x720', 4, '720p', 32],
    [{ model: 'form-one' }, '1280x720', 4, '720p', 32],
    [{ model: 'form-one', size: '3840x2160' }, '1280x720', 4, '720p', 32],
  ];
  for (const [asked, size, seconds, billed, rub] of films) {
    it(`ask for a video of ${size} and ${seconds} s for ${JSON.stringify(asked)}, billed as ${billed}`, async () => {
      const { status, json, text } = await post(VIDEOS, { model: 'form-two', prompt: 'a hill', ...asked });
      expect(status, text).to.equal(200);
      expect([readField('size'), readField('seconds')]).to.deep.equal([size, `${seconds}`]);
      expect(json).to.include({ price_rub: rub, balance_rub: 1000 - rub, seconds });
      expect(json.size).to.equal(size);
      expect(json.billing).to.deep.equal({
        charged_rub: rub,
        balance_rub: 1000 - rub,
        unit: 'second',
        unit_price_rub: rub / seconds,
        price_option: billed,
      });
    });
  }

  const modes: readonly [asked: object, mode: string, aspect: string, billed: string][] = [
    [{}, 'pro', '16:9', '1080p'],
    [{ resolution: '720p', aspect: '1:1' }, 'std', '1:1', '720p'],
    [{ size: '720x1280' }, 'std', '9:16', '720p'],
    [{ size: '4096x4096' }, 'pro', '1:1', '1080p'],
  ];
  for (const [asked, mode, aspect, billed] of modes) {
    it(`ask for a video of mode ${mode} in ${aspect} for ${JSON.stringify(asked)}, billed as ${billed}`, async () => {
      const { json } = await post(VIDEOS, { model: 'modes-two', prompt: 'a hill', ...asked });
      expect(upstream.calls[0]?.body).to.include({ model_name: 'up-film', duration: '5', mode, aspect_ratio: aspect });
      expect(json.billing.price_option).to.equal(billed);
    });
  }

  const images: readonly [asked: object, size: string | undefined][] = [
    [{}, undefined],
    [{ size: '1024x1024' }, '1024x1024'],
    [{ size: '1792x1024' }, '1792x1024'],
    [{ size: '1024x1792' }, '1024x1792'],
    [{ size: '1024x1792', aspect: '16:9' }, '1024x1792'],
    [{ aspect: '1:1' }, '1024x1024'],
    [{ aspect: '16:9' }, '1536x1024'],
    [{ aspect: '4:3' }, '1536x1024'],
    [{ aspect: '9:16' }, '1024x1536'],
    [{ aspect: '3:4' }, '1024x1536'],
  ];
  for (const [asked, size] of images) {
    it(`ask for an image of ${size ?? 'any size'} for ${JSON.stringify(asked)}`, async () => {
      expect((await post(GENERATIONS, { prompt: 'a hill', ...asked })).status).to.equal(200);
      expect(upstream.calls[0]?.body.size).to.equal(size);
    });
  }
});
