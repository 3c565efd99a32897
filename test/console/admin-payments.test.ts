// Payments on operator pages: reviews, refunds and disputes, and who decided them.
import { expect } from 'chai';
import { requestRefund } from '../../lib/payments/operator.ts';
import { until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { makeCode, setUpOperator, setUpOwner } from '../../testkit/pages.ts';
import { applied } from '../contract/store/context.ts';
import { creditOf, newSucceeded } from '../contract/store/payments.ts';

const RUB = 1_000_000n;

describe('payment pages of an operator', () => {
  let test: TestGateway;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;
  let account: TestAccount;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    operator = await setUpOperator(test);
  });
  beforeEach(async () => {
    account = await test.account('0');
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
  });

  const wallet = () => test.wallet(account);
  const readPhase = async (id: string) => (await test.store.payments.get(id))?.phase;
  const change = (id: string, fields: Readonly<Record<string, string>>) =>
    operator.submit(`/admin/payments/${id}`, fields);

  /** A payment of 1000 RUB whose payer has pressed this button. */
  async function ordered(button: string): Promise<string> {
    const owner = await setUpOwner(test, account.id);
    const { headers } = await owner.submit('/account/wallet', { amount: '1000' });
    const page = String(headers.location);
    const link = /class="button" href="([^"]+)"/.exec((await owner.get(page)).text)?.[1] ?? '';
    await owner.post(new URL(link).pathname, { button });
    return page.replace(/^.*=/, '');
  }

  async function deeds(id: string): Promise<readonly (readonly unknown[])[]> {
    const rows = await test.store.auditLog.page({ limit: 50 });
    return rows
      .filter(({ target, action }) => target === id && action !== 'payment.order')
      .map(({ action, account, detail }) => [action, account, JSON.parse(detail)]);
  }

  it('list payments to decide first, and credit one once, with the amount received', async () => {
    const id = await ordered('wrong-sum');
    expect((await operator.get('/admin')).text).to.match(/phase=review">1</);
    const list = await operator.get('/admin/payments?phase=review');
    expect(list.text).to.contain(`/admin/payments/${id}`).and.to.contain(account.id);
    const page = await operator.get(`/admin/payments/${id}`);
    expect(page.text).to.contain('sum: 999.99 instead of 1,000').and.to.contain('under review');
    expect((await change(id, { change: 'credit', amount: 'much', reason: 'x' })).status).to.equal(400);
    expect((await change(id, { change: 'credit', amount: '1000', reason: '' })).status).to.equal(400);
    const split = await change(id, { change: 'credit', amount: '999.995', reason: 'x' });
    expect([split.status, split.text.includes('roubles and kopecks')], 'parts of a kopeck').to.deep.equal([400, true]);
    const verdict = { change: 'credit', amount: '1200', reason: 'the provider confirms it' };
    expect((await change(id, verdict)).headers.location).to.equal(`/admin/payments/${id}?done=done`);
    expect((await wallet()).avail).to.equal(1200n * RUB);
    const repeated = await operator.post(`/admin/payments/${id}`, { ...(await readCsrf(id)), ...verdict });
    expect(repeated.headers.location).to.equal(`/admin/payments/${id}?done=exists`);
    const other = { ...(await readCsrf(id)), ...verdict, amount: '1100' };
    expect((await operator.post(`/admin/payments/${id}`, other)).status).to.equal(400);
    expect((await wallet()).avail).to.equal(1200n * RUB);
    const detail = { rub: '1200.00', reason: 'the provider confirms it' };
    expect(await deeds(id)).to.deep.equal([
      ['payment.credit', account.id, { ...detail, status: 'exists' }],
      ['payment.credit', account.id, { ...detail, status: 'done' }],
    ]);
  });

  it('reject a payment that was not paid as ordered, for good', async () => {
    const id = await ordered('wrong-currency');
    expect((await change(id, { change: 'reject', reason: 'paid in euros' })).status).to.equal(303);
    const late = { change: 'credit', amount: '1000', reason: 'changed my mind' };
    expect((await operator.post(`/admin/payments/${id}`, { ...(await readCsrf(id)), ...late })).status).to.equal(400);
    expect([await readPhase(id), (await wallet()).avail]).to.deep.equal(['rejected', 0n]);
    expect((await deeds(id)).map(([action]) => action)).to.deep.equal(['payment.reject']);
  });

  it('count refunds that the provider has not made, on the first page too', async () => {
    const { store } = test;
    // Of a provider that is in no catalog, which makes none.
    const paid = await newSucceeded(store, account.id, { provider: 'elsewhere' });
    await applied(store, creditOf(paid));
    // Another payment that was just credited is still looked at once more.
    await until(async () => !(await operator.get('/admin')).text.includes('phase=refunding'));
    await requestRefund(store, paid.id, { at: Date.now(), amount: RUB, reason: 'wish of the owner' });
    expect((await operator.get('/admin')).text).to.contain(
      '<a href="/admin/payments?phase=refunding">Refunds that the provider has not made yet: 1</a>',
    );
    const list = (await operator.get('/admin/payments?phase=refunding')).text;
    expect(list).to.contain(`/admin/payments/${paid.id}`).and.contain('Refunds not made yet: 1');
  });

  it('are a file as well, with the filter of the page and the names of accounts', async () => {
    const paid = await newSucceeded(test.store, account.id, { provider: 'elsewhere', test: false });
    await applied(test.store, creditOf(paid));
    const page = await operator.get(`/admin/payments?account=${account.id}`);
    const link = /href="(\/admin\/payments\.csv[^"]+)" download/.exec(page.text)?.[1]?.replace('&amp;', '&') ?? '';
    const { headers, text } = await operator.get(link);
    expect(headers['content-disposition']).to.contain('payments.csv');
    const [head, row, ...rest] = text.trim().split('\r\n');
    expect(head).to.equal(
      'Created,Payment,ID at the provider,Status,Account,Account name,Provider,Method,Test,Amount,Credited,Refunded,Last change',
    );
    const [, id, ref, phase, wallet, , provider, origin, isTest, ...amounts] = row?.split(',') ?? [];
    expect([id, ref, phase, wallet]).to.deep.equal([paid.id, paid.ref, 'credited', account.id]);
    expect([provider, origin, isTest]).to.deep.equal(['elsewhere', 'manual', '']);
    expect(amounts.slice(0, 3)).to.deep.equal(['1000.00', '1000.00', '0.00']);
    expect(rest, 'of this account').to.deep.equal([]);
    expect((await operator.get(link.replace('phase=', 'phase=review'))).text.trim().split('\r\n')).to.have.length(1);
  });

  it('refund once, however often the form is sent', async () => {
    const id = await ordered('paid');
    expect((await change(id, { change: 'refund', amount: '1000.01', reason: 'too much' })).status).to.equal(400);
    const page = await operator.get(`/admin/payments/${id}`);
    const refund = /name="refund" value="(rfd_\w+)"/.exec(page.text)?.[1] ?? '';
    const sent = { ...(await readCsrf(id)), change: 'refund', amount: '300', reason: 'wish of the owner', refund };
    for (const end of ['done', 'exists']) {
      const { headers } = await operator.post(`/admin/payments/${id}`, sent);
      expect(headers.location).to.equal(`/admin/payments/${id}?done=${end}`);
    }
    await until(async () => (await readPhase(id)) === 'partly_refunded');
    expect((await wallet()).avail).to.equal(700n * RUB);
    expect((await operator.get(`/admin/payments/${id}`)).text)
      .to.contain(refund)
      .and.to.contain('refunded');
  });

  it('take money back only when a dispute is lost', async () => {
    const id = await ordered('paid');
    expect((await change(id, { change: 'dispute', dispute: '', amount: '' })).status).to.equal(400);
    expect((await change(id, { change: 'dispute', dispute: 'CB-7741', amount: '' })).status).to.equal(303);
    expect([await readPhase(id), (await wallet()).avail]).to.deep.equal(['disputed', 1000n * RUB]);
    expect((await operator.get('/admin/payments?phase=disputed')).text).to.contain(id);
    expect((await change(id, { change: 'lost' })).status).to.equal(303);
    expect([await readPhase(id), (await wallet()).avail]).to.deep.equal(['reversed', 0n]);
    const actions = (await deeds(id)).map(([action]) => action);
    expect(actions).to.deep.equal(['payment.dispute_lost', 'payment.dispute']);
  });

  it('keep the money when a dispute is won', async () => {
    const id = await ordered('paid');
    await change(id, { change: 'dispute', dispute: 'CB-7742', amount: '400' });
    expect((await change(id, { change: 'won' })).status).to.equal(303);
    expect([await readPhase(id), (await wallet()).avail]).to.deep.equal(['kept', 1000n * RUB]);
  });

  it('change nothing without a recent code', async () => {
    const id = await ordered('wrong-sum');
    const { hashToken } = await import('../../lib/users/token.ts');
    const now = Date.now();
    const session = hashToken(operator.cookies.get('session') ?? '');
    await test.store.sessions.touch(session, { seenAt: now, provenAt: now - 11 * 60_000 });
    const sent = { change: 'credit', amount: '1000', reason: 'checked' };
    expect((await operator.get(`/admin/payments/${id}`)).text).to.contain('id="credit-code"');
    expect((await change(id, sent)).status).to.equal(403);
    expect(await readPhase(id)).to.equal('review');
    expect((await change(id, { ...sent, code: makeCode(operator.secret, 1) })).status).to.equal(303);
    expect(await readPhase(id)).to.equal('credited');
  });

  it('ask the provider when an operator requests it', async () => {
    const id = await ordered('silent');
    expect((await change(id, { change: 'look' })).status).to.equal(303);
    expect(await readPhase(id)).to.equal('credited');
    expect((await test.store.auditLog.page({ limit: 1 }))[0]).to.include({ action: 'payment.look', target: id });
  });

  it('show webhooks as received, with their outcome', async () => {
    const id = await ordered('paid');
    await fetch(`${test.url}/payments/sandbox/notice`, { method: 'POST', body: '<script>{"forged":1}</script>' });
    const list = await operator.get('/admin/notices');
    const link = `<a href="/admin/payments/${id}"><code title="${id}">…${id.slice(-8)}</code></a>`;
    expect(list.text).to.contain(`${link} credited`).and.to.contain('rejected: not from this provider');
    expect((await operator.get('/admin/notices?lang=ru')).text).to.contain(`${link} зачислен`);
    await operator.get('/admin?lang=en');
    const [forged] = await test.store.payments.webhooks({ limit: 1 });
    const raw = await operator.get(`/admin/notices/${forged?.id}`);
    expect(raw.text).to.contain('&lt;script&gt;{&quot;forged&quot;:1}').and.not.to.contain('<script>{');
    expect(raw.text).to.contain('only its beginning is kept').and.not.to.contain('content-length');
    const [real] = await test.store.payments.webhooks({ limit: 1, isDiscarded: false });
    expect((await operator.get(`/admin/notices/${real?.id}`)).text)
      .to.contain('Headers')
      .and.to.contain('Process again');
    expect((await operator.get('/admin/notices?before=ntc_0')).text).to.contain('No webhooks yet.');
  });

  it('are for operators only, and answer 404 for unknown ids', async () => {
    const id = await ordered('paid');
    const owner = await setUpOwner(test, account.id, 'curious@example.com');
    for (const path of ['/admin/payments', `/admin/payments/${id}`, '/admin/notices']) {
      expect((await owner.get(path)).status, path).to.equal(404);
    }
    for (const path of ['/admin/payments/pay_none', '/admin/notices/ntc_none']) {
      expect((await operator.get(path)).status, path).to.equal(404);
    }
    const filtered = await operator.get(`/admin/payments?account=${account.id}&phase=credited`);
    expect(filtered.text).to.contain(id);
    for (const query of ['phase=review&account=none', 'phase=__proto__&account=none', 'before=1-pay_0']) {
      expect((await operator.get(`/admin/payments?${query}`)).text, query).to.contain('No payments match.');
    }
  });

  it('list older payments on further pages', async () => {
    const order = (n: number) => ({
      id: `pay_page${String(n).padStart(3, '0')}`,
      wallet: account.id,
      provider: 'gone',
      amount: RUB,
      shop: 's',
      test: true,
      origin: 'manual' as const,
      facts: '{}',
      createdAt: n + 1,
      owner: 'o',
      lease: 9e12,
    });
    for (let n = 0; n < 51; n += 1) await test.store.payments.create(order(n));
    const first = await operator.get(`/admin/payments?account=${account.id}`);
    const next = /href="(\/admin\/payments\?[^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await operator.get(next);
    expect([first.text, second.text].map((text) => text.includes('pay_page000'))).to.deep.equal([false, true]);
    expect(second.text).not.to.contain('pay_page001"');
  });

  async function readCsrf(id: string): Promise<Readonly<Record<string, string>>> {
    const { text } = await operator.get(`/admin/payments/${id}`);
    return { csrf: /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '' };
  }
});
