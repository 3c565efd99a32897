// The operators' list of all money in and out, with its sums and its file.
import { expect } from 'chai';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOperator, setUpOwner } from '../../testkit/pages.ts';
import { appliedInBatches, newId, topup } from '../contract/store/context.ts';

const RUB = 1_000_000n;
const PATH = '/admin/payments/all';

/** The demo account has ₽1,000 from the start. */
describe('the list of all money', () => {
  let test: TestGateway;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;
  let account: TestAccount;
  let order: string;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    operator = await setUpOperator(test);
    account = await test.account('0');
    const owner = await setUpOwner(test, account.id);
    const { headers } = await owner.submit('/account/wallet', { amount: '1000' });
    order = String(headers.location).replace(/^.*=/, '');
    const link = /class="button" href="([^"]+)"/.exec((await owner.get(String(headers.location))).text)?.[1] ?? '';
    await owner.post(new URL(link).pathname, { button: 'paid' });
    const of = `/admin/accounts/${account.id}`;
    await operator.submit(of, { change: 'topup', amount: '1 500,50', payment: '=invoice-7' });
    await operator.submit(of, { change: 'adjust', amount: '-0.25', reason: 'a <wrong> call' });
    await operator.submit(`/admin/payments/${order}`, { change: 'refund', amount: '400', reason: 'wish' });
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
  });

  const sumsOf = (text: string) =>
    [...text.matchAll(/<dt>([^<]+)<\/dt>\s*<dd>(?:<strong>)?([^<]+)/g)].map(([, name, sum]) => [name, sum]);

  it('has payments through providers and those recorded by hand, with their sums', async () => {
    const { text } = await operator.get(`${PATH}?lang=en`);
    expect(sumsOf(text)).to.deep.equal([
      ['Received', '₽3,500.50'],
      ['Returned', '₽400.00'],
      ['Corrections', '−₽0.25'],
      ['Total', '₽3,100.25'],
    ]);
    const rows = text.split('<tr').slice(-5);
    const operations = rows.map((row) => /data-title="Operation"[^>]*>([a-z ]+)</.exec(row)?.[1]);
    expect(operations).to.deep.equal([
      'payment refunded',
      'correction by the operator',
      'payment recorded by an operator',
      'payment',
      'payment recorded by an operator',
    ]);
    expect(rows[0]).to.contain(`href="/admin/payments/${order}"`).and.to.contain(`/admin/accounts/${account.id}`);
    expect(rows[1]).to.contain('a &lt;wrong&gt; call');
    expect(rows[2]).to.contain('=invoice-7');
    expect((await operator.get('/admin/payments?lang=en')).text).to.contain(`href="${PATH}"`);
  });

  it('agrees with what the start page says of today, and links to it', async () => {
    const { text } = await operator.get('/admin?lang=en');
    const [, link = '', sum] = /href="(\/admin\/payments\/all\?[^"]+)">([^<]+)</.exec(text) ?? [];
    expect(sum).to.equal('₽3,500.50');
    const day = link.replaceAll('&amp;', '&');
    expect(day).to.match(/from=(\d{4}-\d\d-\d\d)&to=\1$/);
    expect(sumsOf((await operator.get(day)).text)[0]).to.deep.equal(['Received', sum]);
  });

  it('is a file in both notations, whose texts are no formulas', async () => {
    const english = await operator.get(`${PATH}.csv?lang=en`);
    const lines = english.text.trimEnd().split('\r\n');
    expect(english.headers['content-disposition']).to.match(/money-\d{4}-\d\d-01-\d{4}-\d\d-\d\d\.csv/);
    expect(lines[0]).to.equal('time,account,account_name,kind,amount_rub,payment,reason');
    // The last one is of the demo account.
    expect(lines.slice(1, -1).map((line) => line.split(',').slice(1))).to.deep.equal([
      [account.id, 'test', 'payback', '-400.00', order, ''],
      [account.id, 'test', 'adjust', '-0.25', '', 'a <wrong> call'],
      [account.id, 'test', 'topup', '1500.50', "'=invoice-7", ''],
      [account.id, 'test', 'pay', '1000.00', order, ''],
    ]);
    const russian = (await operator.get(`${PATH}.csv?lang=ru`)).text.trimEnd().split('\r\n');
    expect(russian.at(-1)).to.equal('Итого;;;;3100,25;;');
    expect(russian[2]).to.contain(';корректировка оператора;-0,25;;a <wrong> call');
  });

  it('is of the days that were chosen, and of one if they are the wrong way round', async () => {
    for (const query of ['from=2020-01-01&to=2020-01-31', 'from=2020-01-31&to=2019-01-01']) {
      const { text } = await operator.get(`${PATH}?lang=en&${query}`);
      expect(text, query).to.contain('No money came in or went back.').and.to.contain('value="2020-01-31"');
      expect(sumsOf(text).map(([, sum]) => sum)).to.deep.equal(['₽0.00', '₽0.00', '₽0.00', '₽0.00']);
    }
    for (const query of ['from=x&to=2026-13-01', 'before=x', 'from=&to='])
      expect((await operator.get(`${PATH}?lang=en&${query}`)).text, query).to.contain('=invoice-7');
  });

  it('goes on on further pages, and whole in the file', async () => {
    const day = Date.UTC(2030, 0, 5, 12);
    const ids = Array.from({ length: 205 }, () => newId('many'));
    await appliedInBatches(
      test.store,
      ids.map((paymentId, at) => topup(account.id, RUB, { paymentId, at: day + Math.floor(at / 3) })),
    );
    const found: string[] = [];
    for (let next: string | undefined = `${PATH}?from=2030-01-05&to=2030-01-05&lang=en`; next; ) {
      const { text } = await operator.get(next);
      expect(sumsOf(text)[0]).to.deep.equal(['Received', '₽205.00']);
      found.push(...[...text.matchAll(/>(many_\w+)</g)].map(([, id]) => id ?? ''));
      next = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(found.length).to.equal(205);
    expect(new Set(found)).to.deep.equal(new Set(ids));
    const { text } = await operator.get(`${PATH}.csv?from=2030-01-05&to=2030-01-05&lang=en`);
    expect([...text.matchAll(/many_\w+/g)].map(([id]) => id)).to.deep.equal(found);
  });

  it('is for operators only', async () => {
    const owner = await setUpOwner(test, account.id, 'curious@example.com');
    for (const path of [PATH, `${PATH}.csv`]) expect((await owner.get(path)).status, path).to.equal(404);
  });
});
