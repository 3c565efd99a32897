import { expect } from 'chai';
import { createSampleImage } from '../../lib/upstream/check/sample-image.ts';
import type { ImageCall } from '../../lib/upstream/contract/provider.ts';
import plugin from '../../providers/fal/index.ts';
import { useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://queue.example';
const CALL: ImageCall = { model: 'fal-ai/flux/schnell', prompt: 'A {cat}', images: [], options: {} };
const PNG = `data:image/png;base64,${Buffer.from(createSampleImage('png').bytes).toString('base64')}`;
const JPEG = `data:image/jpeg;base64,${Buffer.from(createSampleImage('jpeg').bytes).toString('base64')}`;

describe('fal', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: ORIGIN, apiKey: 'k1' });

  /** What one call asks for: paths with their keys, and the input it submits. */
  async function askedBy(call: Partial<ImageCall>, settings: object = {}) {
    const first = vendor.sent.length;
    vendor.answer({ request_id: 'r/1' });
    const images = [{ url: 'https://cdn.example/1' }];
    for (const answer of [{ status: 'IN_PROGRESS' }, { status: 'COMPLETED' }, { images }])
      vendor.answer(answer, { method: 'GET' });
    const result = await vendor.open(settings).image?.({ ...CALL, ...call }, new AbortController().signal);
    const sent = vendor.sent.slice(first);
    const asked = sent.map(({ method, path, headers }) => `${method} ${path} ${headers.authorization}`);
    return { asked, input: sent[0]?.body, images: result?.images };
  }

  for (const [model, app] of [
    ['fal-ai/flux', 'fal-ai/flux'],
    ['fal-ai/flux-pro/v1.1/ultra', 'fal-ai/flux-pro'],
    ['workflows/acme/paint', 'workflows/acme/paint'],
    ['comfy/acme/paint/v2', 'comfy/acme/paint'],
  ] as const) {
    it(`submits to ${model}, and asks ${app} for the request`, async () => {
      const { asked, images } = await askedBy({ model });
      expect(asked).to.deep.equal([
        `POST /${model} Key k1`,
        `GET /${app}/requests/r%2F1/status Key k1`,
        `GET /${app}/requests/r%2F1/status Key k1`,
        `GET /${app}/requests/r%2F1 Key k1`,
      ]);
      expect(images).to.deep.equal([{ url: 'https://cdn.example/1' }]);
    });
  }

  it('submits edits to a path of their own where there is one', async () => {
    const options = { editModel: 'fal-ai/flux/edit' };
    const edit = await askedBy({ options, images: [createSampleImage('png')] });
    expect(edit.asked[0]).to.equal('POST /fal-ai/flux/edit Key k1');
    expect((await askedBy({ options })).asked[0]).to.equal('POST /fal-ai/flux/schnell Key k1');
  });

  it('asks with the key it submitted with', async () => {
    const { asked } = await askedBy({}, { apiKey: ['k1', 'k2', 'k3'] });
    expect(new Set(asked.map((line) => line.split(' ').at(-1)))).to.have.property('size', 1);
  });

  const wide = { width: 1792, height: 1024 };
  for (const [name, call, template, input] of [
    ['what the call has, by default', {}, undefined, { prompt: 'A {cat}' }],
    [
      'sizes and images, by default',
      { size: wide, images: [createSampleImage('png'), createSampleImage('jpeg')] },
      undefined,
      { prompt: 'A {cat}', image_size: wide, image_urls: [PNG, JPEG] },
    ],
    ['an aspect', { aspect: '16:9' }, { p: '{prompt}', ratio: '{aspect}' }, { p: 'A {cat}', ratio: '16:9' }],
    ['a size by the name of the vendor', { size: wide }, { size: '{size}' }, { size: 'landscape_16_9' }],
    ['a size as a shape', { size: wide, aspect: '1:1' }, { s: '{shape}' }, { s: 'landscape_16_9' }],
    ['an aspect as a shape', { aspect: '4:3' }, { s: '{shape}' }, { s: '4:3' }],
    ['a size as text', { size: { width: 8, height: 4 } }, { size: '{size}' }, { size: '8x4' }],
    ['the first frame', { images: [createSampleImage('jpeg')] }, { image_url: '{image}' }, { image_url: JPEG }],
    [
      'only what the call has',
      {},
      {
        n: 1,
        none: null,
        list: ['{image}', 'x'],
        deep: { size: '{size}' },
        empty: {},
        odd: '{other}',
        in: 'a {prompt}',
      },
      { n: 1, none: null, list: ['x'], empty: {}, odd: '{other}', in: 'a {prompt}' },
    ],
  ] as const) {
    it(`submits ${name}`, async () => {
      const options = { ...(template && { input: template }), sizeMap: { '1792x1024': 'landscape_16_9' } };
      expect((await askedBy({ ...call, options })).input).to.deep.equal(input);
    });
  }

  it('submits an image from the middle of a buffer', async () => {
    const { bytes } = createSampleImage('png');
    const view = Uint8Array.from([9, ...bytes, 9]).subarray(1, 1 + bytes.length);
    const { input } = await askedBy({ images: [{ mediaType: 'image/png', bytes: view }] });
    expect(input).to.have.deep.property('image_urls', [PNG]);
  });
});
