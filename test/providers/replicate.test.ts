import { expect } from 'chai';
import { createSampleImage } from '../../lib/upstream/check/sample-image.ts';
import type { ImageCall } from '../../lib/upstream/contract/provider.ts';
import { isUpstreamFault } from '../../lib/upstream/host/fault.ts';
import plugin from '../../providers/replicate/index.ts';
import { useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://replicas.example';
const CALL: ImageCall = { model: 'acme/paint', prompt: 'A cat', images: [], options: {} };
const DONE = { id: 'p1', status: 'succeeded', output: 'https://cdn.example/1' };
const PNG = `data:image/png;base64,${Buffer.from(createSampleImage('png').bytes).toString('base64')}`;

describe('replicate', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: `${ORIGIN}/v1/`, apiKey: ['k1', 'k2'] });

  /** What one call asks for, and what comes of it. */
  async function run(call: Partial<ImageCall>, replies: readonly object[] = [DONE]) {
    const first = vendor.sent.length;
    for (const [at, reply] of replies.entries()) vendor.answer(reply, { method: at === 0 ? 'POST' : 'GET' });
    const made = vendor.open().image?.({ ...CALL, ...call }, new AbortController().signal);
    const [result] = await Promise.allSettled([made]);
    return { sent: vendor.sent.slice(first), result };
  }

  it('runs a model by its name, and the prediction that is there at once is not asked for', async () => {
    const { sent, result } = await run({});
    expect(sent.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([
      'POST /v1/models/acme/paint/predictions',
    ]);
    expect(sent[0]?.body).to.deep.equal({ input: { prompt: 'A cat' } });
    expect(result).to.deep.equal({ status: 'fulfilled', value: { images: [{ url: 'https://cdn.example/1' }] } });
  });

  it('runs a version by its id, and asks for it with the key that made it', async () => {
    const { sent } = await run({ model: 'acme/paint:abc' }, [{ id: 'p/1', status: 'starting' }, DONE]);
    expect(sent.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([
      'POST /v1/predictions',
      'GET /v1/predictions/p%2F1',
    ]);
    expect(sent[0]?.body).to.deep.equal({ version: 'abc', input: { prompt: 'A cat' } });
    expect(sent[1]?.headers.authorization).to.equal(sent[0]?.headers.authorization);
    expect(vendor.slept).to.have.length.greaterThan(0);
  });

  it('fills the template of the route', async () => {
    const input = { text: '{prompt}', ratio: '{aspect}', refs: '{images}', size: '{size}', output_format: 'png' };
    const { sent } = await run({
      aspect: '16:9',
      images: [createSampleImage('png')],
      options: { input, sizeMap: { '16:9': 'wide' } },
    });
    expect(sent[0]?.body).to.deep.equal({
      input: { text: 'A cat', ratio: 'wide', refs: [PNG], output_format: 'png' },
    });
  });

  it('fills in a size, or else an aspect, where the model has one field for both', async () => {
    const options = { input: { ratio: '{shape}' }, sizeMap: { '64x32': '2:1' } };
    const sized = await run({ size: { width: 64, height: 32 }, options });
    expect(sized.sent[0]?.body).to.deep.equal({ input: { ratio: '2:1' } });
    expect((await run({ aspect: '3:4', options })).sent[0]?.body).to.deep.equal({ input: { ratio: '3:4' } });
    expect((await run({ options })).sent[0]?.body).to.deep.equal({ input: {} });
  });

  it('sends what the call has, without a template', async () => {
    const { sent } = await run({ size: { width: 64, height: 32 }, images: [createSampleImage('png')] });
    expect(sent[0]?.body).to.deep.equal({ input: { prompt: 'A cat', width: 64, height: 32, input_images: [PNG] } });
  });

  it('looks every second until the prediction ends, in whatever way', async () => {
    for (const status of ['failed', 'canceled', 'aborted']) {
      const { sent, result } = await run({}, [
        { id: 'p1', status: 'processing' },
        { id: 'p1', status },
      ]);
      expect(sent).to.have.length(2);
      if (result.status !== 'rejected') return expect.fail(status);
      expect(result.reason).to.include({ kind: 'server', detail: `the prediction is ${status}` });
    }
    expect(vendor.slept[0]).to.be.within(800, 1200);
  });

  it('takes an image inline, also a large one, at once and after a look', async () => {
    const bytes = Buffer.alloc(6_000_000, 7);
    const output = [`data:image/png;base64,${bytes.toString('base64')}`];
    for (const before of [[], [{ id: 'p1', status: 'starting' }]]) {
      const { result } = await run({}, [...before, { id: 'p1', status: 'succeeded', output }]);
      if (result.status !== 'fulfilled') return expect.fail(`${result.reason}`);
      const [image] = (result.value?.images ?? []) as readonly { readonly bytes: Buffer }[];
      expect(image?.bytes.equals(bytes)).to.equal(true);
    }
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
