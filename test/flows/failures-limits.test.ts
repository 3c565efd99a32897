// The rate limit when the store that has to count does not answer: a 503 in time, and no window lost.
import { expect } from 'chai';
import { createLimiter } from '../../lib/accounts/rate-limiter.ts';
import type { Fault } from '../../lib/base/faults.ts';
import { type FaultyStore, makeGate, openFaultyStore, refuse, waitFor } from '../../testkit/faulty-store.ts';
import { itTimed } from '../../testkit/timed.ts';

const rule = { name: 'generate', perMinute: 3 };
const SOON_MS = 100;

describe('rate limit without a store', () => {
  let faulty: FaultyStore;
  let tests = 0;

  before(async () => {
    faulty = await openFaultyStore();
  });
  beforeEach(() => {
    tests += 1;
  });
  after(() => faulty.close());

  const make = () => createLimiter({ store: faulty.store.limits, answerWithinMs: SOON_MS });
  const key = () => `key-${tests}`;
  const allowed = async (limiter: ReturnType<typeof make>, count: number) => {
    const results: boolean[] = [];
    for (let at = 0; at < count; at += 1) results.push((await limiter.hit(rule, key())).allowed);
    return results;
  };
  const catchFailure = async (attempt: Promise<unknown> | unknown) => {
    try {
      await attempt;
    } catch (error) {
      const { output, data } = error as Fault;
      return [output?.statusCode, data?.code];
    }
    return 'none';
  };

  it('needs none while the process is alone', async () => {
    faulty.always('limits.hit', refuse);
    expect(await allowed(make(), 4)).to.deep.equal([true, true, true, false]);
    faulty.always('limits.hit', undefined);
  });

  it('answers 503 when a shared count is refused, and counts on afterwards', async () => {
    const limiter = make();
    await limiter.setPeers(1);
    expect(await allowed(limiter, 2)).to.deep.equal([true, true]);
    faulty.next('limits.hit', refuse);
    expect(await catchFailure(limiter.hit(rule, key()))).to.deep.equal([503, 'store_unavailable']);
    expect(await allowed(limiter, 2)).to.deep.equal([true, false]);
  });

  itTimed('answers 503 in time when a shared count does not come', async () => {
    const limiter = make();
    await limiter.setPeers(1);
    const gate = makeGate();
    faulty.next('limits.hit', waitFor(gate.opened));
    const startedAt = performance.now();
    expect(await catchFailure(limiter.hit(rule, key()))).to.deep.equal([503, 'store_unavailable']);
    expect(performance.now() - startedAt).to.be.within(SOON_MS - 5, SOON_MS + 300);
    gate.open();
  });

  it('counts the time that the request has already waited for the store', async () => {
    const limiter = createLimiter({ store: faulty.store.limits, answerWithinMs: 60_000 });
    await limiter.setPeers(1);
    const gate = makeGate();
    faulty.next('limits.hit', waitFor(gate.opened));
    expect(await catchFailure(limiter.hit(rule, key(), 59_990))).to.deep.equal([503, 'store_unavailable']);
    gate.open();
  });

  it('answers 503 in time while it changes over, and loses no count when that fails', async () => {
    const limiter = make();
    expect(await allowed(limiter, 2)).to.deep.equal([true, true]);
    const gate = makeGate();
    faulty.next('limits.merge', async (call, args) => {
      await gate.opened;
      return refuse(call, args);
    });
    const change = limiter.setPeers(1).catch((error: Error) => error.name);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await catchFailure(limiter.hit(rule, key()))).to.deep.equal([503, 'store_unavailable']);
    gate.open();
    expect(await change).to.equal('StoreError');
    // The call that was given up was counted all the same: a limit may err to the strict side.
    expect(await allowed(limiter, 1)).to.deep.equal([false]);
    await limiter.setPeers(1);
    expect(await allowed(limiter, 1)).to.deep.equal([false]);
    const windows = await faulty.real.limits.open(Date.now());
    expect(windows.find(({ bucket }) => bucket === `generate:${key()}`)?.count).to.equal(5);
  });

  it('keeps sharing when it cannot take the counts back', async () => {
    const limiter = make();
    await limiter.setPeers(1);
    expect(await allowed(limiter, 2)).to.deep.equal([true, true]);
    faulty.next('limits.open', refuse);
    expect(await limiter.setPeers(0).catch((error: Error) => error.name)).to.equal('StoreError');
    expect(await allowed(limiter, 2)).to.deep.equal([true, false]);
    await limiter.setPeers(0);
    expect(await allowed(limiter, 1)).to.deep.equal([false]);
  });
});
