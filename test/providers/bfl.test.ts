import { expect } from 'chai';
import { createSampleImage } from '../../lib/upstream/check/sample-image.ts';
import type { ImageCall } from '../../lib/upstream/contract/provider.ts';
import plugin from '../../providers/bfl/index.ts';
import { useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://api.bfl.ai';
const CALL: ImageCall = { model: 'flux-2-pro', prompt: 'A cat', images: [], options: {} };
const READY = { id: 't1', status: 'Ready', result: { sample: 'https://delivery.example/1.jpeg' } };

describe('bfl', () => {
  const vendor = useVendor(plugin, ORIGIN, { apiKey: ['k1', 'k2'] });

  /** What one call submits, and where it looks for the task. */
  async function run(call: Partial<ImageCall>, polling = `${ORIGIN}/v1/get_result?id=t1`, settings: object = {}) {
    vendor.answer({ id: 't1', polling_url: polling });
    for (const origin of [ORIGIN, new URL(polling).origin]) vendor.answer(READY, { method: 'GET', origin });
    const result = await vendor.open(settings).image?.({ ...CALL, ...call }, new AbortController().signal);
    const [submitted, looked] = vendor.sent;
    const keys = vendor.sent.map(({ headers }) => headers['x-key']);
    return { path: submitted?.path, body: submitted?.body, looked: looked?.url, keys, images: result?.images };
  }

  it('submits to the path of the model, and looks with the same key', async () => {
    const { path, body, keys, images } = await run({});
    expect(path).to.equal('/v1/flux-2-pro');
    expect(body).to.deep.equal({ prompt: 'A cat' });
    expect(keys[1]).to.equal(keys[0]);
    expect(images).to.deep.equal([{ url: 'https://delivery.example/1.jpeg' }]);
  });

  for (const [polling, settings, looked] of [
    ['https://api.eu.bfl.ai/v1/get_result?id=t1&x=2', {}, 'https://api.eu.bfl.ai/v1/get_result?id=t1&x=2'],
    ['https://api.us4.bfl.ai/v1/get_result?id=t1', {}, 'https://api.us4.bfl.ai/v1/get_result?id=t1'],
    ['https://evil.example/v1/get_result?id=t1', {}, 'https://api.bfl.ai/v1/get_result?id=t1'],
    ['https://api.bfl.ai.evil.example/get_result', {}, 'https://api.bfl.ai/v1/get_result?id=t1'],
    ['https://mirror.example/x', { pollingUrl: 'https://mirror.example' }, 'https://mirror.example/x'],
    ['https://api.eu.bfl.ai/x', { pollingUrl: ['https://mirror.example'] }, 'https://api.bfl.ai/v1/get_result?id=t1'],
  ] as const) {
    it(`looks at ${looked} when it is told ${polling} with ${JSON.stringify(settings)}`, async () => {
      expect((await run({}, polling, settings)).looked).to.equal(looked);
    });
  }

  const wide = { width: 1792, height: 1024 };
  for (const [model, asked, sizeMap, shape] of [
    ['flux-2-pro', { size: wide }, {}, wide],
    ['flux-2-pro', { size: { width: 1000, height: 999 } }, {}, { width: 1008, height: 992 }],
    ['flux-2-flex', { aspect: '16:9' }, {}, { width: 1360, height: 768 }],
    ['flux-pro-1.1', { size: wide }, {}, { width: 1440, height: 832 }],
    ['flux-pro-1.1', { size: { width: 1024, height: 1792 } }, {}, { width: 832, height: 1440 }],
    ['flux-2-pro', { size: { width: 8192, height: 4096 } }, {}, { width: 4096, height: 2048 }],
    ['flux-dev', { size: { width: 1440, height: 8 } }, {}, { width: 1440, height: 32 }],
    ['flux-dev', { aspect: '1:1' }, {}, { width: 1024, height: 1024 }],
    ['flux-dev', { size: wide }, { '1792x1024': '1280x736' }, { width: 1280, height: 736 }],
    ['flux-kontext-max', { size: wide }, {}, { aspect_ratio: '7:4' }],
    ['flux-kontext-max', { aspect: '3:4' }, {}, { aspect_ratio: '3:4' }],
    ['flux-pro-1.1-ultra', { size: wide }, { '1792x1024': '16:9' }, { aspect_ratio: '16:9' }],
  ] as const) {
    it(`asks ${model} for ${JSON.stringify(shape)} for ${JSON.stringify(asked)}`, async () => {
      const { body } = await run({ model, ...asked, options: { sizeMap } });
      expect(body).to.deep.equal({ prompt: 'A cat', ...shape });
    });
  }

  it('sends up to four images, each in a field of its own, and the further fields of the route', async () => {
    const images = (['png', 'jpeg', 'gif', 'webp'] as const).map(createSampleImage);
    const { body } = await run({ images, options: { input: { output_format: 'png' } } });
    const base64 = images.map(({ bytes }) => Buffer.from(bytes).toString('base64'));
    expect(body).to.deep.equal({
      prompt: 'A cat',
      input_image: base64[0],
      input_image_2: base64[1],
      input_image_3: base64[2],
      input_image_4: base64[3],
      output_format: 'png',
    });
  });

  it('lets the fields of the route stand for what it would ask itself', async () => {
    const { body } = await run({ size: wide, options: { input: { width: 640, height: 640 } } });
    expect(body).to.deep.equal({ prompt: 'A cat', width: 640, height: 640 });
  });

  it('looks every half second until the task ends', async () => {
    vendor.answer({ id: 't1', polling_url: `${ORIGIN}/v1/get_result?id=t1` });
    for (const reply of [{ status: 'Pending' }, READY]) vendor.answer(reply, { method: 'GET' });
    await vendor.open().image?.(CALL, new AbortController().signal);
    const [first = 0, second = 0] = vendor.slept;
    expect(first).to.be.within(400, 600);
    expect(second).to.be.within(500, 750);
  });

  it('looks again for a task that is not known yet', async () => {
    vendor.answer({ id: 't1', polling_url: `${ORIGIN}/v1/get_result?id=t1` });
    const unknown = { id: 't1', status: 'Task not found', result: null };
    for (const reply of [unknown, unknown, READY]) vendor.answer(reply, { method: 'GET' });
    const result = await vendor.open().image?.(CALL, new AbortController().signal);
    expect(result?.images).to.deep.equal([{ url: 'https://delivery.example/1.jpeg' }]);
  });

  it('warns of a size that is none, and does without it', async () => {
    const { body } = await run({ size: wide, options: { sizeMap: { '1792x1024': 'landscape' } } });
    expect(body).to.deep.equal({ prompt: 'A cat', ...wide });
    expect(vendor.warnings.map(({ message }) => message)).to.deep.equal([
      'route options with unknown values are ignored',
    ]);
  });
});
