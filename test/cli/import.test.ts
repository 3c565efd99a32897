// `tollgate import`, in both modes: the report, what is written beside the store, repeats and refusals.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { readConfig } from '../../lib/config.ts';
import { openOwnStore } from '../../lib/store/open.ts';
import { NEW_API, OLD_KEYS } from '../moving/new-api.ts';
import { createRig, type Rig } from './command.ts';

describe('cli import', () => {
  let rig: Rig;
  let file: string;
  let catalog: string;
  let command: readonly string[];

  before(async () => {
    rig = await createRig();
    // Without models of the shipped catalog.
    rig.env.CATALOG_DIR = join(rig.folder, 'empty');
    file = join(rig.folder, 'one-api.db');
    catalog = join(rig.folder, 'imported.json');
    const db = new DatabaseSync(file);
    db.exec(NEW_API);
    db.close();
    command = ['import', 'new-api', file, '--rate', '81.4', '--catalog-out', catalog];
  });
  after(() => rig.close());

  it('says what it would do, and does nothing, not even create a store', async () => {
    const text = await rig.text(...command, '--dry-run');
    expect(text).to.match(/^1 +acc_[0-9a-f]{24} +Ann +97\.68 +97\.68 +yes +2 +vip +planned$/m);
    expect(text).to.match(/^2 +acc_[0-9a-f]{24} +user 2|bob/m);
    expect(text).to.match(/^ {2}second factors \(1\): people set up theirs when they accept an invitation$/m);
    expect(text).to.include('Nothing was written.');
    expect([join(rig.folder, 'test.db'), catalog].filter(existsSync)).to.deep.equal([]);
  });

  it('moves accounts in, with a report whose sums are equal, and clean books', async () => {
    const json = await rig.json(...command, '--invite');
    expect(json).to.deep.include({
      ...{ ok: true, program: 'new-api', rate_rub: 81.4, dry_run: false },
      sums: { accounts: 2, before: '97.680488', after: '97.680488' },
      ledger: { ok: true, wallets: 2, entries: 3 },
    });
    const [ann, bob] = json.accounts as Record<string, unknown>[];
    expect(ann).to.deep.include({
      ...{ user: '1', name: 'Ann', email: 'ann@example.com', state: 'moved', equal: true, after: '97.68' },
      price_list: 'vip',
    });
    expect(ann?.invitation).to.match(/^http.*\/setup\?token=/);
    expect(bob).to.deep.include({ suspended: true, after_rub: 0.000488 });
    expect(bob).to.not.have.property('invitation');
    expect(JSON.stringify(json)).to.not.include(OLD_KEYS[0]);
    expect(await rig.text('ledger', 'verify')).to.include('adds up');
    expect(await rig.json('account', 'show', String(ann?.account_id))).to.deep.include({ price_list: 'vip' });
    const store = await openOwnStore(readConfig(rig.env), { inProcess: true });
    const log = await store.auditLog.page({ limit: 10 });
    await store.close();
    const actions = log.map(({ action }) => action);
    expect(actions).to.have.members(['account.import', 'account.import', 'owner.invite']);
  });

  it('keeps the keys of upstreams out of the catalog, in a file for its owner only', () => {
    const variables = join(rig.folder, 'imported.env');
    expect(readFileSync(variables, 'utf8')).to.equal(
      'NEW_API_7_1_API_KEY=sk-one\nNEW_API_7_2_API_KEY=sk-two\nNEW_API_8_API_KEY=sk-deep\n',
    );
    expect(statSync(variables).mode & 0o777).to.equal(0o600);
    expect(readFileSync(catalog, 'utf8'))
      .to.include('${' + 'NEW_API_8_API_KEY}')
      .and.not.include('sk-deep');
  });

  it('changes nothing when it is repeated, and leaves an edited catalog alone', async () => {
    writeFileSync(catalog, '{}');
    const text = await rig.text(...command);
    expect(text).to.match(/^1 +acc_.* +there$/m);
    expect(text).to.match(/^keys +0 moved, 2 there before/m);
    expect(text).to.match(/^catalog +.*imported\.json exists, and stays as it is/m);
    expect(readFileSync(catalog, 'utf8')).to.equal('{}');
  });

  it('records an account when it is repeated, if the run before died first, and only then', async () => {
    const linesOf = async () => {
      const store = await openOwnStore(readConfig(rig.env), { inProcess: true });
      const log = await store.auditLog.page({ limit: 100 });
      await store.close();
      return log.flatMap(({ action, account }) => (action === 'account.import' ? [account] : []));
    };
    const before = await linesOf();
    const db = new DatabaseSync(join(rig.folder, 'test.db'));
    db.exec('DROP TRIGGER audit_remains');
    db.prepare("DELETE FROM audit_log WHERE action = 'account.import' AND account = ?").run(before[0] ?? '');
    db.close();
    expect(await linesOf()).to.have.length(before.length - 1);
    await rig.text(...command);
    await rig.text(...command);
    expect((await linesOf()).toSorted()).to.deep.equal(before.toSorted());
  });

  it('fails if a balance is not the same any more', async () => {
    const { code, stdout, stderr } = await rig.run(...command.map((word) => (word === '81.4' ? '90' : word)));
    expect([code, stderr]).to.deep.equal([1, '']);
    expect(stdout).to.match(/^1 +acc_\S+ +Ann +108\.00 +97\.68 +NO +0 +refused$/m);
    expect(stdout).to.match(/97\.68 RUB moved in before, and the store says 108\.00 RUB now/);
  });

  it('puts nobody on the list of another installation that has the same name', async () => {
    writeFileSync(catalog, '{"priceLists":{"vip":{"factor":"0.01"}}}');
    const json = await rig.json(...command, '--installation', 'second');
    const [ann] = json.accounts as Record<string, unknown>[];
    expect(ann).to.include({ state: 'moved' }).and.to.not.have.property('price_list');
    const left = (json.left_out as { what: string }[]).map(({ what }) => what);
    expect(left).to.include('price list of the group vip');
    expect(await rig.json('account', 'show', String(ann?.account_id))).to.deep.include({ price_list: null });
  });

  it('writes a catalog that a start accepts, beside models of other files', async () => {
    const folder = join(rig.folder, 'catalog');
    const into = ['import', 'new-api', file, '--rate', '81.4', '--installation', 'other', '--completion-ratio', '8.5'];
    const env = { ...rig.env, CATALOG_DIR: folder };
    const { mkdirSync } = await import('node:fs');
    mkdirSync(folder);
    const model = { id: 'gpt-4o', type: 'text', provider: 'Own', price: { input: '1', output: '2' }, routes: [] };
    writeFileSync(join(folder, 'own.json'), JSON.stringify({ models: [model] }));
    const { runCommand } = await import('./command.ts');
    const { code, stdout } = await runCommand([...into, '--json'], env);
    expect(code).to.equal(0);
    const { catalog: report, left_out: left } = JSON.parse(stdout);
    expect(report).to.deep.include({ file: join(folder, 'imported.json'), state: 'written', models: 4, refusal: null });
    const { models } = JSON.parse(readFileSync(report.file, 'utf8'));
    const flash = models.find(({ id }: { id: string }) => id === 'gemini-2.5-flash');
    expect(flash.price, 'by the ratio').to.deep.equal({ input: '24.42', output: '207.57' });
    expect(left.map(({ what }: { what: string }) => what)).to.include('models gpt-4o');
    expect((await runCommand(['catalog', 'check'], env)).code).to.equal(0);
  });

  it('fails if the books do not add up, and says whose', async () => {
    const db = new DatabaseSync(join(rig.folder, 'test.db'));
    db.exec('UPDATE wallets SET charged = charged + 1, avail = avail - 1');
    const { code, stdout } = await rig.run(...command);
    db.exec('UPDATE wallets SET charged = charged - 1, avail = avail + 1');
    db.close();
    expect(code).to.equal(1);
    expect(stdout).to.match(/^ledger +DOES NOT ADD UP: wallet acc_\w+, .+; see "tollgate ledger verify"$/m);
  });

  it('explains what is wrong', async () => {
    expect(await rig.refused(2, 'import', 'new-api', file)).to.include("required option '--rate <rub>'");
    expect(await rig.refused(2, 'import', 'newapi', file, '--rate', '80')).to.include(
      'Known are new-api, one-api, one-hub',
    );
    expect(await rig.refused(2, ...command, '--installation', 'A b')).to.include('lower-case letters');
    expect(await rig.refused(2, ...command, '--completion-ratio', '0')).to.include('above zero');
    expect(await rig.refused(1, 'import', 'one-api', file, '--rate', '80')).to.include('looks like a store of new-api');
    expect(await rig.refused(1, 'import', 'new-api', join(rig.folder, 'none'), '--rate', '80')).to.include('ENOENT');
  });
});
