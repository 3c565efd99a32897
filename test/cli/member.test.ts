// `tollgate member` and `tollgate key users`: roles, caps, invitations, and what end users have spent.
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import { endUserSumId, memberSumId } from '../../lib/ledger/caps.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { applied, charge, RUB, topup } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';
import { createRig, type Rig } from './command.ts';

describe('cli member', () => {
  let rig: Rig;
  let store: Store;
  let account: string;

  before(async () => {
    rig = await createRig();
    account = String((await rig.json('account', 'create', '--name', 'Acme')).account_id);
    store = await openStore(rig.databaseUrl);
    await applied(store, topup(account, 1000n * RUB));
  });
  after(async () => {
    await store.close();
    await rig.close();
  });

  async function join(role: 'owner' | 'member' | 'accountant', email: string): Promise<string> {
    const user = makeUser({ email });
    await store.users.add(user);
    await store.users.join({ user: user.id, account, role });
    return user.id;
  }
  const deeds = async () =>
    (await store.auditLog.page({ limit: 1, account })).map(({ action, user }) => [action, user]);

  /** What the newest line of the audit log says. */
  const deed = async () => {
    const [line] = await store.auditLog.page({ limit: 1, account });
    return [line?.action, line?.target, JSON.parse(line?.detail ?? '')];
  };

  it('invites with a role and a cap, and lists who is invited', async () => {
    const { url } = await rig.json('member', 'invite', 'Acme', 'bob@example.com', '--cap', '99.50', '--reset', 'week');
    expect(String(url)).to.contain('/setup?token=');
    expect(await deeds()).to.deep.equal([['member.invite', 'command line']]);
    await rig.json('member', 'invite', account, 'eve@example.com', '--role', 'accountant');
    const { members, invitations } = await rig.json('member', 'list', 'Acme');
    expect(members).to.deep.equal([]);
    const shown = (invitations as { email: string; role: string; cap: unknown }[]).map(({ email, role, cap }) => [
      email,
      role,
      cap,
    ]);
    expect(shown).to.deep.equal([
      ['bob@example.com', 'member', { rub: 99.5, reset: 'week' }],
      ['eve@example.com', 'accountant', null],
    ]);
    expect(await rig.text('member', 'list', account)).to.match(/bob@example\.com +member +invited +99\.5 RUB a week/);
    const invite = (...more: string[]) => rig.refused(2, 'member', 'invite', account, 'x@example.com', ...more);
    expect(await invite('--role', 'boss')).to.contain('--role');
    expect(await invite('--cap', 'much')).to.contain('plain digits');
    expect(
      await rig.refused(2, 'member', 'invite', account, 'x@example.com', '--role', 'owner', '--cap', '5'),
    ).to.contain('Only members have a cap');
    expect(await rig.refused(2, 'member', 'invite', account, 'x@example.com', '--reset', 'day')).to.contain(
      '--reset needs',
    );
  });

  it('changes role and cap, and shows what was spent of it', async () => {
    await join('owner', 'ann@example.com');
    const user = await join('member', 'carl@example.com');
    const set = await rig.json('member', 'set', account, 'carl@example.com', '--cap', '20', '--reset', 'none');
    expect(set).to.deep.equal({
      account_id: account,
      user_id: user,
      role: 'member',
      cap: { rub: 20, reset: 'none' },
    });
    expect(await deeds()).to.deep.equal([['member.change', 'command line']]);
    const said = { email: 'carl@example.com', role: 'member', member_cap: '20000000', reset: 'none' };
    expect(await deed()).to.deep.equal(['member.change', user, said]);
    const caps = [{ id: memberSumId({ account, user }), period: 0, limit: 20n * RUB }];
    await applied(store, charge(account, { amount: 3n * RUB, caps }));
    expect(await rig.text('member', 'list', account)).to.match(/carl@example\.com +member +active +20 RUB +3 +0/);
    // The rest stays.
    expect(await rig.text('member', 'set', account, 'carl@example.com', '--reset', 'day')).to.equal(
      'carl@example.com: member, 20.00 RUB a day.\n',
    );
    expect((await store.users.listUserMemberships(user))[0]?.cap).to.include({ limit: 20n * RUB, reset: 'day' });
    await rig.json('member', 'set', account, user, '--cap', 'none');
    expect((await store.users.listUserMemberships(user))[0]).not.to.have.property('cap');
    const { cap } = await rig.json('member', 'set', account, user, '--cap', '5');
    expect(cap, 'without another one before').to.deep.equal({ rub: 5, reset: 'month' });
    expect(await rig.text('member', 'set', account, user, '--role', 'accountant')).to.equal(
      'carl@example.com: accountant.\n',
    );
    expect(await deed()).to.deep.equal(['member.change', user, { email: 'carl@example.com', role: 'accountant' }]);
    for (const who of [user, 'ann@example.com'])
      expect(await rig.refused(2, 'member', 'set', account, who, '--cap', '5')).to.contain('Only members have a cap');
    expect(await rig.refused(2, 'member', 'set', account, user, '--role', 'boss')).to.contain('--role');
    expect(await rig.refused(2, 'member', 'set', account, user)).to.contain('Give a role or a cap');
    expect(await rig.refused(1, 'member', 'set', account, 'ann@example.com', '--role', 'member')).to.contain(
      'the last active owner',
    );
    expect(await rig.refused(1, 'member', 'set', account, 'nobody@example.com', '--cap', '5')).to.contain('nobody');
  });

  it('removes a member with their keys, but not the last owner', async () => {
    const user = await join('member', 'dora@example.com');
    const { id } = await createAccounts({ store, keyPrefix: 'tg-' }).issueKey(account, 'laptop', {}, user);
    expect(await rig.json('member', 'remove', account, 'dora@example.com')).to.deep.equal({
      account_id: account,
      user_id: user,
      status: 'removed',
    });
    expect(await deed()).to.deep.equal(['member.remove', user, { email: 'dora@example.com' }]);
    expect((await store.keys.get(id))?.revokedAt).to.be.a('number');
    expect(await rig.refused(1, 'member', 'remove', account, user)).to.contain('does not belong to the account');
    expect(await rig.refused(1, 'member', 'remove', account, 'ann@example.com')).to.contain('user remove-owner');
  });

  it('lists what end users of a key have spent, by page and by name', async () => {
    const { key_id: key } = await rig.json('key', 'issue', account, '--name', 'app', '--user-budget', '5');
    const row = await store.keys.get(String(key));
    if (!row) throw new Error('no key');
    for (const [name, rub] of [
      ['alice', 2n],
      ['bob', 3n],
      ['carol', 1n],
    ] as const) {
      const caps = [{ id: endUserSumId(row, name), period: 0, limit: 5n * RUB }];
      await applied(store, charge(account, { key: row.id, amount: rub * RUB, caps }));
    }
    const all = await rig.json('key', 'users', row.id);
    expect((all.users as { spent_rub: number }[]).map(({ spent_rub }) => spent_rub).sort()).to.deep.equal([1, 2, 3]);
    expect([all.cap, all.next]).to.deep.equal([{ rub: 5, reset: 'none', time_zone: 'Asia/Omsk' }, null]);
    const first = await rig.json('key', 'users', row.id, '--limit', '2');
    const rest = await rig.json('key', 'users', row.id, '--limit', '2', '--after', String(first.next));
    expect([...(first.users as object[]), ...(rest.users as object[])]).to.deep.equal(all.users);
    const bob = await rig.json('key', 'users', row.id, '--name', 'bob');
    expect((bob.users as { spent_rub: number }[]).map(({ spent_rub }) => spent_rub)).to.deep.equal([3]);
    expect(await rig.text('key', 'users', row.id, '--name', 'nobody')).to.contain('Nobody has spent anything');
    const { key_id: plain } = await rig.json('key', 'issue', account, '--name', 'plain');
    expect(await rig.refused(1, 'key', 'users', String(plain))).to.contain('has no budget for end users');
    expect(await rig.refused(1, 'key', 'users', 'key_none')).to.contain('There is no key');
  });
});
