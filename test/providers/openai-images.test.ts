import { expect } from 'chai';
import { createSampleImage } from '../../lib/upstream/check/sample-image.ts';
import type { ImageCall } from '../../lib/upstream/contract/provider.ts';
import { checkSettings } from '../../lib/upstream/host/settings.ts';
import plugin from '../../providers/openai-images/index.ts';
import { itLong } from '../../testkit/long.ts';
import { useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://images.example';
const CALL: ImageCall = { model: 'flux', prompt: 'A cat', images: [], options: {} };
const WIDE = { width: 1792, height: 1024 };

describe('openai-images', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: `${ORIGIN}/v1`, apiKey: 'sk-test' });

  /** What one call sends. */
  async function sentBy(call: Partial<ImageCall>, settings: object = {}) {
    vendor.answer({ data: [{ url: 'https://cdn.example/1.png' }] });
    await vendor.open(settings).image?.({ ...CALL, ...call }, new AbortController().signal);
    const { path, headers, body, form = [] } = vendor.sent.at(-1) ?? expect.fail('nothing was sent');
    const fields = [...form];
    const files = fields.flatMap(([field, value]) => (value instanceof File ? [[field, value.name, value.type]] : []));
    const texts = Object.fromEntries(fields.filter(([, value]) => typeof value === 'string'));
    return { path, type: headers['content-type'], body: { ...body, ...texts }, files };
  }

  it('asks for as little as it can', async () => {
    const { path, body } = await sentBy({});
    expect(path).to.equal('/v1/images/generations');
    expect(body).to.deep.equal({ model: 'flux', prompt: 'A cat' });
  });

  for (const [baseUrl, path] of [
    [`${ORIGIN}/v1/`, '/v1/images/generations'],
    [
      `${ORIGIN}/openai/deployments/x?api-version=2025-04-01`,
      '/openai/deployments/x/images/generations?api-version=2025-04-01',
    ],
    [ORIGIN, '/images/generations'],
  ] as const) {
    it(`asks ${path} for ${baseUrl}`, async () => {
      expect((await sentBy({}, { baseUrl })).path).to.equal(path);
    });
  }

  for (const [model, asked, options, size] of [
    ['flux', { size: WIDE }, {}, '1792x1024'],
    ['flux', { size: WIDE }, { sizeMap: { '1792x1024': '1344x768' } }, '1344x768'],
    ['flux', { aspect: '9:16' }, {}, '1024x1536'],
    ['flux', { aspect: '9:16' }, { sizeMap: { '9:16': '720x1280' } }, '720x1280'],
    ['gpt-image-1', { size: WIDE }, {}, '1536x1024'],
    ['openai/gpt-image-1.5', { size: { width: 1024, height: 1792 } }, {}, '1024x1536'],
    ['gpt-image-1-mini', { aspect: '1:1' }, {}, '1024x1024'],
    ['gpt-image-2', { size: WIDE }, {}, '1792x1024'],
    ['gpt-image-2', {}, {}, undefined],
  ] as const) {
    it(`asks ${model} for ${size} for ${JSON.stringify(asked)} and ${JSON.stringify(options)}`, async () => {
      const { body } = await sentBy({ model, ...asked, options });
      expect(body.size).to.equal(size);
    });
  }

  it('sends the further fields of the route, but no response_format where it is refused', async () => {
    const options = { input: { quality: 'low', response_format: 'b64_json' } };
    const one = await sentBy({ model: 'flux', options });
    expect(one.body).to.include({ quality: 'low', response_format: 'b64_json' });
    const other = await sentBy({ model: 'gpt-image-2', options });
    expect(other.body).to.include({ quality: 'low' }).and.not.have.property('response_format');
  });

  it('edits one image as `image`, and several as `image[]`', async () => {
    const one = await sentBy({
      images: [createSampleImage('webp')],
      size: WIDE,
      options: { input: { output_compression: 80 } },
    });
    expect(one.path).to.equal('/v1/images/edits');
    expect(one.type).to.match(/^multipart\/form-data; boundary=/);
    expect(one.body).to.deep.equal({ model: 'flux', prompt: 'A cat', size: '1792x1024', output_compression: '80' });
    expect(one.files).to.deep.equal([['image', 'image-1.webp', 'image/webp']]);
    const two = await sentBy({ images: [createSampleImage('jpeg'), createSampleImage('png')] });
    expect(two.files).to.deep.equal([
      ['image[]', 'image-1.jpg', 'image/jpeg'],
      ['image[]', 'image-2.png', 'image/png'],
    ]);
  });

  it('edits in JSON where the route says so, with the bytes of the image alone', async () => {
    const { bytes } = createSampleImage('png');
    const padded = Uint8Array.from([1, 2, 3, ...bytes, 4, 5]).subarray(3, 3 + bytes.length);
    const { type, body } = await sentBy({
      images: [{ mediaType: 'image/png', bytes: padded }],
      options: { editTransport: 'json' },
    });
    expect(type).to.equal('application/json');
    const url = `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`;
    expect(body.images).to.deep.equal([{ image_url: url }]);
  });

  describe('of another vendor', () => {
    const png = createSampleImage('png');
    const url = `data:image/png;base64,${Buffer.from(png.bytes).toString('base64')}`;
    const linked = { type: 'image_url', image_url: { url } };
    const asBase = { model: 'flux', prompt: 'A cat' };

    for (const [api, count, path, images] of [
      ['xai', 0, '/v1/images/generations', {}],
      ['xai', 1, '/v1/images/edits', { image: { type: 'image_url', url } }],
      [
        'xai',
        2,
        '/v1/images/edits',
        {
          images: [
            { type: 'image_url', url },
            { type: 'image_url', url },
          ],
        },
      ],
      ['ark', 0, '/v1/images/generations', {}],
      ['ark', 1, '/v1/images/generations', { image: url }],
      ['ark', 2, '/v1/images/generations', { image: [url, url] }],
      ['openrouter', 0, '/v1/images', {}],
      ['openrouter', 1, '/v1/images', { input_references: [linked] }],
    ] as const) {
      it(`sends ${count} images to ${api} in JSON, to ${path}`, async () => {
        const sent = await sentBy({ images: Array(count).fill(png), options: { api } });
        expect(sent.path).to.equal(path);
        expect(sent.type).to.equal('application/json');
        expect(sent.body).to.deep.equal({ ...asBase, ...images });
      });
    }

    for (const [api, asked, sizeMap, shape] of [
      ['xai', { size: WIDE }, {}, { aspect_ratio: '16:9' }],
      ['xai', { aspect: '3:4' }, {}, { aspect_ratio: '3:4' }],
      ['openrouter', { size: WIDE }, { '1792x1024': '21:9' }, { aspect_ratio: '21:9' }],
      ['ark', { size: WIDE }, {}, { size: '2560x1440' }],
      ['ark', { aspect: '9:16' }, { '9:16': '2K' }, { size: '2K' }],
    ] as const) {
      it(`asks ${api} for ${JSON.stringify(shape)} for ${JSON.stringify(asked)}`, async () => {
        expect((await sentBy({ ...asked, options: { api, sizeMap } })).body).to.deep.equal({ ...asBase, ...shape });
      });
    }
  });

  describe('makes of a stream', () => {
    const png = Buffer.from('an image');
    const early = Buffer.from('a sketch of it').toString('base64');
    const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
    const partial = event('image_generation.partial_image', { b64_json: early, partial_image_index: 0 });
    const completed = event('image_generation.completed', { b64_json: png.toString('base64'), usage: {} });
    const url = 'https://cdn.example/1.png';

    for (const [what, body, made] of [
      ['its image', partial + completed, [{ bytes: png }]],
      ['its image before a mark of the end', `: keep-alive\n\n${completed}data: [DONE]\n\n`, [{ bytes: png }]],
      ['the link to its image', event('image_edit.completed', { url }), [{ url }]],
      ['images in one piece', JSON.stringify({ created: 1, data: [{ url }] }), [{ url }]],
      ['nothing if it breaks off before its image', partial, []],
      [
        'a refusal',
        partial + event('error', { error: { code: 'moderation_blocked', message: 'no' } }),
        'request/content',
      ],
      ['nothing of nothing', JSON.stringify({ created: 1, data: [] }), []],
    ] as const) {
      it(what, async () => {
        const type = body.startsWith('{') ? 'application/json' : 'text/event-stream';
        vendor.answer(body, { type });
        const call = { ...CALL, options: { input: { stream: true } } };
        const result = await vendor
          .open()
          .image?.(call, new AbortController().signal)
          .then(
            ({ images }) => images,
            ({ kind, about }) => (about === undefined ? kind : `${kind}/${about}`),
          );
        expect(result).to.deep.equal(made);
        expect(vendor.sent.at(-1)?.body).to.include({ stream: true });
      });
    }
  });

  describe('makes of an answer', () => {
    const bytes = Buffer.from('an image');
    const inline = bytes.toString('base64');
    const dataUrl = `data:image/png;base64,${inline}`;
    const url = 'https://cdn.example/1.png';

    async function madeOf(answer: object): Promise<unknown> {
      vendor.answer(answer);
      const { image } = vendor.open();
      const call = { model: 'flux', prompt: 'A cat', images: [], options: {} };
      return image?.(call, new AbortController().signal).then(
        ({ images }) => images,
        ({ kind, about }) => (about === undefined ? kind : `${kind}/${about}`),
      );
    }

    for (const [answer, made] of [
      [{ data: [{ url }] }, [{ url }]],
      [{ data: [{ b64_json: inline }] }, [{ bytes }]],
      [
        {
          data: [
            { b64_json: '', url },
            { b64_json: inline, url },
          ],
        },
        [{ url }, { bytes }],
      ],
      [{ data: [{ b64_json: dataUrl }, { url: dataUrl }] }, [{ bytes }, { bytes }]],
      [{ data: [{}, null, { url: '' }, { url: 7 }] }, []],
      [{ data: [], error: null }, []],
      [
        {
          data: [
            { error: { code: 'OutputImageSensitiveContentDetected', message: 'it may contain sensitive information' } },
          ],
        },
        'request/content',
      ],
      [{ data: [{ error: { code: 'internal_error', message: 'no' } }] }, 'server'],
      [{ data: [{ error: { code: 'internal_error', message: 'no' } }, { url }] }, [{ url }]],
      [{ data: [{ url: null, is_image_safe: false }] }, 'request/content'],
      [{ data: [{ url: '', respect_moderation: false }] }, 'request/content'],
      [{ data: [{ finish_reason: 'CONTENT_FILTERED' }] }, 'request/content'],
      [{ data: [{ url: null, is_image_safe: true, respect_moderation: true, finish_reason: 'SUCCESS' }] }, []],
      [{ data: [{ url }], error: { code: 'safety_violation', message: 'no' } }, 'request/content'],
      [{ error: { code: 'rate_limit_exceeded', message: 'no' } }, 'rate'],
      [{ data: { url } }, 'protocol'],
    ] as const) {
      it(`${JSON.stringify(made)}: ${JSON.stringify(answer)}`, async () => {
        expect(await madeOf(answer)).to.deep.equal(made);
      });
    }

    itLong('an image of 24 MiB', async () => {
      const large = Buffer.alloc(24 * 1024 * 1024, 7);
      const [image] = (await madeOf({ data: [{ b64_json: large.toString('base64') }] })) as { bytes: Buffer }[];
      expect(image?.bytes.equals(large)).to.equal(true);
    });
  });

  it('lets the fields of the route stand for what it would ask itself', async () => {
    const { body } = await sentBy({ size: WIDE, options: { input: { size: 'auto' } } });
    expect(body).to.deep.equal({ model: 'flux', prompt: 'A cat', size: 'auto' });
  });

  it('asks for no response_format of the models that answer inline, whoever serves them', async () => {
    const options = { input: { response_format: 'url' } };
    for (const model of ['gpt-image-1', 'openai/gpt-image-2', 'chatgpt-image-latest', 'x/chatgpt-image']) {
      expect((await sentBy({ model, options })).body, model).not.to.have.property('response_format');
    }
    expect((await sentBy({ model: 'my-gpt-image', options })).body).to.have.property('response_format', 'url');
  });

  it('warns of a wrong option and does without it', async () => {
    const { files } = await sentBy({ images: [createSampleImage('png')], options: { editTransport: 'pigeon' } });
    expect(files).to.have.length(1);
    expect(vendor.warnings.map(({ message }) => message)).to.deep.equal([
      'route options with unknown values are ignored',
    ]);
  });

  it('has defaults for all settings', () => {
    const { settings } = checkSettings({ plugin, upstream: 'main', settings: {} });
    expect(settings).to.deep.equal({
      baseUrl: 'https://api.openai.com/v1',
      sizeMap: {},
      api: 'openai',
      editTransport: 'multipart',
      input: {},
    });
  });
});
