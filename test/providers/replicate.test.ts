import { expect } from 'chai';
import { samplePicture } from '../../lib/plugin/check/picture.ts';
import type { ImageCall } from '../../lib/plugin/contract.ts';
import { isUpstreamFault } from '../../lib/plugin/fault.ts';
import { createProvider } from '../../lib/plugin/settings.ts';
import plugin from '../../providers/replicate/index.ts';
import { interceptRequests, nock } from '../../testkit/interception.ts';

const ORIGIN = 'https://replicas.example';
const CALL: ImageCall = { model: 'acme/paint', prompt: 'A cat', images: [], options: {} };
const DONE = { id: 'p1', status: 'succeeded', output: 'https://cdn.example/1' };
const PNG = `data:image/png;base64,${Buffer.from(samplePicture('png').bytes).toString('base64')}`;

describe('replicate', () => {
  interceptRequests();
  afterEach(() => nock.cleanAll());

  /** What one call asks for, and what comes of it. */
  async function run(call: Partial<ImageCall>, replies: readonly object[] = [DONE], settings: object = {}) {
    const slept: number[] = [];
    const { provider, close } = createProvider({
      plugin,
      upstream: 'main',
      settings: { baseUrl: `${ORIGIN}/v1/`, apiKey: ['k1', 'k2'], ...settings },
      log: { warn() {} },
      clock: { now: Date.now, sleep: async (ms) => void slept.push(ms) },
    });
    const asked: { line: string; key: string | null; body: unknown }[] = [];
    for (const reply of replies) {
      nock(ORIGIN)
        .intercept(/.*/, asked.length === 0 && reply === replies[0] ? 'POST' : 'GET')
        .reply(async (request: Request) => {
          const line = `${request.method} ${new URL(request.url).pathname}`;
          const body = request.method === 'POST' ? JSON.parse(await request.text()) : undefined;
          asked.push({ line, key: request.headers.get('authorization'), body });
          return [200, reply];
        });
    }
    const [result] = await Promise.allSettled([provider.image?.({ ...CALL, ...call }, new AbortController().signal)]);
    await close();
    return { asked, result, slept };
  }

  it('runs a model by its name, and the prediction that is there at once is not asked for', async () => {
    const { asked, result } = await run({});
    expect(asked.map(({ line }) => line)).to.deep.equal(['POST /v1/models/acme/paint/predictions']);
    expect(asked[0]?.body).to.deep.equal({ input: { prompt: 'A cat' } });
    expect(result).to.deep.equal({ status: 'fulfilled', value: { images: [{ url: 'https://cdn.example/1' }] } });
  });

  it('runs a version by its id, and asks for it with the key that made it', async () => {
    const { asked, slept } = await run({ model: 'acme/paint:abc' }, [{ id: 'p/1', status: 'starting' }, DONE]);
    expect(asked.map(({ line }) => line)).to.deep.equal(['POST /v1/predictions', 'GET /v1/predictions/p%2F1']);
    expect(asked[0]?.body).to.deep.equal({ version: 'abc', input: { prompt: 'A cat' } });
    expect(asked[1]?.key).to.equal(asked[0]?.key);
    expect(slept).to.have.length.greaterThan(0);
  });

  it('fills the template of the route', async () => {
    const input = { text: '{prompt}', ratio: '{aspect}', refs: '{images}', size: '{size}', output_format: 'png' };
    const { asked } = await run({
      aspect: '16:9',
      images: [samplePicture('png')],
      options: { input, sizeMap: { '16:9': 'wide' } },
    });
    expect(asked[0]?.body).to.deep.equal({
      input: { text: 'A cat', ratio: 'wide', refs: [PNG], output_format: 'png' },
    });
  });

  it('fills in a size, or else an aspect, where the model has one field for both', async () => {
    const options = { input: { ratio: '{shape}' }, sizeMap: { '64x32': '2:1' } };
    const sized = await run({ size: { width: 64, height: 32 }, options });
    expect(sized.asked[0]?.body).to.deep.equal({ input: { ratio: '2:1' } });
    expect((await run({ aspect: '3:4', options })).asked[0]?.body).to.deep.equal({ input: { ratio: '3:4' } });
    expect((await run({ options })).asked[0]?.body).to.deep.equal({ input: {} });
  });

  it('sends what the call has, without a template', async () => {
    const { asked } = await run({ size: { width: 64, height: 32 }, images: [samplePicture('png')] });
    expect(asked[0]?.body).to.deep.equal({ input: { prompt: 'A cat', width: 64, height: 32, input_images: [PNG] } });
  });

  it('tells the kinds of failure of a prediction apart', async () => {
    for (const [error, kind, about] of [
      ['Prediction failed: content flagged by safety filter', 'request', 'content'],
      ['CUDA out of memory', 'server', undefined],
      [null, 'server', undefined],
    ] as const) {
      const { result } = await run({}, [{ id: 'p1', status: 'failed', error }]);
      const fault = result.status === 'rejected' ? result.reason : undefined;
      if (!isUpstreamFault(fault)) expect.fail(`no fault: ${fault}`);
      expect([fault.kind, fault.about]).to.deep.equal([kind, about]);
    }
  });
});
