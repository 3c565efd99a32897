// How requests of fal end: what the status and the result say, and what becomes of them.
import { expect } from 'chai';
import type { ImageCall } from '../../lib/upstream/contract/provider.ts';
import { isUpstreamFault } from '../../lib/upstream/host/fault.ts';
import plugin from '../../providers/fal/index.ts';
import { useStudio } from '../../testkit/films.ts';
import { useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://queue.example';
const CALL: ImageCall = { model: 'acme/paint', prompt: 'A cat', images: [], options: {} };
const URL = 'https://cdn.example/1.png';

describe('fal: how a request ends', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: ORIGIN, apiKey: ['k1', 'k2', 'k3'] });

  /** What comes of a request whose looks are answered so. */
  async function run(...looks: readonly (object | readonly [status: number, body: object])[]) {
    vendor.answer({ request_id: 'r1' });
    for (const look of looks) {
      if (Array.isArray(look)) vendor.answer(look[1], { method: 'GET', status: look[0] });
      else vendor.answer(look, { method: 'GET' });
    }
    const made = await vendor
      .open()
      .image?.(CALL, new AbortController().signal)
      .catch((error: unknown) => error);
    if (made !== undefined && 'images' in (made as object)) return (made as { images: unknown }).images;
    if (!isUpstreamFault(made)) return expect.fail(`no fault: ${made}`);
    return made.about === undefined ? made.kind : `${made.kind}/${made.about}`;
  }

  it('is looked at every half second, and its result fetched with the key that began it', async () => {
    expect(await run({ status: 'IN_QUEUE' }, { status: 'COMPLETED' }, { images: [{ url: URL }] })).to.deep.equal([
      { url: URL },
    ]);
    expect(vendor.slept[0]).to.be.within(400, 600);
    expect(new Set(vendor.sent.map(({ headers }) => headers.authorization)).size).to.equal(1);
  });

  for (const status of ['FAILED', 'ERROR', 'CANCELED', 'CANCELLED']) {
    it(`is over at ${status}`, async () => {
      expect(await run({ status })).to.equal('server');
      expect([vendor.sent.length, vendor.slept.length]).to.deep.equal([2, 1]);
    });
  }

  it('has failed where its status tells of an error, by what the result says of it or by the error itself', async () => {
    const refusal = [422, { detail: [{ msg: 'no', type: 'content_policy_violation' }] }] as const;
    expect(await run({ status: 'COMPLETED', error: 'no' }, refusal)).to.equal('request/content');
    expect(await run({ status: 'COMPLETED', error_type: 'bad' }, refusal)).to.equal('request/content');
    const failed = { status: 'COMPLETED', error: 'no', error_type: 'startup_timeout' };
    expect(await run(failed, { images: [{ url: URL }] })).to.equal('timeout');
  });

  it('is fetched again when its result is not to be had at once', async () => {
    const result = { image: { url: URL } };
    expect(await run({ status: 'COMPLETED' }, [500, {}], [503, {}], result)).to.deep.equal([{ url: URL }]);
  });

  it('is fetched again while the queue still calls it in progress, or does not know it yet', async () => {
    const running = [400, { detail: 'Request is still in progress' }] as const;
    const unknown = [404, { detail: 'Request not found' }] as const;
    const result = { image: { url: URL } };
    expect(await run({ status: 'COMPLETED' }, running, running, unknown, result)).to.deep.equal([{ url: URL }]);
    expect(vendor.sent.filter(({ method }) => method === 'POST')).to.have.length(1);
  });

  it('has failed with a refusal that says why, at once', async () => {
    for (const [refusal, said] of [
      [[422, { detail: [{ msg: 'no', type: 'value_error' }] }], 'request'],
      [[400, { detail: [{ msg: 'no', type: 'content_policy_violation' }] }], 'request/content'],
    ] as const) {
      const before = vendor.sent.length;
      expect(await run({ status: 'COMPLETED' }, refusal)).to.equal(said);
      expect(vendor.sent.length - before).to.equal(3);
    }
  });

  it('brings images inline, also large ones', async () => {
    const bytes = Buffer.alloc(6_000_000, 7);
    const url = `data:image/png;base64,${bytes.toString('base64')}`;
    const [image] = (await run({ status: 'COMPLETED' }, { images: [{ url }] })) as readonly { bytes: Buffer }[];
    expect(image?.bytes.equals(bytes)).to.equal(true);
  });

  it('brings no image that was blackened, the others, and none where there is none', async () => {
    const images = [{ url: `${URL}?1` }, { url: `${URL}?2` }];
    const done = { status: 'COMPLETED' };
    expect(await run(done, { images, has_nsfw_concepts: [true, false] })).to.deep.equal([{ url: `${URL}?2` }]);
    expect(await run(done, { images, has_nsfw_concepts: [true, true] })).to.equal('request/content');
    expect(await run(done, { images: [], has_nsfw_concepts: [] })).to.deep.equal([]);
  });

  it('has failed with a result that has no images, by what it says', async () => {
    const done = { status: 'COMPLETED' };
    const answers = Array.from({ length: 6 }, () => ({ detail: [{ msg: 'x', type: 'file_too_large' }] }));
    expect(await run(done, ...answers)).to.equal('request/image');
  });
});

describe('fal: how a video ends', () => {
  const studio = useStudio(plugin, '');

  async function look(...answers: readonly object[]) {
    const { ref } = await studio.start({}, { request_id: '42' });
    return studio.look(ref, ...answers);
  }

  it('with the first of several, or the only one', async () => {
    for (const result of [{ videos: [{ url: URL }, { url: 'https://cdn.example/2' }] }, { video: { url: URL } }]) {
      expect(await look({ status: 'COMPLETED' }, result)).to.deep.equal({ status: 'completed', result: { url: URL } });
    }
  });

  it('as a failure where its status tells of an error or of its type, which says why', async () => {
    for (const [told, kind] of [
      [{ status: 'COMPLETED', error: 'no', error_type: 'generation_timeout' }, 'timeout'],
      [{ status: 'COMPLETED', error_type: 'runner_scheduling_failure' }, 'overloaded'],
      [{ status: 'IN_PROGRESS', error: 'it is broken' }, 'server'],
    ] as const) {
      const state = await look(told);
      expect(state.status).to.equal('failed');
      expect(state).to.have.nested.property('fault.kind', kind);
    }
  });
});
