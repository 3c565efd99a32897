// Notices: which payments they are about, what they cannot make the service do, and what an operator reads of them.
import { expect } from 'chai';
import type { PaymentProvider } from '../../lib/plugin/payment-contract.ts';
import type { BankPayment } from '../../testkit/bank.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { RUB, type StoreKind } from '../contract/store/context.ts';
import { newOrder } from '../contract/store/payments.ts';
import { type Service, useStage } from './service-stage.ts';

for (const kind of longer([SQLITE], STORES)) describe(`notices on ${kind.name}`, () => suite(kind));

function suite(kind: StoreKind): void {
  const use = useStage(kind);
  const { stage } = use;
  let service: Service;
  beforeEach(() => {
    service = use.service();
  });

  /** A payment at the bank that nobody here has begun. */
  function paidFor(order: string): BankPayment {
    const id = `bp-of-${order}`;
    const paid = { status: 'succeeded', amount: String(1000n * RUB), currency: 'RUB', shop: 'shop-1' } as const;
    const made = { id, ...paid, test: false, order, saved: null, refunds: [], reason: null };
    stage.bank.payments.set(id, made);
    return made;
  }

  async function verdictOn(ref: string | undefined): Promise<string | undefined> {
    const kept = () => stage.store.payments.notices({ limit: 50 });
    const before = new Set((await kept()).map(({ id }) => id));
    expect(await stage.notice(service, ref)).to.equal('done');
    // Another may have come in the same millisecond.
    return (await kept()).find(({ id }) => !before.has(id))?.verdict;
  }

  function names(...ids: readonly string[]): void {
    const provider = service.payments.providers()[0]?.provider as PaymentProvider;
    Object.assign(provider, { notice: () => ({ fetch: ids }) });
  }

  it('of an order of another provider are not of this one, whatever they were paid', async () => {
    const order = newOrder(stage.wallet, { provider: 'other', test: false });
    await stage.store.payments.create(order);
    expect(await verdictOn(paidFor(order.id).id)).to.equal('foreign');
    expect(await stage.payment(order.id)).to.include({ phase: 'created', ref: null });
    expect(await stage.topped()).to.equal(0n);
  });

  it('of a second payment of an order credit nothing, and the operator is told', async () => {
    const payment = await stage.credited(service);
    const second = paidFor(payment.id);
    expect(await verdictOn(second.id)).to.equal('foreign');
    expect(stage.lines).to.deep.include({ level: 'error', message: 'an order was paid twice at its provider' });
    expect([await stage.payment(payment.id), await stage.topped()]).to.deep.equal([payment, 1000n * RUB]);
  });

  it('of a payment that the provider has mislaid are sent again', async () => {
    const payment = await stage.order(service);
    stage.bank.pay(payment.id);
    stage.bank.hook = () => 404;
    const ref = stage.refOf(payment);
    expect(await stage.notice(service, ref)).to.equal('again');
    expect(await stage.notice(service, 'bp-unknown')).to.equal('done');
    stage.bank.hook = () => undefined;
    expect(await verdictOn(ref)).to.equal('done');
    expect(await stage.topped()).to.equal(1000n * RUB);
  });

  it('ask the provider about ten payments at most, each once', async () => {
    const ids = Array.from({ length: 30 }, (_, at) => `bp-${at}`);
    names('bp-0', ...ids);
    expect(await verdictOn('')).to.equal('foreign');
    expect(stage.bank.asked.get('fetch')).to.equal(9);
  });

  it('are done where one of their payments is of this service', async () => {
    const payment = await stage.order(service);
    stage.bank.pay(payment.id);
    names('bp-unknown', stage.refOf(payment) ?? '', 'bp-strange');
    expect(await verdictOn('')).to.equal('done');
    expect(await stage.topped()).to.equal(1000n * RUB);
  });
}
