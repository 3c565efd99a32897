// The usage chore keeps usage sums up to date, on both stores and despite failures.
import { mock } from 'node:test';
import { setImmediate as waitOneTick } from 'node:timers/promises';
import { expect } from 'chai';
import { createLedger } from '../../lib/ledger/ledger.ts';
import { createUsageChore, type UsageChoreOptions } from '../../lib/ledger/usage-chore.ts';
import type { UsageStore } from '../../lib/store/ports/usage.ts';
import { until } from '../../testkit/client.ts';
import { makeGate, openFaultyStore, refuse, waitFor } from '../../testkit/faulty-store.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import {
  applied,
  appliedInBatches,
  charge,
  newId,
  newWallet,
  RUB,
  reserve,
  useStore,
} from '../contract/store/context.ts';

const request = (wallet: string) => ({
  ...({ chargeId: newId('req'), wallet, key: 'key', kind: 'text', model: 'm', prices: '{}', amount: RUB } as const),
});

for (const kind of longer([SQLITE], STORES)) {
  describe(`the usage chore on ${kind.name}`, () => {
    const context = useStore(kind);

    async function open() {
      const { store } = context;
      const wallet = await newWallet(store);
      const chore = createUsageChore({ store, onError: String, sweeps: false, everyMs: 5 });
      const log = { warn: () => undefined, error: () => undefined };
      const ledger = chore.watch(createLedger({ store, ownerId: newId('own'), leaseMs: 60_000, log }));
      const used = { amount: RUB / 2n, usage: { tokens_input: 1, tokens_output: 1 } };
      const call = async () => ledger.settle(await ledger.hold(request(wallet)), used);
      const charged = async () => (await store.usage.sums(wallet, { by: 'model' }))[0]?.charged;
      return { store, wallet, chore, ledger, used, call, charged };
    }

    it('folds settlements, charges and refunds in the background', async () => {
      const { store, wallet, chore, ledger, used, call, charged } = await open();
      await chore.fold();
      expect((await store.usage.progress(wallet)).cursor).to.equal(0);
      await call();
      await chore.fold();
      expect(await charged()).to.equal(RUB / 2n);
      const { charge } = await ledger.charge({ ...request(wallet), kind: 'video', usage: { seconds: 5 } });
      await chore.fold();
      expect(await charged()).to.equal((RUB * 3n) / 2n);
      await ledger.refund({ chargeId: charge.id, wallet });
      await chore.fold();
      const seq = (await store.ledger.wallet(wallet))?.seq;
      expect((await store.usage.progress(wallet)).cursor).to.equal(seq);
      await ledger.settle(await ledger.hold(request(wallet)), used);
      await chore.fold();
      expect((await store.usage.progress(wallet)).cursor).to.equal((seq ?? 0) + 2);
    });

    it('runs between start and stop', async () => {
      const { chore, call, charged } = await open();
      await call();
      chore.start();
      while ((await charged()) === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
      chore.stop();
      await call();
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await charged()).to.equal(RUB / 2n);
    });

    it('stops during a pause, however long', async () => {
      const { chore, call } = await open();
      await call();
      const { now } = performance;
      const folding = chore.fold();
      // The running step takes an hour, and so would the pause after it.
      performance.now = () => now.call(performance) + 3_600_000;
      chore.stop();
      await folding.finally(() => {
        performance.now = now;
      });
    });

    it('looks after a start, and again in every tenth round, for wallets left behind by others', async () => {
      const { store } = context;
      const one = await newWallet(store);
      const other = await newWallet(store);
      await applied(store, reserve(one));
      await applied(store, reserve(other), reserve(other));
      const chore = createUsageChore({ store, onError: String });
      await chore.fold();
      expect([(await store.usage.progress(one)).cursor, (await store.usage.progress(other)).cursor]).to.deep.equal([
        2, 3,
      ]);
      await applied(store, reserve(one));
      await chore.fold();
      // Between two searches the chore observes the calls of its own process.
      for (let rounds = 2; rounds < 10; rounds += 1) await chore.fold();
      expect((await store.usage.progress(one)).cursor).to.equal(2);
      await chore.fold();
      expect((await store.usage.progress(one)).cursor).to.equal(3);
    });

    it('folds a wallet shown on a page at once', async () => {
      const { store, wallet } = await open();
      const calls = Array.from({ length: 1200 }, () => charge(wallet, { amount: 1n }));
      await appliedInBatches(store, calls);
      const chore = createUsageChore({ store, onError: String, everyMs: 3_600_000 });
      for (let times = 0; times < 3; times += 1) chore.foldSoon(wallet);
      await until(async () => (await store.usage.progress(wallet)).cursor === 1201, 10_000);
      await applied(store, charge(wallet));
      chore.foldSoon(wallet);
      await until(async () => (await store.usage.progress(wallet)).cursor === 1202, 10_000);
      chore.stop();
      await applied(store, charge(wallet));
      chore.foldSoon(wallet);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect((await store.usage.progress(wallet)).cursor).to.equal(1202);
    });
  });
}

describe('the usage chore', () => {
  it('folds a call that ended during a round in the next one', async () => {
    const faulty = await openFaultyStore();
    const { store } = faulty;
    const wallet = await newWallet(store);
    const chore = createUsageChore({ store, onError: String, sweeps: false });
    const log = { warn: () => undefined, error: () => undefined };
    const ledger = chore.watch(createLedger({ store, ownerId: newId('own'), leaseMs: 60_000, log }));
    const hold = await ledger.hold(request(wallet));
    const gate = makeGate();
    faulty.next('ledger.apply', waitFor(gate.opened));
    const settled = ledger.settle(hold, { amount: RUB, usage: { tokens_input: 1, tokens_output: 1 } });
    await chore.fold();
    gate.open();
    await settled;
    await chore.fold();
    expect((await store.usage.sums(wallet, { by: 'model' }))[0]?.charged).to.equal(RUB);
    await faulty.close();
  });

  it('continues in the next round after a failure, reported once', async () => {
    const faulty = await openFaultyStore();
    const { store } = faulty;
    const wallet = await newWallet(store);
    const errors: unknown[] = [];
    const chore = createUsageChore({ store, onError: (error) => errors.push(error), sweeps: false });
    const log = { warn: () => undefined, error: () => undefined };
    const ledger = chore.watch(createLedger({ store, ownerId: newId('own'), leaseMs: 60_000, log }));
    await ledger.charge({ ...request(wallet), kind: 'video', usage: { seconds: 5 } });
    faulty.next('usage.progress', refuse);
    await chore.fold();
    faulty.next('usage.add', refuse);
    await chore.fold();
    expect([await store.usage.sums(wallet, { by: 'model' }), errors.length]).to.deep.equal([[], 1]);
    await chore.fold();
    expect((await store.usage.sums(wallet, { by: 'model' }))[0]?.charged).to.equal(RUB);
    await faulty.close();
  });

  it('repeats a failed search, and does not lose an urgent wallet that fails', async () => {
    const faulty = await openFaultyStore();
    const { store } = faulty;
    const wallet = await newWallet(store);
    await applied(store, charge(wallet));
    const errors: unknown[] = [];
    const chore = createUsageChore({ store, onError: (error) => errors.push(error) });
    faulty.next('usage.findBehind', refuse);
    await chore.fold();
    faulty.next('usage.add', refuse);
    await chore.fold();
    expect([(await store.usage.progress(wallet)).cursor, errors.length]).to.deep.equal([0, 1]);
    await chore.fold();
    expect((await store.usage.progress(wallet)).cursor).to.equal(2);
    await applied(store, charge(wallet));
    faulty.next('usage.add', refuse);
    chore.foldSoon(wallet);
    await until(() => errors.length === 2);
    chore.foldSoon(wallet);
    await until(async () => (await store.usage.progress(wallet)).cursor === 3);
    chore.stop();
    await faulty.close();
  });

  it('folds the other wallets left behind by others, whichever keeps failing', async () => {
    const faulty = await openFaultyStore();
    const { store } = faulty;
    const wallets = [await newWallet(store), await newWallet(store), await newWallet(store)].sort();
    for (const wallet of wallets) await applied(store, charge(wallet));
    const [, damaged] = wallets;
    faulty.always('usage.progress', (read, args) => (args[0] === damaged ? refuse(read, args) : read()));
    const chore = createUsageChore({ store, onError: String });
    for (let rounds = 0; rounds < 2; rounds += 1) await chore.fold();
    const cursors = wallets.map(async (wallet) => (await faulty.real.usage.progress(wallet)).cursor);
    expect(await Promise.all(cursors)).to.deep.equal([2, 0, 2]);
    await faulty.close();
  });

  it('folds one wallet after the other, however many are urgent, so that calls find the store free', async () => {
    const faulty = await openFaultyStore();
    const { store } = faulty;
    const wallets = [await newWallet(store), await newWallet(store)] as const;
    for (const wallet of wallets) await applied(store, charge(wallet));
    const gate = makeGate();
    let begun = 0;
    faulty.always('usage.add', (add, args) => {
      begun += 1;
      return waitFor(gate.opened)(add, args);
    });
    const chore = createUsageChore({ store, onError: String, everyMs: 3_600_000 });
    for (const wallet of wallets) chore.foldSoon(wallet);
    await until(() => begun === 1);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(begun).to.equal(1);
    gate.open();
    for (const wallet of wallets) await until(async () => (await store.usage.progress(wallet)).cursor === 2);
    chore.stop();
    await faulty.close();
  });

  describe('with many wallets', () => {
    const ends = { found: [] };
    let looks: string[];
    let errors: unknown[];
    afterEach(() => mock.timers.reset());

    function open(behind: UsageStore['findBehind']) {
      looks = [];
      errors = [];
      const usage = {
        findBehind: (after: string, limit: number) => {
          looks.push(after);
          return behind(after, limit);
        },
      };
      const store = { usage, journal: {}, ledger: {} } as unknown as UsageChoreOptions['store'];
      return createUsageChore({ store, onError: (error) => errors.push(error) });
    }

    it('searches page by page, soon after the start', async () => {
      mock.timers.enable({ apis: ['setTimeout'] });
      const chore = open(async (after) => (after === 'w2' ? ends : { ...ends, next: after === '' ? 'w1' : 'w2' }));
      chore.start();
      mock.timers.tick(999);
      expect(looks).to.deep.equal([]);
      mock.timers.tick(1);
      for (let turns = 0; turns < 20 && looks.length < 3; turns += 1) await waitOneTick();
      expect(looks).to.deep.equal(['', 'w1', 'w2']);
      chore.stop();
    });

    it('pauses between half as long as said and half as long again, so that processes spread', async () => {
      const { random } = Math;
      try {
        for (const [drawn, ms] of [
          [0, 30_000],
          [0.5, 60_000],
          [0.9, 84_000],
        ] as const) {
          Math.random = () => drawn;
          mock.timers.enable({ apis: ['setTimeout'] });
          const chore = open(() => Promise.reject(new Error('away')));
          chore.start();
          mock.timers.tick(1000);
          for (let turns = 0; turns < 20; turns += 1) await waitOneTick();
          mock.timers.tick(ms - 1);
          expect(looks, `${drawn}`).to.have.length(1);
          mock.timers.tick(1);
          expect(looks, `${drawn}`).to.have.length(2);
          chore.stop();
          mock.timers.reset();
        }
      } finally {
        Math.random = random;
      }
    });

    it('stops the search without reporting a failure', async () => {
      const chore = open(async () => ends);
      chore.stop();
      await chore.fold();
      expect([looks, errors]).to.deep.equal([[], []]);
      const failing = open(() => {
        failing.stop();
        return Promise.reject(new Error('closed'));
      });
      await failing.fold();
      expect([looks, errors]).to.deep.equal([[''], []]);
    });
  });
});
