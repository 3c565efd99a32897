// `tollgate key`, in both modes.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { isWellFormedKey } from '../../lib/accounts/key.ts';
import { DEFAULT_ZONE, NO_LIMITS } from '../../lib/money/key-limits.ts';
import { findPeriod } from '../../lib/money/period.ts';
import { openStore } from '../../lib/store/open.ts';
import { longer } from '../../testkit/long.ts';
import { applied, charge, RUB, topup } from '../contract/store/context.ts';
import { createRig, type Rig, runCommand, spawnCommand } from './command.ts';

describe('cli key', () => {
  let rig: Rig;
  let account: string;

  before(async () => {
    rig = await createRig();
    account = String((await rig.json('account', 'create', '--name', 'keys')).account_id);
  });

  after(() => rig.close());

  it('issues, lists and revokes keys', async () => {
    expect(await rig.text('key', 'list', account)).to.equal('No keys.\n');
    const issued = await rig.json('key', 'issue', account, '--name', 'production');
    expect(Object.keys(issued)).to.deep.equal(['key_id', 'key']);
    const id = String(issued.key_id);
    const key = String(issued.key);
    expect(isWellFormedKey('tg-', key)).to.equal(true);
    const { keys } = (await rig.json('key', 'list', account)) as { keys: Record<string, unknown>[] };
    expect(keys).to.have.length(1);
    expect(keys[0]).to.deep.include({
      key_id: id,
      name: 'production',
      last4: key.slice(-4),
      status: 'active',
      revoked_at: null,
      requests_count: 0,
      last_used_at: null,
    });
    expect(await rig.text('key', 'list', account)).to.match(
      new RegExp(`^${id} +…${key.slice(-4)} +active +0 +never +none +production$`, 'm'),
    );
    expect(await rig.json('key', 'revoke', id)).to.deep.equal({ key_id: id, status: 'revoked', repeated: false });
    expect(await rig.json('key', 'revoke', id)).to.deep.equal({ key_id: id, status: 'revoked', repeated: true });
    expect(await rig.text('key', 'revoke', id)).to.include('was already revoked');
    expect(await rig.text('key', 'list', account)).to.match(new RegExp(`^${id} +….... +revoked`, 'm'));
  });

  it('issues a key with limits, changes the given ones, and shows them', async () => {
    const owner = String((await rig.json('account', 'create', '--name', 'limits')).account_id);
    const wish = ['--expires', '2100-01-01', '--models', 'sandbox-lite, sandbox-heavy'];
    const { key_id: id } = await rig.json('key', 'issue', owner, '--name', 'limited', ...wish);
    const listed = async () => ((await rig.json('key', 'list', owner)) as { keys: object[] }).keys[0];
    expect(await listed()).to.deep.include({
      expires_at: '2100-01-01T00:00:00.000Z',
      models: ['sandbox-lite', 'sandbox-heavy'],
    });
    expect(await rig.text('key', 'list', owner)).to.match(
      / until 2100-01-01T00:00:00\.000Z; only sandbox-lite, sandbox-heavy +limited$/m,
    );
    const changed = await rig.json('key', 'limit', String(id), '--models', 'all');
    expect(changed).to.include({ key_id: id, expires_at: '2100-01-01T00:00:00.000Z', models: null });
    expect(await rig.text('key', 'limit', String(id), '--expires', 'never')).to.include(`Limits of key ${id}: none.`);
    expect(await listed()).to.deep.include({ expires_at: null, models: null, status: 'active' });
    const store = await openStore(`sqlite:${join(rig.folder, 'test.db')}`, { inProcess: true });
    await store.keys.limit(String(id), { ...NO_LIMITS, expiresAt: 1 }, 0);
    await store.close();
    expect(await listed()).to.deep.include({ status: 'expired', revoked_at: null });
    expect(await rig.refused(1, 'key', 'limit', String(id), '--expires', 'never')).to.include('which is final');
  });

  it('limits end users and requests, and removes one limit after the other', async () => {
    const owner = String((await rig.json('account', 'create', '--name', 'limiting')).account_id);
    const all = ['--user-budget', '50', '--user-reset', 'month', '--per-minute', '9', '--at-once', '2', '--wait', '5'];
    const { key_id: id } = await rig.json(
      'key',
      'issue',
      owner,
      '--name',
      'n',
      ...all,
      '--addresses',
      '10.0.0.0/8, ::1',
    );
    expect(await rig.text('key', 'list', owner)).to.contain(
      '50.00 RUB a month for each end user; 9 requests a minute; 2 calls at once, others wait 5 s; only from 10.0.0.0/8, ::1',
    );
    const removed = await rig.json(
      'key',
      'limit',
      String(id),
      '--user-budget',
      'none',
      '--wait',
      'none',
      '--addresses',
      'none',
    );
    expect(removed).to.deep.include({
      user_budget: null,
      requests: { per_minute: 9, at_once: 2, wait_seconds: null, addresses: null },
    });
    await rig.json('key', 'limit', String(id), '--per-minute', 'none', '--at-once', 'none');
    expect(await rig.text('key', 'limit', String(id), '--expires', 'never')).to.include(': none.');
    expect(await rig.refused(1, 'key', 'limit', String(id), '--addresses', 'home')).to.include('"home"');
    expect(await rig.refused(1, 'key', 'limit', String(id), '--wait', '5')).to.include('only where calls at once');
    expect(await rig.refused(2, 'key', 'limit', String(id), '--user-reset', 'day')).to.include('--user-budget');
  });

  it('warns about models that the catalog lacks, and about an unreadable catalog, after the change', async () => {
    const names = ['--models', 'sandbox-lite,sandbox-light,none-such'];
    const issued = await rig.run('key', 'issue', account, '--name', 'misspelt', ...names, '--json');
    expect(issued.code).to.equal(0);
    expect(issued.stderr).to.equal(
      'tollgate: warning: there is no such model in CATALOG_DIR: sandbox-light, none-such\n',
    );
    const { key_id: id } = JSON.parse(issued.stdout) as { key_id: string };
    const limited = await rig.run('key', 'limit', id, '--models', 'none-such');
    expect(limited.stdout).to.include('only none-such');
    expect(limited.stderr).to.match(/^tollgate: warning: .*: none-such\n$/);
    const env = { ...rig.env, CATALOG_DIR: join(rig.folder, 'nowhere') };
    const unread = await runCommand(['key', 'limit', id, '--models', 'none-such'], env);
    expect([unread.code, unread.stdout]).to.deep.equal([0, limited.stdout]);
    expect(unread.stderr).to.match(/^tollgate: warning: the models were not compared with the catalog: .*ENOENT/);
    expect((await rig.run('key', 'limit', id, '--models', 'all')).stderr).to.equal('');
  });

  it('sets a budget and shows what is spent', async () => {
    const owner = String((await rig.json('account', 'create', '--name', 'budget')).account_id);
    const wish = ['--budget', '12.5', '--reset', 'day'];
    const { key_id: id } = await rig.json('key', 'issue', owner, '--name', 'limited', ...wish);
    const listed = async () => ((await rig.json('key', 'list', owner)) as { keys: object[] }).keys[0];
    const budget = { rub: 12.5, reset: 'day', time_zone: 'Europe/Moscow' };
    expect(await listed()).to.deep.include({ budget, spent_rub: 0 });
    expect(await rig.text('key', 'list', owner)).to.include(' 0.00 RUB of 12.50 RUB a day ');
    expect(await rig.json('key', 'limit', String(id), '--reset', 'none')).to.deep.include({
      budget: { ...budget, reset: 'none' },
    });
    expect(await rig.text('key', 'limit', String(id), '--budget', '20')).to.include(': 20.00 RUB.');
    expect(await rig.json('key', 'limit', String(id), '--budget', 'none')).to.deep.include({ budget: null });
    expect(await listed()).to.deep.include({ budget: null, spent_rub: null });
    expect(await rig.refused(2, 'key', 'limit', String(id), '--budget', '-5')).to.include('above zero');
    expect(await rig.refused(2, 'key', 'limit', String(id), '--reset', 'year')).to.include('Allowed choices');
    expect(await rig.refused(2, 'key', 'limit', String(id), '--reset', 'day')).to.include('--reset needs --budget');
    const forgotten = ['--name', 'unlimited', '--reset', 'month'];
    expect(await rig.refused(2, 'key', 'issue', owner, ...forgotten)).to.include('--reset needs --budget');
    expect(await rig.text('key', 'list', owner)).to.not.include('unlimited');
  });

  it('rotates a key; the old one works for some hours and shares the budget', async () => {
    const owner = String((await rig.json('account', 'create', '--name', 'rotation')).account_id);
    const { key_id: old } = await rig.json('key', 'issue', owner, '--name', 'laptop', '--budget', '5');
    const before = Date.now();
    const rotated = await rig.json('key', 'rotate', String(old), '--hours', '2');
    expect(Object.keys(rotated)).to.deep.equal(['key_id', 'key', 'replaces', 'ends_at']);
    expect(isWellFormedKey('tg-', String(rotated.key))).to.equal(true);
    expect(rotated.replaces).to.equal(old);
    expect(Date.parse(String(rotated.ends_at))).to.be.within(before + 7_200_000, Date.now() + 7_200_000);
    const store = await openStore(`sqlite:${join(rig.folder, 'test.db')}`);
    const budget = { key: String(old), period: 0, limit: 5n * RUB };
    await applied(
      store,
      topup(owner, 1000n * RUB),
      charge(owner, { key: String(rotated.key_id), amount: RUB, budget }),
    );
    await store.close();
    const { keys } = (await rig.json('key', 'list', owner)) as { keys: Record<string, unknown>[] };
    const budgets = keys.map((key) => [key.key_id, key.spent_rub, key.budget_shared_with, key.expires_at]);
    expect(budgets).to.deep.equal([
      [old, 1, null, rotated.ends_at],
      [rotated.key_id, 1, old, null],
    ]);
    expect(await rig.text('key', 'rotate', String(rotated.key_id))).to.match(
      new RegExp(`^key id +key_\\w+\nkey +tg-sk-\\w+\n${rotated.key_id} ends +\\S+Z\nSave the key now`),
    );
    expect(await rig.refused(2, 'key', 'rotate', String(old), '--hours', '0')).to.include('at least 1');
    expect(await rig.refused(1, 'key', 'rotate', String(old), '--hours', '721')).to.include('1 to 720 hours');
    expect(await rig.refused(1, 'key', 'rotate', 'key_none')).to.include('no key "key_none"');
  });

  it('shows the spending of the current period, and the final status of an ended key', async () => {
    const owner = String((await rig.json('account', 'create', '--name', 'periods')).account_id);
    const ids: string[] = [];
    for (const name of ['now', 'before']) {
      const issued = await rig.json('key', 'issue', owner, '--name', name, '--budget', '9', '--reset', 'day');
      ids.push(String(issued.key_id));
    }
    const today = findPeriod(Date.now(), { reset: 'day', zone: DEFAULT_ZONE }).start;
    const [now = '', before = ''] = ids;
    const store = await openStore(`sqlite:${join(rig.folder, 'test.db')}`);
    const spend = (key: string, period: number) =>
      charge(owner, { key, amount: RUB, budget: { key, period, limit: 9n * RUB } });
    await applied(store, topup(owner, 1000n * RUB), spend(now, today), spend(before, today - 1));
    const { keys } = (await rig.json('key', 'list', owner)) as { keys: Record<string, unknown>[] };
    expect(keys.map(({ key_id, spent_rub }) => [key_id, spent_rub])).to.deep.equal([
      [now, 1],
      [before, 0],
    ]);
    await store.keys.limit(now, { ...NO_LIMITS, expiresAt: 1 }, 0);
    await store.keys.revoke(now, Date.now());
    await store.close();
    expect(((await rig.json('key', 'list', owner)) as { keys: object[] }).keys[0]).to.include({ status: 'revoked' });
  });

  it('refuses invalid limits', async () => {
    const { key_id: id } = await rig.json('key', 'issue', account, '--name', 'limits');
    expect(await rig.refused(1, 'key', 'limit', String(id), '--expires', '2001-01-01')).to.include('in the past');
    expect(await rig.refused(2, 'key', 'limit', String(id), '--expires', 'soon')).to.include('Give a day such as');
    expect(await rig.refused(2, 'key', 'limit', String(id), '--models', 'a,,b')).to.include('separated by commas');
    expect(await rig.refused(2, 'key', 'issue', account, '--name', 'x', '--models', '')).to.include('by commas');
    // A new key has no limit that could be lifted.
    expect(await rig.refused(2, 'key', 'issue', account, '--name', 'x', '--budget', 'none')).to.include('plain digits');
    expect(await rig.refused(2, 'key', 'issue', account, '--name', 'x', '--expires', 'never')).to.include('Give a day');
    expect(await rig.refused(1, 'key', 'limit', 'key_none', '--models', 'all')).to.include('no key "key_none"');
  });

  it('shows a key once with a hint to save it, and does not store it', async () => {
    const text = await rig.text('key', 'issue', account, '--name', 'shown');
    const key = text.match(/^key +(tg-sk-\w{49})$/m)?.[1] ?? '';
    expect(isWellFormedKey('tg-', key)).to.equal(true);
    expect(text).to.match(/Save the key now/);
    for (const suffix of ['', '-wal']) {
      const file = await readFile(join(rig.folder, `test.db${suffix}`)).catch(() => Buffer.alloc(0));
      expect(file.includes(key.slice(6, 40))).to.equal(false);
    }
  });

  it('takes the prefix from KEY_PREFIX', async () => {
    const env = { ...rig.env, KEY_PREFIX: 'acme-' };
    const { stdout } = await runCommand(['--json', 'key', 'issue', account, '--name', 'prefixed'], env);
    expect(isWellFormedKey('acme-', JSON.parse(stdout).key)).to.equal(true);
  });

  it('refuses the eleventh active key, and unknown ids', async function () {
    this.timeout(60_000);
    const many = String((await rig.json('account', 'create', '--name', 'many')).account_id);
    const free = longer(0, 2);
    for (let count = 0; count < 10 - free; count += 1) await rig.json('key', 'issue', many, '--name', `${count}`);
    const results = await Promise.all(
      Array.from({ length: 2 * free }, (_, index) =>
        spawnCommand(['key', 'issue', many, '--name', `late ${index}`], rig.env),
      ),
    );
    expect(results.filter(({ code }) => code === 0)).to.have.length(free);
    expect(await rig.refused(1, 'key', 'issue', many, '--name', 'more')).to.include('10 active keys');
    expect(await rig.refused(1, 'key', 'issue', 'acc_none', '--name', 'x')).to.include('no account "acc_none"');
    expect(await rig.refused(1, 'key', 'list', 'acc_none')).to.include('no account "acc_none"');
    expect(await rig.refused(1, 'key', 'revoke', 'key_none')).to.include('no key "key_none"');
  });
});
