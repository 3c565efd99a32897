// Bounds of image and video fields: validation and API document agree.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { BodySchema } from '../../lib/api/dialects/fields.ts';
import { editFields, generationFields, parseEdit, parseGeneration } from '../../lib/api/image-request.ts';
import { describeFields } from '../../lib/api/openapi/body.ts';
import { parseVideo, videoFields } from '../../lib/api/video-request.ts';
import type { Json } from '../../lib/base/json-schema.ts';
import { acceptsField } from './accepts-field.ts';

const ajv = new Ajv2020({ strict: false });

type Row = readonly [fields: BodySchema, name: string, accepted: readonly unknown[], refused: readonly unknown[]];

const TEXTS: readonly unknown[] = ['', 5, {}, ['a'], true];
const ASPECTS = ['1:1', '16:9', '9:16', '4:3', '3:4'];
const rows: readonly Row[] = [
  [generationFields, 'prompt', ['a', ' a '], [' ', '\n', ...TEXTS]],
  [generationFields, 'model', ['m', ' '], TEXTS],
  [
    generationFields,
    'size',
    ['1024x1024', '1792x1024', '1024x1792', 'auto'],
    ['1024x1025', 'AUTO', '1792x1792', ...TEXTS],
  ],
  [generationFields, 'aspect', ASPECTS, ['16x9', '2:3', ...TEXTS]],
  [generationFields, 'n', [1], [0, 2, 1.5, '1']],
  [editFields, 'prompt', ['a'], TEXTS],
  [editFields, 'image', ['a', '', ['a'], { url: 'a' }], [5, true]],
  [editFields, 'images', [[], ['a'], ['a', 'b', 'c', 'd']], ['a', { 0: 'a' }, 5]],
  [videoFields, 'model', ['m', ' '], TEXTS],
  [videoFields, 'prompt', ['a'], [' ', ...TEXTS]],
  [videoFields, 'seconds', [4, 5, 10, '4', '10'], [3, 11, 4.5, '3', '11', '5.0', ' 5', '', true]],
  [
    videoFields,
    'size',
    ['16x16', '8192x8192', '1280x720'],
    ['9x16', '016x16', '16X16', '16x16384', 'a16x16', ...TEXTS],
  ],
  [videoFields, 'aspect', ['16:9', '1:99'], ['0:9', '16:100', '16x9', ...TEXTS]],
  [videoFields, 'resolution', ['720p', '4k', '1080p'], ['72p', '10k', '0720p', ...TEXTS]],
  [videoFields, 'image', ['a', '', { url: 'a' }], [5, ['a']]],
  [
    videoFields,
    'input_reference',
    ['a', { image_url: 'a' }, { image_url: 'a', type: 'image_url' }],
    ['', 5, ['a'], {}, { file_id: 'a' }, { image_url: '' }, { image_url: { url: 'a' } }],
  ],
];

describe('fields of images and videos', () => {
  for (const [fields, name, accepted, refused] of rows) {
    const kind = fields === videoFields ? 'a video' : fields === editFields ? 'an edit' : 'an image';
    it(`${name} of ${kind}`, () => {
      const { properties } = describeFields(fields) as { properties: Readonly<Record<string, Json>> };
      const isDescribed = ajv.compile(properties[name] ?? false);
      const verdicts = (values: readonly unknown[]) =>
        values.map((value) => [value, acceptsField(fields, name, value), isDescribed(value)]);
      expect(verdicts(accepted)).to.deep.equal(accepted.map((value) => [value, true, true]));
      expect(verdicts(refused)).to.deep.equal(refused.map((value) => [value, false, false]));
    });
  }

  it('limits the sides of a video', () => {
    for (const size of ['15x16', '16x15', '8193x16', '16x8193'])
      expect(acceptsField(videoFields, 'size', size), size).to.equal(false);
  });

  it('requires a prompt, and the model of a video', () => {
    const parsers = [parseGeneration, parseEdit, parseVideo];
    for (const parse of parsers) expect(() => parse({ model: 'm', image: 'a' })).to.throw(/`prompt`/);
    expect(() => parseVideo({ prompt: 'a' })).to.throw(/`model`/);
    for (const model of [undefined, null]) expect(parseGeneration({ prompt: 'a', model }).model).to.equal(undefined);
  });

  it('are all fields of a video request', () => {
    const link = 'https://images.example/a.png';
    const asked = {
      model: 'm',
      prompt: 'a',
      seconds: 7,
      size: '1280x720',
      aspect: '9:16',
      resolution: '4k',
      image: link,
    };
    const { images, ...read } = parseVideo(asked);
    expect(read).to.deep.equal({
      model: 'm',
      prompt: 'a',
      seconds: 7,
      size: { width: 1280, height: 720 },
      aspect: '9:16',
      resolution: '4k',
      refusal: undefined,
    });
    expect(images).to.deep.equal([{ type: 'image', field: 'image', source: link }]);
    const { seconds, images: frames } = parseVideo({
      model: 'm',
      prompt: 'a',
      seconds: '8',
      input_reference: { image_url: link },
    });
    expect(seconds).to.equal(8);
    expect(frames).to.deep.equal([{ type: 'image', field: 'input_reference.image_url', source: link }]);
    const byText = parseVideo({ model: 'm', prompt: 'a', input_reference: link });
    expect(byText.images).to.deep.equal([{ type: 'image', field: 'input_reference', source: link }]);
    expect(() => parseVideo({ ...asked, input_reference: link })).to.throw('Invalid `input_reference`: means the same');
    const none = { seconds: undefined, size: undefined, aspect: undefined, resolution: undefined };
    for (const [fields, field] of [
      [{ image: { url: link } }, 'image.url'],
      [{ image_url: link }, 'image_url'],
      [{ image_url: { url: link } }, 'image_url.url'],
      [{ images: [link] }, 'images[0]'],
      [{ images: [{ url: link }] }, 'images[0].url'],
      [
        { frame_images: [{ type: 'image_url', image_url: { url: link }, frame_type: 'first_frame' }] },
        'frame_images[0].image_url.url',
      ],
    ] as const) {
      const read = parseVideo({ model: 'm', prompt: 'a', ...fields });
      expect(read.images).to.deep.equal([{ type: 'image', field, source: link }]);
    }
    for (const [fields, refusal] of [
      [{ images: [link, link] }, '`images`: has more than one image'],
      [{ image: link, images: [link] }, '`images`: means the same as `image`'],
      [{ frame_images: [{ image_url: link, frame_type: 'last_frame' }] }, '`frame_images[0]`: must be the first frame'],
      [{ images: [5] }, '`images[0]`: must be a string'],
    ] as const)
      expect(() => parseVideo({ model: 'm', prompt: 'a', ...fields })).to.throw(`Invalid ${refusal}`);
    for (const fields of [{ image_url: 5 }, { image_url: '' }, { images: 'a' }, { images: [] }, { frame_images: null }])
      expect(parseVideo({ model: 'm', prompt: 'a', ...fields }).images, JSON.stringify(fields)).to.deep.equal([]);
    const nulls = { seconds: null, size: null, aspect: null, resolution: null, image: null, input_reference: null };
    for (const more of [{}, nulls]) {
      const plain = parseVideo({ model: 'm', prompt: 'a', ...more });
      expect(plain).to.deep.equal({ model: 'm', prompt: 'a', ...none, images: [], refusal: undefined });
    }
  });
});
