// The memory that image and video requests reserve while they run and release afterwards.
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { type BodyParser, createBodyParser } from '../../lib/api/body-parser.ts';
import type { PaidRequest } from '../../lib/api/paid-route.ts';
import { fetchLinkedImages, readPromptBody } from '../../lib/api/prompt-body.ts';
import { isFault } from '../../lib/base/faults.ts';
import { createMemoryQuota, type MemoryQuota, SMALL_BYTES } from '../../lib/http/memory-quota.ts';
import type { Fetcher } from '../../lib/media/fetcher.ts';
import type { Image } from '../../lib/media/image.ts';
import { releaseImages } from '../../lib/media/reference.ts';
import { PNG, png } from '../media/sample-images.ts';

const MIB = 1024 * 1024;
const uri = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;

describe('a request with a prompt', () => {
  let parser: BodyParser;
  let budget: MemoryQuota;
  let keepAlive: NodeJS.Timeout;

  before(() => {
    keepAlive = setInterval(() => undefined, 1000);
    parser = createBodyParser();
  });
  beforeEach(() => {
    budget = createMemoryQuota({ bytesMax: 8 * MIB, ownerBytesMax: 8 * MIB });
  });
  after(async () => {
    clearInterval(keepAlive);
    await parser.close();
  });

  /** A request whose body arrives in chunks. */
  function paidOf(body: object, readBody: () => Promise<void> = async () => undefined): PaidRequest {
    const bytes = Buffer.from(JSON.stringify(body));
    const pieces = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) =>
      Buffer.from(bytes.subarray(at * 65_536, (at + 1) * 65_536)),
    );
    const req = Object.assign(Readable.from(pieces), { headers: { 'content-length': String(bytes.length) } });
    return {
      request: { raw: { req } },
      services: { bodyLimits: {}, parser },
      reservation: budget.reserve('key'),
      call: { signal: new AbortController().signal },
      idempotency: { readBody },
    } as unknown as PaidRequest;
  }
  const read = (body: object, look = async () => undefined as undefined | never) =>
    readPromptBody(paidOf(body), { format: 'edit', inspectHead: look });

  it('reserves memory for its prompt and images once its body is read, unless they are small', async () => {
    const large = png({ bytes: 200_000 });
    const cases: readonly (readonly [body: object, bytes: number])[] = [
      [{ prompt: 'a', image: uri(PNG) }, 0],
      [{ prompt: 'p'.repeat(SMALL_BYTES), image: 'https://images.example/a.png' }, 0],
      [{ prompt: 'p'.repeat(SMALL_BYTES + 1), image: 'https://images.example/a.png' }, SMALL_BYTES + 1],
      [{ prompt: 'ab', images: [uri(large), uri(PNG)] }, 2 + large.length + PNG.length],
      [{ prompt: 'ab', images: [uri(large), uri(png({ bytes: 400_000 }))] }, 2 + large.length + 400_000],
    ];
    for (const [body, bytes] of cases) {
      const before = budget.used();
      releaseImages((await read(body)).images);
      expect(budget.used() - before).to.be.closeTo(bytes, bytes > 500_000 ? 1000 : 0);
    }
  });

  it('reserves nothing if it is refused', async () => {
    const refuse = async () => {
      throw new Error('refused');
    };
    const long = { prompt: 'p'.repeat(300_000), image: uri(PNG) };
    const outcomes = [
      read({ ...long, prompt: 5 }),
      read(long, refuse),
      readPromptBody(paidOf(long, refuse), { format: 'edit' }),
    ];
    const messages = await Promise.all(outcomes.map((outcome) => outcome.catch(({ message }: Error) => message)));
    expect(messages[0]).to.contain('`prompt`');
    expect(messages.slice(1)).to.deep.equal(['refused', 'refused']);
    expect(budget.used()).to.equal(0);
  });

  it('reports a wrong image when its images are needed', async () => {
    const asked = await read({ prompt: 'a', image: 'data:image/png;base64,AAAA' });
    const refused = await fetchLinkedImages(paidOf({}), asked).catch((error: unknown) => error);
    expect(isFault(refused) && [refused.data?.code, refused.data?.detail.field]).to.deep.equal([
      'image_unsupported',
      'image',
    ]);
  });

  it('reserves memory for linked images while they are held', async () => {
    const paid = paidOf({});
    const parts: ((() => void) | undefined)[] = [];
    const asked: unknown[] = [];
    const fetchImage: Fetcher['fetchImage'] = async (url, { field, budget: own, signal }) => {
      asked.push([url, field, signal.aborted]);
      parts.push(own?.takePart(2 * MIB));
      return { bytes: Buffer.from(url) } as unknown as Image;
    };
    const services = { ...paid.services, results: { readLinkId: () => undefined }, fetcher: () => ({ fetchImage }) };
    const link = (field: string) => ({ type: 'image', field, source: `https://images.example/${field}` }) as const;
    const sent = { type: 'image', field: 'images[0]', source: { bytes: PNG } as unknown as Image } as const;
    const images = [link('image'), sent, link('images[1]')];
    const linked = await fetchLinkedImages({ ...paid, services } as unknown as PaidRequest, {
      prompt: 'a',
      refusal: undefined,
      images,
    });
    expect(asked).to.deep.equal([images[0], images[2]].map((each) => [each?.source, each?.field, false]));
    expect(linked.map(({ source }) => typeof source !== 'string' && source.bytes.toString())).to.deep.equal([
      images[0]?.source,
      PNG.toString(),
      images[2]?.source,
    ]);
    expect(budget.used()).to.equal(4 * MIB);
    parts[0]?.();
    expect(budget.used()).to.equal(2 * MIB);
  });

  it('releases every image with bytes', () => {
    const released: string[] = [];
    const image = (name: string) => ({ source: { release: () => void released.push(name) } });
    releaseImages([image('first'), { source: 'https://images.example/a.png' }, image('last')] as never);
    expect(released).to.deep.equal(['first', 'last']);
  });
});
