// What counts as money that has gone back since the owner last wanted some.
import { expect } from 'chai';
import { readTopupBounds } from '../../lib/catalog/topup-bounds.ts';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { createAutoTopup } from '../../lib/payments/auto-topup.ts';
import { GONE_BACK, sumGoneBack } from '../../lib/payments/gone-back.ts';
import { endDispute, openDispute, requestRefund } from '../../lib/payments/operator.ts';
import { SQLITE } from '../../testkit/stores.ts';
import { adjust, applied, newId, RUB, reserve } from '../contract/store/context.ts';
import { newAuto, newMethod } from '../contract/store/payments.ts';
import { useStage } from './service-stage.ts';

describe('the sum of what went back', () => {
  const use = useStage(SQLITE);
  const { stage } = use;

  const sum = async () => (await sumGoneBack(stage.store.payments, newAuto(stage.wallet))) / RUB;

  async function pay(): Promise<string> {
    const { id } = await stage.credited(use.service(), 1000);
    stage.aheadMs += 1000;
    return id;
  }

  async function refund(id: string, rub: bigint): Promise<void> {
    await requestRefund(stage.store, id, { at: stage.now(), amount: rub * RUB, reason: 'a wish' });
    stage.aheadMs += 1000;
  }

  it('is nothing without refunds', async () => {
    await pay();
    expect(await sumGoneBack(stage.store.payments, newAuto(stage.wallet))).to.equal(0n);
  });

  it('has those of older payments, but nothing from before the newest one', async () => {
    const [first, second] = [await pay(), await pay()];
    await refund(first, 100n);
    await refund(second, 30n);
    expect(await sum()).to.equal(130n);
    const third = await pay();
    expect(await sum()).to.equal(0n);
    await refund(third, 7n);
    expect(await sum()).to.equal(7n);
  });

  it('has no refund that the bank refused: its money is back in the wallet', async () => {
    const id = await pay();
    stage.bank.refunds = 'canceled';
    await refund(id, 100n);
    expect(await sum()).to.equal(100n);
    await use.service().payments.poll(id);
    expect(await sum()).to.equal(0n);
  });

  it('has what went back after the newest payment and after the consent as it is now', async () => {
    const refunds = [10, 11, 20, 21].map((at) => ({
      id: `r${at}`,
      state: 'booked',
      amount: String(BigInt(at) * RUB),
      at,
    }));
    const payment = { createdAt: 5, changedAt: 30, dispute: null };
    const newest = { ...payment, createdAt: 10, refunds: '[]' };
    const rows = [newest, { ...payment, refunds: JSON.stringify(refunds) }] as unknown as Payment[];
    for (const [consents, rub] of [
      [[], 52n],
      [[{ id: 'con_1', at: 20 }], 21n],
      [[{ id: 'con_2', at: 20 }], 52n],
      [
        [
          { id: 'con_2', at: 30 },
          { id: 'con_1', at: 20 },
        ],
        21n,
      ],
    ] as const) {
      const asked: object[] = [];
      const list = async (filter: object) => {
        asked.push(filter);
        return rows;
      };
      const payments = { list, consents: async () => consents as never };
      const auto = { ...newAuto('acc_1'), consent: 'con_1' };
      expect(await sumGoneBack(payments, auto), JSON.stringify(consents)).to.equal(rub * RUB);
      const phases = ['credited', 'partly_refunded', 'refunded', 'disputed', 'reversed', 'kept'];
      expect(asked).to.deep.equal([{ wallet: 'acc_1', phases, limit: 20 }]);
    }
  });

  it('pauses an automatic top-up whose wallet, with what is held, would be at its threshold without it', async () => {
    const { payments, store } = use.service();
    const id = await pay();
    await applied(store, adjust(stage.wallet, -700n * RUB), reserve(stage.wallet, { amount: 200n * RUB }));
    const method = await store.payments.saveMethod(newMethod(stage.wallet, { provider: 'till' }));
    await store.payments.changeAutoTopup(newAuto(stage.wallet, { threshold: 300n * RUB, method: method.id }));
    await refund(id, 100n);
    const log = { warn() {} };
    const alerts = { queueAlert: async () => undefined };
    const parts = { store, payments, bounds: readTopupBounds, now: stage.now, log, alerts };
    const topups = createAutoTopup({ ...parts, everyMs: 60_000 });
    stage.bank.asked.clear();
    await topups.checkWallet(stage.wallet);
    await topups.stop();
    expect((await store.payments.autoTopup(stage.wallet))?.reason).to.equal(GONE_BACK);
    expect(stage.bank.asked.get('start')).to.equal(undefined);
  });

  it('has a dispute beside refunds, once it is lost', async () => {
    const id = await pay();
    await refund(id, 50n);
    // Sent, it is not part of the dispute.
    await use.service().payments.poll(id);
    const dispute = { at: stage.now(), dispute: newId('CB'), amount: 200n * RUB };
    await openDispute(stage.store, id, dispute);
    expect(await sum()).to.equal(50n);
    await endDispute(stage.store, id, { at: stage.now(), how: 'lost', suspend: false });
    expect(await sum()).to.equal(250n);
  });
});
