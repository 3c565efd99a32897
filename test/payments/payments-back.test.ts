// The payments service against a bank: refunds and disputes.
import { expect } from 'chai';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { parseDispute, parseRefunds } from '../../lib/money/payment-rules.ts';
import { decideReview, endDispute, openDispute, requestRefund } from '../../lib/payments/operator.ts';
import { until } from '../../testkit/client.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { RUB, type StoreKind } from '../contract/store/context.ts';
import { type Service, useStage } from './service-stage.ts';

for (const kind of longer([SQLITE], STORES)) describe(`payments that go back, on ${kind.name}`, () => suite(kind));

function suite(kind: StoreKind): void {
  const use = useStage(kind);
  const { stage } = use;
  let service: Service;
  beforeEach(() => {
    service = use.service();
  });
  const credited = (rub?: number) => stage.credited(service, rub);

  describe('refunds and disputes', () => {
    it('take the money from the balance at the request, and book it when the bank has refunded it', async () => {
      const payment = await credited();
      const wish = { at: stage.now(), amount: 300n * RUB, reason: 'wish', refund: 'rfd_1' };
      expect((await requestRefund(stage.store, payment.id, wish)).status).to.equal('done');
      expect((await requestRefund(stage.store, payment.id, wish)).status).to.equal('exists');
      stage.bank.refunds = 'pending';
      expect((await service.payments.poll(payment.id))?.phase).to.equal('credited');
      const [refund] = stage.bank.ofOrder(payment.id)[0]?.refunds ?? [];
      if (!refund) throw new Error('the bank was not asked');
      expect(await stage.topped()).to.equal(700n * RUB);
      refund.status = 'succeeded';
      const webhooks = [1, 2, 3].map(() => stage.sendWebhook(service, payment.ref ?? ''));
      expect(await Promise.all(webhooks)).to.deep.equal(['done', 'done', 'done']);
      expect(await stage.topped()).to.equal(700n * RUB);
      expect(await stage.payment(payment.id)).to.include({
        phase: 'partly_refunded',
        refunded: 300n * RUB,
        dueAt: null,
      });
      const more = { at: stage.now(), amount: 701n * RUB, reason: '' };
      expect((await requestRefund(stage.store, payment.id, more)).status).to.equal('refused');
      expect(await stage.problems()).to.deep.equal([]);
    });

    it('are refused for fractions of a kopeck, which no provider can give back', async () => {
      const payment = await credited();
      for (const amount of [1n, RUB + 1n, 300n * RUB + 5000n]) {
        const wish = { at: stage.now(), amount, reason: 'wish' };
        expect((await requestRefund(stage.store, payment.id, wish)).status, `${amount}`).to.equal('refused');
      }
      expect(await stage.topped()).to.equal(1000n * RUB);
    });

    it('are made once under any id that an operator chooses', async () => {
      const payment = await credited();
      const wish = { at: stage.now(), amount: 300n * RUB, reason: 'wish', refund: 'возврат 17' };
      for (const status of ['done', 'exists'])
        expect((await requestRefund(stage.store, payment.id, wish)).status).to.equal(status);
      const after = (await service.payments.poll(payment.id)) as Payment;
      expect(stage.bank.ofOrder(payment.id)[0]?.refunds.length).to.equal(1);
      expect(parseRefunds(after).map(({ id, state }) => [id, state])).to.deep.equal([['возврат 17', 'booked']]);
      expect(await stage.topped()).to.equal(700n * RUB);
      expect(await stage.problems()).to.deep.equal([]);
    });

    it('of everything are made once, although nothing is left to give back then', async () => {
      const payment = await credited();
      const wish = { at: stage.now(), amount: 1000n * RUB, reason: 'wish', refund: 'rfd_all' };
      const other = { ...wish, amount: 999n * RUB };
      const statuses = async () => {
        const asked = [wish, wish, other, { ...wish, refund: 'rfd_more' }];
        const found: string[] = [];
        for (const each of asked) found.push((await requestRefund(stage.store, payment.id, each)).status);
        return found;
      };
      expect(await statuses()).to.deep.equal(['done', 'exists', 'refund_taken', 'refused']);
      expect((await service.payments.poll(payment.id))?.phase).to.equal('refunded');
      expect(await statuses()).to.deep.equal(['exists', 'exists', 'refund_taken', 'refused']);
      expect(await stage.topped()).to.equal(0n);
      expect(await stage.problems()).to.deep.equal([]);
    });

    it('are refused under the id of another one: of another amount, or of another payment', async () => {
      const [one, two] = [await credited(), await credited()];
      const asked = (id: string, rub: bigint) =>
        requestRefund(stage.store, id, { at: stage.now(), amount: rub * RUB, reason: 'wish', refund: 'rfd_same' });
      const statuses = async (...asks: readonly (readonly [id: string, rub: bigint])[]) => {
        const found: string[] = [];
        for (const [id, rub] of asks) found.push((await asked(id, rub)).status);
        return found;
      };
      const before = await statuses([one.id, 300n], [one.id, 300n], [one.id, 500n], [two.id, 300n]);
      expect(before).to.deep.equal(['done', 'exists', 'refund_taken', 'refund_taken']);
      await service.payments.poll(one.id);
      expect(await statuses([one.id, 300n], [one.id, 700n], [two.id, 300n])).to.deep.equal([
        'exists',
        'refund_taken',
        'refund_taken',
      ]);
      expect(await stage.topped()).to.equal(1700n * RUB);
      expect(await stage.problems()).to.deep.equal([]);
    });

    it('are made once when two of one id are requested at the same moment, and another amount is told', async () => {
      for (const [other, answers] of [
        [300n, ['done', 'exists']],
        [500n, ['done', 'refund_taken']],
      ] as const) {
        const payment = await credited();
        const asked = (rub: bigint) =>
          requestRefund(stage.store, payment.id, {
            ...{ at: stage.now(), amount: rub * RUB, reason: 'wish', refund: `at once ${other}` },
          });
        const outcomes = await Promise.all([asked(300n), asked(other)]);
        expect(outcomes.map(({ status }) => status).sort()).to.deep.equal(answers);
        const [refund] = parseRefunds((await stage.payment(payment.id)) as Payment);
        const done = outcomes.findIndex(({ status }) => status === 'done');
        expect(refund?.amount).to.equal(`${[300n, other].map((rub) => rub * RUB)[done]}`);
      }
      expect(await stage.problems()).to.deep.equal([]);
    });

    it('are sent once although the answer was lost, and are booked if they started at the bank', async () => {
      const payment = await credited();
      await requestRefund(stage.store, payment.id, { at: stage.now(), amount: 300n * RUB, reason: '' });
      stage.bank.hook = (asked, when) => {
        if (asked === 'refund' && when === 'after') throw new Error('lost');
        return undefined;
      };
      await service.payments.poll(payment.id);
      stage.bank.hook = () => undefined;
      stage.bank.giveBack(payment.id, 200n * RUB);
      const after = await service.payments.poll(payment.id);
      expect(stage.bank.ofOrder(payment.id)[0]?.refunds.length).to.equal(2);
      expect(after).to.include({ refunded: 500n * RUB, phase: 'partly_refunded' });
      expect(parseRefunds(after as Payment).map(({ state }) => state)).to.deep.equal(['booked', 'booked']);
      expect(await stage.topped()).to.equal(500n * RUB);
    });

    it('return the money to the balance if the bank refuses', async () => {
      const payment = await credited();
      stage.bank.refunds = 'canceled';
      await requestRefund(stage.store, payment.id, { at: stage.now(), amount: 300n * RUB, reason: '' });
      expect(await stage.topped()).to.equal(700n * RUB);
      const after = (await service.payments.poll(payment.id)) as Payment;
      expect(parseRefunds(after)[0]?.state).to.equal('refused');
      expect([after.phase, after.dueAt, await stage.topped()]).to.deep.equal(['credited', null, 1000n * RUB]);
    });

    for (const shortfall of ['suspend', 'keep'] as const) {
      it(`leave a shortfall if the money was spent, and the account ${shortfall === 'keep' ? 'continues' : 'is suspended'}`, async () => {
        stage.shortfall = shortfall;
        const one = stage.service('own_2');
        const payment = await credited();
        const hold = {
          kind: 'reserve',
          wallet: stage.wallet,
          at: 1,
          chargeId: `req_${stage.wallet}`,
          amount: 800n * RUB,
        } as const;
        const call = {
          key: 'k',
          chargeKind: 'text',
          model: 'm',
          prices: '{"a":"1"}',
          owner: 'own_x',
          lease: 5,
        } as const;
        await stage.store.ledger.apply([{ ...hold, ...call }]);
        stage.bank.giveBack(payment.id, 1000n * RUB);
        expect(await one.payments.poll(payment.id)).to.include({ phase: 'refunded', shortfall: 800n * RUB });
        const wallet = await stage.store.ledger.wallet(stage.wallet);
        expect(wallet).to.include({ avail: -800n * RUB, held: 800n * RUB, topped: 0n });
        expect(wallet?.status).to.equal(shortfall === 'keep' ? 'active' : 'suspended');
        expect(await stage.problems()).to.deep.equal([]);
      });
    }

    it('take the money of a dispute when it is lost, and keep it when it is won', async () => {
      const lost = await credited();
      const won = await credited();
      const at = stage.now();
      const end = (id: string, how: 'won' | 'lost') => endDispute(stage.store, id, { at, how, suspend: false });
      for (const { id } of [lost, won]) {
        expect((await openDispute(stage.store, id, { at, dispute: `cb_${id}` })).status).to.equal('done');
        expect((await openDispute(stage.store, id, { at, dispute: `cb_${id}` })).status).to.equal('exists');
      }
      expect(await stage.topped()).to.equal(2000n * RUB);
      const ends = await Promise.all([end(lost.id, 'lost'), end(lost.id, 'lost'), end(won.id, 'won')]);
      expect(ends.map(({ payment }) => payment?.phase)).to.deep.equal(['reversed', 'reversed', 'kept']);
      expect(await stage.topped()).to.equal(1000n * RUB);
      expect((await end(won.id, 'lost')).status).to.equal('refused');
      expect((await end('pay_none', 'won')).status).to.equal('no_payment');
      expect(await stage.problems()).to.deep.equal([]);
    });

    it('need a separate dispute number per payment, so that each dispute can be lost', async () => {
      const one = await credited();
      const two = await credited();
      const three = await credited();
      const at = stage.now();
      const number = `cb_${one.id}`;
      const dispute = async (id: string, name: string) =>
        (await openDispute(stage.store, id, { at, dispute: name })).status;
      expect(await dispute(one.id, number)).to.equal('done');
      expect(await dispute(two.id, number)).to.equal('number_taken');
      expect(await dispute(two.id, `${number}/2`)).to.equal('done');
      for (const { id } of [one, two]) await endDispute(stage.store, id, { at, how: 'lost', suspend: false });
      expect(await stage.topped()).to.equal(1000n * RUB);
      expect([await dispute(three.id, number), await dispute(one.id, number)]).to.deep.equal([
        'number_taken',
        'exists',
      ]);
      expect((await stage.payment(three.id)).phase).to.equal('credited');
      expect(await stage.problems()).to.deep.equal([]);
    });

    it('have the number of an open dispute taken, however many were opened since', async () => {
      const one = await credited();
      const two = await credited();
      const at = stage.now();
      const opened = async (id: string) => (await openDispute(stage.store, id, { at, dispute: 'cb_old' })).status;
      expect(await opened(one.id)).to.equal('done');
      const row = await stage.payment(one.id);
      const more = Array.from({ length: 600 }, (_, n): Payment => {
        const dispute = JSON.stringify({ ...parseDispute(row), id: `cb_${n}` });
        return { ...row, id: `${row.id}-${n}`, ref: `ref-${n}`, createdAt: row.createdAt + 1 + n, dispute };
      });
      await stage.store.payments.put('payments', more);
      expect(await opened(two.id)).to.equal('number_taken');
    });

    it('take at most what is left of the payment while a dispute is open and after it ended', async () => {
      for (const [how, phase, refunded] of [
        ['won', 'kept', 500n],
        ['lost', 'reversed', 1000n],
      ] as const) {
        const { id, ref } = await credited();
        const at = stage.now();
        await openDispute(stage.store, id, { at, dispute: `cb_${id}`, amount: 600n * RUB });
        stage.bank.giveBack(id, 200n * RUB);
        expect(await stage.sendWebhook(service, ref ?? '')).to.equal('done');
        expect(await stage.payment(id)).to.include({ phase: 'disputed', refunded: 200n * RUB });
        expect((await endDispute(stage.store, id, { at, how, suspend: false })).status).to.equal('done');
        stage.bank.giveBack(id, 300n * RUB);
        expect(await stage.sendWebhook(service, ref ?? '')).to.equal('done');
        expect(await service.payments.poll(id)).to.include({ phase, refunded: refunded * RUB, dueAt: null });
      }
      expect(await stage.topped()).to.equal(500n * RUB);
      expect(await stage.problems()).to.deep.equal([]);
    });

    it('take what a refund during a dispute has left of it', async () => {
      const { id } = await credited();
      const at = stage.now();
      await credited();
      await openDispute(stage.store, id, { at, dispute: `cb_${id}`, amount: 800n * RUB });
      stage.bank.giveBack(id, 500n * RUB);
      expect(await service.payments.poll(id)).to.include({ phase: 'disputed', refunded: 500n * RUB });
      expect((await endDispute(stage.store, id, { at, how: 'lost', suspend: false })).status).to.equal('done');
      expect(await stage.payment(id)).to.include({ phase: 'reversed', refunded: 1000n * RUB, shortfall: 0n });
      expect(await stage.topped()).to.equal(1000n * RUB);
      expect(await stage.problems()).to.deep.equal([]);
    });

    it('leave nothing to lose after a full refund during a dispute', async () => {
      const { id } = await credited();
      const at = stage.now();
      await openDispute(stage.store, id, { at, dispute: `cb_${id}` });
      stage.bank.giveBack(id, 1000n * RUB);
      expect(await service.payments.poll(id)).to.include({ phase: 'disputed', refunded: 1000n * RUB });
      const end = (how: 'won' | 'lost') => endDispute(stage.store, id, { at, how, suspend: false });
      expect([(await end('lost')).status, (await end('won')).status]).to.deep.equal(['refused', 'done']);
      expect(await stage.topped()).to.equal(0n);
      expect(await stage.problems()).to.deep.equal([]);
    });

    it('are booked right after the credit if they happened during the review', async () => {
      const payment = await stage.order(service);
      stage.bank.pay(payment.id, { currency: 'USD' });
      expect((await service.payments.poll(payment.id))?.phase).to.equal('review');
      stage.bank.giveBack(payment.id, 300n * RUB);
      expect(await stage.sendWebhook(service, stage.refOf(payment))).to.equal('done');
      const verdict = { at: stage.now(), reason: 'seen', credit: 1000n * RUB };
      expect((await decideReview(stage.store, payment.id, verdict)).payment).to.include({ reason: 'seen' });
      stage.bank.hook = (asked) => {
        if (asked === 'fetch') throw new Error('down');
        return undefined;
      };
      expect(await service.payments.poll(payment.id))
        .to.have.property('dueAt')
        .above(stage.now());
      stage.bank.hook = () => undefined;
      await stage.letTimePass();
      service.payments.start();
      await until(async () => (await stage.payment(payment.id)).dueAt === null, 10_000);
      expect(await stage.payment(payment.id)).to.include({ phase: 'partly_refunded', refunded: 300n * RUB });
      expect(await stage.topped()).to.equal(700n * RUB);
      expect(await stage.problems()).to.deep.equal([]);
    });
  });
}
