// The payments of an account as a file: each with its state, and whatever else moved money otherwise than by calls.
import { expect } from 'chai';
import { formatDay } from '../../../lib/money/days.ts';
import { endDispute, openDispute, requestRefund } from '../../../lib/payments/operator.ts';
import { until } from '../../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../../testkit/gateway.ts';
import { setUpMember, setUpOwner, type Visitor } from '../../../testkit/pages.ts';
import { AT, adjust, applied, appliedInBatches, grant, RUB } from '../../contract/store/context.ts';

const FILE = '/account/payments.csv';
const WALLET = '/account/wallet';

describe('the payments of an account as a file', () => {
  let test: TestGateway;
  let account: TestAccount;
  let owner: Visitor;
  const orders: string[] = [];

  /** Orders money, and presses these buttons of the provider's page. */
  async function pay(amount: string, ...buttons: readonly string[]): Promise<string> {
    const { headers } = await owner.submit(WALLET, { amount });
    const page = String(headers.location);
    const link = /class="button" href="([^"]+)"/.exec((await owner.get(page)).text)?.[1] ?? '';
    for (const button of buttons) await owner.post(new URL(link).pathname, { button });
    const id = page.replace(/^.*=/, '');
    orders.push(id);
    return id;
  }

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    account = await test.account('1250');
    owner = await setUpOwner(test, account.id);
    const { store } = test;
    await applied(store, { ...adjust(account.id, 2n * RUB, { reason: '=1+1' }), at: Date.now() } as never);
    await applied(store, grant(account.id, 30n * RUB, { at: Date.now(), reason: 'a trial' }));
    await pay('1000', 'insufficient_funds');
    const half = await pay('2000', 'paid', 'half');
    await requestRefund(store, half, { at: Date.now(), amount: 500n * RUB, reason: 'only for operators' });
    // Its request took the money, so that its booking takes none.
    await until(async () => (await store.payments.get(half))?.refunded === 1500n * RUB);
    const lost = await pay('3000', 'paid');
    await openDispute(store, lost, { at: Date.now(), dispute: 'bank 7' });
    await endDispute(store, lost, { at: Date.now(), how: 'lost', suspend: false });
    await pay('1500');
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
  });

  const read = async (query = '', separator = ',') => {
    const { text } = await owner.get(`${FILE}${query}`);
    return text
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(separator));
  };

  it('has all that moved money, and the payments that were not made', async () => {
    const [head, ...rows] = await read('?lang=en');
    expect(head?.join()).to.equal('time,kind,amount_rub,moved_rub,state,payment,reason');
    const [declined, half, lost, waiting] = orders;
    expect(rows.map(([, ...row]) => row.join())).to.have.members([
      `topup,1250.00,1250.00,credited,${account.id}-1,`,
      `adjust,2.00,2.00,,,'=1+1`,
      'grant,30.00,30.00,,,a trial',
      `pay,1000.00,0.00,canceled,${declined},insufficient_funds`,
      `pay,2000.00,2000.00,partly_refunded,${half},`,
      `payback,-1000.00,-1000.00,booked,${half},`,
      `payback,-500.00,-500.00,booked,${half},`,
      `pay,3000.00,3000.00,reversed,${lost},`,
      `dispute,-3000.00,-3000.00,reversed,${lost},`,
      `pay,1500.00,0.00,pending,${waiting},`,
    ]);
    const times = rows.map(([time = '']) => Date.parse(time));
    expect(times).to.deep.equal(times.toSorted((one, other) => one - other));
    expect(rows[0]?.[0]).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+03:00$/);
  });

  it('has Russian words, times of spreadsheets, and a total that is what the wallet got', async () => {
    const [head, ...rows] = await read('?lang=ru', ';');
    expect(head?.join()).to.equal(
      '\ufeffвремя,операция,сумма_руб,изменение_баланса_руб,статус,номер_платежа,основание',
    );
    expect(rows[0]?.join(' ')).to.match(/^\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d платёж 1250,00 1250,00 зачислен /);
    expect(rows.map(([, ...row]) => row.join(' '))).to.include.members([
      `платёж 1000,00 0,00 отклонён ${orders[0]} на карте недостаточно денег`,
      `возврат платежа -500,00 -500,00 возвращено ${orders[1]} `,
      `платёж отозван банком -3000,00 -3000,00 отозван банком ${orders[2]} `,
    ]);
    const { topped, adjusted, granted = 0n } = await test.wallet(account);
    expect([topped + adjusted + granted, rows.at(-1)?.join(' ')]).to.deep.equal([1782n * RUB, 'Всего   1782,00   ']);
    await owner.get(`${WALLET}?lang=en`);
  });

  it('is of a month, of some days, or of all time', async () => {
    const today = formatDay(Date.now(), 'Europe/Moscow');
    const all = await read();
    expect(all).to.have.length(11);
    for (const query of [`?month=${today.slice(0, 7)}`, `?from=${today}&to=${today}`, `?from=${today}`, '?from=x'])
      expect(await read(query), query).to.deep.equal(all);
    for (const query of ['?month=2020-01', '?from=2020-01-01&to=2020-01-31', '?to=2020-01-31'])
      expect(await read(query), query).to.have.length(1);
    const { headers } = await owner.get(`${FILE}?month=2020-01`);
    expect(headers['content-disposition']).to.contain(`payments-2020-01-${account.id}.csv`);
    expect((await owner.get(FILE)).headers['content-disposition']).to.contain(`payments-${account.id}.csv`);
  });

  it('has more than one read brings, in order', async () => {
    const { id } = await test.account('0');
    const many = Array.from({ length: 1001 }, (_, at) => ({ ...adjust(id, BigInt(at + 1) * RUB), at: AT + (at >> 1) }));
    await appliedInBatches(test.store, many as never);
    const { text } = await (await setUpOwner(test, id)).get(FILE);
    const amounts = text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((row) => Number(row.split(',')[2]));
    expect(amounts).to.deep.equal(many.map((_, at) => at + 1));
  });

  it('is for owners and accountants, who find it beside the wallet and the statement', async () => {
    const accountant = await setUpMember(test, { account: account.id, role: 'accountant' });
    const member = await setUpMember(test, { account: account.id, role: 'member' });
    expect((await accountant.get(FILE)).status).to.equal(200);
    expect((await member.get(FILE)).status).to.equal(403);
    expect((await accountant.get(WALLET)).text).to.contain(`href="${FILE}" download`);
    const month = await accountant.get('/account/statement?month=2020-01');
    expect(month.text).to.contain(`href="${FILE}?month=2020-01" download`);
  });
});
