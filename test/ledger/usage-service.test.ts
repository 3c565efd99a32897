// Failures, costs and attempts in folded usage, and the sums of all wallets together, on both stores.
import { expect } from 'chai';
import { DAY_MS, HOUR_MS, WEEK_MS } from '../../lib/base/durations.ts';
import { findBucket, NO_TIMES } from '../../lib/base/time-buckets.ts';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import { readUsageSlots } from '../../lib/ledger/usage-slots.ts';
import { type NewAttempt, toAttemptRows } from '../../lib/money/attempt.ts';
import type { ServiceQuery } from '../../lib/store/ports/usage.ts';
import { NO_SERVICE, parseRouteName } from '../../lib/store/service-sums.ts';
import type { Store } from '../../lib/store/store.ts';
import { STORES } from '../../testkit/stores.ts';
import {
  AT,
  applied,
  charge,
  giveBack,
  newAttempt,
  newId,
  newWallet,
  reserve,
  type StoreContext,
  settle,
  useStore,
} from '../contract/store/context.ts';
import { openRaw } from './raw-rows.ts';

const FAILED = newAttempt({
  ...{ ending: 'failed', reason: '503 overloaded', certainty: 'possible', usage: null, cost: null, firstMs: null },
});
const RUNNING = newAttempt({ ending: 'running', certainty: 'possible', firstMs: null });
const ANSWERED = newAttempt();

for (const kind of STORES) {
  describe(`the sums of all wallets: ${kind.name}`, () => {
    const context: StoreContext = useStore(kind);
    /** Each test has a day of its own. */
    let day = AT - (AT % DAY_MS);
    beforeEach(() => {
      day += 10 * DAY_MS;
    });
    const store = (): Store => context.store;
    const sums = (query: Partial<ServiceQuery>) =>
      store().usage.serviceSums({ subject: 'model', from: day, to: day + DAY_MS, by: 'at', ...query });

    async function call(wallet: string, attempts: readonly NewAttempt[], { at = day, ends = true } = {}) {
      const id = newId('req');
      await applied(store(), reserve(wallet, { chargeId: id, at }));
      if (ends) await applied(store(), settle(wallet, id, { at, attempts }));
      return id;
    }

    const problems = async () => (await verifyLedger(store())).problems;

    it('count calls, failures, cost and the time to the first fragment', async () => {
      const wallets = [await newWallet(store()), await newWallet(store())] as const;
      for (const wallet of wallets) await call(wallet, [FAILED, ANSWERED]);
      const [wallet] = wallets;
      const failed = await call(wallet, [], { ends: false, at: day + HOUR_MS });
      await applied(store(), giveBack('release', wallet, failed, { attempts: [FAILED], at: day + HOUR_MS }));
      const unasked = await call(wallet, [], { ends: false });
      await applied(store(), giveBack('release', wallet, unasked));
      for (const each of wallets) await foldUsage(store(), each);
      const rows = await sums({ by: 'name' });
      expect(rows).to.have.length(1);
      expect(rows[0]).to.deep.include({ name: 'model-1', calls: 4, failed: 2, charged: 2_000_000n, cost: 8_000n });
      expect(rows[0]).to.include({ unpriced: 3 });
      expect((await sums({})).map(({ at, calls, failed: bad }) => [at - day, calls, bad]).sort()).to.deep.equal([
        [0, 3, 1],
        [HOUR_MS, 1, 1],
      ]);
      const accounts = await sums({ subject: 'account', by: 'name' });
      expect(accounts.map(({ name, calls }) => [name, calls])).to.have.deep.members([
        [wallet, 3],
        [wallets[1], 1],
      ]);
      const routes = (await sums({ subject: 'route', by: 'name' })).map((row) => ({
        ...row,
        ...parseRouteName(row.name),
      }));
      const ends = routes.map(({ ending, reason, attempts, failed: bad }) => [ending, reason, attempts, bad]);
      expect(ends).to.have.deep.members([
        ['answered', '', 2, 0],
        ['failed', '503 overloaded', 3, 1],
        ['unasked', '', 0, 1],
      ]);
      const first = NO_TIMES.map((_, at) => (at === findBucket(120) ? 2 : 0));
      expect(routes.find(({ ending }) => ending === 'answered')?.first).to.deep.equal(first);
      expect(await problems()).to.deep.equal([]);
    });

    it('add up whole days and the hours around them', async () => {
      const wallet = await newWallet(store());
      for (const hours of [0, 5, 30, 50, 71]) await call(wallet, [ANSWERED], { at: day + hours * HOUR_MS });
      await foldUsage(store(), wallet);
      const between = async (from: number, to: number) =>
        (await sums({ by: 'name', from: day + from * HOUR_MS, to: day + to * HOUR_MS }))[0]?.calls ?? 0;
      expect(await between(0, 72)).to.equal(5);
      expect(await between(1, 71)).to.equal(3);
      expect(await between(5, 31)).to.equal(2);
      expect(await between(6, 30)).to.equal(0);
      const starts = [0, 24, 51].map((hours) => day + hours * HOUR_MS);
      const parts = await sums({ by: 'both', from: day, to: day + 72 * HOUR_MS, starts });
      expect(parts.map(({ at, name, calls }) => [(at - day) / HOUR_MS, name, calls])).to.deep.equal([
        [0, 'model-1', 2],
        [24, 'model-1', 2],
        [51, 'model-1', 1],
      ]);
    });

    it('add up whole weeks, and the days and hours around them', async () => {
      day += 30 * DAY_MS;
      const week = day - (day % WEEK_MS);
      const wallet = await newWallet(store());
      const times = [0, 1, 7, 8, 13, 14, 20, 21].map((days) => days * DAY_MS + 5 * HOUR_MS);
      for (const time of times) await call(wallet, [ANSWERED], { at: week + time });
      await foldUsage(store(), wallet);
      const between = async (from: number, to: number) => {
        const query = { subject: 'account', names: [wallet], by: 'name', from: week + from, to: week + to } as const;
        const expected = times.filter((time) => time >= from && time < to).length;
        expect((await sums(query))[0]?.calls ?? 0).to.equal(expected);
      };
      await between(0, 4 * WEEK_MS);
      await between(0, WEEK_MS);
      await between(DAY_MS, 21 * DAY_MS);
      await between(5 * HOUR_MS, 21 * DAY_MS + 6 * HOUR_MS);
      await between(6 * HOUR_MS, 21 * DAY_MS + 5 * HOUR_MS);
      await between(9 * DAY_MS, 13 * DAY_MS);
      await between(-3 * HOUR_MS, 8 * DAY_MS + 5 * HOUR_MS);
      day = week + 5 * WEEK_MS;
      expect(await problems()).to.deep.equal([]);
    });

    it('are added up by some counts only, and those of few names by all of them', async () => {
      const [one, two, idle] = [await newWallet(store()), await newWallet(store()), await newWallet(store())];
      // A day in Moscow has hours of two UTC days, and takes others away.
      const from = day - 3 * HOUR_MS;
      const times = [from, day, day + 20 * HOUR_MS];
      for (const at of times) await call(one, [FAILED, ANSWERED], { at });
      await call(two, [ANSWERED], { at: day });
      await call(two, [ANSWERED], { at: day + 21 * HOUR_MS });
      await call(idle, [ANSWERED], { at: day + 22 * HOUR_MS });
      for (const wallet of [one, two, idle]) await foldUsage(store(), wallet);
      const query = { subject: 'account', by: 'name', from, to: from + DAY_MS } as const;
      const ranked = await sums({ ...query, counts: ['calls', 'charged'] });
      expect(ranked).to.deep.equal([
        { ...NO_SERVICE, at: 0, name: one, calls: 3, charged: 3_000_000n },
        { ...NO_SERVICE, at: 0, name: two, calls: 1, charged: 1_000_000n },
      ]);
      expect(await sums({ ...query, counts: ['calls', 'charged'] })).to.deep.equal(ranked);
      expect(await sums({ ...query, to: from })).to.deep.equal([]);
      const [whole] = await sums({ ...query, names: [one] });
      expect(whole).to.deep.include({ name: one, calls: 3, charged: 3_000_000n, unpriced: 3, cost: 12_000n });
      const byHour = await sums({ ...query, by: 'both', counts: ['calls'], names: [one] });
      expect(byHour).to.deep.equal(times.map((at) => ({ ...NO_SERVICE, at, name: one, calls: 1 })));
      const routes = await sums({ ...query, subject: 'route', counts: ['attempts'] });
      expect(routes.map(({ attempts, cost, first }) => ({ attempts, cost, first }))).to.deep.equal([
        { attempts: 4, cost: 0n, first: NO_TIMES },
        { attempts: 3, cost: 0n, first: NO_TIMES },
      ]);
    });

    it('count the attempts of a job once it has ended', async () => {
      const wallet = await newWallet(store());
      const id = newId('req');
      await applied(store(), charge(wallet, { chargeId: id, at: day }));
      const put = (attempt: NewAttempt) => store().attempts.put(toAttemptRows({ charge: id, wallet }, [attempt]));
      const count = async () => {
        await foldUsage(store(), wallet);
        await foldUsage(store(), wallet);
        expect(await problems()).to.deep.equal([]);
        const [row] = await sums({ by: 'name' });
        return [row?.calls, row?.cost, (await store().usage.progress(wallet)).jobs.length];
      };
      expect(await count()).to.deep.equal([1, 0n, 1]);
      await put(RUNNING);
      expect(await count()).to.deep.equal([1, 0n, 1]);
      expect((await store().usage.findBehind('', 1000)).found).to.include(wallet);
      await put(ANSWERED);
      expect(await count()).to.deep.equal([1, 4_000n, 0]);
      expect((await store().usage.findBehind('', 1000)).found).not.to.include(wallet);
      await applied(store(), giveBack('refund', wallet, id, { at: day }));
      await foldUsage(store(), wallet);
      expect((await sums({ by: 'name' }))[0]).to.include({ charged: 0n, refunded: 1_000_000n, failed: 1 });
      expect(await problems()).to.deep.equal([]);
    });

    it('wait three days for the first attempt of a job', async () => {
      const wallet = await newWallet(store());
      const ages = [70 * HOUR_MS, 74 * HOUR_MS];
      await applied(store(), ...ages.map((age) => charge(wallet, { at: Date.now() - age })));
      await foldUsage(store(), wallet);
      expect((await store().usage.progress(wallet)).jobs).to.have.length(1);
    });

    it('take back the failure of a call that was settled late', async () => {
      const wallet = await newWallet(store());
      const id = await call(wallet, [], { ends: false });
      await applied(store(), giveBack('expire', wallet, id, { attempts: [FAILED], at: day }));
      await foldUsage(store(), wallet);
      expect((await sums({ by: 'name' }))[0]).to.include({ failed: 1, cost: 0n });
      await applied(store(), settle(wallet, id, { at: day, attempts: [ANSWERED] }));
      await foldUsage(store(), wallet);
      expect((await sums({ by: 'name' }))[0]).to.include({ failed: 0, cost: 4_000n });
      expect(await problems()).to.deep.equal([]);
    });

    it('lose a wallet that is folded again, and get it back', async () => {
      const wallet = await newWallet(store());
      for (let hour = 0; hour < 3; hour += 1) await call(wallet, [FAILED, ANSWERED], { at: day + hour * HOUR_MS });
      await foldUsage(store(), wallet);
      const before = await sums({ subject: 'route', by: 'both' });
      const folded = await store().usage.readAll(wallet);
      await store().usage.forget(wallet);
      expect((await sums({ subject: 'route', by: 'both' })).every(({ attempts }) => attempts === 0)).to.equal(true);
      expect(await problems()).to.deep.equal([]);
      await store().usage.put(wallet, folded);
      expect(await sums({ subject: 'route', by: 'both' })).to.have.deep.members(before);
      const [, name] = before.map((row) => row.name);
      expect((await sums({ subject: 'route', by: 'name', names: [name ?? ''] }))[0]).to.include({ name, attempts: 3 });
      expect(await problems()).to.deep.equal([]);
    });

    it('of one wallet are found by parts of the time, and by model or key', async () => {
      const wallet = await newWallet(store());
      for (const hours of [0, 5, 30]) await call(wallet, [ANSWERED], { at: day + hours * HOUR_MS });
      await foldUsage(store(), wallet);
      const slots = [0, 24].map((hours, at) => ({ from: day + hours * HOUR_MS, to: day + (at + 1) * DAY_MS }));
      const { total, groups } = await readUsageSlots(store().usage, wallet, { slots, by: 'model' });
      expect(total).to.include({ calls: 3, charged: 3_000_000n, cost: 12_000n, tokensInput: 30 });
      expect(groups.map(({ name, slots: sums }) => [name, sums.map(({ calls }) => calls)])).to.deep.equal([
        ['model-1', [2, 1]],
      ]);
      const ofKey = (query: object) => readUsageSlots(store().usage, wallet, { slots, by: 'key', ...query });
      expect((await ofKey({ keys: ['key_1'] })).groups.map(({ name }) => name)).to.deep.equal(['key_1']);
      for (const none of [{ keys: [] }, { model: 'x' }, { kind: 'video' }, { slots: [] }])
        expect((await ofKey(none)).groups).to.deep.equal([]);
    });

    it('are found by parts of the time of any length, few or many', async () => {
      const wallet = await newWallet(store());
      for (const hours of [0, 3, 5, 6, 59]) await call(wallet, [ANSWERED], { at: day + hours * HOUR_MS });
      await foldUsage(store(), wallet);
      const many = Array.from({ length: 45 }, (_, at) => at + (at > 7 ? 15 : 0));
      for (const [hours, counts] of [
        [
          [0, 4, 6],
          [2, 1, 2],
        ],
        [
          [1, 3, 7, 50],
          [0, 3, 0, 1],
        ],
        [many, many.map((hour) => Number([0, 3, 5, 6, 59].includes(hour)))],
      ] as const) {
        const starts = hours.map((hour) => day + hour * HOUR_MS);
        const slots = starts.map((from, at) => ({ from, to: starts[at + 1] ?? day + 60 * HOUR_MS }));
        const { groups } = await readUsageSlots(store().usage, wallet, { slots, by: 'model' });
        expect(groups[0]?.slots.map(({ calls }) => calls)).to.deep.equal(counts);
        const rows = await sums({
          subject: 'account',
          by: 'both',
          starts,
          from: starts[0] ?? 0,
          to: day + 60 * HOUR_MS,
          names: [wallet],
        });
        const found = starts.map((at) => rows.find((row) => row.at === at)?.calls ?? 0);
        expect(found).to.deep.equal(counts);
      }
    });

    it('say what accounts may spend, and find them by the end of a key', async () => {
      const wallet = await newWallet(store(), 1200n);
      const found = (await store().accounts.summaries()).find(({ id }) => id === wallet);
      expect(found).to.deep.equal({
        ...{ id: wallet, name: 'test', status: 'active', createdAt: AT },
        ...{ avail: 1_200_000_000n, topped: 1_200_000_000n },
      });
      const last4 = newId('k').slice(-4);
      const key = { id: newId('key'), account: wallet, name: 'n', hash: newId('hash'), last4, createdAt: AT };
      await store().keys.add(key, 10);
      expect(await store().keys.findAccountsByEnd(last4, 10)).to.include(wallet);
      expect(await store().keys.findAccountsByEnd('none', 10)).to.deep.equal([]);
    });

    it('say what was paid in, and what went back', async () => {
      const from = AT - 1000;
      const before = await store().ledger.paymentSums({ from, to: AT + 1 });
      await newWallet(store(), 1234n);
      const after = await store().ledger.paymentSums({ from, to: AT + 1 });
      const amount = (rows: typeof after) => rows.find((row) => row.kind === 'topup')?.amount ?? 0n;
      expect(amount(after) - amount(before)).to.equal(1_234_000_000n);
      expect(await store().ledger.paymentSums({ from: AT + 1, to: AT + 2 })).to.deep.equal([]);
    });

    // Last, because it takes away what keeps entries from being changed.
    it('that are missing are reported on the day after another, from its first hour on', async () => {
      const wallet = await newWallet(store());
      const next = day + DAY_MS;
      for (const at of [day, next]) await call(wallet, [], { at });
      await foldUsage(store(), wallet);
      const raw = await openRaw(context.url);
      try {
        const rows = (await raw.tables()).get('service_sums') ?? [];
        for (const row of rows.filter(({ at }) => Number(at) >= day)) await raw.remove('service_sums', row);
      } finally {
        await raw.close();
      }
      const found = (await problems()).map(({ problem }) => problem);
      expect(found.filter((problem) => problem.includes(`by hour, ${new Date(next).toISOString()}`))).to.have.length(2);
    });
  });
}
