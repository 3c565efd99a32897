// `tollgate store copy`: copies a whole store or nothing usable, between both kinds of stores.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { journalPages } from '../../lib/store/journal.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { createBareMongoDatabase, createMongoDatabase, type MongoDatabase } from '../../testkit/mongod.ts';
import {
  AT,
  adjust,
  applied,
  charge,
  giveBack,
  newAccount,
  newId,
  newWallet,
  RUB,
  reserve,
  settle,
  topup,
} from '../contract/store/context.ts';
import { bytesOf, newMedia, piecesOf } from '../contract/store/media.ts';
import { PNG } from '../media/sample-images.ts';
import { createRig, expectRefusal, MAIN, type Rig, runCommand } from './command.ts';

const LONG = longer(1100, 1500);

describe('cli store copy', () => {
  let rig: Rig;
  let source: string;
  const databases: MongoDatabase[] = [];

  before(async () => {
    rig = await createRig();
    source = `sqlite:${join(rig.folder, 'source.db')}`;
    await using(source, fill);
  });
  after(async () => {
    for (const { remove } of databases) await remove();
    await rig.close();
  });

  async function newDatabase(create = createMongoDatabase): Promise<string> {
    const database = await create();
    databases.push(database);
    return database.url;
  }

  it('copies everything to MongoDB and back, row by row', async () => {
    const [target, back] = [await newDatabase(createBareMongoDatabase), `sqlite:${join(rig.folder, 'back.db')}`];
    const json = await rig.json('store', 'copy', source, target);
    const counts = { accounts: 4, wallets: 4, keys: 2, settings: 1 };
    expect(json).to.deep.include({ ok: true, resumed: false, from: source, ...counts });
    expect(json.entries).to.be.greaterThan(LONG);
    expect(json.to).to.match(/^mongodb:\/\/[^?]+\/tollgate_test_\w+$/);
    const wanted = await using(source, everythingOf);
    expect(await using(target, everythingOf)).to.deep.equal(wanted);
    const text = await rig.text('store', 'copy', target, back);
    expect(text)
      .to.match(/^Copied; both stores add up\.\n/)
      .and.to.match(/^entries +\d+$/m);
    expect(await using(back, everythingOf)).to.deep.equal(wanted);
  }).timeout(60_000);

  itLong('copies media files from DATA_DIR, from beside the file, or from a given folder', async () => {
    const folder = join(rig.folder, 'media test');
    const at = (name: string) => `sqlite:${join(folder, name)}`;
    const env = { ...rig.env, DATABASE_URL: at('own.db'), DATA_DIR: join(folder, 'data') };
    const media = newMedia({ expiresAt: Date.now() + 3_600_000 });
    const dataFolder = join(folder, 'data', 'media');
    await using(at('own.db'), (store) => store.media.write(media, piecesOf(PNG)), { mediaFolder: dataFolder });
    const copied = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCommand(['--json', 'store', 'copy', ...args], env);
      expect([code, stderr]).to.deep.equal([0, '']);
      return JSON.parse(stdout);
    };
    const read = (url: string, mediaFolder?: string) =>
      using(url, (store) => bytesOf(store, media.id), { readOnly: true, mediaFolder });
    const beside = join(folder, 'copy.db.media');
    expect(await copied(at('own.db'), at('copy.db'))).to.include({ media: 1, media_folder: beside });
    expect((await read(at('copy.db'))).equals(PNG)).to.equal(true);
    const target = await newDatabase();
    const there = await copied(at('copy.db'), target);
    expect(there).to.include({ media: 1 }).and.not.to.have.property('media_folder');
    expect((await read(target)).equals(PNG)).to.equal(true);
    const named = join(folder, 'named');
    expect(await copied(target, at('third.db'), '--to-media', named)).to.include({ media: 1, media_folder: named });
    expect(await copied(at('third.db'), at('fourth.db')))
      .to.include({ media: 0 })
      .and.not.to.have.property('media_folder');
    const flags = ['--from-media', named, '--to-media', dataFolder];
    expect(await copied(at('third.db'), at('fifth.db'), ...flags)).to.include({ media: 1 });
    expect((await read(at('fifth.db'), dataFolder)).equals(PNG)).to.equal(true);
  })?.timeout(60_000);

  it('refuses a target that is not empty, and leaves it as it is', async () => {
    const target = `sqlite:${join(rig.folder, 'full.db')}`;
    await using(target, (store) => newWallet(store));
    const before = await using(target, everythingOf);
    expect(await rig.refused(1, 'store', 'copy', source, target)).to.include('not empty');
    expect(await rig.refused(1, 'store', 'copy', source, source)).to.include('not empty');
    expect(await using(target, everythingOf)).to.deep.equal(before);
  }).timeout(30_000);

  itLong('continues a killed copy; until then other commands refuse the target', async () => {
    const target = await newDatabase();
    const child = spawn(process.execPath, [MAIN, 'store', 'copy', source, target], { env: rig.env });
    const exited = once(child, 'exit');
    await using(target, (store) => until(async () => child.exitCode !== null || (await countEntries(store)) > 0), {
      unfinished: true,
    });
    child.kill('SIGKILL');
    expect((await exited)[1]).to.equal('SIGKILL');
    const copied = await using(target, countEntries, { unfinished: true });
    expect(copied).to.be.lessThan(await using(source, countEntries));
    const env = { ...rig.env, DATABASE_URL: target };
    expect((await runCommand(['ledger', 'verify'], env)).stderr).to.include('unfinished copy');
    expect(await rig.json('store', 'copy', source, target)).to.deep.include({ ok: true, resumed: true });
    expect(await using(target, everythingOf)).to.deep.equal(await using(source, everythingOf));
    expect((await runCommand(['ledger', 'verify'], env)).code).to.equal(0);
  })?.timeout(60_000);

  it('copies what was added between two tries, and refuses a target with more than the source', async () => {
    const [changing, target] = [`sqlite:${join(rig.folder, 'changing.db')}`, `sqlite:${join(rig.folder, 'tries.db')}`];
    const wallet = await using(changing, (store) => newWallet(store));
    await rig.json('store', 'copy', changing, target);
    await using(target, (store) => store.settings.set('store.copy', 'unfinished'), { unfinished: true });
    await using(changing, (store) => applied(store, charge(wallet)));
    expect(await rig.json('store', 'copy', changing, target)).to.deep.include({ resumed: true, entries: 2 });
    await using(target, async (store) => {
      await applied(store, charge(wallet));
      await store.settings.set('store.copy', 'unfinished');
    });
    expect(await rig.refused(1, 'store', 'copy', changing, target)).to.include('does not match the source');
  }).timeout(60_000);

  it('refuses a source that does not add up, before anything is copied', async () => {
    const [damaged, target] = ['damaged', 'undamaged'].map((name) => join(rig.folder, `${name}.db`)) as [
      string,
      string,
    ];
    const wallet = await using(`sqlite:${damaged}`, (store) => newWallet(store));
    const db = new DatabaseSync(damaged, { timeout: 5000 });
    db.prepare('UPDATE wallets SET avail = avail + 1, adjusted = adjusted + 1 WHERE id = ?').run(wallet);
    db.close();
    const line = await rig.refused(1, 'store', 'copy', `sqlite:${damaged}`, `sqlite:${target}`);
    expect(line).to.include(`The source does not add up: wallet ${wallet}, avail`);
    expect(await using(`sqlite:${target}`, (store) => store.accounts.list(), { unfinished: true })).to.deep.equal([]);
  });

  it('needs two store URLs, and never repeats a secret', async () => {
    expect(await rig.refused(2, 'store', 'copy', source)).to.include('to');
    const env = { ...rig.env, WRONG_URL: 'redis://ann:s3cret@host/0' };
    const result = await runCommand(['store', 'copy', source, '--to-env', 'WRONG_URL'], env);
    expectRefusal(result, 1);
    expect(result.stderr).to.include('mongodb://').and.to.not.include('s3cret');
  });

  it('reads the URL of either side from a variable', async () => {
    const [small, target] = ['small', 'named'].map((name) => `sqlite:${join(rig.folder, `${name}.db`)}`) as [
      string,
      string,
    ];
    await using(small, (store) => newWallet(store));
    const env = { ...rig.env, SOURCE_URL: small, TARGET_URL: target, EMPTY: '' };
    const copy = (...args: string[]) => runCommand(['store', 'copy', ...args], env);
    expect(await copy(small, '--to-env', 'TARGET_URL')).to.include({ code: 0, stderr: '' });
    const wanted = await using(small, everythingOf);
    expect(await using(target, everythingOf)).to.deep.equal(wanted);
    const back = `sqlite:${join(rig.folder, 'named-back.db')}`;
    expect(await copy('--from-env', 'TARGET_URL', back)).to.include({ code: 0, stderr: '' });
    expect(await using(back, everythingOf)).to.deep.equal(wanted);
    const both = await copy('--from-env', 'SOURCE_URL', '--to-env', 'TARGET_URL');
    expect(both).to.include({ code: 1 });
    expect(both.stderr).to.include('not empty');

    const wrong: readonly (readonly [says: string, ...args: string[]])[] = [
      ["missing argument 'from', or --from-env"],
      ["missing argument 'to', or --to-env", '--from-env', 'SOURCE_URL'],
      ['too many arguments', small, target, '--to-env', 'TARGET_URL'],
      ['the variable NOT_THERE is not set', small, '--to-env', 'NOT_THERE'],
      ['the variable EMPTY is not set', '--from-env', 'EMPTY', target],
      ['pass its name by --to-env', small, 'mongodb://ann:s3cret@db1,db2/t'],
      ['pass its name by --from-env', 'mongodb+srv://ann:s3/cret@host/t', '--to-env', 'TARGET_URL'],
    ];
    for (const [says, ...args] of wrong) {
      const result = await copy(...args);
      expectRefusal(result, 2);
      expect(result.stderr).to.include(says).and.to.not.include('cret');
    }
  }).timeout(60_000);
});

/** Every kind of entry, state of charge, account and key. */
async function fill(store: Store): Promise<void> {
  const rich = await newWallet(store, 1_000_000n);
  const suspended = await newWallet(store);
  const quiet = await newAccount(store);
  const overdrawn = await newWallet(store);
  await store.settings.set('sandbox', 'off');
  const ids = Array.from({ length: 6 }, () => newId('req')) as [string, string, string, string, string, string];
  const late = newId('req');
  const [held, settled, refunded, released, expired, over] = ids;
  await applied(store, ...ids.map((chargeId) => reserve(rich, { chargeId, at: AT + 1, owner: 'own_9' })));
  await applied(
    store,
    settle(rich, settled, { amount: 1n, at: AT + 2 }),
    settle(rich, refunded, { at: AT + 3 }),
    giveBack('refund', rich, refunded, { at: AT + 4 }),
    giveBack('release', rich, released),
    giveBack('expire', rich, expired),
    settle(rich, over, { amount: 3n * RUB }),
    reserve(rich, { chargeId: late }),
    giveBack('expire', rich, late),
    settle(rich, late),
    charge(rich),
    adjust(rich, -5n * RUB, { reason: 'it\'s "so"' }),
    topup(rich, 7n),
  );
  for (let index = 0; index < LONG; index += 100) {
    await applied(store, ...Array.from({ length: 100 }, () => charge(rich, { at: AT + index })));
  }
  const big = newId('req');
  await applied(store, reserve(overdrawn, { chargeId: big, amount: 1000n * RUB }));
  await applied(store, settle(overdrawn, big, { amount: 1001n * RUB }));
  await applied(store, reserve(suspended));
  await store.accounts.setStatus(suspended, 'suspended');
  for (const name of ['a', 'b']) {
    await store.keys.add({ id: name, account: quiet, name, hash: newId('hash'), last4: 'abcd', createdAt: AT }, 10);
  }
  await store.keys.use([{ id: 'a', count: 12, lastUsedAt: AT + 9 }]);
  await store.keys.revoke('b', AT + 3);
  expect((await store.ledger.charge(held))?.state).to.equal('held');
}

async function using<T>(url: string, work: (store: Store) => Promise<T>, options = {}): Promise<T> {
  const store = await openStore(url, { inProcess: true, ...options });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function everythingOf(store: Store) {
  const accounts = await store.accounts.list();
  const settings = (await store.settings.list()).filter(({ name }) => name !== 'store.copy');
  const pages = await Array.fromAsync(journalPages(store.journal, 1000));
  const charges = new Map(pages.flatMap((page) => page.charges).map((charge) => [charge.id, charge]));
  return {
    accounts,
    settings,
    entries: pages.flatMap((page) => page.entries),
    wallets: pages.flatMap((page) => page.wallets),
    charges: [...charges.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    keys: await Promise.all(accounts.map(({ id }) => store.keys.list(id))),
  };
}

async function countEntries(store: Store): Promise<number> {
  return (await store.journal.size()).entries;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 2));
}
