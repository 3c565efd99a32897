// The operator's first page: the state of the ledger, unreleased holds, failing upstreams, and open decisions.
import { expect } from 'chai';
import { keepBankPayments } from '../../lib/payments/papers/bank-payments.ts';
import { parseBankStatement } from '../../lib/payments/papers/bank-statement.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOperator, type Visitor } from '../../testkit/pages.ts';
import { writeStatement } from '../../testkit/papers.ts';
import { itOnSqlite } from '../../testkit/test-store.ts';

describe('the overview of an operator', () => {
  let test: TestGateway;
  let operator: Visitor;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    operator = await setUpOperator(test);
  });
  after(() => test.stop());

  async function facts(): Promise<Readonly<Record<string, string>>> {
    const { text } = await operator.get('/admin');
    const rows = text.matchAll(/<dt>([^<]+)<\/dt><dd>(?:<a [^>]*>)?([^<]*)/g);
    return Object.fromEntries([...rows].map(([, name = '', value = '']) => [name, value]));
  }

  it('creates one account for an operator, however often the form is sent', async () => {
    expect((await operator.get('/account')).headers.location).to.equal('/admin');
    expect((await operator.get('/account/keys')).headers.location).to.equal('/admin');
    expect((await operator.get('/account?account=acc_none')).status).to.equal(404);
    const page = await operator.get('/admin');
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    for (let times = 0; times < 2; times += 1) {
      const { status, headers } = await operator.post('/admin', { csrf });
      expect([status, headers.location]).to.deep.equal([303, '/account']);
    }
    const own = (await test.store.accounts.list()).filter(({ name }) => name === 'op@example.com');
    expect(own).to.have.length(1);
    expect((await operator.get('/account')).text).to.contain('Your first call, step by step');
    expect((await operator.get('/admin')).text).not.to.contain('Create my account');
    const [deed] = await test.store.auditLog.page({ limit: 1 });
    expect(deed).to.include({ action: 'account.create', target: own[0]?.id });
  });

  itOnSqlite('shows whether the ledger adds up once it was verified', async () => {
    expect((await facts()).Ledger).to.equal('not verified yet');
    await operator.submit('/admin/ledger', {});
    expect((await facts()).Ledger).to.match(/^adds up \(/);
    const { id } = await test.account();
    const wallet = { kind: 'topup', wallet: id, at: Date.now(), amount: 5n, paymentId: 'pay-x' } as const;
    await test.store.ledger.apply([wallet]);
    // Written past the store: a wallet without journal entries.
    const { DatabaseSync } = await import('node:sqlite');
    const db = new DatabaseSync(test.databaseUrl.replace('sqlite:', ''), { timeout: 5000 });
    const change = (by: string) =>
      db.exec(`UPDATE wallets SET avail = avail ${by} 1000000, topped = topped ${by} 1000000 WHERE id = '${id}'`);
    change('+');
    await operator.submit('/admin/ledger', {});
    expect((await facts()).Ledger).to.match(/^problems: 2; drift: ₽2\.00$/);
    change('-');
    db.close();
    await operator.submit('/admin/ledger', {});
    expect((await facts()).Ledger).to.match(/^adds up \(/);
  });

  it('counts bank payments that wait to be credited', async () => {
    expect((await operator.get('/admin')).text).to.not.contain('Bank payments');
    const stated = parseBankStatement(writeStatement([{ Номер: '1' }, { Номер: '2' }]));
    await keepBankPayments(test.store, stated, Date.now());
    expect((await operator.get('/admin')).text).to.contain('Bank payments to be credited: 2');
  });

  itOnSqlite('counts unreleased holds, and upstreams with problems', async () => {
    expect(await facts()).to.include({
      'Unreleased holds': '0',
      'Upstreams with problems': '0 of 1',
      'Payments under review': '0',
    });
    // Its wallet does not exist, so nothing releases it.
    const { DatabaseSync } = await import('node:sqlite');
    const db = new DatabaseSync(test.databaseUrl.replace('sqlite:', ''), { timeout: 5000 });
    db.exec(`INSERT INTO charges (id, wallet, key, kind, state, reserved, charged, model, prices, owner, lease, created_at)
      VALUES ('req_stuck', 'acc_gone', 'k', 'text', 'held', 5, 0, 'm', '{}', 'own_gone', 1, 1)`);
    db.close();
    expect((await facts())['Unreleased holds']).to.equal('1');
  });
});
