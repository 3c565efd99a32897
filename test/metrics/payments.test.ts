// What is counted of payments, through a service whose bank declines, breaks and lies.
import { expect } from 'chai';
import { buildCatalog } from '../../lib/catalog/catalog.ts';
import { readCatalogFiles } from '../../lib/catalog/files.ts';
import { createMetrics } from '../../lib/metrics/metrics.ts';
import { requestRefund } from '../../lib/payments/operator.ts';
import { parseExposition } from '../../testkit/exposition.ts';
import { SQLITE } from '../../testkit/stores.ts';
import { RUB } from '../contract/store/context.ts';
import { useStage } from '../payments/service-stage.ts';

describe('metrics of payments', () => {
  const use = useStage(SQLITE);
  const { stage } = use;
  const none = buildCatalog(readCatalogFiles([], []), new Map());

  it('count orders, credits, webhooks by outcome, failures by kind, and payments in review', async () => {
    const metrics = createMetrics({ catalog: () => none, providers: () => new Map([['till', {}]]), routes: () => [] });
    metrics.watchReviews(stage.store.payments);
    const scraped = async () => parseExposition(await metrics.scrape());
    const sums = async () => {
      const found = await scraped();
      const labels = { provider: 'till' };
      return [
        found.sum('tollgate_payment_orders_total', { ...labels, origin: 'manual' }),
        found.sum('tollgate_payment_credits_total', labels),
        ...['done', 'again', 'rejected'].map((outcome) =>
          found.sum('tollgate_payment_notices_total', { ...labels, outcome }),
        ),
        found.sum('tollgate_payment_failures_total', { ...labels, kind: 'server' }),
        found.sum('tollgate_payments_in_review'),
      ];
    };
    expect(await sums()).to.deep.equal([0, 0, 0, 0, 0, 0, 0]);
    const service = stage.service('own_counted', stage.store, metrics.payments);
    const payment = await stage.order(service);
    stage.bank.pay(payment.id);
    await stage.sendWebhook(service, stage.refOf(payment));
    await stage.sendWebhook(service, stage.refOf(payment));
    await stage.sendWebhook(service, undefined);
    expect(await sums()).to.deep.equal([1, 1, 2, 0, 1, 0, 0]);
    // A refund that is refused leaves it credited, once.
    stage.bank.hook = (asked) => (asked === 'refund' ? 400 : undefined);
    await requestRefund(stage.store, payment.id, { at: stage.now(), amount: 5n * RUB, reason: 'wish' });
    await service.payments.poll(payment.id);
    stage.bank.hook = (asked) => {
      if (asked === 'fetch') throw new Error('down');
      return undefined;
    };
    const other = await stage.order(service);
    await stage.sendWebhook(service, stage.refOf(other));
    await service.payments.poll(other.id);
    stage.bank.hook = () => undefined;
    stage.bank.pay(other.id, { currency: 'USD' });
    await service.payments.poll(other.id);
    expect(await sums()).to.deep.equal([2, 1, 2, 1, 1, 1, 1]);
  });

  it('count orders by origin', async () => {
    const metrics = createMetrics({ catalog: () => none, routes: () => [] });
    for (const origin of ['manual', 'auto', 'auto'] as const) metrics.payments.onOrder('till', origin);
    const { sum } = parseExposition(await metrics.scrape());
    const orders = ['manual', 'auto'].map((origin) => sum('tollgate_payment_orders_total', { origin }));
    expect(orders).to.deep.equal([1, 2]);
  });

  it('show no number of reviews while the store does not answer', async () => {
    const metrics = createMetrics({ catalog: () => none, routes: () => [] });
    metrics.watchReviews({ list: async () => Promise.reject(new Error('down')) });
    const { samples } = parseExposition(await metrics.scrape());
    expect(samples.filter(({ name }) => name === 'tollgate_payments_in_review')).to.deep.equal([]);
  });
});
