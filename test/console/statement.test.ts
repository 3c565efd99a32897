// The statement of a month on its page and as CSV: the column adds up from one balance to the next.
import { expect } from 'chai';
import { formatDay } from '../../lib/money/days.ts';
import { send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpMember, setUpOwner } from '../../testkit/pages.ts';

const PAGE = '/account/statement';

describe('the statement of a month', function () {
  this.timeout(30_000);
  let test: TestGateway;
  let account: TestAccount;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    account = await test.account('1500.25');
    owner = await setUpOwner(test, account.id);
    for (const model of ['sandbox-lite', 'sandbox-heavy', 'sandbox-heavy']) {
      const body = { model, max_tokens: 900, messages: [{ role: 'user', content: 'word '.repeat(50) }] };
      await send(`${test.url}/api/v1/chat/completions`, { key: account.key, body });
    }
    await until(async () => (await test.wallet(account)).held === 0n);
    await until(async () => !(await owner.get(PAGE)).text.includes('data-again'));
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
  });

  it('shows both balances, the payment and the calls by model', async () => {
    const { status, text } = await owner.get(PAGE);
    expect(status).to.equal(200);
    expect(text).to.match(/Balance at the start<\/td>\s*<td class="number">₽0\.00</);
    expect(text).to.contain('₽1,500.25').and.to.contain('sandbox-heavy').and.to.contain('Balance now');
    expect(text).not.to.contain('Calls begun in another month');
  });

  it('has a CSV whose column adds up to the balance in the wallet', async () => {
    const { headers, text } = await owner.get(`${PAGE}.csv`);
    expect(headers['content-disposition']).to.match(/statement-\d{4}-\d{2}-acc_\w+\.csv/);
    const rows = text.trim().split('\r\n').slice(1);
    const amounts = rows.map((row) => Math.round(Number(row.split(',').at(-1)) * 1e6));
    const { avail } = await test.wallet(account);
    expect(amounts.at(-1)).to.equal(Number(avail));
    expect(amounts.slice(0, -1).reduce((sum, amount) => sum + amount, 0)).to.equal(Number(avail));
    expect(rows.filter((row) => row.includes('sandbox-heavy'))[0]).to.match(/,sandbox-heavy,2,-\d/);
    expect(rows.at(-1)?.split(',')[0], 'the balance now').to.equal(formatDay(Date.now(), 'Europe/Moscow'));
    const russian = await owner.get(`${PAGE}.csv?lang=ru`);
    expect(russian.text).to.contain('Баланс на начало').and.to.contain('1500,25');
    await owner.get(`${PAGE}?lang=en`);
  });

  it('is empty for a month before, and shows the current one for a month to come or none at all', async () => {
    const { text } = await owner.get(`${PAGE}?month=2020-02`);
    expect(text)
      .to.contain('Statement: February 2020')
      .and.to.contain('Balance at the end')
      .and.to.match(/29\sFeb\s2020/);
    expect(text).not.to.contain('sandbox-heavy');
    expect((await owner.get(`${PAGE}.csv?month=2020-02`)).text).to.contain('2020-02-29,Balance at the end,');
    expect((await owner.get(`${PAGE}?month=2020-02&lang=ru`)).text).to.contain('Выписка: февраль 2020');
    await owner.get(`${PAGE}?lang=en`);
    for (const month of ['2099-01', '2026-13', '%3Cb%3E', '']) {
      const page = await owner.get(`${PAGE}?month=${month}`);
      expect(page.text, month).to.contain('Balance now').and.not.to.contain('<b>');
    }
  });

  it('is for owners and accountants', async () => {
    const accountant = await setUpMember(test, { account: account.id, role: 'accountant' });
    const member = await setUpMember(test, { account: account.id, role: 'member' });
    for (const path of [PAGE, `${PAGE}.csv`]) {
      expect((await accountant.get(path)).status).to.equal(200);
      expect((await member.get(path)).status).to.equal(403);
    }
  });
});
