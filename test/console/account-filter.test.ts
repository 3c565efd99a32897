// Operators filter payments and calls by the name of an account or by its id.
import { expect } from 'chai';
import { CHAT, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOperator, unescapeHtml } from '../../testkit/pages.ts';
import { newOrder } from '../contract/store/payments.ts';

describe('the filter by account', () => {
  let test: TestGateway;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;
  let daisy: TestAccount;
  let twins: readonly TestAccount[];

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    operator = await setUpOperator(test);
    daisy = await test.account();
    twins = [await test.account(), await test.account()];
    await operator.submit(`/admin/accounts/${daisy.id}`, { change: 'rename', name: 'ООО «Ромашка»' });
    for (const { id, key } of [daisy, ...twins]) {
      await test.store.payments.create(newOrder(id, { id: `pay_${id}` }));
      const body = { model: 'sandbox-lite', messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 5 };
      await send(`${test.url}${CHAT}`, { key, body });
    }
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
  });

  const idsIn = (text: string) =>
    [daisy, ...twins].map(({ id }) => id).filter((id) => text.includes(`/admin/accounts/${id}`));
  const read = async (page: string, account: string) =>
    unescapeHtml((await operator.get(`${page}?lang=en&account=${encodeURIComponent(account)}`)).text);

  for (const page of ['/admin/payments', '/admin/calls']) {
    it(`takes a name in any case, or an id, on ${page}`, async () => {
      for (const account of ['ООО «Ромашка»', ' ооо «РОМАШКА» ', daisy.id]) {
        const text = await read(page, account);
        expect(idsIn(text), account).to.deep.equal([daisy.id]);
        expect(text).to.contain(`value="${account.trim()}"`).and.not.to.contain('Several accounts');
      }
      expect(idsIn(await read(page, '')).length, 'no filter').to.equal(3);
    });

    it(`finds nothing by a part of a name, and says so of several with the same, on ${page}`, async () => {
      const part = await read(page, 'Ромашка');
      expect(idsIn(part)).to.deep.equal([]);
      expect(part).not.to.contain('Several accounts');
      const several = await read(page, 'test');
      expect(idsIn(several)).to.deep.equal([]);
      expect(several).to.contain('Several accounts have this name. Choose one of <a href="/admin/accounts?q=test">');
    });
  }

  it('holds for the file of payments', async () => {
    const { text } = await operator.get(`/admin/payments.csv?lang=en&account=${encodeURIComponent('ООО «Ромашка»')}`);
    expect(
      text
        .trimEnd()
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(',')[1]),
    ).to.deep.equal([`pay_${daisy.id}`]);
  });
});
