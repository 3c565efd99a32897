import { expect } from 'chai';
import { samplePicture } from '../../lib/plugin/check/picture.ts';
import type { ImageCall } from '../../lib/plugin/contract.ts';
import { checkSettings, createProvider } from '../../lib/plugin/settings.ts';
import plugin from '../../providers/openai-images/index.ts';
import { interceptRequests, nock } from '../../testkit/interception.ts';

const ORIGIN = 'https://pictures.example';
const CALL: ImageCall = { model: 'flux', prompt: 'A cat', images: [], options: {} };
const WIDE = { width: 1792, height: 1024 };

interface Sent {
  readonly path: string;
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly files: readonly (readonly [field: string, name: string, type: string])[];
}

describe('openai-images', () => {
  const warnings: unknown[] = [];
  interceptRequests();
  afterEach(() => nock.cleanAll());

  /** What one call sends. */
  async function sentBy(call: Partial<ImageCall>, settings: object = {}): Promise<Sent> {
    const { provider, close } = createProvider({
      plugin,
      upstream: 'main',
      settings: { baseUrl: `${ORIGIN}/v1`, apiKey: 'sk-test', ...settings },
      log: { warn: (message) => warnings.push(message) },
    });
    const sent: Sent[] = [];
    nock(ORIGIN)
      .post(/.*/)
      .reply(async (request: Request) => {
        const { pathname, search } = new URL(request.url);
        const type = request.headers.get('content-type') ?? '';
        const form = type.startsWith('multipart/') ? [...(await request.formData())] : [];
        const body = type.startsWith('multipart/')
          ? Object.fromEntries(form.filter(([, value]) => typeof value === 'string'))
          : JSON.parse(await request.text());
        const files = form.flatMap(([field, value]) =>
          value instanceof File ? [[field, value.name, value.type] as const] : [],
        );
        sent.push({ path: pathname + search, type, body, files });
        return [200, JSON.stringify({ data: [{ url: 'https://cdn.example/1.png' }] })];
      });
    await provider.image?.({ ...CALL, ...call }, new AbortController().signal);
    await close();
    return sent[0] ?? expect.fail('nothing was sent');
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

  it('edits one picture as `image`, and several as `image[]`', async () => {
    const one = await sentBy({
      images: [samplePicture('webp')],
      size: WIDE,
      options: { input: { output_compression: 80 } },
    });
    expect(one.path).to.equal('/v1/images/edits');
    expect(one.type).to.match(/^multipart\/form-data; boundary=/);
    expect(one.body).to.deep.equal({ model: 'flux', prompt: 'A cat', size: '1792x1024', output_compression: '80' });
    expect(one.files).to.deep.equal([['image', 'image-1.webp', 'image/webp']]);
    const two = await sentBy({ images: [samplePicture('jpeg'), samplePicture('png')] });
    expect(two.files).to.deep.equal([
      ['image[]', 'image-1.jpg', 'image/jpeg'],
      ['image[]', 'image-2.png', 'image/png'],
    ]);
  });

  it('edits in JSON where the route says so, with the bytes of the picture alone', async () => {
    const { bytes } = samplePicture('png');
    const padded = Uint8Array.from([1, 2, 3, ...bytes, 4, 5]).subarray(3, 3 + bytes.length);
    const { type, body } = await sentBy({
      images: [{ mediaType: 'image/png', bytes: padded }],
      options: { editTransport: 'json' },
    });
    expect(type).to.equal('application/json');
    const url = `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`;
    expect(body.images).to.deep.equal([{ image_url: url }]);
  });

  it('warns of a wrong option and does without it', async () => {
    const { files } = await sentBy({ images: [samplePicture('png')], options: { editTransport: 'pigeon' } });
    expect(files).to.have.length(1);
    expect(warnings).to.deep.equal(['route options with unknown values are ignored']);
  });

  it('has defaults for all settings', () => {
    const { settings } = checkSettings({ plugin, upstream: 'main', settings: {} });
    expect(settings).to.deep.equal({
      baseUrl: 'https://api.openai.com/v1',
      sizeMap: {},
      editTransport: 'multipart',
      input: {},
    });
  });
});
