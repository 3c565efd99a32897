// The clock is set forward or back, or the machine sleeps, while calls run: nobody is taken for dead, no key is locked out.
import { expect } from 'chai';
import { createLimiter, type Limiter } from '../../lib/accounts/rate-limiter.ts';
import { HOUR_MS } from '../../lib/base/durations.ts';
import { createLedger } from '../../lib/ledger/ledger.ts';
import { createOwner, type Owner } from '../../lib/ledger/owner.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { until } from '../../testkit/client.ts';
import { type TestClock, takeClock } from '../../testkit/clock.ts';
import { type Books, type Home, makeHome, openBooks } from '../../testkit/process.ts';
import { chargeWithJob } from '../contract/store/jobs.ts';

const LEASE_MS = 600;
const YEAR_MS = 365 * 24 * HOUR_MS;
const RULE = { name: 'generate', perMinute: 3 };

describe('hostile clocks', () => {
  let home: Home;
  let books: Books;
  let store: Store;
  let clock: TestClock;
  let owners: Owner[];
  const log = { warn: () => undefined, error: () => undefined };

  beforeEach(async () => {
    clock = takeClock();
    owners = [];
    home = makeHome();
    books = await openBooks(home);
    store = await openStore(`sqlite:${home.database}`, { inProcess: true });
  });
  afterEach(async () => {
    clock.restore();
    for (const owner of owners) await owner.stop();
    await store.close();
    await books.close();
    home.remove();
  });

  async function start(ownerId: string, onPeers?: Limiter['setPeers']) {
    return (await begin(ownerId, onPeers)).ledger;
  }
  async function begin(ownerId: string, onPeers: Limiter['setPeers'] = async () => undefined) {
    const ledger = createLedger({ store, ownerId, leaseMs: LEASE_MS, log });
    const owner = createOwner({ store: store.owners, ledger, ownerId, leaseMs: LEASE_MS, log, onPeers });
    owners.push(owner);
    await owner.start();
    return { ...owner, ledger };
  }
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const call = { kind: 'text', key: 'key', model: 'm', prices: '{}', amount: 10_000_000n } as const;

  for (const afterMs of [20, 120, 220]) {
    it(`set forward by an hour: calls of every living process are charged (${afterMs} ms after a start)`, async () => {
      const account = await books.account();
      const ledgers = [await start('first')];
      await sleep(100);
      ledgers.push(await start('second'));
      const hold = (index: number) => ({ ...call, wallet: account.id, chargeId: `call-${index}` });
      const holds = await Promise.all(ledgers.map((ledger, index) => ledger.hold(hold(index))));
      await sleep(afterMs);
      clock.set(HOUR_MS);
      await sleep(2 * LEASE_MS);
      // The hold of one that was taken for dead would be charged the same.
      for (const { charge } of holds) expect((await store.ledger.charge(charge.id))?.state).to.equal('held');
      const used = { amount: 4_000_000n, usage: { tokens_input: 1, tokens_output: 1 } };
      for (const [index, ledger] of ledgers.entries()) {
        const { charged } = await ledger.settle(holds[index]!, used);
        expect(charged).to.equal(4_000_000n);
      }
      expect(await books.wallet(account)).to.include({ held: 0n, charged: 8_000_000n });
    });
  }

  it('set forward by an hour: nobody takes the job of a living process, before it has noticed or after', async () => {
    const account = await books.account();
    const first = await begin('first');
    await begin('second');
    await sleep(LEASE_MS + 100);
    const lease = Date.now() + LEASE_MS;
    await books.apply(chargeWithJob(account.id, { owner: 'second', lease }));
    clock.set(HOUR_MS);
    for (const from = performance.now(); performance.now() - from < LEASE_MS; await sleep(20)) {
      const at = first.canJudgeOthers() ? first.now() : undefined;
      expect(await store.jobs.claim({ owner: 'first', leaseMs: LEASE_MS, limit: 10, working: [], at })).to.deep.equal(
        [],
      );
    }
  });

  it('set forward by an hour: the hold of a dead process goes back all the same', async () => {
    const account = await books.account();
    await start('living');
    const dead = createLedger({ store, ownerId: 'dead', leaseMs: LEASE_MS, log });
    await dead.hold({ ...call, wallet: account.id, chargeId: 'call' });
    clock.set(HOUR_MS);
    await until(async () => (await books.held()) === 0n, 4 * LEASE_MS);
    expect((await store.ledger.charge('call'))?.state).to.equal('expired');
  });

  it('set forward by an hour: of two processes none counts limits by its own memory', async () => {
    const limiters = [createLimiter({ store: store.limits }), createLimiter({ store: store.limits })];
    for (const [index, { setPeers }] of limiters.entries()) await start(`own-${index}`, setPeers);
    const isLocal = (limiter: Limiter) => !(limiter.hit(RULE, 'key') instanceof Promise);
    await until(() => !limiters.some(isLocal));
    clock.set(HOUR_MS);
    for (const from = performance.now(); performance.now() - from < 2 * LEASE_MS; ) {
      expect(limiters.map(isLocal)).to.deep.equal([false, false]);
      await sleep(20);
    }
  });

  it('set back by a year: the hold of a process that died before goes back all the same', async () => {
    const account = await books.account();
    clock.set(YEAR_MS);
    const dead = createLedger({ store, ownerId: 'dead', leaseMs: LEASE_MS, log });
    await store.owners.renew({ id: 'dead', leaseMs: LEASE_MS, alone: true });
    await dead.hold({ ...call, wallet: account.id, chargeId: 'call' });
    clock.set(0);
    await start('living');
    await until(async () => (await books.held()) === 0n, 4 * LEASE_MS);
    expect((await store.ledger.charge('call'))?.state).to.equal('expired');
  });

  it('set back by a year: calls of every living process stay held', async () => {
    const account = await books.account();
    const ledgers = [await start('first'), await start('second')];
    clock.set(YEAR_MS);
    await sleep(2 * LEASE_MS);
    const hold = (index: number) => ({ ...call, wallet: account.id, chargeId: `call-${index}` });
    const holds = await Promise.all(ledgers.map((ledger, index) => ledger.hold(hold(index))));
    clock.set(0);
    await sleep(2 * LEASE_MS);
    for (const { charge } of holds) expect((await store.ledger.charge(charge.id))?.state).to.equal('held');
  });

  for (const peers of [0, 1]) {
    it(`set back by an hour: a key waits no hour for its next window (${peers} other processes)`, async () => {
      const limiter = createLimiter({ store: store.limits });
      await limiter.setPeers(peers);
      for (let hit = 0; hit < 4; hit += 1) await limiter.hit(RULE, 'key');
      expect((await limiter.hit(RULE, 'key')).allowed).to.equal(false);
      clock.set(-HOUR_MS);
      expect((await limiter.hit(RULE, 'key')).allowed).to.equal(true);
      for (let hit = 0; hit < 4; hit += 1) await limiter.hit(RULE, 'key');
      expect((await limiter.hit(RULE, 'key')).allowed).to.equal(false);
    });
  }
});
