// Limits that a primary counts for its workers: hits travel together, and whoever gets no answer is told so in time.
import { mock } from 'node:test';
import { expect } from 'chai';
import { createLimiter, type LimitResult } from '../../lib/accounts/rate-limiter.ts';
import { isFault } from '../../lib/base/faults.ts';
import type { Hit } from '../../lib/workers/messages.ts';
import { countHits, createRemoteLimiter, type RemoteLimiter } from '../../lib/workers/remote-limiter.ts';

const RULE = { name: 'generate', perMinute: 3 };
const neverAsked = async () => {
  throw new Error('the store was asked');
};
const STORE = { hit: neverAsked, open: neverAsked, merge: neverAsked };

describe('counting for workers', () => {
  const codeOf = (result: LimitResult | Promise<LimitResult>) =>
    Promise.resolve(result).then(
      () => 'none',
      (error: unknown) => (isFault(error) ? error.data?.code : String(error)),
    );

  /** Workers of one primary, and the messages that they sent it. */
  function connect(workers: number, hit = createLimiter({ store: STORE }).hit) {
    const messages: (readonly Hit[])[] = [];
    const remotes = Array.from({ length: workers }, (): RemoteLimiter => {
      const remote: RemoteLimiter = createRemoteLimiter({
        send(id, hits) {
          messages.push(hits);
          void countHits({ hit }, hits).then((verdicts) => remote.answer(id, verdicts));
        },
      });
      return remote;
    });
    return { remotes, messages };
  }

  it('allows as much as one process, over all workers and per key', async () => {
    const { remotes } = connect(3);
    const hits = Array.from({ length: 12 }, (_, index) => remotes[index % 3]!.hit(RULE, index < 9 ? 'one' : 'other'));
    const results = await Promise.all(hits);
    const allowed = results.map((result) => result.allowed);
    expect(allowed.slice(0, 9).filter(Boolean)).to.have.length(3);
    expect(allowed.slice(9)).to.deep.equal([true, true, true]);
    for (const { retryAfterS } of results) expect(retryAfterS).to.be.within(1, 60);
  });

  it('sends the hits of one event-loop tick together', async () => {
    const { remotes, messages } = connect(1);
    await Promise.all([1, 2, 3].map(() => remotes[0]!.hit(RULE, 'key')));
    await remotes[0]!.hit(RULE, 'key');
    expect(messages.map(({ length }) => length)).to.deep.equal([3, 1]);
  });

  it('reports that the store did not count to the affected requests only', async () => {
    const hit = (_: object, keyId: string) =>
      keyId === 'lost' ? Promise.reject(new Error('no store')) : { allowed: true, retryAfterS: 7 };
    const { remotes } = connect(1, hit);
    const [lost, found] = [remotes[0]!.hit(RULE, 'lost'), remotes[0]!.hit(RULE, 'found')];
    expect(await codeOf(lost)).to.equal('store_unavailable');
    expect(await found).to.deep.equal({ allowed: true, retryAfterS: 7 });
  });

  describe('by a primary that is slow', () => {
    beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
    afterEach(() => mock.timers.reset());
    const turn = () => new Promise(setImmediate);

    it('times out in time, including what the request has waited before', async () => {
      const remote = createRemoteLimiter({ send: () => undefined, answerWithinMs: 40 });
      const codes: unknown[] = [];
      for (const waitedMs of [undefined, 20]) {
        void codeOf(remote.hit(RULE, 'key', waitedMs)).then((code) => codes.push([waitedMs, code]));
      }
      for (const [ms, found] of [
        [19, []],
        [1, [[20, 'store_unavailable']]],
        [19, [[20, 'store_unavailable']]],
        [
          1,
          [
            [20, 'store_unavailable'],
            [undefined, 'store_unavailable'],
          ],
        ],
      ] as const) {
        mock.timers.tick(ms);
        await turn();
        expect(codes).to.deep.equal(found);
      }
    });

    it('ignores late answers, and does not take a missing answer as allowed', async () => {
      const remote = createRemoteLimiter({ send: () => undefined, answerWithinMs: 40 });
      const first = codeOf(remote.hit(RULE, 'key'));
      await turn();
      mock.timers.tick(40);
      expect(await first).to.equal('store_unavailable');
      const next = remote.hit(RULE, 'key');
      const last = codeOf(remote.hit(RULE, 'key'));
      await turn();
      remote.answer(1, [5, 5]);
      remote.answer(2, [-7]);
      expect(await next).to.deep.equal({ allowed: false, retryAfterS: 7 });
      expect(await last).to.equal('store_unavailable');
    });
  });
});
