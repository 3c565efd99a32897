// Budgets of keys in the ledger service: the period by its clock, the text of refusals, and lost answers.
import { expect } from 'chai';
import { DAY_MS } from '../../lib/base/durations.ts';
import type { Fault } from '../../lib/base/faults.ts';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { capFault } from '../../lib/ledger/caps.ts';
import { createLedger, type Ledger } from '../../lib/ledger/ledger.ts';
import { type FaultyStore, lose, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';

const RUB = 1_000_000n;
const NOON = Date.parse('2026-11-22T12:00:00+03:00');

describe('budgets of keys in the ledger', () => {
  let store: FaultyStore;
  let ledger: Ledger;
  let wallet: string;
  let now: number;
  let calls = 0;

  before(async () => {
    store = await openFaultyStore();
  });
  beforeEach(async () => {
    wallet = await store.wallet();
    now = NOON;
    const log = { warn: () => undefined, error: () => undefined };
    ledger = createLedger({ store: store.store, ownerId: 'me', leaseMs: 60_000, log, now: () => now });
  });
  afterEach(async () => {
    expect(await ledger.drain(5000)).to.equal(0);
    expect(await verifyLedger(store.real)).to.include({ ok: true, drift: 0n });
  });
  after(() => store.close());

  const request = (rub: number, more: object = {}) => {
    calls += 1;
    const budget = { name: 'laptop', limit: 10n * RUB, reset: 'day', zone: 'Europe/Moscow' } as const;
    const call = {
      chargeId: `budget-${calls}`,
      wallet,
      key: `key-${wallet}`,
      kind: 'image',
      model: 'm',
      prices: '{}',
      usage: {},
    };
    return { ...call, kind: 'image' as const, amount: BigInt(rub) * RUB, budget, ...more };
  };
  const messageOf = async (work: Promise<unknown>) => {
    const [result] = await Promise.allSettled([work]);
    const fault = result?.status === 'rejected' ? (result.reason as Fault) : undefined;
    expect([fault?.output.statusCode, fault?.data?.code]).to.deep.equal([402, 'key_budget']);
    return fault?.message;
  };
  const spent = async () => (await store.real.ledger.budgets([`key-${wallet}`]))[0]?.spent;

  it('refuse calls until the next day of the zone, and say when it starts', async () => {
    await ledger.charge(request(8));
    const wanted =
      'The budget of the key "laptop" does not cover this call, which costs 3.00 RUB. ' +
      'The budget is 10.00 RUB per day and resets at 2026-11-23T00:00:00+03:00. 2.00 RUB of it is left.';
    expect(await messageOf(ledger.charge(request(3)))).to.equal(wanted);
    now = Date.parse('2026-11-22T23:59:59.999+03:00');
    expect(await messageOf(ledger.hold(request(3)))).to.equal(wanted);
    now += 1;
    await ledger.hold(request(3));
    expect(await spent()).to.equal(3n * RUB);
  });

  it('describe the hold of a text call, and a budget that never resets', async () => {
    const budget = { name: 'a "b"', limit: RUB, reset: 'none', zone: 'UTC' } as const;
    expect(await messageOf(ledger.hold(request(2, { kind: 'text', budget })))).to.equal(
      'The budget of the key "a "b"" does not cover this call, which needs a reserve of 2.00 RUB. ' +
        'The budget is 1.00 RUB in total and does not reset. 1.00 RUB of it is left.',
    );
  });

  it('of members and end users say when they reset', () => {
    const cap = { id: 'sum', limit: 2n * RUB, zone: 'Europe/Moscow' } as const;
    const asked = { kind: 'text', amount: 3n * RUB, at: NOON } as const;
    for (const who of [{ kind: 'member' }, { kind: 'user', name: 'alice' }] as const) {
      const say = (reset: 'month' | 'none') => (capFault({ ...cap, ...who, reset }, asked) as Fault).message;
      expect(say('month')).to.contain('2.00 RUB per month and resets at 2026-12-01T00:00:00+03:00.');
      expect(say('none')).to.contain('2.00 RUB in total and does not reset.');
    }
  });

  it('are credited with released holds, but not with those of the day before', async () => {
    const first = await ledger.hold(request(6));
    const second = await ledger.hold(request(4));
    await ledger.release(first);
    expect(await spent()).to.equal(4n * RUB);
    const third = await ledger.hold(request(6));
    now += DAY_MS;
    await ledger.hold(request(9));
    await ledger.settle(second, { amount: RUB, usage: { images: 1 } });
    await ledger.release(third);
    expect(await spent()).to.equal(9n * RUB);
  });

  it('count a hold once if its answer was lost, and not if the store refused it', async () => {
    store.next('ledger.apply', lose);
    await ledger.hold(request(6));
    store.next('ledger.apply', refuse);
    await ledger.hold(request(4));
    expect(await spent()).to.equal(10n * RUB);
    const paid = request(1, { budget: { name: 'laptop', limit: 11n * RUB, reset: 'day', zone: 'Europe/Moscow' } });
    store.next('ledger.apply', lose);
    await ledger.charge(paid);
    store.next('ledger.apply', lose);
    await ledger.refund({ chargeId: paid.chargeId, wallet });
    expect(await spent()).to.equal(10n * RUB);
  });

  it('count calls of a replacement key in the sum of the replaced key', async () => {
    await ledger.hold(request(4));
    const shared = (rub: number) => {
      const { budget, ...call } = request(rub, { key: `next-${wallet}` });
      return { ...call, budget: { ...budget, sumKey: `key-${wallet}` } };
    };
    expect(await messageOf(ledger.hold(shared(7)))).to.contain('does not cover this call');
    expect(await messageOf(ledger.charge(shared(7)))).to.contain('does not cover this call');
    await ledger.hold(shared(3));
    await ledger.charge(shared(2));
    expect(await spent()).to.equal(9n * RUB);
    expect(await store.real.ledger.budgets([`next-${wallet}`])).to.deep.equal([]);
  });
});
