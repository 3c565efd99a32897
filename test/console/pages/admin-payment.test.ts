// A payment on operator pages: lost disputes by the rule of the provider, and what forms and filters accept.
import { expect } from 'chai';
import type { Payment } from '../../../lib/money/payment.ts';
import { type Bank, startBank, TILLS } from '../../../testkit/bank.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../../testkit/gateway.ts';
import { setUpOperator } from '../../../testkit/pages.ts';
import { applied, RUB } from '../../contract/store/context.ts';
import { changed, creditOf, newOrder, newSucceeded } from '../../contract/store/payments.ts';

describe('the page of a payment', () => {
  let bank: Bank;
  let test: TestGateway;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;
  let account: TestAccount;

  before(async () => {
    bank = await startBank();
    const till = { plugin: 'till', settings: { baseUrl: bank.url } };
    const payments = { keeper: { ...till, shortfall: 'keep' }, strict: { ...till, shortfall: 'suspend' } };
    test = await startGateway({ catalog: { upstreams: {}, models: [], payments }, env: { PAYMENTS_PATH: TILLS } });
    operator = await setUpOperator(test);
  });
  beforeEach(async () => {
    account = await test.account('0');
  });
  after(async () => {
    await test.stop();
    await bank.close();
  });

  const submit = ({ id }: Pick<Payment, 'id'>, fields: Readonly<Record<string, string>>) =>
    operator.submit(`/admin/payments/${id}`, fields);
  const found = async ({ id }: Pick<Payment, 'id'>) => (await test.store.payments.get(id)) as Payment;

  /** A credited payment of 1000 RUB real money, with this much of it spent. */
  async function credited(provider: string, spent = 0n): Promise<Payment> {
    const payment = await newSucceeded(test.store, account.id, { provider, test: false });
    await applied(test.store, creditOf(payment));
    const shared = { wallet: account.id, key: account.keyId, at: Date.now(), amount: spent } as const;
    const call = { kind: 'charge', chargeKind: 'image', model: 'm', prices: '{}', chargeId: payment.id } as const;
    if (spent > 0n) await applied(test.store, { ...shared, ...call });
    return found(payment);
  }

  for (const [provider, how, status] of [
    ['keeper', 'lost', 'active'],
    ['strict', 'lost', 'suspended'],
    ['gone', 'lost', 'suspended'],
    ['strict', 'won', 'active'],
  ] as const) {
    it(`leaves an account ${status} that has spent what a dispute was ${how} for, at ${provider}`, async () => {
      const payment = await credited(provider, 900n * RUB);
      expect((await submit(payment, { change: 'dispute', dispute: `CB-${payment.id}`, amount: '' })).status).to.equal(
        303,
      );
      expect((await submit(payment, { change: how })).status).to.equal(303);
      const { phase, shortfall } = await found(payment);
      expect([phase, shortfall]).to.deep.equal(how === 'won' ? ['kept', 0n] : ['reversed', 900n * RUB]);
      expect((await test.store.accounts.get(account.id))?.status).to.equal(status);
    });
  }

  it('accepts a partial amount for a dispute', async () => {
    const payment = await credited('strict');
    for (const amount of ['x', '0', '1000.01']) {
      const { status } = await submit(payment, { change: 'dispute', dispute: 'CB-2', amount });
      expect(status, amount).to.equal(400);
    }
    expect((await submit(payment, { change: 'dispute', dispute: 'CB-2', amount: '400' })).status).to.equal(303);
    expect((await submit(payment, { change: 'lost' })).status).to.equal(303);
    expect((await test.wallet(account)).avail).to.equal(600n * RUB);
    expect((await test.store.accounts.get(account.id))?.status).to.equal('active');
  });

  it("refuses the number of another payment's dispute", async () => {
    const first = await credited('strict');
    const second = await credited('strict');
    const dispute = { change: 'dispute', dispute: 'CB-3', amount: '' };
    expect((await submit(first, dispute)).status).to.equal(303);
    const { status, text } = await submit(second, dispute);
    expect([status, text.includes('Another payment already has a dispute with this number')]).to.deep.equal([
      400,
      true,
    ]);
    expect((await found(second)).phase).to.equal('credited');
  });

  it('creates a refund id if the form has no valid one', async () => {
    const payment = await credited('keeper');
    const { text } = await operator.get(`/admin/payments/${payment.id}`);
    const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(text) ?? [];
    for (const refund of ['', 'refund-1', 'rfd_', `rfd_${'0'.repeat(61)}`]) {
      const sent = { csrf, change: 'refund', amount: '5', reason: 'a wish', refund };
      expect((await operator.post(`/admin/payments/${payment.id}`, sent)).status, refund).to.equal(303);
    }
    const ids = (JSON.parse((await found(payment)).refunds) as { readonly id: string }[]).map(({ id }) => id);
    expect(new Set(ids).size).to.equal(4);
    for (const id of ids) expect(id).to.match(/^rfd_[0-9a-f]{36}$/);
  });

  it('credits no play money where models cost real money, and says why', async () => {
    await test.store.settings.set('costly-upstream', 'up');
    const payment = await newSucceeded(test.store, account.id, { provider: 'strict' });
    await changed(test.store, payment, { kind: 'review', reason: 'test' });
    const { status, text } = await submit(payment, { change: 'credit', amount: '1000', reason: 'checked' });
    expect([status, text.includes('a test payment without real money')]).to.deep.equal([400, true]);
    expect((await test.wallet(account)).avail).to.equal(0n);
  });

  it('is found by phase and account, page by page', async () => {
    const at = Date.now() + 100_000;
    const rows = Array.from({ length: 52 }, (_, n) => ({ provider: 'gone', createdAt: at + n, lease: at * 2 }));
    for (const row of rows) await test.store.payments.create(newOrder(account.id, row));
    const paid = await credited('keeper');
    const listed = async (path: string) => {
      const { text } = await operator.get(path);
      const ids = [...text.matchAll(/href="\/admin\/payments\/(pay_\w+)"/g)].map(([, id]) => id);
      const next = /href="(\/admin\/payments\?[^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
      return { ids, next };
    };
    const of = `account=${account.id}`;
    const open = await listed(`/admin/payments?phase=open&${of}`);
    expect([open.ids.length, open.ids.includes(paid.id)]).to.deep.equal([50, false]);
    expect(open.next).to.contain('phase=open').and.to.contain(of);
    const rest = await listed(open.next ?? '');
    expect([rest.ids.length, rest.next]).to.deep.equal([2, undefined]);
    expect(new Set([...open.ids, ...rest.ids]).size).to.equal(52);
    expect(await listed(`/admin/payments?phase=credited&${of}`)).to.deep.equal({ ids: [paid.id], next: undefined });
    expect((await listed('/admin/payments?phase=open&account=acc_none')).ids).to.deep.equal([]);
  });
});
