// The cleaner: removes expired rows in batches at intervals, and survives a failing store.
import { expect } from 'chai';
import { type CleanerOptions, createCleaner } from '../../lib/store/cleaner.ts';
import { until } from '../../testkit/client.ts';
import { type FaultyStore, makeGate, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { itTimed } from '../../testkit/timed.ts';
import { newMedia, piecesOf } from '../contract/store/media.ts';
import { PNG } from '../media/sample-images.ts';

describe('cleaner', () => {
  let opened: FaultyStore;
  let cleaner: ReturnType<typeof createCleaner> | undefined;
  let removed: number[];
  let errors: unknown[];

  beforeEach(async () => {
    opened = await openFaultyStore();
    [removed, errors] = [[], []];
  });
  afterEach(async () => {
    cleaner?.stop();
    await opened.close();
  });

  const start = (more: Partial<CleanerOptions> = {}) => {
    const { media } = opened.store;
    // A log line after the end of a test must not reach the next.
    const counts = removed;
    const failures = errors;
    const told = {
      onError: (error: unknown) => failures.push(error),
      onRemoved: (count: number) => counts.push(count),
    };
    cleaner = createCleaner({ expiring: media, everyMs: 20, ...told, ...more });
    cleaner.start();
  };
  const keep = (expiresAt: number) => opened.real.media.write(newMedia({ expiresAt }), piecesOf(PNG));
  const left = () => opened.real.media.page({ limit: 1000 });

  it('removes expired rows, and later ones once they expire', async () => {
    await keep(Date.now() - 1);
    const later = await keep(Date.now() + 60_000);
    start();
    await until(async () => (await left()).length === 1);
    await keep(Date.now() + 200);
    await until(async () => (await left()).length === 1);
    expect(await left()).to.deep.equal([later]);
    expect(errors).to.deep.equal([]);
  });

  itTimed('removes a hundred rows at a time, and continues at once while there are more', async () => {
    const counts = [100, 100, 7];
    const limits: number[] = [];
    const times: number[] = [];
    const media = {
      clean: async (_now: number, limit: number) => {
        limits.push(limit);
        times.push(performance.now());
        return counts.shift() ?? 0;
      },
    };
    start({ expiring: media, everyMs: 500 });
    await until(() => removed.length >= 3);
    expect(removed).to.deep.equal([100, 100, 7]);
    expect(limits).to.deep.equal([100, 100, 100]);
    expect((times[2] as number) - (times[0] as number)).to.be.below(250);
  });

  it('logs a failure once, tries again, and logs the next one', async () => {
    opened.next('media.clean', refuse, refuse, refuse);
    await keep(Date.now() - 1);
    start();
    await until(async () => (await left()).length === 0);
    expect(errors).to.have.length(1);
    opened.next('media.clean', refuse);
    await until(() => errors.length === 2);
  });

  it('ends if it is stopped, even in the middle of its work', async () => {
    const gate = makeGate();
    let calls = 0;
    const clean = async () => {
      calls += 1;
      await gate.opened;
      return 100;
    };
    start({ expiring: { clean } });
    await until(() => calls === 1);
    cleaner?.stop();
    gate.open();
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect([calls, errors]).to.deep.equal([1, []]);
  });

  it('logs no failure after its stop, and starts nothing', async () => {
    const gate = makeGate();
    let calls = 0;
    const clean = async () => {
      calls += 1;
      await gate.opened;
      throw new Error('the store is closed');
    };
    start({ expiring: { clean } });
    await until(() => calls === 1);
    cleaner?.stop();
    start({ expiring: { clean }, everyMs: 1 });
    cleaner?.stop();
    gate.open();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([calls, errors]).to.deep.equal([1, []]);
  });

  it('waits five minutes on average with jitter, and keeps no process alive', () => {
    const real = { random: Math.random, setTimeout: globalThis.setTimeout };
    const waits: number[] = [];
    let released = 0;
    globalThis.setTimeout = ((_work: () => void, ms: number) => {
      waits.push(ms);
      const timer = {
        unref() {
          released += 1;
          return timer;
        },
      };
      return timer;
    }) as unknown as typeof setTimeout;
    try {
      for (const [random, more] of [
        [0, {}],
        [0.5, {}],
        [0.75, { everyMs: 1000 }],
      ] as const) {
        Math.random = () => random;
        createCleaner({ expiring: opened.store.media, onError: () => undefined, ...more }).start();
      }
    } finally {
      [Math.random, globalThis.setTimeout] = [real.random, real.setTimeout];
    }
    expect(waits).to.deep.equal([150_000, 300_000, 1250]);
    expect(released).to.equal(3);
  });
});
