// Polls, webhooks, payers, refunds and failures of the store in any order, over two gateways: in the end the wallet has
// what the bank holds, once.
import { expect } from 'chai';
import fc from 'fast-check';
import { refundableAmount } from '../../lib/money/payment-rules.ts';
import { decideReview, requestRefund } from '../../lib/payments/operator.ts';
import { type Call, mapCalls, READS } from '../../lib/store/port-calls.ts';
import type { Store } from '../../lib/store/store.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { newAccount, RUB, type StoreKind } from '../contract/store/context.ts';
import { PaymentStage, type Service } from './service-stage.ts';

type Act =
  | 'order'
  | 'pay'
  | 'decline'
  | 'payLate'
  | 'decide'
  | 'look'
  | 'webhook'
  | 'webhooks'
  | 'ask'
  | 'giveBack'
  | 'fail'
  | 'lose'
  | 'bankLoses';

const act = fc.record({
  act: fc.constantFrom<Act[]>(
    ...(['order', 'pay', 'pay', 'pay', 'pay', 'decline', 'look', 'look', 'look', 'webhook', 'webhook'] as const),
    ...(['webhooks', 'ask', 'ask', 'giveBack', 'giveBack', 'fail', 'lose', 'bankLoses'] as const),
    ...(['decline', 'payLate', 'payLate', 'decide', 'decide'] as const),
  ),
  order: fc.integer({ min: 0, max: 2 }),
  gateway: fc.integer({ min: 0, max: 1 }),
  rub: fc.integer({ min: 1, max: 400 }),
});

/** Nobody goes on after it. */
class Killed extends Error {}

const ORDERS_MAX = 3;
const BEGIN = { act: 'order', order: 0, gateway: 0, rub: 1 } as const;

for (const kind of longer([SQLITE], STORES)) describe(`payments in any order on ${kind.name}`, () => suite(kind));

function suite(kind: StoreKind): void {
  const stage = new PaymentStage();
  /** What happens to the next write to the store. */
  let next: 'fail' | 'lose' | undefined;

  before(async function () {
    this.timeout(60_000);
    await stage.open(kind);
  });
  afterEach(() => stage.rest());
  after(async function () {
    this.timeout(60_000);
    await stage.close();
  });

  /** Fails right before or after a write, like a process that is killed there. */
  function brittle(store: Store): Store {
    const wrapped = mapCalls(store, (call: Call, { port, name }) => async (...args) => {
      const reads: Readonly<Record<string, readonly string[]>> = READS;
      const isWrite = port !== undefined && !reads[port]?.includes(name);
      const how = isWrite ? next : undefined;
      if (how === 'fail') throw new Killed();
      const result = await call(...args);
      if (how === 'lose') throw new Killed();
      return result;
    });
    return wrapped;
  }

  it('credits exactly what the bank holds', async function () {
    this.timeout(240_000);
    const other = await stage.openStore();
    let booked = 0;
    const numRuns = kind.name === 'sqlite' ? longer(8, 40) : 10;
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 12, maxLength: 40, size: 'max' }), async (acts) => {
        await stage.begin();
        stage.wallet = await newAccount(stage.store);
        next = undefined;
        const gateways = [stage.service('own_1', brittle(stage.store)), stage.service('own_2', brittle(other))];
        const orders: string[] = [];
        for (const { act: what, order, gateway, rub } of [BEGIN, ...acts]) {
          const service = gateways[gateway] as Service;
          await perform(what, { service, orders, id: orders[order % Math.max(1, orders.length)], rub }).catch(
            (error) => {
              if (!(error instanceof Killed)) throw error;
            },
          );
          if (what !== 'fail' && what !== 'lose') next = undefined;
        }
        await comeToRest(gateways[0] as Service, orders);
        const { topped, avail } = (await stage.store.ledger.wallet(stage.wallet)) as { topped: bigint; avail: bigint };
        const rejected = await stage.store.payments.list({ wallet: stage.wallet, phases: ['rejected'], limit: 10 });
        const kept = orders.filter((id) => rejected.every((payment) => payment.id !== id));
        expect(topped).to.equal(stage.bank.holds(kept));
        expect(avail).to.equal(topped);
        expect(stage.bank.payments.size).to.be.at.most(orders.length);
        expect(await stage.problems()).to.deep.equal([]);
        const entries = await stage.store.ledger.entries(stage.wallet, { limit: 100 });
        expect(new Set(entries.map(({ opId }) => opId)).size).to.equal(entries.length);
        booked += entries.length;
        await stage.rest();
      }),
      { numRuns, seed: 5 },
    );
    expect(booked).to.be.above(numRuns);
  });

  interface On {
    readonly service: Service;
    readonly orders: string[];
    readonly id: string | undefined;
    readonly rub: number;
  }

  async function perform(what: Act, { service, orders, id, rub }: On): Promise<unknown> {
    const amount = BigInt(rub) * RUB;
    const [payment] = id === undefined ? [] : stage.bank.ofOrder(id);
    switch (what) {
      case 'fail':
      case 'lose':
        next = what;
        return;
      case 'bankLoses': {
        let lost = false;
        stage.bank.hook = (_asked, when) => {
          if (lost || when !== 'after') return undefined;
          lost = true;
          throw new Error('lost');
        };
        return;
      }
      case 'order':
        if (orders.length < ORDERS_MAX) await stage.order(service).catch(() => undefined);
        orders.splice(0, orders.length, ...(await idsOfOrders()));
        return;
      case 'pay':
        if (payment?.status === 'pending') stage.bank.pay(id ?? '');
        return;
      case 'decline':
        if (payment?.status === 'pending')
          stage.bank.pay(id ?? '', { status: 'canceled', reason: { kind: 'soft', code: 'declined' } });
        return;
      case 'payLate':
        // Of one that the bank called declined, as far as the gateway knows it.
        if (payment?.status === 'canceled') stage.bank.pay(id ?? '', { status: 'succeeded', reason: null });
        return;
      case 'decide':
        return decide(service, id ?? '', rub % 3 > 0);
      case 'look':
        return service.payments.poll(id ?? '');
      case 'webhook':
        return stage.sendWebhook(service, payment?.id);
      case 'webhooks':
        return Promise.allSettled([1, 2, 3].map(() => stage.sendWebhook(service, payment?.id)));
      case 'ask':
        return requestRefund(service.store, id ?? '', { at: Date.now(), amount, reason: '' });
      case 'giveBack': {
        const row = id === undefined ? undefined : await stage.store.payments.get(id);
        const isPaid = row && (row.credited > 0n ? amount <= refundableAmount(row) : row.phase === 'review');
        if (isPaid && stage.bank.holds([row.id]) >= amount) stage.bank.giveBack(row.id, amount);
        return;
      }
    }
  }

  async function decide({ store }: Pick<Service, 'store'>, id: string, isCredited: boolean): Promise<unknown> {
    const row = await stage.store.payments.get(id);
    if (row?.phase !== 'review') return undefined;
    return decideReview(store, id, { at: Date.now(), reason: 'asked', credit: isCredited ? row.amount : null });
  }

  const idsOfOrders = async () =>
    (await stage.store.payments.list({ wallet: stage.wallet, limit: 10 })).map(({ id }) => id).sort();

  /** Nothing fails any more, and every gateway polls. */
  async function comeToRest(service: Service, orders: string[]): Promise<void> {
    next = undefined;
    stage.bank.hook = () => undefined;
    orders.splice(0, orders.length, ...(await idsOfOrders()));
    for (const id of orders) {
      const [payment] = stage.bank.ofOrder(id);
      for (let turn = 0; turn < 3; turn += 1) {
        if (payment) expect(await stage.sendWebhook(service, payment.id)).to.equal('done');
        await service.payments.poll(id);
        await decide(stage, id, true);
      }
    }
  }
}
