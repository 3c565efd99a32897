import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  createLimiter,
  type Limiter,
  type LimiterOptions,
  type LimitRule,
  withStoreTimeout,
} from '../../lib/accounts/rate-limiter.ts';
import { isFault } from '../../lib/base/faults.ts';
import { openStore } from '../../lib/store/open.ts';
import type { LimitStore } from '../../lib/store/ports/limits.ts';
import { type Store, StoreError } from '../../lib/store/store.ts';
import { heapMiB } from '../../testkit/garbage.ts';
import { longer } from '../../testkit/long.ts';
import { itTimed } from '../../testkit/timed.ts';

const RULE: LimitRule = { name: 'generate', perMinute: 3 };
const OTHER: LimitRule = { name: 'balance', perMinute: 5 };
const START = 1_700_000_000_000;

describe('limiter', () => {
  let folder: string;
  let store: Store;
  let now: number;
  let keys = 0;
  let key: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-limiter-'));
    store = await openStore(`sqlite:${join(folder, 'test.db')}`, { inProcess: true });
  });
  beforeEach(() => {
    now = START;
    keys += 1;
    key = `key-${keys}`;
  });
  after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const open = (options: Partial<LimiterOptions> = {}) =>
    createLimiter({ store: store.limits, now: () => now, ...options });
  const allowed = async (limiter: Limiter, rule = RULE, of = key) => (await limiter.hit(rule, of)).allowed;

  async function hits(limiter: Limiter, count: number, rule = RULE): Promise<readonly boolean[]> {
    const results: boolean[] = [];
    for (let at = 0; at < count; at += 1) results.push(await allowed(limiter, rule));
    return results;
  }

  /** The real store, with some of its calls replaced. */
  const storeWith = (replaced: Partial<LimitStore>): LimitStore => ({
    hit: (bucket, windowMs, at) => store.limits.hit(bucket, windowMs, at),
    open: (at) => store.limits.open(at),
    merge: (windows, at, batch) => store.limits.merge(windows, at, batch),
    ...replaced,
  });

  for (const mode of ['alone', 'beside another process']) {
    describe(mode, () => {
      let limiter: Limiter;
      beforeEach(async () => {
        limiter = open();
        if (mode !== 'alone') await limiter.setPeers(1);
      });

      it('allows the configured number of requests per window, and counts rejected ones', async () => {
        expect(await hits(limiter, 6)).to.deep.equal([true, true, true, false, false, false]);
      });

      it('opens a window with the first request, and the next with the first one after it', async () => {
        await hits(limiter, 1);
        now = START + 59_999;
        expect(await hits(limiter, 3)).to.deep.equal([true, true, false]);
        now = START + 60_000;
        expect(await hits(limiter, 4)).to.deep.equal([true, true, true, false]);
        now = START + 119_999;
        expect(await hits(limiter, 1)).to.deep.equal([false]);
        now = START + 200_000;
        expect(await hits(limiter, 1)).to.deep.equal([true]);
        now = START + 259_999;
        expect(await hits(limiter, 3)).to.deep.equal([true, true, false]);
      });

      it('counts each key and each bucket separately', async () => {
        await hits(limiter, 3);
        expect(await allowed(limiter)).to.equal(false);
        expect(await allowed(limiter, RULE, `${key}-other`)).to.equal(true);
        expect(await hits(limiter, 6, OTHER)).to.deep.equal([true, true, true, true, true, false]);
      });

      it('returns the time to wait in whole seconds, 1 to 59', async () => {
        const waits: number[] = [];
        for (const at of [0, 1, 999, 1000, 1001, 30_000, 58_999, 59_001, 59_999]) {
          now = START + at;
          waits.push((await limiter.hit(RULE, key)).retryAfterS);
        }
        expect(waits).to.deep.equal([59, 59, 59, 59, 59, 30, 2, 1, 1]);
      });
    });
  }

  it('does not use the store while it is alone', () => {
    const refuse = () => Promise.reject(new Error('asked'));
    const limiter = open({ store: { hit: refuse, open: refuse, merge: refuse } });
    expect(limiter.hit(RULE, key)).to.deep.equal({ allowed: true, retryAfterS: 59 });
  });

  it('opens a new window if the clock was set back far', async () => {
    const limiter = open();
    await hits(limiter, 3);
    now = START - 60_000;
    expect(await hits(limiter, 1)).to.deep.equal([false]);
    now = START - 60_001;
    expect(await hits(limiter, 4)).to.deep.equal([true, true, true, false]);
  });

  it('removes expired windows', () => {
    const limiter = open();
    const hitMany = (count: number) => {
      for (let at = 0; at < count; at += 1) {
        now += 10;
        void limiter.hit(RULE, `${now}`);
      }
      return heapMiB();
    };
    const before = hitMany(longer(20_000, 50_000));
    expect(hitMany(longer(100_000, 300_000)) - before).to.be.below(longer(6, 10));
  });

  it('sweeps its windows only now and then, however many are open', () => {
    const limiter = open();
    const from = process.cpuUsage();
    for (let at = 0; at < 40_000; at += 1) void limiter.hit(RULE, `key-${at}`);
    const { user, system } = process.cpuUsage(from);
    // With a look at all of them for each that is new it takes seconds.
    expect((user + system) / 1000).to.be.below(1000);
  });

  describe('handing over', () => {
    it('keeps all counts, to the store, back and to the store again', async () => {
      const limiter = open();
      const results: boolean[] = [];
      for (const peers of [0, 1, 0, 2, 1, 0, 1]) {
        await limiter.setPeers(peers);
        results.push(...(await hits(limiter, 1, OTHER)));
      }
      expect(results).to.deep.equal([true, true, true, true, true, false, false]);
      const window = (await store.limits.open(now)).find(({ bucket }) => bucket === `balance:${key}`);
      expect(window).to.include({ count: 7, endsAt: START + 60_000 });
    });

    it('keeps the window of the first request', async () => {
      const limiter = open();
      await hits(limiter, 2);
      now = START + 30_000;
      await limiter.setPeers(1);
      await hits(limiter, 1);
      now = START + 40_000;
      await limiter.setPeers(0);
      expect(await hits(limiter, 1)).to.deep.equal([false]);
      now = START + 60_000;
      expect(await hits(limiter, 1)).to.deep.equal([true]);
    });

    it('loses and doubles no request that arrives meanwhile', async () => {
      const limiter = open();
      const rule = { name: 'many', perMinute: 100 };
      const results: Promise<boolean>[] = [];
      const changes: Promise<void>[] = [];
      for (let at = 0; at < 150; at += 1) {
        if (at % 20 === 10) changes.push(limiter.setPeers(Math.floor(at / 20) % 2 === 0 ? 1 : 0));
        results.push(allowed(limiter, rule));
        if (at % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(changes);
      expect((await Promise.all(results)).filter(Boolean)).to.have.length(100);
    });

    it('adds up the counts of all processes', async () => {
      const first = open();
      const second = open();
      await hits(first, 1, OTHER);
      await second.setPeers(1);
      await hits(second, 1, OTHER);
      await hits(first, 1, OTHER);
      await first.setPeers(1);
      expect(await hits(first, 1, OTHER)).to.deep.equal([true]);
      expect(await hits(second, 2, OTHER)).to.deep.equal([true, false]);
      // The second ends, the first goes on alone, and a third begins.
      await first.setPeers(0);
      expect(await hits(first, 1, OTHER)).to.deep.equal([false]);
      const third = open();
      await third.setPeers(1);
      await first.setPeers(1);
      expect(await hits(third, 1, OTHER)).to.deep.equal([false]);
      const window = (await store.limits.open(now)).find(({ bucket }) => bucket === `balance:${key}`);
      expect(window?.count).to.equal(8);
    });

    it('counts every request once, in any order of changes and hits', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.constantFrom('hit', 'hit', 'share', 'keep'), { maxLength: 25, size: 'max' }),
          async (steps) => {
            keys += 1;
            key = `key-${keys}`;
            const limiter = open();
            const rule = { name: 'any', perMinute: 1000 };
            let count = 0;
            for (const step of steps) {
              if (step === 'hit') count += 1;
              if (step === 'hit') await limiter.hit(rule, key);
              else await limiter.setPeers(step === 'share' ? 1 : 0);
            }
            await limiter.setPeers(1);
            const window = (await store.limits.open(now)).find(({ bucket }) => bucket === `any:${key}`);
            expect(window?.count ?? 0).to.equal(count);
          },
        ),
        { numRuns: 50 },
      );
    });

    it('counts a batch once if the store’s answer was lost, plus the counts since then', async () => {
      let isLost = true;
      const limiter = open({
        store: storeWith({
          merge: async (windows, at, batch) => {
            await store.limits.merge(windows, at, batch);
            if (isLost) throw new StoreError('lost', 'unknown');
          },
        }),
      });
      const rule = { name: 'lost', perMinute: 100 };
      const stored = async () =>
        (await store.limits.open(now)).find(({ bucket }) => bucket === `lost:${key}`)?.count ?? 0;
      await hits(limiter, 12, rule);
      for (let attempt = 0; attempt < 3; attempt += 1) {
        expect(await limiter.setPeers(1).catch((error: Error) => error.message)).to.equal('lost');
        expect(await stored()).to.equal(12);
      }
      await hits(limiter, 2, rule);
      await limiter.setPeers(0);
      await hits(limiter, 1, rule);
      isLost = false;
      await limiter.setPeers(1);
      expect(await stored()).to.equal(15);
    });

    it('makes a request wait until another process has handed over its counts', async () => {
      const living = open();
      const starting = open();
      await hits(living, 2);
      await starting.setPeers(1, false);
      const waiting = [1, 2, 3].map(() => allowed(starting));
      await starting.setPeers(1, false);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await Promise.race([...waiting, 'none'])).to.equal('none');
      await living.setPeers(1);
      await starting.setPeers(1);
      expect(await Promise.all(waiting)).to.deep.equal([true, false, false]);
    });

    it('does not count in memory while another process does, and continues when that process is gone', async () => {
      const limiter = open({
        store: storeWith({ merge: () => Promise.reject(new Error('down')) }),
        answerWithinMs: 30,
      });
      await hits(limiter, 1);
      expect(await limiter.setPeers(1, false).catch((error: Error) => error.message)).to.equal('down');
      expect(isFault(await allowed(limiter).catch((error: unknown) => error))).to.equal(true);
      await limiter.setPeers(0);
      // The request that was refused counts.
      expect(await hits(limiter, 2)).to.deep.equal([true, false]);
    });

    it('changes nothing if the store fails, and can be repeated', async () => {
      let isDown = true;
      const down = <T>(call: () => Promise<T>) => (isDown ? Promise.reject(new Error('down')) : call());
      const limiter = open({
        store: storeWith({
          merge: (windows, at, batch) => down(() => store.limits.merge(windows, at, batch)),
          open: (at) => down(() => store.limits.open(at)),
        }),
      });
      await hits(limiter, 1);
      const failed = await limiter.setPeers(1).catch((error: Error) => error.message);
      expect(failed).to.equal('down');
      expect(limiter.hit(RULE, key)).to.deep.include({ allowed: true });
      isDown = false;
      await limiter.setPeers(1);
      isDown = true;
      expect(await limiter.setPeers(0).catch((error: Error) => error.message)).to.equal('down');
      expect(await hits(limiter, 2)).to.deep.equal([true, false]);
      isDown = false;
      await limiter.setPeers(0);
      expect(limiter.hit(RULE, key)).to.deep.include({ allowed: false });
    });
  });

  describe('when the store has to count', () => {
    async function failure(limiter: Limiter): Promise<unknown> {
      return Promise.resolve(limiter.hit(RULE, key)).catch((error: unknown) => error);
    }

    it('leaves no timer behind', async () => {
      const limiter = open();
      await limiter.setPeers(1);
      const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
      const before = timers();
      await hits(limiter, 20);
      expect(timers() - before).to.be.below(5);
    });

    it('answers 503 if it fails', async () => {
      const limiter = open({ store: storeWith({ hit: () => Promise.reject(new Error('down')) }) });
      await limiter.setPeers(1);
      const error = await failure(limiter);
      expect(isFault(error) && error.data?.code).to.equal('store_unavailable');
      expect(isFault(error) && (error.cause as Error).message).to.equal('down');
    });

    itTimed('answers 503 if it does not answer in time', async () => {
      const limiter = open({ store: storeWith({ hit: () => new Promise(() => undefined) }), answerWithinMs: 30 });
      await limiter.setPeers(1);
      const startedAt = performance.now();
      const error = await failure(limiter);
      expect(isFault(error) && error.data?.code).to.equal('store_unavailable');
      expect(performance.now() - startedAt).to.be.within(25, 250);
    });

    it('answers 503 if a hand-over does not end in time, and continues after it', async () => {
      let release: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const limiter = open({
        store: storeWith({ merge: (windows, at, batch) => gate.then(() => store.limits.merge(windows, at, batch)) }),
        answerWithinMs: 30,
      });
      await hits(limiter, 1);
      const change = limiter.setPeers(1);
      await new Promise((resolve) => setImmediate(resolve));
      expect(isFault(await failure(limiter))).to.equal(true);
      release();
      await change;
      // The request that was refused counts when its turn comes.
      expect(await hits(limiter, 2)).to.deep.equal([true, false]);
    });
  });

  it('leaves no timer behind once there is an answer', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    await new Promise((resolve) => setImmediate(resolve));
    const before = timers();
    expect(await withStoreTimeout(Promise.resolve('there'), 60_000)).to.equal('there');
    expect(isFault(await withStoreTimeout(Promise.reject(new Error('no')), 60_000).catch((error) => error))).to.equal(
      true,
    );
    expect(timers()).to.equal(before);
  });
});
