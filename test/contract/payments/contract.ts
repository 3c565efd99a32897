// The contract that every payment plugin keeps, whatever it talks to: what the service relies on when it credits money.
import { expect } from 'chai';
import fc from 'fast-check';
import { DAY_MS } from '../../../lib/base/durations.ts';
import type { PaymentProvider, RawNotice } from '../../../lib/upstream/contract/payment.ts';
import { isUpstreamFault } from '../../../lib/upstream/host/fault.ts';
import { makeOrder, makeRefund, RUB } from '../../../testkit/payments.ts';

/** A provider with the world behind it. */
export interface Subject {
  readonly provider: PaymentProvider;
  /** What it must never tell. */
  readonly secrets: readonly string[];
  readonly logged: readonly unknown[];
  /** The payer pays. */
  pay(id: string): Promise<void>;
  /** A true webhook that a payment succeeded, with more fields in it. */
  buildWebhook(id: string, more?: object): RawNotice;
  /** Another provider on the same world, as another process has it. */
  again(): PaymentProvider;
  close(): Promise<void>;
}

const signal = new AbortController().signal;

export function describePayments(name: string, open: () => Promise<Subject>): void {
  describe(`contract of payments: ${name}`, () => {
    let subject: Subject;
    let provider: PaymentProvider;
    beforeEach(async () => {
      subject = await open();
      provider = subject.provider;
    });
    afterEach(() => subject.close());

    const start = async (more = {}) => {
      const order = makeOrder(more);
      return { order, ...(await provider.start(order, signal)) };
    };

    it('says what it takes, for how long it remembers keys, and whose shop it is', () => {
      expect(provider.methods).not.to.be.empty;
      expect(provider.shop).not.to.equal('');
      expect(provider.keysLiveMs).to.be.within(60_000, DAY_MS);
      for (const { min, max } of Object.values(provider.limits ?? {})) expect(min > 0n && max >= min).to.equal(true);
    });

    it('sends the payer to a host that it names, or to a page of its own', async () => {
      const { order, payUrl, expiresAt } = await start();
      const { host, protocol } = new URL(payUrl);
      if (provider.page) expect(payUrl.startsWith(`${order.pageUrl}/`)).to.equal(true);
      else expect([...provider.redirectHosts]).to.include(host);
      expect(protocol).to.equal('https:');
      expect(expiresAt).to.be.above(Date.now());
    });

    it('makes one payment for a key, in whatever process it is asked again', async () => {
      const { order, id } = await start();
      expect((await subject.again().start(order, signal)).id).to.equal(id);
      expect((await start()).id).not.to.equal(id);
    });

    it('tells of a payment what the service compares with the order', async () => {
      const { order, id } = await start({ amount: 1234_560_000n });
      const before = await provider.fetch({ id }, signal);
      expect(before).to.include({ id, status: 'pending', order: order.id, reason: null });
      await subject.pay(id);
      const { shop, live } = provider;
      expect(await subject.again().fetch({ id }, signal)).to.deep.include({
        id,
        status: 'succeeded',
        amount: order.amount,
        currency: order.currency,
        shop,
        test: !live,
        order: order.id,
        refunds: [],
        reason: null,
      });
    });

    it('finds a payment by the order, and none where there is none', async () => {
      const { order, id } = await start();
      await subject.pay(id);
      expect(await subject.again().find(order, signal)).to.include({ id, status: 'succeeded', order: order.id });
      expect(await provider.find(makeOrder(), signal)).to.equal(undefined);
    });

    it('says of an id that it does not know that it is missing', async () => {
      const error: unknown = await provider
        .fetch({ id: '23d93cac-000f-5000-8000-126628f15141' }, signal)
        .catch((e) => e);
      expect(isUpstreamFault(error) && error.kind).to.equal('missing');
    });

    it('gives back once for a key, tells of it, and keeps the payment succeeded', async () => {
      if (!provider.refund) return;
      const { id } = await start();
      await subject.pay(id);
      const order = makeRefund(id, { amount: 400n * RUB });
      const refund = await provider.refund(order, signal);
      expect(await subject.again().refund?.(order, signal)).to.deep.equal(refund);
      expect(refund).to.include({ amount: order.amount, currency: 'RUB', order: order.id });
      expect(await provider.fetch({ id }, signal)).to.deep.include({ status: 'succeeded', refunds: [refund] });
      const error: unknown = await provider.refund(makeRefund(id, { amount: 601n * RUB }), signal).catch((e) => e);
      expect(isUpstreamFault(error) && error.kind).to.equal('request');
    });

    it('learns from a webhook only what to fetch, whatever else the webhook says', async () => {
      const { id } = await start();
      const verdict = provider.notice(subject.buildWebhook(id));
      expect(verdict).to.deep.equal({ fetch: [id] });
      const lie = { status: 'succeeded', paid: true, amount: { value: '9999999.00', currency: 'RUB' } };
      expect(provider.notice(subject.buildWebhook(id, lie))).to.satisfy(
        (other: unknown) => other === 'rejected' || JSON.stringify(other) === JSON.stringify(verdict),
      );
      // It was told, and believed nothing.
      expect((await provider.fetch({ id }, signal)).status).to.equal('pending');
    });

    it('judges any webhook at once, without failing', () => {
      const { headers, address } = subject.buildWebhook('x');
      const judge = (body: string) => {
        const verdict = provider.notice({ headers, address, body });
        if (verdict !== 'rejected') expect(verdict.fetch.every((id) => body.includes(id))).to.equal(true);
      };
      fc.assert(fc.property(fc.string(), judge));
      fc.assert(fc.property(fc.json(), judge));
      for (const body of ['', 'null', '[]', '{}', '{"payment":1}', '{"object":null}', '\u0000']) {
        expect(provider.notice({ headers, address, body })).to.equal('rejected');
      }
    });

    it('tells none of its secrets in what it throws or logs', async () => {
      const { id } = await start();
      const errors: readonly unknown[] = await Promise.all([
        provider.fetch({ id: 'nobody' }, signal).catch((error) => error),
        provider.start(makeOrder({ amount: 1n }), signal).catch((error) => error),
        provider.refund?.(makeRefund(id), signal).catch((error) => error),
      ]);
      const told = errors.map((error) => (error instanceof Error ? `${error.stack} ${JSON.stringify(error)}` : ''));
      for (const secret of subject.secrets) {
        expect([...told, JSON.stringify(subject.logged)].join('\n')).not.to.contain(secret);
      }
    });
  });
}
