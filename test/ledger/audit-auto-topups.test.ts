// The audit of automatic top-ups accepts counts in any zone that the account may have had when a payment was made.
import { expect } from 'chai';
import { HOUR_MS } from '../../lib/base/durations.ts';
import { checkAutoTopups } from '../../lib/ledger/audit-auto-topups.ts';
import type { Payment } from '../../lib/money/payment.ts';
import { markClaimed } from '../../lib/payments/topup-rules.ts';
import type { AutoTopupRow } from '../../lib/store/ports/payments.ts';
import type { Store } from '../../lib/store/store.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import { RUB } from '../contract/store/context.ts';
import { newAuto, newOrder } from '../contract/store/payments.ts';

/** In Moscow the 1st of the month, in UTC still the last day of the previous month. */
const AT = Date.parse('2027-02-28T22:00:00Z');

describe('the audit of automatic top-ups', () => {
  let faulty: FaultyStore;
  let wallet: string;
  beforeEach(async () => {
    faulty = await openFaultyStore();
    wallet = await faulty.wallet();
  });
  afterEach(() => faulty.close());

  async function problems(store: Store = faulty.store): Promise<readonly string[]> {
    const all: string[] = [];
    await checkAutoTopups(store, (_wallet, problem) => all.push(problem));
    return all;
  }

  async function start(zone: string, createdAt: number): Promise<AutoTopupRow> {
    const auto = (await faulty.store.payments.autoTopup(wallet)) ?? newAuto(wallet, { version: 0, order: null });
    const order = newOrder(wallet, { origin: 'auto', amount: auto.amount, createdAt });
    const next = markClaimed(auto, order.id, { at: createdAt, zone });
    expect(await faulty.store.payments.create(order, next)).to.equal('created');
    return next;
  }

  for (const zones of [
    ['UTC', 'UTC', 'UTC'],
    ['Europe/Moscow', 'Europe/Moscow', 'Europe/Moscow'],
    // An earlier version counted in UTC, and the owner may change the zone.
    ['UTC', 'Europe/Moscow', 'Europe/Moscow'],
    ['Etc/GMT+12', 'UTC', 'Pacific/Kiritimati'],
    ['America/New_York', 'America/New_York', 'Asia/Kamchatka'],
  ]) {
    it(`finds nothing if they were counted in ${[...new Set(zones)].join(', then ')}`, async () => {
      for (const [index, zone] of zones.entries()) {
        await start(zone, AT + index * 12 * HOUR_MS);
        expect(await problems(), zone).to.deep.equal([]);
      }
    });
  }

  it('finds them beside many other payments', async () => {
    const { id } = await start('UTC', AT);
    const rows = Array.from({ length: 120 }, (_, n) => newOrder(id, { createdAt: AT + 1 + n }));
    for (const row of rows) await faulty.real.payments.create(row);
    expect(await problems()).to.deep.equal([]);
  });

  it('leaves open whether those count that were paid after they had ended', async () => {
    const auto = await start('UTC', AT - 10 * 24 * HOUR_MS);
    const paid = await faulty.store.payments.get(auto.order ?? '');
    const credited = { ...paid, phase: 'credited', ref: 'ref_1', credited: RUB, owner: null, lease: null } as Payment;
    for (const [state, found] of [
      ['{"status":"succeeded"}', 1],
      ['{"status":"succeeded","after":"canceled"}', 0],
    ] as const) {
      await faulty.store.payments.put('payments', [{ ...credited, state }]);
      for (const monthSum of [auto.monthSum, 0n]) {
        const row = (await faulty.store.payments.autoTopup(wallet)) as AutoTopupRow;
        await faulty.store.payments.changeAutoTopup({ ...row, order: null, monthSum });
        expect(await problems(), state).to.have.length(monthSum === 0n ? found : 0);
      }
    }
  });

  it('reads those of every account', async () => {
    const wrong = { day: '2027-02-28', dayCount: 4, month: '2027-02', monthSum: RUB };
    const rows = Array.from({ length: 60 }, (_, n) =>
      newAuto(`acc_${100 + n}`, { version: 1, ...(n === 59 && wrong) }),
    );
    await faulty.real.payments.put('autoTopups', rows);
    expect(await problems()).to.have.length(2);
  });

  it('reports a day count or month sum that is impossible in every zone', async () => {
    await start('UTC', AT - 10 * 24 * HOUR_MS);
    await start('UTC', AT - 9 * 24 * HOUR_MS);
    const row = (await faulty.store.payments.autoTopup(wallet)) as AutoTopupRow;
    const { amount, version, monthSum } = row;
    await faulty.store.payments.changeAutoTopup({ ...row, dayCount: 4, monthSum: monthSum - amount + RUB, version });
    const sum = monthSum - amount + RUB;
    expect(await problems()).to.deep.equal([
      'automatic top-up: payments of the day: 4 instead of 0 to 2',
      `automatic top-up: sum of the month: ${sum} instead of ${monthSum}`,
    ]);
  });

  it('reports counts that are none, an order of others, and an account that shows something else', async () => {
    const auto = await start('UTC', AT);
    const look = async (changes: Partial<AutoTopupRow>) => {
      const row = (await faulty.store.payments.autoTopup(wallet)) as AutoTopupRow;
      await faulty.store.payments.changeAutoTopup({ ...row, ...changes });
      return problems();
    };
    expect(await look({ day: 'x' })).to.deep.equal([`automatic top-up: it counts x, ${auto.month}`]);
    expect(await look({ day: '', month: '' })).to.deep.equal([]);
    expect(await look({ day: '', month: auto.month })).to.deep.equal([`automatic top-up: it counts , ${auto.month}`]);
    const other = newOrder(await faulty.wallet(), { origin: 'auto' });
    const typed = newOrder(wallet, { origin: 'manual' });
    for (const order of [other, typed]) await faulty.store.payments.create(order);
    for (const { id } of [other, typed]) {
      expect(await look({ day: auto.day, order: id }), id).to.deep.equal([`automatic top-up: its order is ${id}`]);
    }
    expect(await look({ order: auto.order })).to.deep.equal([]);
    const { enabled, amount, threshold } = auto;
    for (const other of [{ enabled: !enabled }, { amount: amount + 1n }, { threshold: threshold + 1n }]) {
      await faulty.store.accounts.setAutoTopup(wallet, { enabled, amount, threshold, ...other });
      expect(await problems()).to.deep.equal(['automatic top-up: its account shows another']);
    }
  });

  it('says nothing of a row that a gateway changes or removes meanwhile', async () => {
    await start('UTC', AT - 10 * 24 * HOUR_MS);
    const row = (await faulty.store.payments.autoTopup(wallet)) as AutoTopupRow;
    await faulty.store.payments.changeAutoTopup({ ...row, dayCount: 4 });
    const reading = (autoTopup: Store['payments']['autoTopup']) =>
      problems({ ...faulty.store, payments: { ...faulty.store.payments, autoTopup } });
    const versions = [2, 3];
    expect(await reading(async () => ({ ...row, dayCount: 4, version: versions.shift() ?? 0 }))).to.deep.equal([]);
    expect(await reading(async () => undefined)).to.deep.equal([]);
    expect(await reading(async () => row)).to.deep.equal([]);
    expect(await problems()).to.have.length(1);
  });
});
