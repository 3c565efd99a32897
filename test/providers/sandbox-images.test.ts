import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PhotonImage } from '@silvia-odwyer/photon-node';
import { expect } from 'chai';
import { readImageSize, sniffImage } from '../../lib/base/sniff.ts';
import { createSampleImage } from '../../lib/upstream/check/sample-image.ts';
import type {
  Host,
  ImageCall,
  ImageInput,
  Provider,
  TextCall,
  TextMessage,
} from '../../lib/upstream/contract/provider.ts';
import { isUpstreamFault } from '../../lib/upstream/host/fault.ts';
import { createProvider } from '../../lib/upstream/host/settings.ts';
import plugin from '../../providers/sandbox/index.ts';
import { itLong } from '../../testkit/long.ts';

const never = new AbortController().signal;

function open(clock?: Host['clock']): Provider {
  const options = { plugin, upstream: 'sandbox', settings: {}, log: { warn() {} } };
  return createProvider({ ...options, ...(clock && { clock }) }).provider;
}

const provider = open();

async function draw(prompt: string, more: Partial<ImageCall> = {}, signal = never): Promise<Uint8Array> {
  const result = await provider.image?.({ model: 'image', prompt, images: [], options: {}, ...more }, signal);
  const [first] = result?.images ?? [];
  return first && 'bytes' in first ? first.bytes : expect.fail('no bytes');
}

const png = (bytes: Uint8Array): ImageInput => ({ mediaType: 'image/png', bytes });

/** The colour at a place, by a decoder. */
function pixel(bytes: Uint8Array, x: number, y: number): readonly number[] {
  const image = PhotonImage.new_from_byteslice(bytes);
  const at = (y * image.get_width() + x) * 4;
  return [...image.get_raw_pixels().slice(at, at + 3)];
}

function digestPixels(bytes: Uint8Array): string {
  const pixels = PhotonImage.new_from_byteslice(bytes).get_raw_pixels();
  return createHash('sha256').update(pixels).digest('hex').slice(0, 8);
}

async function say(content: TextMessage['content'], model = 'vision'): Promise<string> {
  const call: TextCall = { model, messages: [{ role: 'user', content }], maxTokens: 1000, options: {} };
  let text = '';
  for await (const parts of provider.text?.(call, never) ?? []) {
    for (const part of parts) if (part.type === 'block-delta') text += part.text;
  }
  return text;
}

const image = (bytes: ImageInput) => ({ type: 'image', ...bytes }) as const;
const text = (words: string) => ({ type: 'text', text: words }) as const;

async function faultOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => expect.fail('it did not fail'),
    (thrown: unknown) => thrown,
  );
  if (!isUpstreamFault(error)) throw error;
  return `${error.kind} ${error.about ?? ''}`.trim();
}

const SMALL = { width: 64, height: 64 };

describe('provider sandbox: images', () => {
  for (const [at, [asked, width, height]] of (
    [
      [{ size: { width: 1, height: 1 } }, 1, 1],
      [{ size: { width: 65, height: 3 } }, 65, 3],
      [{ aspect: '16:9' }, 1024, 576],
      [{ size: { width: 1792, height: 1024 } }, 1792, 1024],
      [{ aspect: '3:4' }, 768, 1024],
      [{}, 1024, 1024],
    ] as const
  ).entries()) {
    const itOften = at < 3 ? it : itLong;
    itOften(`draws a PNG of ${width}x${height} for ${JSON.stringify(asked)}`, async () => {
      const bytes = await draw('anything', asked);
      expect(sniffImage(bytes)?.format).to.equal('png');
      expect(readImageSize(bytes, 'png')).to.deep.equal({ width, height });
      const decoded = PhotonImage.new_from_byteslice(bytes);
      expect([decoded.get_width(), decoded.get_height()]).to.deep.equal([width, height]);
    });
  }

  it('draws the same for the same prompt, and something else for another', async () => {
    const [one, again, other] = await Promise.all([draw('a cat'), draw('a cat'), draw('a dog')]);
    expect(one).to.deep.equal(again);
    expect(one).not.to.deep.equal(other);
  });

  it('draws what it always has: each pattern in cells, named colours or others, references in their places', async () => {
    const size = { width: 300, height: 200 };
    const plain = await Promise.all(
      ['a', 'c', 'd', 'e', 'g', 'a red f', 'белый'].map((prompt) => draw(prompt, { size })),
    );
    const wide = png(await draw('a', { size: { width: 400, height: 160 } }));
    const high = png(await draw('c', { size: { width: 100, height: 220 } }));
    const edits = [[wide], [high, wide], [wide, high, high]];
    const edited = await Promise.all(edits.map((images) => draw('red', { size, images })));
    expect([...plain, ...edited].map(digestPixels)).to.deep.equal([
      'debcb4b2',
      '7f6319d2',
      '021f84e5',
      '50c4da6d',
      'c0223c54',
      '15530719',
      'fb4d1a29',
      'eb44ea9f',
      'e889be08',
      'd2673624',
    ]);
  });

  it('lets the loop run between its bands: none takes a tenth of the image', async () => {
    let turns = 0;
    let drawing = true;
    const count = () => {
      turns += 1;
      if (drawing) setImmediate(count);
    };
    setImmediate(count);
    await draw('a cat', { size: { width: 1792, height: 1024 } });
    drawing = false;
    expect(turns).to.be.greaterThan(10);
  });

  it('lays the references of an edit side by side on the colour of the prompt', async () => {
    const references = [png(await draw('red')), png(await draw('blue'))];
    const edit = await draw('both on green', { size: { width: 800, height: 400 }, images: references });
    // The corners of the references: the first cell of each has its main colour.
    const [left, right] = [34, 434].map((x) => pixel(edit, x, 34));
    expect(left).to.deep.equal([214, 40, 40]);
    expect(right).to.deep.equal([30, 80, 200]);
    expect([0, 799].map((x) => pixel(edit, x, 0))).to.deep.include([46, 160, 67]);
    expect(edit).not.to.deep.equal(await draw('both on green', { size: { width: 800, height: 400 } }));
  });

  itLong('has the colour that a prompt names first', async () => {
    for (const [first, second] of [
      ['red', 'green'],
      ['green', 'red'],
    ] as const) {
      const sight = await say([image(png(await draw(`a ${first} hat and a ${second} bird`)))]);
      expect(sight).to.include(first).and.not.include(second);
    }
  });

  itLong('takes references of every format', async () => {
    const drawn = PhotonImage.new_from_byteslice(await draw('red', { size: { width: 300, height: 300 } }));
    const images: ImageInput[] = [
      { mediaType: 'image/jpeg', bytes: drawn.get_bytes_jpeg(90) },
      { mediaType: 'image/webp', bytes: drawn.get_bytes_webp() },
      png(drawn.get_bytes()),
      createSampleImage('gif'),
    ];
    const edit = await draw('on black', { size: { width: 1600, height: 400 }, images });
    const reds = [50, 450, 850].map((x) => pixel(edit, x, 60));
    for (const [red = 0, green = 255] of reds) expect(red - green).to.be.greaterThan(140);
    expect(pixel(edit, 1400, 200)).to.deep.equal([255, 255, 255]);
  });

  it('refuses a reference that does not decode, and takes the next', async () => {
    const broken = png((await draw('red')).subarray(0, 200));
    expect(await faultOf(draw('x', { images: [broken] }))).to.equal('request image');
    expect(sniffImage(await draw('x', { images: [png(await draw('red'))] }))?.format).to.equal('png');
  });

  it('refuses an image that would take gigabytes, by the size in its header', async () => {
    const small = png(await draw('red', { size: SMALL }));
    const images = [{ ...small, size: { width: 30_000, height: 30_000 } }];
    expect(await faultOf(draw('x', { images }))).to.equal('request image');
    const messages = [{ role: 'user', content: [{ type: 'image', ...images[0] }] }] as never;
    const parts = provider.text?.({ model: 'vision', messages, maxTokens: 9, options: {} }, never);
    expect(await faultOf(parts?.[Symbol.asyncIterator]().next() as Promise<never>)).to.equal('request image');
    const sized = (width: number) => draw('x', { size: SMALL, images: [{ ...small, size: { width, height: 1 } }] });
    expect(await faultOf(sized(50_000_001))).to.equal('request image');
    for (const width of [64, 50_000_000]) expect(sniffImage(await sized(width))?.format).to.equal('png');
  });

  it('has markers for bad days', async () => {
    const call = { model: 'image', images: [], options: {} };
    expect(await provider.image?.({ ...call, prompt: 'x [[empty]]' }, never)).to.deep.equal({ images: [] });
    expect(sniffImage(await draw('x [[undecodable]]'))).to.equal(undefined);
    expect(await faultOf(draw('x [[refuse]]'))).to.equal('request content');
    expect(await faultOf(draw('x [[fail]]'))).to.equal('server');
  });

  it('waits on [[slow]], and not after an abort', async () => {
    const slept: number[] = [];
    const slow = open({ now: Date.now, sleep: async (ms) => void slept.push(ms) });
    await slow.image?.({ model: 'image', prompt: '[[slow]]', images: [], options: {} }, never);
    expect(slept).to.deep.equal([5000]);
    for (const prompt of ['[[slow]]', '[[stall]]']) {
      const error = await draw(prompt, {}, AbortSignal.timeout(20)).catch((thrown: Error) => thrown.name);
      expect(error).to.equal('TimeoutError');
    }
  });

  it('ends an edit that is aborted while it decodes, and the next one is served', async () => {
    const images = [png(await draw('red'))];
    const controller = new AbortController();
    const aborted = draw('x', { images }, controller.signal).catch((error: unknown) => error);
    const next = draw('x', { images });
    controller.abort(new Error('gone'));
    expect(await aborted).to.have.property('message', 'gone');
    expect(sniffImage(await next)?.format).to.equal('png');
  });

  itLong('ends an aborted edit before the turns of others', async () => {
    const images = [png(await draw('red', { size: { width: 1792, height: 1024 } }))];
    const ended: string[] = [];
    const controller = new AbortController();
    const others = [1, 2, 3].map(() => draw('x', { images }).then(() => ended.push('other')));
    const aborted = draw('x', { images }, controller.signal).catch(() => ended.push('aborted'));
    setImmediate(() => controller.abort());
    await Promise.all([...others, aborted]);
    expect(ended).to.deep.equal(['aborted', 'other', 'other', 'other']);
  });

  it('sees format, size and main colour of each image in the last message', async () => {
    const red = await draw('a red thing', { size: { width: 640, height: 480 } });
    const jpeg = PhotonImage.new_from_byteslice(await draw('blue', { size: { width: 90, height: 60 } }));
    const answer = await say([
      image(png(red)),
      text('What is this?'),
      image({ mediaType: 'image/jpeg', bytes: jpeg.get_bytes_jpeg(90) }),
    ]);
    expect(answer).to.contain('1. PNG, 640x480 pixels, mainly red.\n2. JPEG, 90x60 pixels, mainly blue.');
    expect(await say([image(png(red)), text('Что здесь?')])).to.contain('основной цвет — красный');
    expect(await say([text('What is this?')])).to.equal('There is no image in the last message.');
    expect(await say([image(png(red)), text('Hi')], 'standard')).not.to.contain('PNG');
  });

  itLong('sees what an edit made of an image', async () => {
    const made = await draw('yellow', { size: { width: 512, height: 512 } });
    const edit = await draw('now purple', { size: { width: 1024, height: 512 }, images: [png(made)] });
    expect(await say([image(png(edit)), text('?')])).to.contain('PNG, 1024x512 pixels, mainly');
  });

  it('is documented with its markers', () => {
    const guide = readFileSync(new URL('../../docs/providers.md', import.meta.url), 'utf8');
    for (const marker of ['refuse', 'empty', 'undecodable', 'slow']) expect(guide).to.contain(`\`[[${marker}]]\``);
  });
});
