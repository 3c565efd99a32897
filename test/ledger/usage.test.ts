// The usage report, on both stores: its rows add up to the charges of the wallet, whatever the outcome of the calls.
import { expect } from 'chai';
import fc from 'fast-check';
import { DAY_MS, HOUR_MS } from '../../lib/base/durations.ts';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { reportUsage, USAGE_GROUPS, type UsageQuery, type UsageReport } from '../../lib/ledger/usage.ts';
import { canUseHourlySums, foldSteps, foldUsage, readUsage } from '../../lib/ledger/usage-fold.ts';
import { CHARGE_KINDS, type ChargeKind, type Operation } from '../../lib/money/decide.ts';
import { mapUnits, USAGE_UNITS } from '../../lib/money/usage-units.ts';
import { NO_USAGE } from '../../lib/store/usage-totals.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import {
  applied,
  appliedInBatches,
  charge,
  giveBack,
  newId,
  newWallet,
  reserve,
  type StoreContext,
  settle,
  useStore,
  walletOf,
} from '../contract/store/context.ts';

const NO_UNITS = mapUnits(USAGE_UNITS, () => 0);
const MIDNIGHT = Date.UTC(2027, 0, 15);

/** The outcomes of a call; an expired hold that is settled late is entirely overshoot. */
const FATES = [
  'held',
  'settled',
  'released',
  'expired',
  'expired, settled',
  'refunded',
  'charged',
  'returned',
] as const;

interface Call {
  readonly fate: (typeof FATES)[number];
  readonly at: number;
  readonly key: string;
  readonly model: string;
  readonly kind: ChargeKind;
  readonly held: bigint;
  /** May exceed the hold. */
  readonly used: bigint;
}

const call: fc.Arbitrary<Call> = fc.record({
  fate: fc.constantFrom(...FATES),
  at: fc.integer({ min: MIDNIGHT - 2 * DAY_MS, max: MIDNIGHT + 2 * DAY_MS }),
  key: fc.constantFrom('key_a', 'key_b', '__proto__'),
  model: fc.constantFrom('model-1', 'model-2', 'constructor'),
  kind: fc.constantFrom(...CHARGE_KINDS),
  held: fc.bigInt({ min: 1n, max: 9_999_999n }),
  used: fc.bigInt({ min: 0n, max: 19_999_999n }),
});

function operationsOf(wallet: string, { fate, at, key, model, kind, held, used }: Call): Operation[] {
  const chargeId = newId('req');
  const more = { chargeId, at, key, model, chargeKind: kind, amount: held };
  const begun = { ...reserve(wallet), ...more } as Operation;
  const atOnce = { ...charge(wallet), ...more } as Operation;
  const ended = settle(wallet, chargeId, { amount: used, at: at + DAY_MS });
  const back = (how: 'release' | 'expire' | 'refund') => giveBack(how, wallet, chargeId, { at: at + 1 });
  switch (fate) {
    case 'held':
      return [begun];
    case 'settled':
      return [begun, ended];
    case 'released':
      return [begun, back('release')];
    case 'expired':
      return [begun, back('expire')];
    case 'expired, settled':
      return [begun, back('expire'), ended];
    case 'refunded':
      return [begun, ended, back('refund')];
    case 'charged':
      return [atOnce];
    case 'returned':
      return [atOnce, back('refund')];
  }
}

const sumOf = ({ rows }: UsageReport) => rows.reduce((sum, { charged }) => sum + charged, 0n);

async function compare({ store }: StoreContext, calls: readonly Call[]): Promise<void> {
  const wallet = await newWallet(store, 10_000n);
  const operations = calls.flatMap((each) => operationsOf(wallet, each));
  const outcomes = await applied(store, ...operations.slice(0, operations.length / 2));
  // Part of the journal is folded before the rest is written, in the middle of some calls.
  await foldUsage(store, wallet);
  outcomes.push(...(await applied(store, ...operations.slice(operations.length / 2))));
  expect(outcomes.map(({ status }) => status)).to.not.include.members(['insufficient', 'no_charge', 'not_settled']);
  const { charged } = await walletOf(store, wallet);
  const report = (query: Partial<UsageQuery> = {}) =>
    reportUsage(store.ledger, wallet, { by: 'day', filter: {}, pageSize: 3, ...query });
  for (const by of USAGE_GROUPS) {
    const whole = await report({ by });
    expect(sumOf(whole), by).to.equal(charged);
    expect(whole.total.charged).to.equal(charged);
    expect(whole.total.calls).to.equal(calls.length);
    expect(await readUsage(store, wallet, { by, filter: {} }), `folded by ${by}`).to.deep.equal(whole);
    const wanted = new Set(
      calls.map((each) => (by === 'day' ? new Date(each.at).toISOString().slice(0, 10) : each[by])),
    );
    expect(whole.rows.map(({ group }) => group)).to.have.members([...wanted]);
    for (const { group, ...sum } of whole.rows) {
      const day = Date.parse(group);
      const filter = by === 'day' ? { from: day, to: day + DAY_MS } : { [by]: group };
      expect((await report({ filter, pageSize: 1000 })).total, `${by} ${group}`).to.deep.equal(sum);
      expect((await readUsage(store, wallet, { by, filter })).total, `folded ${by} ${group}`).to.deep.equal(sum);
    }
  }
  const before = await report({ filter: { to: MIDNIGHT } });
  const since = await report({ filter: { from: MIDNIGHT } });
  expect(before.total.charged + since.total.charged).to.equal(charged);
}

for (const kind of longer([SQLITE], STORES)) {
  describe(`the usage report on ${kind.name}`, () => {
    const context = useStore(kind);

    it('adds up to the charges of the wallet, for every grouping and page size', async function () {
      this.timeout(120_000);
      const calls = fc.array(call, { minLength: 1, maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(calls, (made) => compare(context, made)),
        { numRuns: kind.name === 'sqlite' ? longer(5, 30) : longer(2, 8) },
      );
    });

    it('counts calls, refunds, and billed units', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const made = (fate: Call['fate'], more: Partial<Call> = {}) =>
        operationsOf(wallet, {
          fate,
          at: MIDNIGHT,
          key: 'key_a',
          model: 'model-1',
          kind: 'text',
          held: 2_000_000n,
          used: 2_500_001n,
          ...more,
        });
      await applied(
        store,
        ...[...made('settled'), ...made('settled', { at: MIDNIGHT - 1 }), ...made('refunded'), ...made('released')],
        ...made('charged', { kind: 'video', model: 'model-2' }),
      );
      const units = (times: number, seconds = 0) => {
        return { ...NO_UNITS, tokens_input: 10 * times, tokens_output: 20 * times, seconds };
      };
      const { rows, total } = await reportUsage(store.ledger, wallet, { by: 'day', filter: {} });
      expect(rows).to.deep.equal([
        { group: '2027-01-14', calls: 1, charged: 2_500_001n, refunded: 0n, failed: 0, units: units(1) },
        { group: '2027-01-15', calls: 4, charged: 4_500_001n, refunded: 2_500_001n, failed: 1, units: units(1, 5) },
      ]);
      expect(total).to.deep.equal({
        calls: 5,
        charged: 7_000_002n,
        refunded: 2_500_001n,
        failed: 1,
        units: units(2, 5),
      });
      const { rows: byModel } = await reportUsage(store.ledger, wallet, { by: 'model', filter: {} });
      expect(byModel.map(({ group, charged }) => [group, charged])).to.deep.equal([
        ['model-1', 5_000_002n],
        ['model-2', 2_000_000n],
      ]);
    });

    it('counts tokens of caches and of reasoning, from calls and from hours, and less what is refunded', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const usage = (text: object) => JSON.stringify({ tokens_input: 1, tokens_output: 2, ...text });
      const calls = [
        usage({ tokens_cache_read: 300, tokens_reasoning: 1 }),
        usage({ tokens_cache_write: 40, tokens_cache_write_1h: 5 }),
        usage({ tokens_cache_read: 1000, tokens_cache_write_1h: 1000, tokens_reasoning: 2 }),
        // As earlier versions stored it.
        usage({}),
      ];
      for (const [at, used] of calls.entries()) {
        const chargeId = newId('req');
        await applied(store, reserve(wallet, { at: MIDNIGHT, chargeId }), settle(wallet, chargeId, { usage: used }));
        if (at === 2) await applied(store, giveBack('refund', wallet, chargeId));
      }
      const wanted = {
        ...NO_UNITS,
        ...{ tokens_input: 3, tokens_cache_read: 300, tokens_cache_write: 40, tokens_cache_write_1h: 5 },
        ...{ tokens_output: 6, tokens_reasoning: 1 },
      };
      const query = { by: 'model', filter: {} } as const;
      expect((await reportUsage(store.ledger, wallet, query)).total.units).to.deep.equal(wanted);
      expect((await readUsage(store, wallet, query)).total.units).to.deep.equal(wanted);
      expect((await verifyLedger(store)).problems.filter((problem) => problem.wallet === wallet)).to.deep.equal([]);
    });

    it('is folded once, even concurrently, and again after the sums were dropped', async () => {
      const { store } = context;
      const wallet = await newWallet(store, 10_000n);
      const begin = Array.from({ length: 1200 }, (_, index) => charge(wallet, { at: MIDNIGHT + index }));
      await appliedInBatches(store, begin);
      await Promise.all(Array.from({ length: 6 }, () => foldUsage(store, wallet)));
      const query = { by: 'kind', filter: {} } as const;
      const wanted = await reportUsage(store.ledger, wallet, query);
      expect(await readUsage(store, wallet, query)).to.deep.equal(wanted);
      expect((await store.usage.progress(wallet)).cursor).to.equal((await walletOf(store, wallet)).seq);
      await store.usage.forget(wallet);
      expect(await store.usage.sums(wallet, { by: 'kind' })).to.deep.equal([]);
      await foldUsage(store, wallet);
      expect(await readUsage(store, wallet, query)).to.deep.equal(wanted);
    });

    it('ends where its rows are refused again and again', async () => {
      const { journal, ledger, attempts, usage: real } = context.store;
      const wallet = await newWallet(context.store);
      let asked = 0;
      const usage = { ...real, add: async () => ++asked > 2 };
      await foldUsage({ journal, ledger, attempts, usage }, wallet);
      expect(asked).to.equal(1);
    });

    it('does not wait for a long fold, and reports how far the sums are', async () => {
      const { store } = context;
      const wallet = await newWallet(store, 10_000n);
      const begin = Array.from({ length: 900 }, (_, index) => charge(wallet, { at: MIDNIGHT + index }));
      await appliedInBatches(store, begin);
      const query = { by: 'kind', filter: {} } as const;
      const whole = await reportUsage(store.ledger, wallet, query);
      const none = { entries: 901, counted: 0, until: undefined };
      expect((await readUsage(store, wallet, query)).behind).to.deep.equal(none);
      expect((await store.usage.progress(wallet)).cursor).to.equal(0);

      const steps = foldSteps(store, wallet);
      await steps.next();
      const { rows, total, behind } = await readUsage(store, wallet, query);
      // The first entry is the top-up.
      expect(behind).to.deep.equal({ entries: 901, counted: 400, until: MIDNIGHT + 398 });
      const first = await reportUsage(store.ledger, wallet, { by: 'kind', filter: { to: MIDNIGHT + 399 } });
      expect({ rows, total }).to.deep.equal(first);
      const problems = (await verifyLedger(store)).problems.filter((problem) => problem.wallet === wallet);
      expect(problems).to.deep.equal([]);

      await steps.next();
      // The rest is short enough to be folded at once.
      expect(await readUsage(store, wallet, query)).to.deep.equal(whole);
      expect((await store.usage.progress(wallet)).cursor).to.equal(901);
    });

    it('lists the wallets that are behind, in pages', async () => {
      const { store } = context;
      const wallets = [await newWallet(store), await newWallet(store), await newWallet(store)].sort();
      const [done = '', left = '', begun = ''] = wallets;
      await foldUsage(store, done);
      await foldUsage(store, begun);
      await applied(store, charge(begun));
      const found: string[] = [];
      let after: string | undefined = '';
      while (after !== undefined) {
        const page: Awaited<ReturnType<typeof store.usage.findBehind>> = await store.usage.findBehind(after, 2);
        found.push(...page.found);
        after = page.next;
      }
      expect(found.filter((wallet) => wallets.includes(wallet))).to.deep.equal([left, begun]);
      expect(found).to.deep.equal(found.toSorted());
    });

    it('is audited: sums that differ from the journal are reported', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      await applied(store, charge(wallet, { at: MIDNIGHT }));
      await foldUsage(store, wallet);
      const problems = async () =>
        (await verifyLedger(store)).problems
          .filter((problem) => problem.wallet === wallet)
          .map(({ problem }) => problem);
      expect(await problems()).to.deep.equal([]);
      const cursor = (await store.usage.progress(wallet)).cursor;
      const hour = { hour: 0, key: 'key_a', model: 'm', kind: 'text' } as const;
      const units = { ...NO_USAGE, charged: 1n };
      expect(await store.usage.add({ wallet, from: cursor - 1, to: cursor, hours: [{ ...units, ...hour }] })).to.equal(
        false,
      );
      expect(await problems()).to.deep.equal([]);
      expect(await store.usage.add({ wallet, from: cursor, to: cursor, hours: [{ ...units, ...hour }] })).to.equal(
        true,
      );
      expect((await problems()).join()).to.match(/^folded usage of 1970.*: charged 1 instead of 0$/);
      await store.usage.forget(wallet);
    });

    it('is folded into one sum per hour for each key, model and kind', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const made = (chargeKind: ChargeKind, at: number, more: object = {}) =>
        ({ ...charge(wallet, { at, amount: 1n }), chargeKind, ...more }) as Operation;
      await applied(
        store,
        ...[made('image', MIDNIGHT + 1), made('edit', MIDNIGHT + 2), made('image', MIDNIGHT + HOUR_MS - 1)],
        ...[made('image', MIDNIGHT + 3, { key: 'key_2' }), made('image', MIDNIGHT + 4, { model: 'model-2' })],
        made('image', MIDNIGHT + HOUR_MS),
      );
      await foldUsage(store, wallet);
      const { hours } = await store.usage.readAll(wallet);
      const found = hours.map(
        ({ hour, key, model, kind, calls }) => `${hour - MIDNIGHT} ${key} ${model} ${kind} ${calls}`,
      );
      expect(found.toSorted()).to.deep.equal([
        '0 key_1 model-1 edit 1',
        '0 key_1 model-1 image 2',
        '0 key_1 model-2 image 1',
        '0 key_2 model-1 image 1',
        '3600000 key_1 model-1 image 1',
      ]);
      const cut = await readUsage(store, wallet, { by: 'kind', filter: { from: MIDNIGHT + 1 } }).catch(String);
      expect(cut, 'no sum is of part of an hour').to.include('AssertionError');
    });

    it('is grouped by the days of a zone, with the same total', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      const hours = [-2.5, -1.5, 0.5, 5.75, 20.5, 21.25, 23.9, 24.1];
      const ops = hours.map((hour, n) => charge(wallet, { at: MIDNIGHT + hour * HOUR_MS, amount: BigInt(10 ** n) }));
      await applied(store, ...ops);
      const day = (days: number) => new Date(MIDNIGHT + days * 24 * HOUR_MS).toISOString().slice(0, 10);
      const daysIn = async (zone?: string) => {
        const { rows, total } = await readUsage(store, wallet, { by: 'day', filter: {}, ...(zone && { zone }) });
        expect([total.calls, total.charged]).to.deep.equal([8, 11_111_111n]);
        return rows.map(({ group, charged }) => [group, charged]);
      };
      const utc = [
        [day(-1), 11n],
        [day(0), 1_111_100n],
        [day(1), 10_000_000n],
      ];
      expect(await daysIn()).to.deep.equal(utc);
      expect(await daysIn('UTC')).to.deep.equal(utc);
      expect(await daysIn('Europe/Moscow')).to.deep.equal([
        [day(0), 11_111n],
        [day(1), 11_100_000n],
      ]);
      // From 18:00, half an hour before its midnight.
      expect(await daysIn('Asia/Kolkata')).to.deep.equal([
        [day(0), 1111n],
        [day(1), 11_110_000n],
      ]);
      expect(await daysIn('America/New_York')).to.deep.equal([
        [day(-1), 111n],
        [day(0), 11_111_000n],
      ]);
    });

    it('uses hourly sums only for whole hours without a filter by state', () => {
      expect([{}, { from: MIDNIGHT }, { from: MIDNIGHT, to: MIDNIGHT + HOUR_MS }].map(canUseHourlySums)).not.to.include(
        false,
      );
      const cut = [{ from: MIDNIGHT + 1 }, { to: MIDNIGHT - 1 }, { from: MIDNIGHT, to: MIDNIGHT + HOUR_MS / 2 }];
      expect([...cut, { state: 'settled' } as const].map(canUseHourlySums)).not.to.include(true);
    });

    it('holds at most one page of charges in memory', async () => {
      const { store } = context;
      const wallet = await newWallet(store);
      await applied(store, ...Array.from({ length: 7 }, (_, index) => charge(wallet, { at: MIDNIGHT + index })));
      const pages: number[] = [];
      const charges: typeof store.ledger.charges = async (id, page) => {
        const found = await store.ledger.charges(id, page);
        pages.push(found.length);
        return found;
      };
      const { total } = await reportUsage({ charges }, wallet, { by: 'kind', filter: {}, pageSize: 3 });
      expect(pages).to.deep.equal([3, 3, 1]);
      expect(total.calls).to.equal(7);
    });
  });
}
