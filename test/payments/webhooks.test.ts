// Webhooks: which payments they name, what they cannot make the service do, and what an operator sees of them.
import { expect } from 'chai';
import { NEVER_STARTED, PAID_LATE } from '../../lib/money/payment.ts';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { isSender } from '../../lib/payments/webhooks.ts';
import { StoreError } from '../../lib/store/store.ts';
import type { PaymentProvider } from '../../lib/upstream/contract/payment.ts';
import type { BankPayment } from '../../testkit/bank.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { RUB, type StoreKind } from '../contract/store/context.ts';
import { newOrder } from '../contract/store/payments.ts';
import { type Service, useStage } from './service-stage.ts';

for (const kind of longer([SQLITE], STORES)) describe(`webhooks on ${kind.name}`, () => suite(kind));

describe('the sender of a webhook', () => {
  for (const [what, check, is] of [
    ['says so', () => true, true],
    ['does not', () => false, false],
    ['fails', () => expect.fail('no address'), false],
    ['cannot tell', undefined, false],
  ] as const) {
    it(`is ${is ? '' : 'not '}known where the plugin ${what}`, () => {
      expect(isSender({ isSender: check } as PaymentProvider, '192.0.2.1')).to.equal(is);
    });
  }
});

function suite(kind: StoreKind): void {
  const use = useStage(kind);
  const { stage } = use;
  let service: Service;
  beforeEach(() => {
    service = use.service();
  });

  /** A payment at the bank that this service did not start. */
  function paidFor(order: string): BankPayment {
    const id = `bp-of-${order}`;
    const paid = { status: 'succeeded', amount: String(1000n * RUB), currency: 'RUB', shop: 'shop-1' } as const;
    const made = { id, ...paid, test: false, order, saved: null, refunds: [], reason: null };
    stage.bank.payments.set(id, made);
    return made;
  }

  async function verdictOn(ref: string | undefined): Promise<string | undefined> {
    const kept = () => stage.store.payments.webhooks({ limit: 50 });
    const before = new Set((await kept()).map(({ id }) => id));
    expect(await stage.sendWebhook(service, ref)).to.equal('done');
    // Another one may arrive in the same millisecond.
    return (await kept()).find(({ id }) => !before.has(id))?.verdict;
  }

  const given: string[] = [];

  /** An order whose start may have been lost on its way back. */
  async function untold(more: Partial<Payment> = {}): Promise<void> {
    const order = newOrder(stage.wallet, { test: false });
    await stage.store.payments.create(order);
    const made = (await stage.store.payments.get(order.id)) as Payment;
    await stage.store.payments.put('payments', [{ ...made, ...more }]);
    given.push(order.id);
  }

  afterEach(async () => {
    const rows = await Promise.all(given.splice(0).map((id) => stage.payment(id)));
    const known = rows.map((row) => ({ ...row, ref: row.ref ?? `bp-of-${row.id}` }));
    await stage.store.payments.put('payments', known);
  });

  const fetches = () => stage.bank.asked.get('fetch') ?? 0;
  const kept = () => stage.store.payments.webhooks({ limit: 5000 });
  async function verdicts() {
    const all = await kept();
    return (wanted: string) => all.find(({ verdict }) => verdict === wanted);
  }

  function names(...ids: readonly string[]): void {
    const provider = service.payments.providers()[0]?.provider as PaymentProvider;
    Object.assign(provider, { notice: () => ({ fetch: ids }) });
  }

  it('for an order of another provider are treated as foreign, whatever amount was paid', async () => {
    const order = newOrder(stage.wallet, { provider: 'other', test: false });
    await stage.store.payments.create(order);
    await untold();
    expect(await verdictOn(paidFor(order.id).id)).to.equal('foreign');
    expect(await stage.payment(order.id)).to.include({ phase: 'created', ref: null });
    expect(await stage.topped()).to.equal(0n);
  });

  it('for a second payment of an order credit nothing and are logged as an error', async () => {
    const payment = await stage.credited(service);
    const second = paidFor(payment.id);
    expect(await verdictOn(second.id), 'no payment of ours has its id').to.equal('foreign');
    expect(stage.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
    await untold();
    expect(await verdictOn(second.id)).to.equal('foreign');
    expect(stage.lines).to.deep.include({ level: 'error', message: 'an order was paid twice at its provider' });
    expect([await stage.payment(payment.id), await stage.topped()]).to.deep.equal([payment, 1000n * RUB]);
  });

  it('are answered with "again" if the provider does not find a payment that it started', async () => {
    const payment = await stage.order(service);
    stage.bank.pay(payment.id);
    stage.bank.hook = () => 404;
    const ref = stage.refOf(payment);
    expect(await stage.sendWebhook(service, ref)).to.equal('again');
    expect(await stage.sendWebhook(service, 'bp-unknown')).to.equal('done');
    await untold();
    expect(await stage.sendWebhook(service, 'bp-unknown')).to.equal('done');
    stage.bank.hook = () => undefined;
    expect(await verdictOn(ref)).to.equal('done');
    expect(await stage.topped()).to.equal(1000n * RUB);
  });

  it('fetch at most ten payments, each once', async () => {
    const ids = Array.from({ length: 30 }, (_, at) => `bp-${at}`);
    names('bp-0', ...ids);
    await untold();
    expect(await verdictOn('')).to.equal('foreign');
    expect(stage.bank.asked.get('fetch')).to.equal(9);
  });

  it('for unknown payments are fetched only while an order has no provider id', async () => {
    const failed = { phase: 'failed', owner: null, lease: null, dueAt: null } as const;
    for (const [more, asks] of [
      [{ ...failed, reason: 'refused' }, false],
      [{ ...failed, reason: NEVER_STARTED, createdAt: Date.now() - 4 * 86_400_000 }, false],
      [{ provider: 'other' }, false],
      [{ ...failed, reason: NEVER_STARTED }, true],
    ] as const) {
      await untold(more);
      const before = fetches();
      expect(await verdictOn('bp-strange')).to.equal('foreign');
      expect(fetches() > before, JSON.stringify(more)).to.equal(asks);
    }
  });

  it('credit an order whose start response was lost', async () => {
    stage.bank.hook = (asked, when) => {
      if (asked === 'start' && when === 'after') throw new Error('the answer is lost');
      return undefined;
    };
    const order = await stage.order(service);
    expect(order).to.include({ phase: 'created', ref: null });
    const { id } = stage.bank.pay(order.id);
    expect(await verdictOn(id)).to.equal('done');
    expect(await stage.topped()).to.equal(1000n * RUB);
    expect(stage.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  for (const nth of [1, 2]) {
    it(`credit an order that gets its provider id at the same moment (after look-up ${nth})`, async () => {
      stage.bank.hook = (asked, when) => {
        if (asked === 'start' && when === 'after') throw new Error('the answer is lost');
        return undefined;
      };
      const order = await stage.order(service);
      const { id: ref } = stage.bank.pay(order.id);
      const { payments } = stage.store;
      const { find } = payments;
      let count = 0;
      const begin = async () => {
        count += 1;
        const begun = { kind: 'begin', ref, payUrl: null, expiresAt: Date.now(), dueAt: Date.now() } as const;
        if (count === nth) await payments.change({ id: order.id, version: order.version, at: Date.now(), ...begun });
      };
      Object.assign(payments, { find: (...asked: Parameters<typeof find>) => find(...asked).finally(begin) });
      const end = await stage.sendWebhook(service, ref).finally(() => Object.assign(payments, { find }));
      expect([end, await stage.topped()]).to.deep.equal(['done', 1000n * RUB]);
      expect(stage.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
    });
  }

  it('are handled even if the plugin fails to check the sender', async () => {
    const provider = service.payments.providers()[0]?.provider as PaymentProvider;
    const broken = () => {
      throw new Error('a bug');
    };
    Object.assign(provider, { isSender: broken });
    await untold();
    expect(await verdictOn('bp-strange')).to.equal('foreign');
  });

  it('that arrive late for an abandoned order put it under review', async () => {
    await untold({ phase: 'failed', reason: NEVER_STARTED, owner: null, lease: null, dueAt: null });
    const [lost] = await stage.store.payments.list({ wallet: stage.wallet, limit: 1 });
    expect(await verdictOn(paidFor(lost?.id ?? '').id)).to.equal('done');
    expect(await stage.payment(lost?.id ?? '')).to.include({ phase: 'review', reason: PAID_LATE });
  });

  it('are answered with "again" if the store cannot be read', async () => {
    const { payments } = stage.store;
    for (const name of ['find', 'hasUnknownRefs'] as const) {
      const real = payments[name];
      Object.assign(payments, { [name]: () => Promise.reject(new StoreError('unavailable', 'no')) });
      const end = await stage.sendWebhook(service, 'bp-strange').catch((error) => error.name);
      Object.assign(payments, { [name]: real });
      expect([end, await kept()]).to.deep.equal(['StoreError', []]);
    }
  });

  it('are answered only once they are stored', async () => {
    const { payments } = stage.store;
    const payment = await stage.order(service);
    const before = fetches();
    const { addWebhook } = payments;
    Object.assign(payments, { addWebhook: () => Promise.reject(new StoreError('unavailable', 'no')) });
    const ends: unknown[] = [];
    for (const body of ['no notice', '{"id":"bp-strange"}', JSON.stringify({ id: stage.refOf(payment) })]) {
      const sent = service.payments.handleWebhook('till', { address: '192.0.2.7', headers: {}, body });
      ends.push(await sent.catch((error) => error.name));
    }
    Object.assign(payments, { addWebhook });
    expect(ends).to.deep.equal(['StoreError', 'StoreError', 'StoreError']);
    expect([fetches() - before, await kept()]).to.deep.equal([0, []]);
  });

  it('that fail show the operator whether the provider or the store did', async () => {
    const { payments } = stage.store;
    const payment = await stage.order(service);
    const ref = stage.refOf(payment);
    stage.bank.hook = () => 404;
    expect(await stage.sendWebhook(service, ref)).to.equal('again');
    expect((await verdicts())('failed')).to.include({ detail: 'missing' });
    stage.bank.hook = () => undefined;
    stage.bank.pay(payment.id);
    const { change } = payments;
    Object.assign(payments, { change: () => Promise.reject(new StoreError('unavailable', 'no')) });
    const end = await stage.sendWebhook(service, ref).finally(() => Object.assign(payments, { change }));
    expect(end).to.equal('again');
    expect((await kept()).map(({ detail }) => detail)).to.have.members(['missing', 'the store did not answer']);
  });

  it('for foreign payments are stored as at most 300 bytes, without secrets', async () => {
    const body = JSON.stringify({ id: 'bp-strange', token: 'secret-words', text: 'я'.repeat(4000) });
    const headers = { cookie: 'x'.repeat(9000) };
    const from = { address: '192.0.2.7', headers };
    expect(await service.payments.handleWebhook('till', { ...from, body })).to.equal('done');
    expect(await service.payments.handleWebhook('till', { ...from, body: 'я'.repeat(4000) })).to.equal('rejected');
    const [rejected, foreign] = ['rejected', 'foreign'].map(await verdicts());
    expect(rejected).to.include({ verdict: 'rejected', address: '192.0.2.7', headers: '', body: 'я'.repeat(150) });
    expect(foreign).to.include({ verdict: 'foreign', headers: '', detail: 'not of this service' });
    expect(foreign?.body).to.contain('bp-strange').and.not.to.contain('secret-words');
    expect(Buffer.byteLength(foreign?.body ?? '')).to.be.within(298, 300);
    const payment = await stage.order(service);
    await service.payments.handleWebhook('till', { ...from, body: JSON.stringify({ id: stage.refOf(payment) }) });
    expect((await verdicts())('done')).to.include({ address: '192.0.2.7', headers: '{}' });
    for (const length of [8192, 8193]) {
      const long = { x: 'y'.repeat(length - '{"x":""}'.length) };
      const named = { address: '192.0.2.7', headers: long, body: JSON.stringify({ id: stage.refOf(payment) }) };
      await service.payments.handleWebhook('till', named);
    }
    const done = (await kept()).filter(({ verdict }) => verdict === 'done');
    expect(done.map(({ headers: text }) => text.length).toSorted((one, other) => one - other)).to.deep.equal([
      2, 2, 8192,
    ]);
  });

  it('are limited to twenty a minute per payment, with separate counts for unknown payments and for the provider’s addresses', async () => {
    const one = await stage.order(service);
    const other = await stage.order(service);
    await untold();
    const provider = service.payments.providers()[0]?.provider as PaymentProvider;
    Object.assign(provider, { isSender: (address: string) => address === '192.0.2.1' });
    const send = (id: string | undefined, address = '192.0.2.2') =>
      service.payments.handleWebhook('till', { headers: {}, body: JSON.stringify({ id }), address });
    const sent = async (times: number, id: string | undefined, address?: string) => {
      const ends: unknown[] = [];
      for (let at = 0; at < times; at += 1) ends.push(await send(id, address));
      return [...new Set(ends)].map((end) => [end, ends.filter((one) => one === end).length]);
    };
    expect(await sent(30, stage.refOf(one))).to.deep.equal([
      ['done', 20],
      ['again', 10],
    ]);
    expect(await sent(1, stage.refOf(other))).to.deep.equal([['done', 1]]);
    expect(await sent(30, 'bp-strange')).to.deep.equal([
      ['done', 20],
      ['again', 10],
    ]);
    expect(await sent(1, 'bp-strange', '192.0.2.1')).to.deep.equal([['done', 1]]);
    expect([fetches(), (await kept()).length]).to.deep.equal([42, 42]);
    stage.aheadMs = 60_000;
    expect(await sent(1, stage.refOf(one))).to.deep.equal([['done', 1]]);
  });

  it('are done if at least one of their payments belongs to this service', async () => {
    const payment = await stage.order(service);
    stage.bank.pay(payment.id);
    names('bp-unknown', stage.refOf(payment) ?? '', 'bp-strange');
    expect(await verdictOn('')).to.equal('done');
    expect(await stage.topped()).to.equal(1000n * RUB);
  });
}
