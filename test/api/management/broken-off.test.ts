// Changes whose store fails between the change and its line in the log: not made twice, and still logged.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { describeOnSqlite } from '../../../testkit/test-store.ts';
import { type ManagementStage, openManagementStage } from './stage.ts';

describeOnSqlite('a change of the management API that broke off after it was made', () => {
  let stage: ManagementStage;
  let key: string;

  before(async () => {
    stage = await openManagementStage();
    key = await stage.managementKey();
  });
  after(() => stage.gateway.stop());

  const post = (path: string, body: object, name: string) =>
    stage.ask(key, `/manage${path}`, body, { headers: { 'idempotency-key': name } });
  const lines = async (action: string) =>
    (await stage.gateway.store.auditLog.page({ limit: 100 })).filter((line) => line.action === action);

  /** The change is made, and its line cannot be written; expects what a client is told. */
  async function breakOff(path: string, body: object, name: string): Promise<void> {
    const db = new DatabaseSync(stage.gateway.databaseUrl.slice('sqlite:'.length), { timeout: 5000 });
    try {
      db.exec("CREATE TRIGGER refused BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'refused'); END");
      const { status, json } = await post(path, body, name);
      db.exec('DROP TRIGGER refused');
      expect([status, json.error.message]).to.deep.equal([
        503,
        'The change was not confirmed. Repeat the request with the same idempotency key.',
      ]);
    } finally {
      db.close();
    }
    expect((await post(path, body, name)).headers).to.have.property('retry-after');
    const { management } = stage.gateway.store;
    const claims = await management.replyPage({ limit: 1000 });
    await management.putReplies(claims.filter(({ reply }) => reply === null).map((claim) => ({ ...claim, lease: 1 })));
  }

  it('makes no second promo code', async () => {
    const code = { amount_rub: 5, uses: 3, reason: 'launch' };
    await breakOff('/promo', code, 'promo');
    const { status, headers } = await post('/promo', code, 'promo');
    expect([status, headers['x-should-retry']]).to.deep.equal([409, 'false']);
    expect(await stage.gateway.store.promos.page({ after: '', limit: 10 })).to.have.length(1);
  });

  it('is logged once when it is repeated: grants and ended codes', async () => {
    const { id } = await stage.gateway.account();
    const grants = `/accounts/${id}/grants`;
    const gift = { amount_rub: 5, grant_id: 'gift', reason: 'sorry' };
    const changes = [
      ['grant.give', grants, gift, { repeated: true, granted_rub: 5 }],
      ['grant.revoke', `${grants}/gift/revoke`, { reason: 'no' }, { repeated: true, taken_rub: 0 }],
      ['promo.end', '/promo/SPRING/end', {}, { code: 'SPRING' }],
    ] as const;
    await post('/promo', { amount_rub: 5, uses: 3, reason: 'spring', code: 'SPRING' }, 'spring');
    for (const [action, path, body, told] of changes) {
      await breakOff(path, body, action);
      expect(await lines(action), action).to.deep.equal([]);
      expect((await post(path, body, action)).json, action).to.include(told);
      await post(path, body, `${action} again`);
      const [line, ...more] = await lines(action);
      expect(more, action).to.deep.equal([]);
      if (path !== '/promo/SPRING/end') expect(JSON.parse(line?.detail ?? '')).to.include({ rub_micro: '5000000' });
    }
  });
});
