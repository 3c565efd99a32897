// `tollgate hold` and `tollgate management-key`.
import { expect } from 'chai';
import { createRig, type Rig } from './command.ts';

describe('tollgate hold, tollgate management-key', () => {
  let rig: Rig;
  let account: string;

  before(async () => {
    rig = await createRig();
    account = String((await rig.json('account', 'create', '--name', 'Acme')).account_id);
    await rig.run('wallet', 'topup', account, '1000', '--payment-id', 'p1');
  });
  after(() => rig.close());

  it('hold, renew, settle and release, in text and JSON', async () => {
    const held = await rig.json('hold', 'create', account, '120', '--reason', 'gpu', '--lease', '60');
    const id = String(held.hold_id);
    expect(held).to.include({ state: 'held', held_rub: 120, balance_rub: 880, key_id: 'command line' });
    const renewed = await rig.json('hold', 'renew', id, '--lease', '604800');
    expect(Date.parse(String(renewed.lease_until))).to.be.greaterThan(Date.parse(String(held.lease_until)));
    expect(await rig.refused(2, 'hold', 'renew', id, '--lease', '604801')).to.contain('It must be at most 604800.');
    expect(await rig.refused(1, 'hold', 'settle', id, '121')).to.contain('The hold is 120.00 RUB');
    expect(await rig.refused(2, 'hold', 'settle', id, '5', '--usage', 'colour=3')).to.contain('seconds');
    expect(await rig.text('hold', 'settle', id, '97.50', '--usage', 'seconds=840')).to.contain('Charged 97.50 RUB.');
    expect(await rig.json('hold', 'show', id)).to.include({ state: 'settled', charged_rub: 97.5 });
    const other = await rig.json('hold', 'create', account, '5', '--reason', 'gpu');
    expect(await rig.json('hold', 'release', String(other.hold_id))).to.include({ state: 'released', repeated: false });
    expect(await rig.refused(1, 'hold', 'show', 'req_none')).to.contain('There is no hold');
    expect(await rig.json('ledger', 'verify')).to.include({ ok: true });
  });

  it('make a key that is shown once, list it, and revoke it', async () => {
    const made = await rig.json('management-key', 'create', '--name', 'billing', '--scopes', 'accounts,topup');
    expect(made.key).to.match(/^tg-mk-/);
    const own = await rig.json('management-key', 'create', '--name', 'ci', '--account', 'Acme');
    const { keys } = (await rig.json('management-key', 'list')) as { keys: readonly Record<string, unknown>[] };
    expect(keys.map(({ scopes }) => scopes)).to.deep.equal([['accounts', 'topup'], ['account']]);
    expect(JSON.stringify(keys)).to.not.contain(String(made.key));
    const revoke = () => rig.json('management-key', 'revoke', String(own.key_id));
    expect([(await revoke()).repeated, (await revoke()).repeated]).to.deep.equal([false, true]);
    const after = (await rig.json('management-key', 'list')) as { keys: readonly Record<string, unknown>[] };
    expect([keys, after.keys].map((all) => all.map(({ status }) => status))).to.deep.equal([
      ['active', 'active'],
      ['active', 'revoked'],
    ]);
    expect(await rig.text('management-key', 'list'))
      .to.contain('active')
      .and.to.contain('revoked');
    const wrong = await rig.refused(1, 'management-key', 'create', '--name', 'x', '--scopes', 'all');
    expect(wrong).to.contain('There is no scope "all": choose from accounts, keys,');
  });
});
