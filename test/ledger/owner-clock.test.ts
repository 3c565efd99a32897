// When an owner renews its lease, which time it reports, and when it considers others dead, with clocks set by the test.
import { mock } from 'node:test';
import { setImmediate as waitOneTick } from 'node:timers/promises';
import { expect } from 'chai';
import { createOwner, type OwnerOptions } from '../../lib/ledger/owner.ts';
import { itTimed } from '../../testkit/timed.ts';

/** The clock of the store, far from that of this machine. */
const THEN = 1_000_000_000_000;

describe('the clock of an owner', () => {
  const { now } = performance;
  let passedMs: number;
  let renewals: number;
  let others: { readonly others: number; readonly alone: number };

  beforeEach(() => {
    [passedMs, renewals, others] = [0, 0, { others: 0, alone: 0 }];
    mock.timers.enable({ apis: ['setTimeout'] });
    performance.now = () => passedMs;
  });
  afterEach(() => {
    performance.now = now;
    mock.timers.reset();
  });

  /** Advances the clocks of the process and the store. */
  async function pass(ms: number): Promise<void> {
    passedMs += ms;
    mock.timers.tick(ms);
    for (let turns = 0; turns < 3; turns += 1) await waitOneTick();
  }

  function make(leaseMs: number, more: Partial<OwnerOptions> = {}) {
    const store: OwnerOptions['store'] = {
      renew: async () => {
        renewals += 1;
        return { now: THEN + passedMs, ...others };
      },
      remove: async () => undefined,
    };
    const log = { warn: () => undefined, error: () => undefined };
    const ledger = { expireOrphans: async () => 0 };
    return createOwner({ store, ledger, ownerId: 'me', leaseMs, log, ...more });
  }

  async function start(leaseMs: number, more: Partial<OwnerOptions> = {}) {
    const owner = make(leaseMs, more);
    await owner.start();
    await pass(0);
    return owner;
  }

  for (const [leaseMs, everyMs] of [
    [300, 100],
    [60_000, 1000],
    [90, 50],
  ] as const) {
    it(`renews a lease of ${leaseMs} ms every ${everyMs} ms, until it stops`, async () => {
      const owner = await start(leaseMs);
      const before = renewals;
      await pass(everyMs - 1);
      expect(renewals).to.equal(before);
      await pass(1);
      expect(renewals).to.equal(before + 1);
      await pass(everyMs);
      expect(renewals).to.equal(before + 2);
      await owner.stop();
      await pass(10 * everyMs);
      expect(renewals).to.equal(before + 2);
    });
  }

  it('gives the time of the store between renewals, and its own before the first', async () => {
    const store: OwnerOptions['store'] = {
      renew: async () => ({ now: THEN, others: 0, alone: 0 }),
      remove: async () => undefined,
    };
    const owner = make(60_000, { store });
    await owner.start();
    passedMs += 432.7;
    expect(owner.now()).to.equal(THEN + 432);
    await owner.stop();
    expect(Math.abs(make(60_000).now() - Date.now())).to.be.below(60_000);
  });

  it('judges others a whole lease after the start, despite late renewals, but not after one that came too late', async () => {
    const owner = await start(60_000);
    expect(owner.canJudgeOthers()).to.equal(false);
    await pass(59_000);
    expect(owner.canJudgeOthers()).to.equal(false);
    await pass(1000);
    expect(owner.canJudgeOthers()).to.equal(true);
    await pass(59_000);
    expect(owner.canJudgeOthers()).to.equal(true);
    await pass(59_001);
    expect(owner.canJudgeOthers()).to.equal(false);
    await owner.stop();
  });

  itTimed(
    'polls ten times a second while another counts alone, considers it dead after 20 polls, and slows down',
    async () => {
      const told: boolean[] = [];
      others = { others: 1, alone: 1 };
      const onPeers = async (_peers: number, settled: boolean) => void told.push(settled);
      const owner = await start(60_000, { onPeers });
      while (told.length < 20) await pass(100);
      expect(new Set(told)).to.deep.equal(new Set([false]));
      expect(passedMs).to.be.within(1700, 1900);
      await pass(100);
      expect(told.slice(20)).to.deep.equal([true]);
      await pass(999);
      expect(told).to.have.length(21);
      await pass(1);
      expect(told.slice(20)).to.deep.equal([true, true]);
      await owner.stop();
    },
  );
});
