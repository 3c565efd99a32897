// When an owner renews, what time it says it is, and when it trusts that others are dead, by clocks that a test sets.
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createOwner, type OwnerOptions } from '../../lib/ledger/owner.ts';
import { itTimed } from '../../testkit/timed.ts';

/** The store's clock, far from this machine's. */
const THEN = 1_000_000_000_000;

describe('an owner by the clock', () => {
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

  /** Lets time pass for the process and the store. */
  async function pass(ms: number): Promise<void> {
    passedMs += ms;
    mock.timers.tick(ms);
    for (let turns = 0; turns < 3; turns += 1) await turn();
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

  it('says the time of the store, also between two renewals, and its own before the first', async () => {
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

  it('trusts a whole lease after its start, through renewals that come late, and no more once one came too late', async () => {
    const owner = await start(60_000);
    expect(owner.trusts()).to.equal(false);
    await pass(59_000);
    expect(owner.trusts()).to.equal(false);
    await pass(1000);
    expect(owner.trusts()).to.equal(true);
    await pass(59_000);
    expect(owner.trusts()).to.equal(true);
    await pass(59_001);
    expect(owner.trusts()).to.equal(false);
    await owner.stop();
  });

  itTimed(
    'looks ten times a second for another that counts alone, takes it for dead after 20 looks, and calms down',
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
