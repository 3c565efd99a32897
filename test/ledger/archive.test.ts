// Archives of old calls: archived calls are in a file that adds up, and no answer of the store changes.
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { archiveLedger } from '../../lib/ledger/archive.ts';
import { verifyArchive } from '../../lib/ledger/archive-file.ts';
import { findArchived } from '../../lib/ledger/archive-find.ts';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { copyStore } from '../../lib/store/copy.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import {
  applied,
  giveBack,
  newId,
  RUB,
  rejection,
  type StoreDatabase,
  settle,
  topup,
  useStore,
} from '../contract/store/context.ts';
import { ago, booksOf, call, expectClean, type Folder, history, makeFolder } from './archive-rig.ts';

/** Of a wallet that is archived beside other work. */
const CALLS = longer(25, 150);

for (const kind of longer([SQLITE], STORES)) {
  describe(`${kind.name}: archives of old calls`, () => {
    let folder: Folder;
    let database: StoreDatabase;
    let store: Store;
    beforeEach(async () => {
      folder = makeFolder();
      database = await kind.create();
      store = await openStore(database.url, kind.opening);
    });
    afterEach(async () => {
      await store.close();
      await database.remove();
      folder.remove();
    });

    /** What stores have to do for archives is in their contract. */
    const itOnce = kind === SQLITE ? it : itLong;
    /** Page by page: a wallet has many entries. */
    const archive = (name: string, days: number) => {
      const walletPage: typeof store.journal.walletPage = (id, after) => store.journal.walletPage(id, after, 3);
      const paged = { ...store, journal: { ...store.journal, walletPage } };
      return archiveLedger(paged, { before: ago(days), file: folder.file(name) });
    };

    it('take the calls that ended before the cutoff, and nothing else', async () => {
      const made = await history(store);
      const { wallet, old } = made;
      const books = await booksOf(store, wallet);
      const taken = await Promise.all(old.slice(0, -1).map((id) => store.ledger.charge(id)));
      const done = await archive('first.gz', 40);
      // The call that was charged last stays until there is a later one.
      const kept = (await store.archives.opening(wallet))?.kept;
      expect(kept).to.equal(old.at(-1));
      expect(done).to.include({ state: 'done', calls: old.length - 1 });
      const left = await Promise.all(old.map((id) => store.ledger.charge(id)));
      expect(left.filter(Boolean).map((found) => found?.id)).to.deep.equal([kept]);
      for (const id of [made.held, made.across, made.video, made.young]) {
        expect(await store.ledger.charge(id)).to.include({ id });
      }
      expect(await booksOf(store, wallet)).to.deep.equal(books);
      await expectClean(store);
      expect(readdirSync(folder.path)).to.deep.equal(['first.gz']);
      const { totals, sha256 } = await verifyArchive(folder.file('first.gz'));
      expect({ ...totals, sha256 }).to.deep.include({
        sha256: done?.sha256,
        calls: done?.calls,
        charged: done?.charged,
      });
      const sum = taken.reduce((charged, charge) => charged + (charge?.charged ?? 0n), 0n);
      expect(sum > 0n).to.equal(true);
      expect(totals.charged).to.equal(sum);
    });

    it('take the attempts of their calls along, and give them out again', async () => {
      const { old, young } = await history(store);
      const [first = ''] = old;
      const attempts = await store.attempts.list([first]);
      expect(attempts).to.have.length(2);
      await archive('first.gz', 40);
      expect(await store.attempts.list([first])).to.deep.equal([]);
      expect(await store.attempts.list([young])).to.have.length(2);
      expect((await findArchived(store, first))?.call?.attempts).to.deep.equal(attempts);
    });

    itOnce('follow each other, each with the calls that the previous ones left', async () => {
      const { wallet, held, across, old, young } = await history(store);
      await archive('first.gz', 100);
      await applied(store, settle(wallet, held, { at: ago(38) }));
      const books = await booksOf(store, wallet);
      const second = await archive('second.gz', 36);
      expect(await store.ledger.charge(old.at(-1) as string)).to.equal(undefined);
      // The old hold ended after a call that is too young.
      for (const id of [across, young, held]) expect(await store.ledger.charge(id)).to.include({ id });
      expect((await store.archives.opening(wallet))?.kept).to.equal(across);
      expect(second?.calls).to.equal(1);
      expect(await booksOf(store, wallet)).to.deep.equal(books);
      await expectClean(store);
      await verifyArchive(folder.file('second.gz'));
      expect(await archive('third.gz', 36)).to.equal(undefined);
      expect(readdirSync(folder.path)).to.deep.equal(['first.gz', 'second.gz']);
    });

    it('leave wallets that keep working: later calls, a refund, the end of an old hold', async () => {
      const { wallet, held, video } = await history(store);
      await archive('one.gz', 40);
      await applied(store, giveBack('release', wallet, held), giveBack('refund', wallet, video));
      await call(store, wallet, ago(1), 2n * RUB);
      await expectClean(store);
      const { usage } = await booksOf(store, wallet);
      expect(usage.total.charged).to.equal((await store.ledger.wallet(wallet))?.charged);
    });

    itOnce('leave the call whose charge was written last, even if others have later times', async () => {
      const wallet = newId('acc');
      await store.accounts.create({ id: wallet, name: 'clock', createdAt: ago(200) });
      await applied(store, topup(wallet, 5000n * RUB, { at: ago(200) }));
      const newest = await call(store, wallet, ago(100));
      await applied(store, giveBack('refund', wallet, newest, { at: ago(102) }));
      const last = await call(store, wallet, ago(101));
      const books = await booksOf(store, wallet);
      await archive('clock.gz', 40);
      expect((await store.archives.opening(wallet))?.kept).to.equal(last);
      expect(await booksOf(store, wallet)).to.deep.equal(books);
      await expectClean(store);
    });

    itOnce('do not disturb concurrent audits and calls', async () => {
      const made = await Promise.all([history(store, CALLS), history(store, CALLS), history(store, 5)]);
      let isOver = false;
      const beside = async (work: () => Promise<unknown>) => {
        let times = 0;
        for (; !isOver || times === 0; times += 1) await work();
        return times;
      };
      const archiving = archive('beside.gz', 40).finally(() => {
        isOver = true;
      });
      const [done] = await Promise.all([
        archiving,
        beside(() => expectClean(store)),
        ...made.map(({ wallet }) => beside(() => call(store, wallet, Date.now()))),
      ]);
      expect(done?.calls).to.be.greaterThan(2 * CALLS);
      await expectClean(store);
    });

    itOnce('are copied with the store, and the copy keeps working', async () => {
      const { wallet, held } = await history(store);
      await archive('copied.gz', 40);
      for (const target of longer([SQLITE], STORES)) {
        const other = await target.create();
        const to = await openStore(other.url);
        try {
          await copyStore({ from: store, to, live: false });
          expect(await booksOf(to, wallet)).to.deep.equal(await booksOf(store, wallet));
          expect(await to.archives.list()).to.deep.equal(await store.archives.list());
          expect(await to.archives.opening(wallet)).to.deep.equal(await store.archives.opening(wallet));
          await expectClean(to);
          expect((await verifyLedger(to)).entries).to.equal((await verifyLedger(store)).entries);
          await applied(to, settle(wallet, held, { at: ago(37) }));
          const again = await archiveLedger(to, { before: ago(36), file: folder.file(`${target.name}-copy.gz`) });
          expect(again?.calls).to.be.greaterThan(0);
          await expectClean(to);
        } finally {
          await to.close();
          await other.remove();
        }
      }
    });

    itOnce('find a call by its id, and name its file', async () => {
      const { old } = await history(store);
      const done = await archive('found.gz', 40);
      const id = old[0] as string;
      expect((await findArchived(store, id))?.call?.charge.id).to.equal(id);
      renameSync(folder.file('found.gz'), folder.file('moved.gz'));
      expect(await findArchived(store, id)).to.deep.equal({ archive: done, call: undefined });
      expect(await findArchived(store, `req_${ago(1).toString(16).padStart(12, '0')}00`)).to.equal(undefined);
    });

    itOnce('fail if the opening of a wallet differs from the file, but not if it was just opened', async () => {
      const { wallet } = await history(store);
      const withOpen = (open: Store['archives']['open']) => ({ ...store, archives: { ...store.archives, open } });
      const options = { before: ago(40), file: folder.file('first.gz') };
      const elsewhere = await rejection(
        archiveLedger(
          withOpen(async () => false),
          options,
        ),
      );
      expect(elsewhere).to.be.instanceOf(OperatorError);
      expect(`${elsewhere}`).to.contain(
        `The wallet ${wallet} begins at entry 0: ${options.file} belongs to another store`,
      );
      const openedTwice = withOpen(async (to, from) => {
        await store.archives.open(to, from);
        return await store.archives.open(to, from);
      });
      expect(await archiveLedger(openedTwice, options)).to.include({ state: 'done' });
      await expectClean(store);
    });

    itOnce('refuse young calls, an existing file, and a second archive while one is unfinished', async () => {
      await history(store);
      const young = await rejection(archive('young.gz', 34));
      expect(young).to.be.instanceOf(OperatorError).with.property('message').that.includes('35 days');
      writeFileSync(folder.file('taken.gz'), 'mine');
      expect(await rejection(archive('taken.gz', 40))).to.be.instanceOf(OperatorError);
      expect(readFileSync(folder.file('taken.gz'), 'utf8')).to.equal('mine');
      const failing: Store = {
        ...store,
        archives: { ...store.archives, remove: () => Promise.reject(new Error('the power is gone')) },
      };
      const options = { before: ago(40), file: folder.file('half.gz') };
      expect(await rejection(archiveLedger(failing, options))).to.have.property('message', 'the power is gone');
      expect(await rejection(archive('other.gz', 40)))
        .to.be.instanceOf(OperatorError)
        .with.property('message')
        .that.includes('half.gz');
      renameSync(options.file, folder.file('away.gz'));
      expect(await rejection(archiveLedger(store, options))).to.be.instanceOf(OperatorError);
      await expectClean(store);
      renameSync(folder.file('away.gz'), options.file);
      expect(await archiveLedger(store, options)).to.include({ state: 'done' });
      await expectClean(store);
    });
  });
}

describe('the audit of openings', () => {
  const FALSIFIED = ['avail = avail + 1, charged = charged - 1', 'topped = topped + 1, avail = avail + 1'];
  const ALONE = [
    'seq = seq - 1',
    'seq = seq + 1',
    'lasting = lasting + 1',
    "budgets = '[]'",
    'held = held + 1, avail = avail - 1',
  ];
  const [sqlite] = STORES;
  const context = useStore(sqlite as (typeof STORES)[number]);
  let folder: Folder;
  let wallet: string;
  before(async () => {
    folder = makeFolder();
    ({ wallet } = await history(context.store));
    await archiveLedger(context.store, { before: ago(40), file: folder.file('calls.gz') });
  });
  after(() => folder.remove());

  for (const change of [...FALSIFIED, ...ALONE]) {
    it(`reports ${change}`, async () => {
      const db = new DatabaseSync(context.url.slice('sqlite:'.length), { timeout: 5000 });
      db.exec('CREATE TABLE spare AS SELECT * FROM openings');
      db.exec(`UPDATE openings SET ${change}`);
      const { ok, problems } = await verifyLedger(context.store);
      db.exec('DELETE FROM openings; INSERT INTO openings SELECT * FROM spare; DROP TABLE spare');
      db.close();
      expect(ok).to.equal(false);
      expect(problems[0]?.wallet).to.equal(wallet);
      await expectClean(context.store);
    });
  }

  for (const [column, says] of [
    ['entries', /^\d+ entries have left, the archives have \d+$/],
    ['charged', /^what has left had charged \d+, the archives have \d+$/],
  ] as const) {
    it(`reports an archive with less than what has left: ${column}`, async () => {
      const db = new DatabaseSync(context.url.slice('sqlite:'.length), { timeout: 5000 });
      db.exec(`UPDATE archives SET ${column} = ${column} - 1`);
      const { problems } = await verifyLedger(context.store);
      db.exec(`UPDATE archives SET ${column} = ${column} + 1`);
      db.close();
      expect(problems.find((each) => each.wallet === 'archives')?.problem).to.match(says);
      await expectClean(context.store);
    });
  }

  it('reports a missing opening, and a missing payment before it', async () => {
    const db = new DatabaseSync(context.url.slice('sqlite:'.length), { timeout: 5000 });
    db.exec("CREATE TABLE spare AS SELECT * FROM entries WHERE kind = 'topup'");
    db.exec("DELETE FROM entries WHERE kind = 'topup'");
    expect((await verifyLedger(context.store)).problems[0]?.problem).to.include('without a call');
    db.exec('INSERT INTO entries SELECT * FROM spare; DROP TABLE spare; CREATE TABLE spare AS SELECT * FROM openings');
    db.exec('DELETE FROM openings');
    expect((await verifyLedger(context.store)).ok).to.equal(false);
    db.exec('INSERT INTO openings SELECT * FROM spare; DROP TABLE spare');
    db.close();
    await expectClean(context.store);
  });
});

describe('the file of an archive', () => {
  const [sqlite] = STORES;
  const context = useStore(sqlite as (typeof STORES)[number]);
  let folder: Folder;
  let file: string;
  before(async () => {
    folder = makeFolder();
    await history(context.store);
    file = folder.file('whole.gz');
    await archiveLedger(context.store, { before: ago(40), file });
  });
  after(() => folder.remove());

  /** Changes the lines of the file; each is JSON. */
  function changed(change: (lines: string[]) => string[]): string {
    const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n');
    const path = folder.file(`changed-${Math.random()}.gz`);
    writeFileSync(path, gzipSync(`${change(lines).join('\n')}\n`));
    return path;
  }

  const DAMAGES: Readonly<Record<string, (lines: string[]) => string[]>> = {
    'an amount of an entry': (lines) =>
      lines.map((line, at) => (at === 2 ? line.replace('"1000000"', '"1000001"') : line)),
    'a cost of an attempt': (lines) => lines.map((line, at) => (at === 2 ? line.replace('"50"', '"51"') : line)),
    'an attempt less': (lines) => lines.map((line) => line.replace(/("attempts":\[)\{.*?\}\},?/, '$1')),
    'a call less': (lines) => lines.toSpliced(2, 1),
    'a call twice': (lines) => lines.toSpliced(2, 0, lines[2] as string),
    'an opening': (lines) => lines.map((line) => line.replace(/("stop":\{"to":\{.*?"avail":")/, '$11')),
    'no end': (lines) => lines.slice(0, -1),
    'a line behind the end': (lines) => [...lines, lines[2] as string],
    'other totals': (lines) => lines.map((line) => line.replace(/("end":\{.*"calls":)/, '$11')),
    'another version': (lines) => lines.map((line) => line.replace('"version":1', '"version":2')),
    'not JSON': (lines) => lines.map((line, at) => (at === 2 ? line.slice(1) : line)),
  };
  for (const [name, damage] of Object.entries(DAMAGES)) {
    it(`is rejected with ${name}`, async () => {
      expect(await rejection(verifyArchive(changed(damage)))).to.be.instanceOf(OperatorError);
    });
  }

  it('is accepted unchanged, and rejected if truncated', async () => {
    await verifyArchive(changed((lines) => lines));
    const cut = folder.file('cut.gz');
    writeFileSync(cut, readFileSync(file).subarray(0, -20));
    expect(await rejection(verifyArchive(cut))).to.be.instanceOf(OperatorError);
    expect(await rejection(verifyArchive(folder.file('missing.gz')))).to.be.instanceOf(OperatorError);
    // All lines are there, but not what the file ends with: the checksum and the length.
    for (const bytes of [1, 8]) {
      writeFileSync(cut, readFileSync(file).subarray(0, -bytes));
      expect(await rejection(verifyArchive(cut)), `${bytes} bytes`).to.be.instanceOf(OperatorError);
    }
    expect(existsSync(cut)).to.equal(true);
  });
});
