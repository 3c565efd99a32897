// `tollgate grant`: gives once, lists what is left, takes back the rest, and says so in the audit log.
import { expect } from 'chai';
import { readConfig } from '../../lib/config.ts';
import { openOwnStore } from '../../lib/store/open.ts';
import { applied, reserve } from '../contract/store/context.ts';
import { createRig, type Rig } from './command.ts';

describe('cli grant', () => {
  let rig: Rig;
  let account: string;
  let staff: string;

  before(async () => {
    rig = await createRig();
    account = String((await rig.json('account', 'create', '--name', 'first')).account_id);
  });
  after(() => rig.close());

  const give = (rub: string, id: string, ...more: string[]) =>
    ['grant', 'give', account, rub, '--id', id, '--reason', 'a trial', ...more] as const;

  it('gives money once, and calls spend it once the wallet is open', async () => {
    const first = await rig.json(...give('300', 'one', '--expires', '2099-01-31'));
    expect(first).to.include({ balance_rub: 300, granted_rub: 300, granted_left_rub: 300, repeated: false });
    expect(await rig.json(...give('300', 'one', '--expires', '2099-01-31'))).to.include({ repeated: true });
    expect(await rig.refused(1, ...give('301', 'one', '--expires', '2099-01-31'))).to.include(
      'another amount, end or account',
    );
    expect(await rig.refused(2, ...give('1', 'past', '--expires', '2020-01-31'))).to.include('has passed');
    for (const id of ['.', '..']) expect(await rig.refused(2, ...give('1', id)), id).to.include('dots alone is lost');
    for (const id of ['promo:spring-17', `promo:SPRING:${account}`, `monthly:${account}:2099-01`])
      expect(await rig.refused(2, ...give('1', id)), id).to.include('gives itself');
    expect(await rig.refused(2, ...give('-1', 'less'))).to.include('above zero');
    expect(await rig.refused(1, 'grant', 'give', 'acc_none', '1', '--id', 'x', '--reason', 'r')).to.include('acc_none');
    const store = await openOwnStore(readConfig({ ...rig.env }));
    try {
      expect((await applied(store, reserve(account)))[0]?.status).to.equal('never_topped');
      await rig.json(...give('50', 'two', '--opens-wallet'));
      expect((await applied(store, reserve(account, { amount: 7_000_000n })))[0]?.status).to.equal('done');
    } finally {
      await store.close();
    }
  });

  it('lists what is left, in the order in which it is spent', async () => {
    const { grants } = (await rig.json('grant', 'list', account)) as { grants: readonly object[] };
    expect(grants).to.have.length(2);
    const first = { grant_id: 'one', amount_rub: 300, left_rub: 293, expires_at: '2099-01-31T00:00:00.000Z' };
    expect(grants[0]).to.include({ ...first, reason: 'a trial' });
    expect(grants[1]).to.include({ grant_id: 'two', amount_rub: 50, left_rub: 50, expires_at: null });
    expect(await rig.text('grant', 'list', account)).to.match(/^one +300\.00 RUB +293\.00 RUB .* a trial$/m);
    expect(await rig.text('wallet', 'show', account)).to.match(/^granted +350\.00 RUB, 343\.00 RUB of it left$/m);
  });

  it('gives an amount each month, the first at once', async () => {
    const { account_id } = await rig.json('account', 'create', '--name', 'staff');
    const id = String(account_id);
    staff = id;
    const monthly = (rub: string) => rig.json('grant', 'monthly', id, rub, '--reason', 'for staff');
    const wanted = { amount_rub: 500, reason: 'for staff' };
    expect(await monthly('500')).to.deep.include({ monthly_grant: wanted, repeated: false });
    expect(await monthly('600')).to.deep.include({ monthly_grant: { ...wanted, amount_rub: 600 }, repeated: true });
    expect(await rig.json('wallet', 'show', id)).to.include({ balance_rub: 500 });
    expect(await rig.text('account', 'show', id)).to.match(/^each month +600\.00 RUB: for staff$/m);
    expect(await monthly('none')).to.include({ monthly_grant: null });
    expect(await rig.json('account', 'show', id)).to.include({ monthly_grant: null });
    expect(await rig.refused(1, 'grant', 'monthly', 'acc_none', '5')).to.include('acc_none');
    expect(await rig.refused(2, 'grant', 'monthly', id, '-5')).to.include('above zero');
  });

  it('says what it did, and when nothing changed', async () => {
    const { account_id } = await rig.json('account', 'create', '--name', 'words');
    const id = String(account_id);
    expect(await rig.text('grant', 'list', id)).to.equal('No grants.\n');
    const say = async (...words: string[]) => (await rig.text('grant', ...words)).split('\n')[0];
    const one = ['give', id, '20', '--id', 'w1', '--reason', 'r'];
    expect(await say(...one)).to.equal('Gave 20.00 RUB.');
    expect(await say(...one)).to.equal('Grant w1 was already given; nothing changed.');
    expect(await rig.text('grant', 'list', id)).to.match(/^w1 +20\.00 RUB +20\.00 RUB +\S+ +never +r$/m);
    expect(await say('revoke', id, 'w1', '--reason', 'r')).to.equal('Took back 20.00 RUB.');
    expect(await say('revoke', id, 'w1', '--reason', 'r')).to.equal('Grant w1 was over; nothing changed.');
    const next = 'from the next month on the account gets 7.00 RUB each month.';
    expect(await say('monthly', id, '7')).to.match(/^Gave 7\.00 RUB until \S+Z; from the next month on/);
    expect(await say('monthly', id, '7')).to.equal(`This month was given before; ${next}`);
    expect(await rig.json('grant', 'monthly', id, '7')).to.deep.include({
      account_id: id,
      monthly_grant: { amount_rub: 7, reason: 'monthly allowance' },
    });
    expect(await say('monthly', id, 'none')).to.equal(
      'No more grants are given each month; the one of this month stays.',
    );
    expect(await rig.json('grant', 'monthly', id, 'none')).to.deep.equal({
      account_id: id,
      monthly_grant: null,
      grant_id: null,
      repeated: false,
    });
  });

  it('takes back the rest once', async () => {
    const revoke = ['grant', 'revoke', account, 'one', '--reason', 'by mistake'] as const;
    expect(await rig.json(...revoke)).to.include({ taken_rub: 293, balance_rub: 50, repeated: false });
    expect(await rig.json(...revoke)).to.include({ taken_rub: 0, balance_rub: 50, repeated: true });
    expect(await rig.refused(1, 'grant', 'revoke', account, 'none', '--reason', 'r')).to.include('no such grant');
    expect(await rig.json('ledger', 'verify')).to.include({ ok: true });
    const store = await openOwnStore(readConfig({ ...rig.env }));
    const all = await store.auditLog.page({ limit: 50 });
    const own = all.filter(({ account: of }) => of === account || of === staff);
    const lines = own.filter(({ action }) => action !== 'account.create');
    await store.close();
    const given = { rub_micro: '300000000', reason: 'a trial', until: Date.parse('2099-01-31T00:00Z'), opens: false };
    const opening = { rub_micro: '50000000', reason: 'a trial', until: null, opens: true };
    expect(lines.map(({ action, detail }) => [action, JSON.parse(detail)])).to.deep.equal([
      ['grant.revoke', { grant: 'one', rub_micro: '293000000', reason: 'by mistake' }],
      ['grant.monthly', { rub_micro: 'none' }],
      ['grant.monthly', { rub_micro: '600000000', reason: 'for staff' }],
      ['grant.monthly', { rub_micro: '500000000', reason: 'for staff' }],
      ['grant.give', { grant: 'two', ...opening }],
      ['grant.give', { grant: 'one', ...given }],
    ]);
    for (const { action, target, account: of } of lines) {
      expect(target).to.equal(of);
      if (action !== 'grant.monthly') expect(of).to.equal(account);
    }
  });
});
