// Which store a command uses: it names it, creates none by mistake, and writes only if needed.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { describeStore, openStore } from '../../lib/store/open.ts';
import { longer } from '../../testkit/long.ts';
import { createBareMongoDatabase } from '../../testkit/mongod.ts';
import { newWallet } from '../contract/store/context.ts';
import { createRig, expectRefusal, type Rig, runCommand } from './command.ts';

const COMMANDS: readonly string[][] = [
  ['account', 'list'],
  ['account', 'show', 'acc_1'],
  ['account', 'suspend', 'acc_1'],
  ['account', 'resume', 'acc_1'],
  ['key', 'issue', 'acc_1', '--name', 'n'],
  ['key', 'list', 'acc_1'],
  ['key', 'revoke', 'key_1'],
  ['wallet', 'topup', 'acc_1', '1000', '--payment-id', 'p'],
  ['wallet', 'adjust', 'acc_1', '5', '--reason', 'r'],
  ['wallet', 'show', 'acc_1'],
  ['charge', 'show', 'req_1'],
  ['ledger', 'list', 'acc_1'],
  ['ledger', 'verify'],
];
const MISSING =
  /^tollgate: (?:DATABASE_URL: )?There is no Tollgate store (at|in the database) [^:]+: the server, "tollgate account create" and "tollgate import" make one/;

describe('cli stores', () => {
  let rig: Rig;
  before(async () => {
    rig = await createRig();
  });
  after(() => rig.close());

  const on = (databaseUrl: string) => ({ ...rig.env, DATABASE_URL: databaseUrl });

  it('refuses a missing file in every command but account create, and creates nothing', async () => {
    const path = join(rig.folder, 'mistyped', 'a.db');
    const commands = [...COMMANDS, ['store', 'backup', join(rig.folder, 'copy.db')]];
    for (const args of commands) {
      const { code, stdout, stderr } = await runCommand(args, on(`sqlite:${path}`));
      expect([code, stdout], args.join(' ')).to.deep.equal([1, '']);
      expect(stderr, args.join(' '))
        .to.match(MISSING)
        .and.to.match(/^tollgate: DATABASE_URL: /)
        .and.to.include(path);
    }
    const target = `sqlite:${join(rig.folder, 'target.db')}`;
    expect(await rig.refused(1, 'store', 'copy', `sqlite:${path}`, target)).to.match(MISSING);
    expect(readdirSync(rig.folder)).to.deep.equal([]);
    const { code, stdout } = await runCommand(['account', 'create', '--name', 'first', '--json'], on(`sqlite:${path}`));
    expect(code).to.equal(0);
    expect(JSON.parse(stdout).store).to.equal(`sqlite:${path}`);
  }).timeout(120_000);

  it('refuses a database that is not a Tollgate store, and does not change it', async () => {
    const database = await createBareMongoDatabase();
    const client = await MongoClient.connect(database.url);
    try {
      const readers = [
        ['ledger', 'verify'],
        ['account', 'list'],
        ['store', 'backup', join(rig.folder, 'c.db')],
      ];
      for (const args of longer(readers.slice(0, 1), readers)) {
        expect((await runCommand(args, on(database.url))).stderr).to.match(MISSING);
      }
      const target = `sqlite:${join(rig.folder, 'target.db')}`;
      expect(await rig.refused(1, 'store', 'copy', database.url, target)).to.match(MISSING);
      expect(await client.db().listCollections().toArray()).to.deep.equal([]);
      expect((await runCommand(['account', 'create', '--name', 'first'], on(database.url))).code).to.equal(0);
      const { stdout } = await runCommand(['ledger', 'verify', '--json'], on(database.url));
      expect(JSON.parse(stdout)).to.include({ ok: true, wallets: 1, store: database.url.replace(/\?.*/, '') });
    } finally {
      await client.close();
      await database.remove();
    }
  }).timeout(120_000);

  it('verifies a file without writing to it or beside it', async () => {
    const path = join(rig.folder, 'kept.db');
    const store = await openStore(`sqlite:${path}`, { inProcess: true });
    const wallet = await newWallet(store);
    const backup = join(rig.folder, 'backup.db');
    await store.backup(backup);
    await store.close();
    const before = readFileSync(backup);
    const names = readdirSync(rig.folder);
    const { stdout } = await runCommand(['ledger', 'verify', '--json'], on(`sqlite:${backup}`));
    expect(JSON.parse(stdout)).to.deep.equal({
      ok: true,
      wallets: 1,
      entries: 1,
      drift_rub: 0,
      store: `sqlite:${backup}`,
    });
    expect(readFileSync(backup).equals(before)).to.equal(true);
    expect(readdirSync(rig.folder)).to.deep.equal(names);
    expect((await runCommand(['wallet', 'show', wallet], on(`sqlite:${backup}`))).stdout).to.match(
      new RegExp(`\nStore: sqlite:${backup}\n$`),
    );
  }).timeout(60_000);

  it('verifies a backup that is named, not the store in use', async () => {
    const path = join(rig.folder, 'in-use.db');
    const store = await openStore(`sqlite:${path}`, { inProcess: true });
    await newWallet(store);
    const backup = join(rig.folder, 'earlier.db');
    await store.backup(backup);
    await newWallet(store);
    await store.close();
    const before = readFileSync(backup);
    const verify = (...args: string[]) => runCommand(['ledger', 'verify', ...args, '--json'], on(`sqlite:${path}`));
    expect(JSON.parse((await verify()).stdout)).to.include({ ok: true, wallets: 2, store: `sqlite:${path}` });
    expect(JSON.parse((await verify(backup)).stdout)).to.include({ ok: true, wallets: 1, store: `sqlite:${backup}` });
    expect(readFileSync(backup).equals(before)).to.equal(true);
    const missing = await verify(join(rig.folder, 'mistyped.db'));
    expect([missing.code, missing.stdout]).to.deep.equal([1, '']);
    expect(missing.stderr).to.match(MISSING).and.to.not.include('DATABASE_URL');
    const cut = join(rig.folder, 'cut.db');
    writeFileSync(cut, before.subarray(0, before.length / 2));
    expect((await verify(cut)).code).to.equal(1);
    for (const url of [`sqlite:${path}`, 'mongodb://ann:s3cret@host/t', 'mongodb+srv://ann:s3cret@host/t']) {
      const refused = await verify(url);
      expectRefusal(refused, 2);
      expect(refused.stderr).to.include('give the file of a backup').and.to.not.include('s3cret');
    }
  }).timeout(60_000);

  it('copies without writing to the source', async () => {
    const path = join(rig.folder, 'source.db');
    const store = await openStore(`sqlite:${path}`, { inProcess: true });
    await newWallet(store);
    await store.close();
    const before = readFileSync(path);
    const target = `sqlite:${join(rig.folder, 'copied.db')}`;
    const json = await rig.json('store', 'copy', `sqlite:${path}`, target);
    expect(json).to.include({ ok: true, from: `sqlite:${path}`, to: target, entries: 1 });
    expect(readFileSync(path).equals(before)).to.equal(true);
  }).timeout(60_000);

  it('refuses a source with live gateways and names them; --force copies with a warning', async () => {
    const source = `sqlite:${join(rig.folder, 'living.db')}`;
    const target = `sqlite:${join(rig.folder, 'forced.db')}`;
    const store = await openStore(source, { inProcess: true });
    await newWallet(store);
    await store.owners.renew({ id: 'own_gone', leaseMs: 1, alone: false });
    for (const id of ['own_one', 'own_two']) await store.owners.renew({ id, leaseMs: 600_000, alone: false });
    const line = await rig.refused(1, 'store', 'copy', source, target);
    expect(line).to.include('Gateways are using the source (own_one, own_two): stop them first.');
    expect(existsSync(target.slice('sqlite:'.length))).to.equal(false);
    const json = await rig.json('store', 'copy', source, target, '--force');
    expect(json).to.deep.include({ ok: true, entries: 1, beside: ['own_one', 'own_two'] });
    expect(json.warning).to.include('may be missing');
    for (const id of ['own_one', 'own_two']) await store.owners.remove(id);
    await store.close();
    const again = `sqlite:${join(rig.folder, 'again.db')}`;
    expect(await rig.json('store', 'copy', source, again)).to.not.have.any.keys('beside', 'warning');
  }).timeout(60_000);

  it('names a store without the password and the options of its URL', () => {
    const names: readonly [url: string, name: string][] = [
      ['sqlite:/data/a.db', 'sqlite:/data/a.db'],
      ['SQLITE:./a.db', `sqlite:${join(process.cwd(), 'a.db')}`],
      ['mongodb://db1,db2:27018/tollgate', 'mongodb://db1,db2:27018/tollgate'],
      ['mongodb://ann:s3cret@db1,db2/t?replicaSet=r', 'mongodb://ann:***@db1,db2/t'],
      ['mongodb+srv://ann:s3cret@host', 'mongodb+srv://ann:***@host'],
      ['mongodb://ann@host/t?authMechanism=X', 'mongodb://ann@host/t'],
      ['mongodb://ann:a@b:c/d?e@host/t?x=1', 'mongodb://ann:***@host/t'],
      ['mongodb://ann:se?ret@host/t', 'mongodb://ann:***@host/t'],
      ['mongodb://host/t?tlsCertificateKeyFilePassword=s3cret', 'mongodb://host/t'],
    ];
    for (const [url, name] of names) expect(describeStore(url)).to.equal(name);
  });
});
