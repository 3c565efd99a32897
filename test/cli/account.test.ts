// `tollgate account`, in both modes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openStore } from '../../lib/store/open.ts';
import { createRig, type Rig } from './command.ts';

describe('cli account', () => {
  let rig: Rig;

  before(async () => {
    rig = await createRig();
    await (await openStore(rig.databaseUrl, { inProcess: true })).close();
  });

  after(() => rig.close());

  it('creates, shows, suspends, resumes and lists accounts', async () => {
    expect(await rig.text('account', 'list')).to.equal('No accounts.\n');
    const created = await rig.json('account', 'create', '--name', ' Acme "north" ');
    expect(Object.keys(created)).to.deep.equal(['account_id']);
    const id = String(created.account_id);
    const shown = await rig.json('account', 'show', id);
    expect(shown).to.deep.include({
      account_id: id,
      name: 'Acme "north"',
      status: 'active',
      auto_topup: { enabled: false, amount_rub: 0, threshold_rub: 0 },
    });
    expect(shown.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(await rig.json('account', 'suspend', id)).to.deep.equal({ ...shown, status: 'suspended' });
    expect(await rig.text('account', 'suspend', id)).to.match(/^status +suspended$/m);
    expect(await rig.json('wallet', 'show', id)).to.include({ status: 'suspended' });
    expect(await rig.json('account', 'resume', id)).to.deep.equal(shown);
    expect(await rig.text('account', 'show', id)).to.match(/^name +Acme "north"$/m);
    const second = (await rig.text('account', 'create', '--name', 'second')).match(/^account +(acc_\w+)$/m)?.[1];
    const { accounts } = (await rig.json('account', 'list')) as { accounts: { account_id: string }[] };
    expect(accounts.map(({ account_id }) => account_id)).to.deep.equal([id, second]);
    const [head, ...rows] = (await rig.text('account', 'list')).trimEnd().split('\n');
    expect(head).to.match(/^account +status +created +name$/);
    expect(rows.map((row) => row.indexOf('active'))).to.deep.equal([head!.indexOf('status'), head!.indexOf('status')]);
  });

  it('shows the automatic top-up of the account', async () => {
    const id = String((await rig.json('account', 'create', '--name', 'automatic')).account_id);
    const store = await openStore(rig.databaseUrl, { inProcess: true });
    await store.accounts.setAutoTopup(id, { enabled: true, amount: 500_000_000n, threshold: 99_500_000n });
    await store.close();
    expect((await rig.json('account', 'show', id)).auto_topup).to.deep.equal({
      enabled: true,
      amount_rub: 500,
      threshold_rub: 99.5,
    });
    expect(await rig.text('account', 'show', id)).to.match(/^auto top-up +500\.00 RUB below 99\.50 RUB$/m);
  });

  it('finds accounts by name in read-only commands only', async () => {
    const id = String((await rig.json('account', 'create', '--name', 'by name')).account_id);
    await rig.json('wallet', 'topup', id, '1000', '--payment-id', 'by-name');
    for (const command of [
      ['account', 'show'],
      ['key', 'list'],
      ['wallet', 'show'],
      ['ledger', 'list'],
    ]) {
      const { account_id } = await rig.json(...command, 'by name');
      expect(account_id, command.join(' ')).to.equal(id);
      expect(await rig.refused(1, ...command, 'nobody')).to.equal('tollgate: There is no account "nobody".\n');
    }
    expect(await rig.refused(1, 'account', 'suspend', 'by name')).to.equal(
      'tollgate: There is no account "by name". An id begins with acc_: `tollgate account list` shows those of all accounts.\n',
    );
  });

  it('refuses unknown accounts and empty names', async () => {
    for (const command of ['show', 'suspend', 'resume']) {
      expect(await rig.refused(1, 'account', command, 'acc_none')).to.equal(
        'tollgate: There is no account "acc_none".\n',
      );
    }
    expect(await rig.refused(2, 'account', 'create', '--name', ' ')).to.include('It is empty.');
    expect(await rig.json('account', 'list'))
      .to.have.property('accounts')
      .with.length(4);
  });

  it('limits the requests of an account, one by one', async () => {
    const id = String((await rig.json('account', 'create', '--name', 'limiting')).account_id);
    const none = { per_minute: null, at_once: null, wait_seconds: null, addresses: null };
    expect(await rig.json('account', 'show', id)).to.deep.include({ requests: none });
    await rig.json('account', 'limit', id, '--per-minute', '300', '--at-once', '20');
    expect(await rig.json('account', 'limit', id, '--wait', '10', '--per-minute', 'none')).to.deep.include({
      requests: { ...none, at_once: 20, wait_seconds: 10 },
    });
    expect(await rig.text('account', 'show', id)).to.contain('20 calls at once, others wait 10 s');
    expect(await rig.json('account', 'limit', id, '--wait', 'none', '--at-once', 'none')).to.deep.include({
      requests: none,
    });
    expect(await rig.refused(2, 'account', 'limit', id)).to.include('at least one limit');
    expect(await rig.refused(1, 'account', 'limit', 'acc_none', '--at-once', '1')).to.include('There is no account');
  });

  it('gives an account a price list of the catalog, and takes it off; each is in the audit log', async () => {
    const id = String((await rig.json('account', 'create', '--name', 'partner')).account_id);
    expect(await rig.json('account', 'show', id)).to.include({ price_list: null });
    expect(await rig.refused(1, 'account', 'price-list', id, 'partner')).to.include(
      'There is no price list "partner" in the catalog',
    );
    const catalog = join(rig.folder, 'catalog');
    mkdirSync(catalog);
    writeFileSync(join(catalog, 'lists.json'), '{ "priceLists": { "partner": { "factor": "0.9" } } }');
    rig.env.CATALOG_DIR = catalog;
    try {
      expect(await rig.refused(1, 'account', 'price-list', id, 'other')).to.include(`${catalog}: it has partner.`);
      expect(await rig.json('account', 'price-list', id, 'partner')).to.include({ price_list: 'partner' });
      expect(await rig.text('account', 'show', id)).to.match(/^price list +partner$/m);
      expect(await rig.json('account', 'price-list', id, 'none')).to.include({ price_list: null });
      expect(await rig.refused(1, 'account', 'price-list', 'acc_none', 'none')).to.include('There is no account');
    } finally {
      delete rig.env.CATALOG_DIR;
    }
    const store = await openStore(rig.databaseUrl, { inProcess: true });
    const rows = (await store.auditLog.page({ limit: 5 })).filter(({ account }) => account === id);
    await store.close();
    expect(rows.map(({ action, detail }) => [action, JSON.parse(detail)])).to.deep.equal([
      ['account.price_list', { price_list: 'none', before: 'partner' }],
      ['account.price_list', { price_list: 'partner', before: 'none' }],
      ['account.create', { name: 'partner' }],
    ]);
  });

  it('gives an account a price list that operators wrote on pages', async () => {
    const id = String((await rig.json('account', 'create', '--name', 'reseller')).account_id);
    const store = await openStore(rig.databaseUrl, { inProcess: true });
    const text = JSON.stringify({ priceLists: { reseller: { factor: '0.9' } } });
    await store.catalogVersions.add({ seq: 1, at: 1, user: 'usr_1', note: 'a list', text });
    await store.close();
    expect(await rig.json('account', 'price-list', id, 'reseller')).to.include({ price_list: 'reseller' });
  });
});
