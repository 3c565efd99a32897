// Papers for companies on pages: an operator enters the seller, an owner the company and orders invoices.
import { expect } from 'chai';
import { formatDay } from '../../lib/money/days.ts';
import { readBuyer, readSeller, saveSeller } from '../../lib/payments/papers/details.ts';
import { setUpMember, unescapeHtml, type Visitor } from '../../testkit/pages.ts';
import { BUYER, BUYER_FORM, SELLER, SELLER_FORM } from '../../testkit/papers.ts';
import { applied, newId, RUB, reserve, settle, topup } from '../contract/store/context.ts';
import { openPages, type Pages } from './stage.ts';

const PAPERS = '/account/papers';

describe('the pages of papers for companies', () => {
  let pages: Pages;
  let operator: Visitor;

  before(async () => {
    pages = await openPages();
    operator = await pages.operator();
  });
  after(() => pages.close());

  const lastDeed = async () => (await pages.faults.real.auditLog.page({ limit: 1 }))[0];
  const read = async (visitor: Visitor, path: string) => unescapeHtml((await visitor.get(path)).text);
  const invoicesOf = async (account: string) => pages.faults.real.papers.list({ kind: 'invoice', account, limit: 100 });

  it('are off until an operator has entered the seller, whose numbers are checked', async () => {
    const owner = await pages.owner();
    expect(await read(owner, PAPERS)).to.contain('issues no invoices');
    expect(await read(owner, '/account/wallet')).to.not.contain(PAPERS);
    const { csrf = '' } = {
      csrf: /name="csrf" value="([^"]+)"/.exec((await owner.get('/account/settings')).text)?.[1],
    };
    expect((await owner.post(PAPERS, { ...BUYER_FORM, change: 'details', csrf })).status).to.equal(404);
    const wrongs: readonly Record<string, string>[] = [
      { inn: '7736050004' },
      { kpp: '' },
      { ogrn: '304500116000157' },
      { bik: '1' },
      { account: '40702810838000000001' },
      { correspondent: '30101810400000000226' },
      { signer: '' },
      { vat: '20' },
      { days: '61' },
    ];
    for (const wrong of wrongs) {
      const reply = await operator.submit('/admin/papers', { ...SELLER_FORM, ...wrong });
      expect([wrong, reply.status]).to.deep.equal([wrong, 400]);
      if (!('vat' in wrong)) expect(reply.text).to.contain('aria-invalid');
    }
    const spaced = { ...SELLER_FORM, account: '4070 2810 9380 0000 0001' };
    expect((await operator.submit('/admin/papers', spaced)).status).to.equal(303);
    expect(await lastDeed()).to.include({ action: 'papers.seller', target: SELLER_FORM.inn });
    expect(await read(operator, '/admin/papers?lang=ru')).to.contain('40702810938000000001');
    await operator.get('/admin/papers?lang=en');
    expect(await read(owner, '/account/wallet')).to.contain(PAPERS);
  });

  it('change only the details that were changed in a form, which others may have opened before', async () => {
    const { real } = pages.faults;
    const owner = await pages.owner();
    await saveSeller(real, SELLER);
    await owner.submit(PAPERS, { ...BUYER_FORM, change: 'details' });
    const forms = [
      { visitor: operator, path: '/admin/papers', filled: SELLER_FORM },
      { visitor: owner, path: PAPERS, filled: { ...BUYER_FORM, change: 'details' } },
    ];
    const readHidden = (page: string) => {
      const found = page.matchAll(/<input type="hidden" name="(csrf|shown)" value="([^"]*)"/g);
      return Object.fromEntries([...found].map(([, name, value = '']) => [name, unescapeHtml(value)]));
    };
    for (const { visitor, path, filled } of forms) {
      const mine = { ...filled, ...readHidden((await visitor.get(path)).text) };
      expect((await visitor.post(path, { ...mine, name: 'ООО «Новое»' })).status).to.equal(303);
      const refused = await visitor.post(path, { ...mine, address: '' });
      expect(refused.status).to.equal(400);
      const again = { ...mine, ...readHidden(refused.text), address: 'г. Тула, ул. Мира, д. 1' };
      expect((await visitor.post(path, again)).status).to.equal(303);
    }
    const changed = { name: 'ООО «Новое»', address: 'г. Тула, ул. Мира, д. 1' };
    expect(await readSeller(real)).to.deep.equal({ ...SELLER, ...changed });
    expect(await readBuyer(real, owner.account)).to.deep.equal({ ...BUYER, ...changed });
    await saveSeller(real, SELLER);
  });

  it('mark the wallet in the menu, like statements; connecting marks the keys', async () => {
    const owner = await pages.owner();
    const marked = /<a href="([^"]+)" aria-current="page">/g;
    for (const path of [PAPERS, '/account/statement', '/account/wallet'])
      expect([path, ...[...(await owner.get(path)).text.matchAll(marked)].map(([, at]) => at)]).to.deep.equal([
        path,
        '/account/wallet',
      ]);
    const connect = [...(await owner.get('/account/connect')).text.matchAll(marked)].map(([, at]) => at);
    expect(connect).to.deep.equal(['/account/keys']);
  });

  it('take the details of a company, then an order, of which sending twice makes one invoice', async () => {
    const owner = await pages.owner();
    expect(await read(owner, PAPERS)).to.contain('Enter the details of your company first');
    const wrongs: readonly Record<string, string>[] = [{ inn: '7707083894' }, { kpp: '77' }, { name: '' }];
    for (const wrong of [...wrongs, { address: 'x'.repeat(201) }])
      expect((await owner.submit(PAPERS, { ...BUYER_FORM, change: 'details', ...wrong })).status).to.equal(400);
    expect((await owner.submit(PAPERS, { ...BUYER_FORM, change: 'details' })).status).to.equal(303);
    expect(await lastDeed()).to.include({ action: 'papers.buyer', account: owner.account });
    for (const amount of ['', '0', '0.99', '1000.001', '100000001', 'many'])
      expect((await owner.submit(PAPERS, { change: 'invoice', amount })).status, amount).to.equal(400);
    const order = { change: 'invoice', amount: '10 000,50', invoice: 'inv_0123456789abcdef01234567' };
    const replies = [await owner.submit(PAPERS, order), await owner.submit(PAPERS, order)];
    const path = `${PAPERS}/invoices/${order.invoice}`;
    for (const { status, headers } of replies) expect([status, headers.location]).to.deep.equal([303, path]);
    expect(await invoicesOf(owner.account)).to.have.length(1);
    expect(await lastDeed()).to.include({ action: 'invoice.issue', target: order.invoice });
    const seen = await read(owner, path);
    expect(seen).to.match(/Счёт на оплату № \d+ от \d+ \S+ \d{4}/);
    expect(seen).to.contain('Десять тысяч рублей 50 копеек').and.to.contain('10\u00a0000,50');
    expect(seen).to.contain('В том числе НДС 22\u00a0%').and.to.contain('1\u00a0803,37');
    expect(seen).to.match(/Оплата по счёту № \d+ от [\d.]+, пополнение баланса, в том числе НДС 22% 1803,37 руб\./);
    expect(seen).to.contain(BUYER_FORM.name).and.to.contain(SELLER_FORM.contract).and.to.contain('data:image/svg+xml');
    // Of another account it is unknown, and its id makes no second one.
    const other = await pages.owner();
    expect((await other.get(path)).status).to.equal(404);
    await other.submit(PAPERS, { ...BUYER_FORM, change: 'details' });
    expect((await other.submit(PAPERS, order)).status).to.equal(400);
    expect(await invoicesOf(other.account)).to.deep.equal([]);
    expect(await read(operator, `/admin/accounts/${owner.account}/papers`)).to.contain(order.invoice);
    expect(await read(operator, '/admin/papers')).to.contain(order.invoice);
    expect(await read(operator, `/admin/papers/invoices/${order.invoice}`)).to.contain('Счёт на оплату');
  });

  it('keep the details that an invoice was issued with, let it be canceled once, and allow small sums after a payment', async () => {
    const owner = await pages.owner();
    await owner.submit(PAPERS, { ...BUYER_FORM, change: 'details' });
    await applied(pages.faults.real, topup(owner.account, 1000n * RUB));
    const ordered = await owner.submit(PAPERS, { change: 'invoice', amount: '1' });
    const path = String(ordered.headers.location);
    await owner.submit(PAPERS, { ...BUYER_FORM, change: 'details', name: 'АО «Василёк»' });
    expect(await read(owner, path))
      .to.contain(BUYER_FORM.name)
      .and.to.not.contain('Василёк');
    const replies = [await owner.submit(path, {}), await owner.post(path, await hidden(owner))];
    expect(replies.map(({ status }) => status)).to.deep.equal([303, 409]);
    expect(await lastDeed()).to.include({ action: 'invoice.cancel', account: owner.account });
    expect(await read(owner, PAPERS)).to.contain('canceled');
    for (let count = 0; count < 20; count += 1)
      expect((await owner.submit(PAPERS, { change: 'invoice', amount: '2' })).status).to.equal(303);
    const more = await owner.submit(PAPERS, { change: 'invoice', amount: '2' });
    expect([more.status, more.text.includes('Too many unpaid invoices')]).to.deep.equal([400, true]);
    const all = await invoicesOf(owner.account);
    expect(new Set(all.map(({ number }) => number)).size).to.equal(21);
  });

  it('are ordered only with the details of the company, and canceled by an operator too', async () => {
    const owner = await pages.owner();
    await saveSeller(pages.faults.real, SELLER);
    for (const change of ['invoice', 'act']) {
      const { status, text } = await owner.post(PAPERS, {
        ...(await hidden(owner)),
        change,
        amount: '1000',
        month: '2026-01',
      });
      expect([status, text.includes('Enter the details of your company first')], change).to.deep.equal([400, true]);
    }
    await owner.submit(PAPERS, { ...BUYER_FORM, change: 'details' });
    const ordered = await owner.submit(PAPERS, { change: 'invoice', amount: '1000' });
    const path = String(ordered.headers.location).replace('/account/', '/admin/');
    const canceled = await operator.submit(path, {});
    expect([canceled.status, canceled.headers.location]).to.deep.equal([303, `${path}?done=canceled`]);
    expect(await lastDeed()).to.include({ action: 'invoice.cancel', account: owner.account });
    expect(await read(operator, `${path}?done=canceled&lang=en`)).to.contain('The invoice is canceled.');
  });

  it('issue 40 invoices an hour at most, of which canceled ones took numbers too', async () => {
    const owner = await pages.owner();
    await owner.submit(PAPERS, { ...BUYER_FORM, change: 'details' });
    await applied(pages.faults.real, topup(owner.account, 1000n * RUB));
    let last = { status: 0, text: '' };
    // Two hours' worth, as the hour may change meanwhile.
    for (let count = 0; count < 81 && last.status !== 429; count += 1) {
      const refused = await owner.submit(PAPERS, { change: 'invoice', amount: '0.99' });
      expect(refused.status).to.be.oneOf([400, 429]);
      const reply = await owner.submit(PAPERS, { change: 'invoice', amount: '1' });
      if (reply.status === 303) await owner.submit(String(reply.headers.location), {});
      last = reply;
    }
    expect([last.status, last.text.includes('within an hour')]).to.deep.equal([429, true]);
    expect((await invoicesOf(owner.account)).length).to.be.within(40, 80);
  });

  it('issue the act of a month that is over, once, and show it to owners and operators', async () => {
    const owner = await pages.owner();
    const store = pages.faults.real;
    const now = new Date();
    const last = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 15, 12));
    const [month, at] = [last.toISOString().slice(0, 7), last.getTime()];
    const chargeId = newId('req');
    const start = { chargeId, amount: 77n * RUB, at, lease: at + 60_000 };
    await applied(store, topup(owner.account, 1000n * RUB), reserve(owner.account, start));
    await applied(store, settle(owner.account, chargeId, { amount: 76_545_000n, at }));
    const issue = { change: 'act', month };
    expect(await read(owner, PAPERS)).to.not.contain('name="month"');
    await owner.submit(PAPERS, { ...BUYER_FORM, change: 'details' });
    for (const wrong of ['', '2026-13', '2001-01', formatDay(now.getTime(), 'Europe/Moscow').slice(0, 7)]) {
      const { status, text } = await owner.submit(PAPERS, { ...issue, month: wrong });
      expect([status, text.includes(`type="month" value="${wrong}"`)], wrong).to.deep.equal([400, true]);
    }
    const path = `${PAPERS}/acts/${month}`;
    expect((await owner.get(path)).status).to.equal(404);
    for (const _ of [1, 2]) {
      const { status, headers } = await owner.submit(PAPERS, issue);
      expect([status, headers.location]).to.deep.equal([303, path]);
    }
    const line = await lastDeed();
    expect(line).to.include({ action: 'act.issue', target: `${owner.account}:${month}` });
    // Somebody else who asks for it is shown it, and has issued nothing.
    const other = await setUpMember({ store, url: pages.url }, { account: owner.account, role: 'accountant' });
    expect((await other.submit(PAPERS, issue)).headers.location).to.equal(path);
    expect(await lastDeed()).to.deep.equal(line);
    const seen = await read(owner, path);
    expect(seen).to.match(/Акт об оказании услуг № \d+ от \d+ \S+ \d{4}/);
    expect(seen).to.contain('Семьдесят шесть рублей 55 копеек').and.to.contain('В том числе НДС 22\u00a0%');
    expect(seen).to.contain('Вышеперечисленные услуги оказаны полностью и в срок').and.to.contain('Остаток аванса');
    expect(await read(owner, PAPERS)).to.contain(path);
    const admin = `/admin/accounts/${owner.account}/papers`;
    expect(await read(operator, admin)).to.contain(`${admin}/${month}`);
    expect(await read(operator, `${admin}/${month}`)).to.contain(BUYER_FORM.name);
    expect((await operator.get(`${admin}/2001-01`)).status).to.equal(404);
    expect((await (await pages.owner()).get(path)).status).to.equal(404);
  });

  async function hidden(visitor: Visitor): Promise<Record<string, string>> {
    const { text } = await visitor.get('/account/settings');
    return { csrf: /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '' };
  }
});
