// Requests of `yookassa` and how it reads the answers: orders, sums, receipts, states and reasons.
import { expect } from 'chai';
import type { Decline } from '../../lib/upstream/contract/payment.ts';
import { makeOrder } from '../../testkit/payments.ts';
import { signal, thrownBy, VendorStage } from './stage.ts';

const RECEIPT = { taxSystemCode: 2, vatCode: 1, paymentSubject: 'service', paymentMode: 'full_prepayment' };

describe('payments by yookassa', () => {
  const stage = new VendorStage();
  const open = stage.open.bind(stage);
  const paid = stage.paid.bind(stage);
  const last = stage.last.bind(stage);
  afterEach(() => stage.close());

  describe('an order', () => {
    it('is sent with its key, amount, id and return URL', async () => {
      const provider = await open();
      const order = makeOrder();
      const started = await provider.start(order, signal);
      const { method, path, headers, body } = last();
      expect([method, path]).to.deep.equal(['POST', '/v3/payments']);
      expect(headers).to.include({ 'idempotence-key': order.idempotenceKey, 'content-type': 'application/json' });
      const [scheme, pair = ''] = (headers.authorization ?? '').split(' ');
      expect([scheme, Buffer.from(pair, 'base64').toString()]).to.deep.equal([
        'Basic',
        `${stage.vendor.shopId}:${stage.vendor.secret}`,
      ]);
      expect(body).to.deep.equal({
        amount: { value: '1000.00', currency: 'RUB' },
        capture: true,
        description: 'Top-up of the account 7',
        metadata: { order_id: order.id },
        merchant_customer_id: 'acc_7',
        confirmation: { type: 'redirect', return_url: order.returnUrl, locale: 'ru_RU' },
      });
      const payment = stage.vendor.shop.payments.get(started.id) ?? expect.fail('there is no payment');
      expect(started.payUrl).to.equal(`https://yoomoney.ru/checkout/payments/v2/contract?orderId=${started.id}`);
      expect(provider.redirectHosts).to.include(new URL(started.payUrl).host);
      expect(started.expiresAt).to.equal(Date.parse(payment.created_at) + 3_600_000);
    });

    for (const [method, type] of [
      ['card', 'bank_card'],
      ['sbp', 'sbp'],
      ['wallet', 'yoo_money'],
    ] as const) {
      it(`can be for ${method} alone, in English`, async () => {
        const provider = await open({ methods: [method] });
        expect(provider.methods).to.deep.equal([method]);
        await provider.start(makeOrder({ method, locale: 'en' }), signal);
        expect(last().body).to.deep.include({ payment_method_data: { type } });
        expect(last().body.confirmation).to.include({ locale: 'en_US' });
      });
    }

    for (const [amount, value] of [
      [10_000n, '0.01'],
      [1_000_000n, '1.00'],
      [1_234_560_000n, '1234.56'],
      [350_000_000_000n, '350000.00'],
      [9_007_199_254_740_990_000n, '9007199254740.99'],
    ] as const) {
      it(`of ${amount} micro-roubles is one of ${value} RUB`, async () => {
        const provider = await open();
        await provider.start(makeOrder({ amount }), signal).catch(() => undefined);
        expect(last().body.amount).to.deep.equal({ value, currency: 'RUB' });
      });
    }

    for (const amount of [0n, -1_000_000n, 1n, 9_999n, 1_000_001n, 1_005_000n]) {
      it(`of ${amount} micro-roubles is refused before anything is asked`, async () => {
        const provider = await open();
        expect(await thrownBy(provider.start(makeOrder({ amount }), signal))).to.include({ kind: 'request' });
        expect(stage.vendor.asked).to.have.length(0);
      });
    }

    it('has a description of at most 128 whole characters', async () => {
      const provider = await open();
      await provider.start(makeOrder({ description: `${'x'.repeat(127)}😀 and more` }), signal);
      const { description } = last().body;
      expect(description)
        .to.match(/^x{127}./u)
        .and.to.have.length(128);
      expect(description.isWellFormed()).to.equal(true);
    });

    it('asks to save the method only in a shop that may charge it', async () => {
      const provider = await open({}, { autopayments: false });
      await provider.start(makeOrder({ saveMethod: true }), signal);
      expect(last().body).not.to.have.property('save_payment_method');
      expect(provider).not.to.have.property('charge');
    });

    it('returns a payment that has already ended', async () => {
      const provider = await open();
      const order = makeOrder();
      const first = await provider.start(order, signal);
      stage.vendor.shop.pay(first.id);
      expect(await provider.start(order, signal)).to.deep.equal(first);
      expect(stage.vendor.shop.payments.size).to.equal(1);
    });
  });

  describe('a receipt', () => {
    it('contains the payer, the operator’s taxes and the whole amount', async () => {
      const provider = await open({ receipt: { ...RECEIPT, measure: 'piece' } }, { receipts: true });
      await provider.start(makeOrder({ email: 'payer@example.com' }), signal);
      expect(last().body.receipt).to.deep.equal({
        customer: { email: 'payer@example.com' },
        tax_system_code: 2,
        items: [
          {
            description: 'Top-up of the account 7',
            quantity: 1,
            amount: { value: '1000.00', currency: 'RUB' },
            vat_code: 1,
            payment_subject: 'service',
            payment_mode: 'full_prepayment',
            measure: 'piece',
          },
        ],
      });
    });

    it('uses the operator’s description, and omits an unset tax system', async () => {
      const { taxSystemCode: _, ...receipt } = RECEIPT;
      const provider = await open({ receipt: { ...receipt, description: 'Advance' } }, { receipts: true });
      await provider.start(makeOrder({ email: 'payer@example.com' }), signal);
      expect(last().body.receipt).not.to.have.property('tax_system_code');
      expect(last().body.receipt.items[0]).to.include({ description: 'Advance' });
    });

    it('without an email address is refused before a request', async () => {
      const provider = await open({ receipt: RECEIPT });
      expect(await thrownBy(provider.start(makeOrder(), signal))).to.include({ kind: 'request' });
      expect(stage.vendor.asked).to.have.length(0);
    });

    it('is required by a shop with receipts', async () => {
      const provider = await open({}, { receipts: true });
      const error = await thrownBy(provider.start(makeOrder(), signal));
      expect(error).to.include({ kind: 'request', status: 400 });
      expect(error.detail).to.contain('Receipt is missing or illegal');
    });
  });

  describe('a payment', () => {
    it('is pending before the payer acts', async () => {
      const provider = await open();
      const order = makeOrder();
      const { id } = await provider.start(order, signal);
      expect(await provider.fetch({ id }, signal)).to.deep.equal({
        id,
        status: 'pending',
        amount: order.amount,
        currency: 'RUB',
        shop: stage.vendor.shopId,
        test: true,
        order: order.id,
        saved: null,
        refunds: [],
        reason: null,
      });
    });

    it('on hold is still pending', async () => {
      const provider = await open();
      const { id } = await provider.start(makeOrder(), signal);
      stage.vendor.shop.hold(id);
      expect(await provider.fetch({ id }, signal)).to.include({ status: 'pending' });
    });

    it('succeeds, with a method only if it was saved', async () => {
      const provider = await open();
      const id = await paid(provider);
      expect(stage.vendor.shop.payments.get(id)?.payment_method).to.include({ id, saved: false });
      expect(await provider.fetch({ id }, signal)).to.deep.include({ status: 'succeeded', saved: null, reason: null });
    });

    it('is reported as the shop has it, whatever was ordered', async () => {
      const provider = await open();
      const id = await paid(provider);
      const recipient = { account_id: '999', gateway_id: '1' };
      stage.vendor.shop.spoil(id, { amount: { value: '0.5', currency: 'USD' }, recipient, test: false, metadata: {} });
      expect(await provider.fetch({ id }, signal)).to.deep.include({
        amount: 500_000n,
        currency: 'USD',
        shop: '999',
        test: false,
        order: null,
      });
    });

    it('expires with its link', async () => {
      const provider = await open();
      const { id } = await provider.start(makeOrder(), signal);
      stage.vendor.advance(3_600_001);
      const { status, reason } = await provider.fetch({ id }, signal);
      expect([status, reason]).to.deep.equal(['canceled', { kind: 'expired', code: 'expired_on_confirmation' }]);
    });

    const REASONS: readonly (readonly [Decline['kind'], ...string[]])[] = [
      ['expired', 'expired_on_confirmation'],
      ['soft', 'insufficient_funds', 'payment_method_limit_exceeded', '3d_secure_failed', 'call_issuer'],
      ['soft', 'general_decline', 'invalid_csc', 'identification_required', 'a_reason_of_next_year'],
      ['hard', 'card_expired', 'invalid_card_number', 'payment_method_restricted', 'permission_revoked'],
      ['hard', 'country_forbidden', 'fraud_suspected', 'unsupported_mobile_operator'],
      ['technical', 'issuer_unavailable', 'internal_timeout', 'canceled_by_merchant', 'expired_on_capture'],
      ['technical', 'deal_expired'],
    ];
    for (const [kind, ...codes] of REASONS) {
      for (const code of codes) {
        it(`declined for ${code} is a ${kind} one`, async () => {
          const provider = await open();
          const { id } = await provider.start(makeOrder(), signal);
          stage.vendor.shop.decline(id, code);
          const { status, reason } = await provider.fetch({ id }, signal);
          expect([status, reason]).to.deep.equal(['canceled', { kind, code }]);
        });
      }
    }

    it('canceled without a reason is a soft decline', async () => {
      const provider = await open();
      const { id } = await provider.start(makeOrder(), signal);
      stage.vendor.shop.decline(id, 'x');
      delete stage.vendor.shop.payments.get(id)?.cancellation_details;
      const { reason } = await provider.fetch({ id }, signal);
      expect(reason).to.deep.equal({ kind: 'soft', code: 'unknown' });
    });

    for (const [what, change] of Object.entries({
      'in a state of next year': { status: 'frozen' },
      'of a sum that is no decimal': { amount: { value: '1e3', currency: 'RUB' } },
      'of thousandths': { amount: { value: '1.005', currency: 'RUB' } },
      'of a number': { amount: { value: undefined, currency: 'RUB' } },
      'without a currency': { amount: { value: '1.00' } },
      'without a shop': { recipient: {} },
    })) {
      it(`${what} is a protocol fault`, async () => {
        const provider = await open();
        const id = await paid(provider);
        stage.vendor.shop.spoil(id, change as never);
        expect(await thrownBy(provider.fetch({ id }, signal))).to.include({ kind: 'protocol' });
      });
    }
  });
});
