// The audit log has a line for every change that is made on the command line.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { readConfig } from '../../lib/config.ts';
import { openOwnStore } from '../../lib/store/open.ts';
import { createRig, type Rig } from './command.ts';

describe('the audit log of the command line', () => {
  let rig: Rig;
  let account: string;

  beforeEach(async () => {
    rig = await createRig();
    account = String((await rig.json('account', 'create', '--name', 'first')).account_id);
  });
  afterEach(() => rig.close());

  /** Oldest first, as action, account, target and detail. */
  async function readLines(): Promise<readonly (readonly unknown[])[]> {
    const store = await openOwnStore(readConfig({ ...rig.env }));
    try {
      const lines = await store.auditLog.page({ limit: 100 });
      for (const line of lines) expect(line).to.include({ user: 'command line', address: '' });
      return lines.toReversed().map((line) => [line.action, line.account, line.target, JSON.parse(line.detail)]);
    } finally {
      await store.close();
    }
  }

  it('names what was changed, for whom and how', async () => {
    await rig.json('wallet', 'topup', account, '1500', '--payment-id', 'inv-1');
    await rig.json('wallet', 'adjust', account, '-1.5', '--reason', 'a mistake');
    const key = String((await rig.json('key', 'issue', account, '--name', 'shop', '--budget', '12.5')).key_id);
    await rig.json('key', 'revoke', key);
    await rig.json('account', 'suspend', account);
    expect(await readLines()).to.deep.equal([
      ['account.create', account, account, { name: 'first' }],
      ['wallet.topup', account, account, { rub: '1500', paymentId: 'inv-1' }],
      ['wallet.adjust', account, account, { rub: '-1.5', reason: 'a mistake' }],
      ['key.issue', account, key, { name: 'shop', budget: '12.50' }],
      ['key.revoke', account, key, {}],
      ['account.suspend', account, account, {}],
    ]);
  });

  it('names the limits that were removed, and times as the API does', async () => {
    const key = String((await rig.json('key', 'issue', account, '--name', 'shop', '--expires', '2030-01-01')).key_id);
    await rig.json('key', 'limit', key, '--budget', 'none', '--models', 'all', '--expires', 'never');
    const [, issued, limited] = await readLines();
    expect(issued?.[3]).to.deep.equal({ name: 'shop', expires: '2030-01-01T00:00:00.000Z' });
    expect(limited?.[3]).to.deep.equal({ budget: 'no limit', models: 'no limit', expires: 'no limit' });
  });

  it('has no line of what changed nothing, was refused, or was done before', async () => {
    const topup = ['wallet', 'topup', account, '1500', '--payment-id', 'inv-1'] as const;
    await rig.json(...topup);
    expect(await rig.json(...topup)).to.include({ repeated: true });
    await rig.refused(1, 'wallet', 'adjust', account, '-2000', '--reason', 'too much');
    await rig.json('wallet', 'show', account);
    await rig.json('key', 'list', account);
    expect((await readLines()).map(([action]) => action)).to.deep.equal(['account.create', 'wallet.topup']);
  });

  it('has one line of a command that writes its own', async () => {
    await rig.json('grant', 'give', account, '50', '--id', 'one', '--reason', 'a trial');
    expect((await readLines()).map(([action]) => action)).to.deep.equal(['account.create', 'grant.give']);
  });

  it('does not lose the answer to a change of which it cannot have a line', async () => {
    const db = new DatabaseSync(rig.databaseUrl.replace('sqlite:', ''));
    db.exec("CREATE TRIGGER full BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'it is full'); END");
    db.close();
    const { code, stdout, stderr } = await rig.run('key', 'issue', account, '--name', 'shop', '--json');
    expect([code, Object.keys(JSON.parse(stdout))]).to.deep.equal([0, ['key_id', 'key', 'store']]);
    expect(stderr).to.match(/^tollgate: warning: the change is made, but is not in the audit log: it is full\n$/);
  });
});
