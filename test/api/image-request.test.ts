// Image requests are read alike as JSON and forms, short and long; long ones do not block the event loop.
import { expect } from 'chai';
import { type BodyParser, createBodyParser } from '../../lib/api/body-parser.ts';
import { classifyEditPart, parseEdit, parseEditForm, parseGeneration } from '../../lib/api/image-request.ts';
import { isFault } from '../../lib/base/faults.ts';
import type { ImageRequest } from '../../lib/calls/images/request.ts';
import { watchTicks } from '../../testkit/event-loop-ticks.ts';
import { longer } from '../../testkit/long.ts';
import { GIF, JPEG, PNG, png } from '../media/sample-images.ts';

const BLOCKED_MS_MAX = 50;
const MIB = 1024 * 1024;
const LONG_MIB = longer(5, 40);
const uri = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;
const LINK = 'https://images.example/a.png';

/** Images as their fields and their bytes or links. */
const shown = ({ images, ...rest }: ImageRequest) => ({
  ...rest,
  images: images.map(({ field, source }) => [
    field,
    typeof source === 'string' ? source : [source.mediaType, source.bytes.toString('base64')],
  ]),
});

describe('image request', () => {
  const plain = { model: undefined, prompt: 'a hill', size: undefined, aspect: undefined, refusal: undefined };

  it('is read from JSON', () => {
    expect(shown(parseGeneration({ prompt: 'a hill' }))).to.deep.equal({ ...plain, images: [] });
    const sized = parseGeneration({ prompt: 'a hill', model: 'm', size: '1792x1024', aspect: '1:1', images: 5 });
    expect(shown(sized)).to.deep.equal({ ...plain, model: 'm', size: { width: 1792, height: 1024 }, images: [] });
    for (const [size, width, height] of [
      ['1024x1024', 1024, 1024],
      ['1024x1792', 1024, 1792],
    ] as const) {
      expect(parseGeneration({ prompt: 'a hill', size }).size).to.deep.equal({ width, height });
    }
    const free = parseGeneration({ prompt: 'a hill', size: 'auto', aspect: '16:9' });
    expect(shown(free)).to.deep.equal({ ...plain, aspect: '16:9', images: [] });
    const edit = parseEdit({ prompt: 'a hill', aspect: '3:4', image: LINK, images: [uri(PNG), uri(JPEG)] });
    expect(shown(edit)).to.deep.equal({
      ...plain,
      aspect: '3:4',
      images: [
        ['image', LINK],
        ['images[0]', ['image/png', PNG.toString('base64')]],
        ['images[1]', ['image/jpeg', JPEG.toString('base64')]],
      ],
    });
  });

  it('is read from a form', () => {
    const file = (name: string, bytes: Buffer) => ({ name, bytes, fileName: undefined, isCut: false });
    const texts = [
      { name: 'prompt', text: 'a hill' },
      { name: 'n', text: '1' },
      { name: 'size', text: 'auto' },
      { name: 'aspect', text: '' },
      { name: 'image', text: LINK },
    ];
    const form = parseEditForm({ texts, files: [file('image[]', GIF), file('image[]', PNG)] });
    expect(shown(form)).to.deep.equal({
      ...plain,
      images: [
        ['image', LINK],
        ['image[]', ['image/gif', GIF.toString('base64')]],
        ['image[]', ['image/png', PNG.toString('base64')]],
      ],
    });
  });

  it('is read from a form where no file was chosen in another field', () => {
    const texts = [{ name: 'prompt', text: 'a hill' }];
    const chosen = { name: 'image[]', bytes: PNG, fileName: 'a.png', isCut: false };
    const none = { name: 'image[]', bytes: Buffer.alloc(0), fileName: '', isCut: false };
    const form = parseEditForm({ texts, files: [none, chosen, none, none, none] });
    expect(shown(form)).to.deep.equal({ ...plain, images: [['image[]', ['image/png', PNG.toString('base64')]]] });
    expect(() => parseEditForm({ texts, files: [none] })).to.throw('Invalid `image`: is required');
    const empty = parseEditForm({ texts, files: [chosen, { ...none, fileName: 'b.png' }] });
    expect(empty.refusal?.code).to.equal('image_unsupported');
  });

  it('reads numbers in a form only for number fields', () => {
    const files = [{ name: 'image', bytes: PNG, fileName: undefined, isCut: false }];
    const read = (n: string) =>
      parseEditForm({
        texts: [
          { name: 'prompt', text: '2024' },
          { name: 'n', text: n },
        ],
        files,
      });
    expect(read('1').prompt).to.equal('2024');
    for (const n of ['one', '2', '1.0', ' 1']) expect(() => read(n), n).to.throw(/`n`/);
  });

  it('reports a wrong image later, but a wrong field at once', () => {
    const edit = parseEdit({ prompt: 'a hill', images: [uri(PNG), 'data:image/png;base64,AAAA', uri(PNG)] });
    expect(edit.images).to.deep.equal([]);
    expect(edit.refusal).to.deep.equal({ code: 'image_unsupported', detail: { field: 'images[1]' } });
    const cut = { name: 'images[0]', bytes: PNG, fileName: undefined, isCut: true };
    const form = parseEditForm({ texts: [{ name: 'prompt', text: 'a hill' }], files: [cut] });
    expect(form.refusal).to.deep.equal({ code: 'image_too_large', detail: { field: 'images[0]', hint: '8 MiB' } });
    const none = { name: 'image[]', bytes: Buffer.from('no image'), fileName: undefined, isCut: false };
    const { refusal } = parseEditForm({ texts: [{ name: 'prompt', text: 'a hill' }], files: [none] });
    expect(refusal).to.deep.equal({ code: 'image_unsupported', detail: { field: 'image[]' } });
    expect(() => parseEdit({ prompt: '', image: 'data:' })).to.throw(/`prompt`/);
  });

  it('accepts one to four images for an edit, in any field', () => {
    const inJson = (count: number) => parseEdit({ prompt: 'a hill', image: LINK, images: Array(count - 1).fill(LINK) });
    const inForm = (count: number) => {
      const texts = [
        { name: 'prompt', text: 'a hill' },
        { name: 'image', text: LINK },
      ];
      const file = { name: 'image[]', bytes: PNG, fileName: undefined, isCut: false };
      return parseEditForm({ texts, files: Array(count - 1).fill(file) });
    };
    for (const read of [inJson, inForm]) {
      for (const count of [1, 4]) expect(read(count).images).to.have.length(count);
      expect(() => read(5)).to.throw('Invalid `images`: an edit takes at most 4 images.');
    }
    for (const body of [{}, { images: [] }, { image: null, images: null }]) {
      expect(() => parseEdit({ prompt: 'a hill', ...body })).to.throw('Invalid `image`: is required');
    }
    expect(() => parseEditForm({ texts: [{ name: 'prompt', text: 'a hill' }], files: [] })).to.throw('is required');
    expect(() => parseEdit({ prompt: 'a hill', images: [LINK, 5] })).to.throw('Invalid `images[1]`: must be a string');
    const objects = (...images: unknown[]) => parseEdit({ prompt: 'a hill', images });
    expect(shown(objects({ image_url: LINK }, { image_url: uri(PNG) }, LINK)).images).to.deep.equal([
      ['images[0].image_url', LINK],
      ['images[1].image_url', ['image/png', PNG.toString('base64')]],
      ['images[2]', LINK],
    ]);
    expect(() => objects({ image_url: 5 })).to.throw('Invalid `images[0].image_url`: must be a string');
    expect(() => objects({ file_id: 'file_1' })).to.throw('Invalid `images[0]`: must be an image or its URL');
    expect(() => objects({ size: 1 })).to.throw('Invalid `images[0]`: must be a string');
  });

  it('accepts the image of an edit as clients of other services write it', () => {
    for (const [image, field] of [
      [{ type: 'image_url', url: LINK }, 'image.url'],
      [{ image_url: LINK }, 'image.image_url'],
      [{ image_url: { url: LINK } }, 'image.image_url.url'],
      [[LINK], 'image[0]'],
      [[{ url: LINK }], 'image[0].url'],
    ] as const) {
      expect(shown(parseEdit({ prompt: 'a hill', image })).images, field).to.deep.equal([[field, LINK]]);
    }
    const image = [LINK, LINK, LINK];
    expect(() => parseEdit({ prompt: 'a hill', image, images: [LINK, LINK] })).to.throw('at most 4 images');
    expect(() => parseEdit({ prompt: 'a hill', image: [] })).to.throw('Invalid `image`: is required');
    expect(() => parseEdit({ prompt: 'a hill', image: 5 })).to.throw('Invalid `image`: must be a string');
  });

  it('is an edit where a generation brings an image', () => {
    for (const [fields, images] of [
      [{ image: LINK }, [['image', LINK]]],
      [{ image: [LINK] }, [['image[0]', LINK]]],
      [{ images: [{ image_url: LINK }] }, [['images[0].image_url', LINK]]],
    ] as const) {
      const read = shown(parseGeneration({ prompt: 'a hill', ...fields }));
      expect(read).to.deep.equal({ ...plain, isEdit: true, images });
    }
    for (const fields of [{ image: '' }, { image: null }, { image: 5 }, { image: true, images: 'a' }, { images: [] }]) {
      expect(shown(parseGeneration({ prompt: 'a hill', ...fields }))).to.deep.equal({ ...plain, images: [] });
    }
    expect(() => parseGeneration({ prompt: 'a hill', image: Array(5).fill(LINK) })).to.throw('at most 4 images');
  });

  it('classifies the parts of a form', () => {
    for (const name of ['image', 'image[]', 'images', 'images[]', 'image[0]']) {
      expect([classifyEditPart(name, true), classifyEditPart(name, false)], name).to.deep.equal(['file', 'text']);
    }
    for (const name of ['prompt', 'model', 'size', 'aspect', 'n', 'max_cost_rub', 'user', 'safety_identifier'])
      expect(classifyEditPart(name, true)).to.equal('text');
    for (const name of ['mask', '', 'image[a]', 'metadata', '__proto__'])
      expect(classifyEditPart(name, false)).to.equal('other');
  });
});

describe('image request of a long body', () => {
  let parser: BodyParser;
  let keepAlive: NodeJS.Timeout;
  const { signal } = new AbortController();

  before(() => {
    // Its thread keeps no process alive; a server does.
    keepAlive = setInterval(() => undefined, 1000);
    parser = createBodyParser();
  });
  after(async () => {
    clearInterval(keepAlive);
    await parser.close();
  });

  const bytesOf = (body: unknown) => {
    const text = JSON.stringify(body);
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
    bytes.write(text);
    return bytes;
  };
  const prompt = 'Холм и море. '.repeat(20_000);

  it('equals that of a short one', async () => {
    const body = {
      prompt,
      model: 'm',
      size: '1024x1024',
      image: LINK,
      images: [uri(png({ bytes: 500_000 })), uri(GIF)],
    };
    const read = await parser.parse(bytesOf(body), { format: 'edit', signal });
    expect(shown(read)).to.deep.equal(shown(parseEdit(body)));
    const made = await parser.parse(bytesOf({ prompt, aspect: '16:9' }), { format: 'generation', signal });
    expect(shown(made)).to.deep.equal(shown(parseGeneration({ prompt, aspect: '16:9' })));
    const refused = await parser.parse(bytesOf({ prompt, image: 'data:,' }), { format: 'edit', signal });
    expect(refused.refusal?.code).to.equal('invalid_field');
  });

  it('can be refused by its head, without prompt and images', async () => {
    let head: ImageRequest | undefined;
    const look = async (seen: ImageRequest) => {
      head = seen;
      throw new Error('too dear');
    };
    const body = bytesOf({ prompt, model: 'm', image: uri(PNG) });
    const refused = Promise.resolve(parser.parse(body, { format: 'edit', signal, inspectHead: look }));
    expect(await refused.catch(({ message }: Error) => message)).to.equal('too dear');
    expect(head).to.deep.include({ model: 'm', prompt: '', images: [] });
  });

  const file = png({ bytes: (LONG_MIB / 5) * MIB });
  const shapes: Readonly<Record<string, () => object>> = {
    'four images': () => ({ prompt: 'a hill', images: Array(4).fill(uri(file)) }),
    'a long prompt': () => ({ prompt: 'я'.repeat(LONG_MIB * 0.5 * MIB), image: LINK }),
    'an image that is none': () => ({ prompt: 'a hill', image: `data:image/png;base64,${'A'.repeat(11 * MIB)}` }),
    'a long link': () => ({ prompt: 'a hill', image: `https://${'a'.repeat(LONG_MIB * MIB)}` }),
    'many images': () => ({ prompt: 'a hill', images: Array(190_000).fill('https://a') }),
  };
  for (const [name, make] of Object.entries(shapes).filter((_, at) => longer(at === 0, true))) {
    it(`does not block the event loop by ${name}`, async function () {
      this.timeout(30_000);
      let worst = Number.POSITIVE_INFINITY;
      // What a collection of garbage falls into is tried again.
      for (let tries = 0; tries < 3 && worst > BLOCKED_MS_MAX; tries += 1) {
        const bytes = bytesOf(make());
        await new Promise((resolve) => setImmediate(resolve));
        const ticks = watchTicks();
        await new Promise((resolve) => setImmediate(resolve));
        try {
          await parser.parse(bytes, { format: 'edit', signal });
        } catch (error) {
          if (!isFault(error)) throw error;
        }
        await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
        ticks.stop();
        worst = ticks.worstMs();
      }
      expect(worst).to.be.below(BLOCKED_MS_MAX);
    });
  }
});
