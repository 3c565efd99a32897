// Bank statements on the operator's page: what an upload shows, what a button credits, what is decided by hand.
import { expect } from 'chai';
import { saveSeller } from '../../lib/payments/papers/details.ts';
import { describePurpose, findInvoice, type Invoice } from '../../lib/payments/papers/invoices.ts';
import { unescapeHtml, type Visitor } from '../../testkit/pages.ts';
import { BUYER, SELLER, type StatementFields, writeStatement } from '../../testkit/papers.ts';
import { newInvoice } from '../contract/store/bank-credits.ts';
import { problemsOf, RUB } from '../contract/store/context.ts';
import { openPages, type Pages } from './stage.ts';

const BANK = '/admin/papers/bank';

describe('the page of bank statements', () => {
  let pages: Pages;
  let operator: Visitor;
  let documents = 0;

  before(async () => {
    pages = await openPages();
    operator = await pages.operator();
  });
  after(() => pages.close());

  const store = () => pages.faults.real;
  const page = async () => unescapeHtml((await operator.get(BANK)).text);
  const upload = (content: Buffer | string, fileName = 'bank.txt') =>
    operator.upload(BANK, [
      { name: 'statement', fileName, content },
      { name: 'change', content: 'import' },
    ]);
  const pay = (invoice: Invoice, more: StatementFields = {}): StatementFields => {
    documents += 1;
    const sum = `${invoice.kopecks / 100n}.${String(invoice.kopecks % 100n).padStart(2, '0')}`;
    return { Номер: `${documents}`, Сумма: sum, НазначениеПлатежа: describePurpose(invoice), ...more };
  };
  const post = async (fields: Record<string, string>) => {
    const csrf = /name="csrf" value="([^"]+)"/.exec(await page())?.[1] ?? '';
    return operator.post(BANK, { csrf, ...fields });
  };
  const deeds = async (limit: number) => (await store().auditLog.page({ limit })).map(({ action }) => action);
  const idOf = ({ Номер: number, Сумма: sum = '' }: StatementFields) =>
    `bank:2026-11-27:${number}:40702810000000000777:${sum.replace('.', '')}`;

  it('needs the seller, then a file that is a statement with incoming payments', async () => {
    expect(await page()).to.contain('Enter the seller details first');
    await saveSeller(store(), SELLER);
    const tries: readonly (readonly [Buffer | string, string])[] = [
      ['', 'not a statement'],
      ['Дата;Сумма', 'not a statement'],
      [writeStatement([{}], { end: '' }), 'cut off'],
      [writeStatement([{ Сумма: 'x' }]), 'begins on line 7 has no valid “Сумма”'],
      [writeStatement([{ ПолучательСчет: '1' }]), 'has no payments to the seller'],
    ];
    for (const [content, problem] of tries) {
      const reply = await upload(content);
      expect([reply.status, unescapeHtml(reply.text).includes(problem)], problem).to.deep.equal([400, true]);
    }
    expect((await operator.upload(BANK, [{ name: 'change', content: 'import' }])).status).to.equal(400);
    expect((await post({ change: 'nothing' })).status).to.equal(403);
  });

  it('offers to credit one of two payments of an invoice, the earlier one', async () => {
    const owner = await pages.owner();
    const invoice = await newInvoice(store(), owner.account);
    const [first, again] = [pay(invoice), pay(invoice)];
    await upload(writeStatement([again, first]));
    const seen = await page();
    expect(seen).to.contain('Credit ₽1,500.00').and.to.contain('an earlier payment above pays the same invoice');
    const [, certain] = /value="credit_certain">(.*?)<\/form>/s.exec(seen) ?? [];
    expect(certain).to.contain(idOf(first)).and.to.not.contain(idOf(again));
    await post({ change: 'credit_certain', payment: idOf(first) });
    expect(await page()).to.contain('the invoice has already been paid');
    await post({ change: 'decide', step: 'dismiss', payment: idOf(again) });
    expect(await page()).to.not.contain('the invoice has already been paid');
  });

  it('shows before it credits, credits what is certain once, and leaves the rest with its reason', async () => {
    const owner = await pages.owner();
    const [invoice, second] = [await newInvoice(store(), owner.account), await newInvoice(store(), owner.account)];
    const [paid, other] = [pay(invoice), pay(second, { Сумма: '1499.00' })];
    const statement = writeStatement([paid, other]);
    const before = (await pages.faults.read(owner.account)).topped;
    expect((await upload(statement)).headers.location).to.equal(`${BANK}?done=imported&added=2&known=0`);
    expect((await upload(statement)).headers.location).to.equal(`${BANK}?done=imported&added=0&known=2`);
    const seen = await page();
    expect(seen).to.contain('Ready to be credited').and.to.contain(`No. ${invoice.number} of`);
    expect(seen).to.contain('the sum is not that of the invoice').and.to.contain(BUYER.name);
    expect(seen)
      .to.match(/value="credit">/)
      .and.to.match(/value="dismiss" class="quiet">/);
    expect((await pages.faults.read(owner.account)).topped).to.equal(before);
    const both = { change: 'credit_certain', payment: idOf(paid) };
    const replies = await Promise.all([post(both), post(both)]);
    expect(replies.map(({ status }) => status)).to.deep.equal([303, 303]);
    // Only what was listed is credited, and only if it is certain.
    expect((await post({ ...both, payment: idOf(other) })).headers.location).to.contain('count=0&left=1');
    expect((await pages.faults.read(owner.account)).topped).to.equal(before + 1500n * RUB);
    expect(await findInvoice(store(), invoice.id)).to.include({ state: 'paid', payment: idOf(paid) });
    expect(await deeds(9))
      .to.include('bank.credit')
      .and.to.include('bank.import');
    expect(unescapeHtml((await owner.get('/account/papers')).text)).to.contain('paid');
    expect(await problemsOf(store(), owner.account)).to.deep.equal([]);
  });

  it('credits by hand to an invoice or an account, and sets a payment aside', async () => {
    const owner = await pages.owner();
    const invoice = await newInvoice(store(), owner.account);
    const [one, two, three] = [
      pay(invoice, { НазначениеПлатежа: 'аванс', Сумма: '1200.00' }),
      pay(invoice, { НазначениеПлатежа: 'ещё аванс' }),
      pay(invoice, { НазначениеПлатежа: 'проценты банка' }),
    ];
    await upload(writeStatement([one, two, three]));
    const before = (await pages.faults.read(owner.account)).topped;
    const decide = (fields: StatementFields, target: string, step = 'credit') =>
      post({ change: 'decide', payment: idOf(fields), target, step });
    for (const target of ['', 'acc_none', '999999', '№ x'])
      expect((await decide(one, target)).status, target).to.equal(400);
    expect((await decide({ ...one, Номер: 'none' }, 'acc_none')).status).to.equal(404);
    expect((await decide(one, `№ ${invoice.number}`)).status).to.equal(303);
    expect(await deeds(1)).to.deep.equal(['bank.credit']);
    expect((await decide(two, `${invoice.number}`)).status).to.equal(400);
    expect((await decide(two, owner.account)).status).to.equal(303);
    expect((await decide(three, '', 'dismiss')).status).to.equal(303);
    expect(await deeds(1)).to.deep.equal(['bank.dismiss']);
    expect((await decide(three, '', 'dismiss')).status).to.equal(409);
    expect((await decide(three, owner.account)).status).to.equal(409);
    const again = { change: 'reopen', payment: idOf(three) };
    expect([(await post(again)).status, (await post(again)).status]).to.deep.equal([303, 409]);
    expect(await deeds(1)).to.deep.equal(['bank.reopen']);
    expect((await decide(three, '', 'dismiss')).status).to.equal(303);
    expect((await pages.faults.read(owner.account)).topped).to.equal(before + 2700n * RUB);
    expect(await page()).to.match(/Latest payments set aside[\s\S]*проценты банка/);
  });

  it('lists a credit that was interrupted, and finishes it', async () => {
    const owner = await pages.owner();
    const invoice = await newInvoice(store(), owner.account);
    const paid = pay(invoice);
    await upload(writeStatement([paid]));
    const before = (await pages.faults.read(owner.account)).topped;
    pages.faults.next('auditLog.append', async () => {
      throw new Error('lost by the test');
    });
    expect((await post({ change: 'credit_certain', payment: idOf(paid) })).status).to.equal(500);
    expect(await page()).to.contain('crediting was interrupted');
    expect((await post({ change: 'credit_certain', payment: idOf(paid) })).status).to.equal(303);
    expect((await pages.faults.read(owner.account)).topped).to.equal(before + 1500n * RUB);
    expect((await store().papers.get('payment', idOf(paid)))?.state).to.equal('credited');
  });
});
