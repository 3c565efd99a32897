// Saved methods and refunds of `yookassa`.
import { expect } from 'chai';
import type { PaymentProvider } from '../../lib/upstream/contract/payment.ts';
import { makeOrder, makeRefund, RUB } from '../../testkit/payments.ts';
import { CARD } from '../../testkit/yookassa-shop.ts';
import { signal, thrownBy, VendorStage } from './stage.ts';

const RECEIPT = { taxSystemCode: 2, vatCode: 1, paymentSubject: 'service', paymentMode: 'full_prepayment' };

describe('saved methods and refunds of yookassa', () => {
  const stage = new VendorStage();
  const open = stage.open.bind(stage);
  const paid = stage.paid.bind(stage);
  const last = stage.last.bind(stage);
  afterEach(() => stage.close());

  describe('a saved method', () => {
    const CHARGES = { autopayments: true };

    async function save(provider: PaymentProvider, card: typeof CARD | null = CARD) {
      const { id } = await provider.start(makeOrder({ saveMethod: true }), signal);
      stage.vendor.shop.pay(id, card);
      const { saved } = await provider.fetch({ id }, signal);
      return saved;
    }

    it('is reported with the fields by which its owner recognizes it', async () => {
      const saved = await save(await open(CHARGES));
      const [id] = stage.vendor.shop.methods.keys();
      expect(saved).to.deep.equal({
        id,
        kind: 'card',
        brand: 'Mir',
        last4: '4444',
        expiry: '2031-07',
        fingerprint: null,
      });
    });

    it('has no brand if it is unknown', async () => {
      const saved = await save(await open(CHARGES), { ...CARD, card_type: 'Unknown' });
      expect(saved).to.include({ brand: null, last4: '4444' });
    });

    it('is missing if the payer did not agree or the method cannot be saved', async () => {
      const provider = await open(CHARGES);
      expect(await save(provider, null)).to.equal(null);
      const id = await paid(provider, { saveMethod: false });
      expect((await provider.fetch({ id }, signal)).saved).to.equal(null);
    });

    it('is charged by its id, without a page', async () => {
      const provider = await open(CHARGES);
      const saved = (await save(provider)) ?? expect.fail('it was not saved');
      const order = makeOrder({ amount: 500n * RUB });
      const state = await provider.charge?.(order, saved, signal);
      expect(state).to.deep.include({ status: 'succeeded', amount: 500n * RUB, order: order.id, saved, reason: null });
      const { headers, body } = last();
      expect(headers['idempotence-key']).to.equal(order.idempotenceKey);
      expect(body).to.include({ payment_method_id: saved.id, capture: true });
      expect(body).not.to.have.any.keys('confirmation', 'save_payment_method');
    });

    for (const [outcome, status, kind] of [
      ['insufficient_funds', 'canceled', 'soft'],
      ['permission_revoked', 'canceled', 'hard'],
      ['issuer_unavailable', 'canceled', 'technical'],
      ['pending', 'pending', undefined],
    ] as const) {
      it(`may answer ${outcome}`, async () => {
        const provider = await open(CHARGES);
        const saved = (await save(provider)) ?? expect.fail('it was not saved');
        stage.vendor.shop.methodGoes(saved.id, outcome);
        const state = await provider.charge?.(makeOrder(), saved, signal);
        expect([state?.status, state?.reason?.kind]).to.deep.equal([status, kind]);
      });
    }

    it('is refused without a payment if the vendor no longer knows it', async () => {
      const provider = await open(CHARGES);
      const saved = (await save(provider)) ?? expect.fail('it was not saved');
      stage.vendor.shop.methods.clear();
      const error = await thrownBy(provider.charge?.(makeOrder(), saved, signal));
      expect(error).to.include({ kind: 'request' });
      expect(stage.vendor.shop.payments.size).to.equal(1);
    });

    it('is refused in a shop without the permission', async () => {
      const provider = await open(CHARGES, { autopayments: false });
      const error = await thrownBy(provider.start(makeOrder({ saveMethod: true }), signal));
      expect(error).to.include({ kind: 'auth', status: 403 });
      expect(error.detail).to.contain("can't make recurring payments");
    });
  });

  describe('a refund', () => {
    it('refunds a whole payment, and is listed among its refunds', async () => {
      const provider = await open({ receipt: RECEIPT }, { receipts: true });
      const id = await paid(provider, { email: 'payer@example.com' });
      const order = makeRefund(id);
      const refund = await provider.refund?.(order, signal);
      expect(refund).to.include({ status: 'succeeded', amount: order.amount, currency: 'RUB', order: order.id });
      const { path, headers, body } = last();
      expect([path, headers['idempotence-key']]).to.deep.equal(['/v3/refunds', order.idempotenceKey]);
      expect(body).to.deep.equal({
        payment_id: id,
        amount: { value: '1000.00', currency: 'RUB' },
        description: 'asked for',
        metadata: { refund_id: order.id },
      });
      expect((await provider.fetch({ id }, signal)).refunds).to.deep.equal([refund]);
      expect((await provider.fetch({ id }, signal)).status).to.equal('succeeded');
    });

    it('refunds a part, with a receipt of its own', async () => {
      const provider = await open({ receipt: RECEIPT }, { receipts: true });
      const id = await paid(provider, { email: 'payer@example.com' });
      const part = { amount: 250n * RUB, email: 'payer@example.com' };
      await provider.refund?.(makeRefund(id, part), signal);
      expect(last().body.receipt.items[0].amount).to.deep.equal({ value: '250.00', currency: 'RUB' });
      expect(stage.vendor.shop.payments.get(id)?.refunded_amount?.value).to.equal('250.00');
      const { email: _, ...nameless } = part;
      expect(await thrownBy(provider.refund?.(makeRefund(id, nameless), signal))).to.include({
        kind: 'request',
      });
    });

    it('is refused if it is larger than the rest', async () => {
      const provider = await open();
      const id = await paid(provider);
      await provider.refund?.(makeRefund(id, { amount: 600n * RUB }), signal);
      const error = await thrownBy(
        provider.refund?.(makeRefund(id, { amount: 401n * RUB }), signal) as Promise<unknown>,
      );
      expect(error).to.include({ kind: 'request' });
    });

    for (const [outcome, status] of [
      ['pending', 'pending'],
      ['insufficient_funds', 'canceled'],
    ] as const) {
      it(`may be ${status}`, async () => {
        const provider = await open();
        const id = await paid(provider);
        stage.vendor.shop.refundsGo(outcome);
        const order = makeRefund(id);
        expect(await provider.refund?.(order, signal)).to.include({ status });
        const { refunds } = await provider.fetch({ id }, signal);
        expect(refunds.map((refund) => [refund.status, refund.order])).to.deep.equal([[status, order.id]]);
      });
    }

    it('is listed if it was made at the vendor, however many there are', async () => {
      const provider = await open();
      const id = await paid(provider, { amount: 150n * RUB });
      for (let at = 0; at < 150; at += 1)
        stage.vendor.shop.refund({ payment_id: id, amount: { value: '1.00', currency: 'RUB' } });
      const { refunds } = await provider.fetch({ id }, signal);
      expect(new Set(refunds.map((refund) => refund.id)).size).to.equal(150);
      expect(
        refunds.every(({ order, status, amount }) => order === null && status === 'succeeded' && amount === RUB),
      ).to.equal(true);
    });
  });
});
