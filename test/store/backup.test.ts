// A backup exists completely or not at all, even if it is killed, fails or races another.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { writeBackup } from '../../lib/store/backup-file.ts';
import { openStore } from '../../lib/store/open.ts';
import { type Progress, type Store, StoreError } from '../../lib/store/store.ts';
import { itLong } from '../../testkit/long.ts';
import { STORES } from '../../testkit/stores.ts';
import { adjust, applied, newWallet, rejection, type StoreDatabase } from '../contract/store/context.ts';
import { bytesOf, newMedia, piecesOf } from '../contract/store/media.ts';
import { PNG } from '../media/sample-images.ts';

const CHILD = fileURLToPath(new URL('./backup-child.ts', import.meta.url));
const OPENINGS = [
  {},
  { existing: true, inProcess: true },
  { readOnly: true, inProcess: true },
  { unfinished: true, inProcess: true },
];

for (const kind of STORES) {
  describe(`backup: ${kind.name}`, () => {
    let database: StoreDatabase;
    let store: Store;
    let wallet: string;
    let folder: string;

    before(async () => {
      database = await kind.create();
      store = await openStore(database.url);
      wallet = await newWallet(store);
    });
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'));
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));
    after(async () => {
      await store.close();
      await database.remove();
    });

    it('has its name, its mode and no side files once it is complete', async () => {
      const file = join(folder, 'backup.db');
      const shown: Progress[] = [];
      await store.backup(file, (progress) => shown.push(progress));
      expect(readdirSync(folder)).to.deep.equal(['backup.db']);
      expect(statSync(file).mode & 0o777).to.equal(0o600);
      const last = shown.at(-1) as Progress;
      expect(last.done).to.equal(last.total).and.to.be.above(0);
      const copy = await openStore(`sqlite:${file}`, { readOnly: true, inProcess: true });
      expect(await copy.ledger.wallet(wallet)).to.deep.equal(await store.ledger.wallet(wallet));
      await copy.close();
      expect(readdirSync(folder)).to.deep.equal(['backup.db']);
    }).timeout(60_000);

    it('has the unexpired media files beside it', async () => {
      const keep = (bytes: Uint8Array, expiresAt: number) =>
        store.media.write(newMedia({ expiresAt }), piecesOf(bytes));
      const long = randomBytes(1_200_000);
      const later = Date.now() + 3_600_000;
      const kept = await keep(long, later);
      const small = await keep(PNG, later);
      await keep(PNG, Date.now() - 1);
      const file = join(folder, 'backup.db');
      await store.backup(file);
      expect(readdirSync(folder).sort()).to.deep.equal(['backup.db', 'backup.db.media']);
      const whole = readdirSync(`${file}.media`, { recursive: true }).filter((name) => String(name).length > 40);
      expect(whole).to.have.length(2);
      const copy = await openStore(`sqlite:${file}`, { readOnly: true, inProcess: true });
      try {
        const wanted = [kept, small].sort((a, b) => (a.id < b.id ? -1 : 1));
        expect(await copy.media.page({ limit: 10 })).to.deep.equal(wanted);
        expect((await bytesOf(copy, kept.id)).equals(long)).to.equal(true);
        expect((await bytesOf(copy, small.id)).equals(PNG)).to.equal(true);
        expect(await rejection(copy.media.clean(Date.now(), 10))).to.be.instanceOf(StoreError);
        expect(await rejection(copy.media.write(newMedia(), piecesOf(PNG)))).to.be.instanceOf(StoreError);
      } finally {
        await copy.close();
      }
      rmSync(file);
      const error = await rejection(store.backup(file));
      expect((error as Error).message).to.equal(`The folder ${file}.media already exists.`);
      while ((await store.media.clean(later, 100)) > 0);
    }).timeout(60_000);

    it('contains no live gateway', async () => {
      await store.owners.renew({ id: 'own_1', leaseMs: 60_000, alone: true });
      const file = join(folder, 'backup.db');
      await store.backup(file);
      const copy = await openStore(`sqlite:${file}`, { readOnly: true, inProcess: true });
      expect(await copy.gateways()).to.deep.equal([]);
      await copy.close();
    }).timeout(60_000);

    itLong('that is killed leaves nothing that passes for a store', async function () {
      this.timeout(60_000);
      // Long enough to be killed in the middle.
      for (let batch = 0; batch < 60; batch += 1) {
        const reason = 'a reason as long as it may be '.repeat(200);
        await applied(store, ...Array.from({ length: 100 }, () => adjust(wallet, 1n, { reason })));
      }
      const file = join(folder, 'backup.db');
      const child = fork(CHILD, [database.url, file]);
      const exited = once(child, 'exit');
      await once(child, 'message');
      const inTheMiddle = () => readdirSync(folder).some((name) => statSync(join(folder, name)).size > 0);
      while (!inTheMiddle() && child.exitCode === null) await new Promise((resolve) => setImmediate(resolve));
      child.kill('SIGKILL');
      expect((await exited)[1]).to.equal('SIGKILL');
      expect(existsSync(file)).to.equal(false);
      const left = readdirSync(folder);
      expect(left.some((name) => /^backup\.db\.[0-9a-f]{8}\.unfinished$/.test(name))).to.equal(true);
      for (const name of left.filter((some) => some.endsWith('.unfinished'))) {
        for (const opening of OPENINGS) {
          const error = await rejection(openStore(`sqlite:${join(folder, name)}`, opening));
          expect(error).to.be.instanceOf(OperatorError);
          expect((error as OperatorError).message).to.match(/is an unfinished backup\.$/);
        }
      }
      await store.backup(file);
      expect(existsSync(file)).to.equal(true);
    });
  });
}

describe('file of a backup', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is removed if the work fails midway', async () => {
    const file = join(folder, 'backup.db');
    const work = async (path: string) => {
      for (const suffix of ['', '-journal', '-wal', '-shm']) writeFileSync(path + suffix, 'half');
      throw new Error('the disk is full');
    };
    expect(await rejection(writeBackup(file, work))).to.have.property('message', 'the disk is full');
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('blames the disk of the file, not the store, if that is full', async () => {
    const file = join(folder, 'backup.db');
    const work = async (path: string) => {
      const db = new DatabaseSync(path);
      db.exec('PRAGMA max_page_count = 2; CREATE TABLE owners (id TEXT)');
      try {
        db.exec('INSERT INTO owners VALUES (zeroblob(20000))');
      } finally {
        db.close();
      }
    };
    const error = await rejection(writeBackup(file, work));
    expect(error).to.be.instanceOf(OperatorError);
    expect(error).to.have.property('message', `The file ${file} cannot be written: its disk is full.`);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('does not replace a file that was created meanwhile', async () => {
    const file = join(folder, 'backup.db');
    const work = async (path: string) => {
      const db = new DatabaseSync(path);
      db.exec('CREATE TABLE owners (id TEXT)');
      db.close();
      writeFileSync(file, 'precious');
    };
    expect(await rejection(writeBackup(file, work))).to.have.property('message', `The file ${file} already exists.`);
    expect(readdirSync(folder).map((name) => basename(name))).to.deep.equal(['backup.db']);
    expect(readFileSync(file, 'utf8')).to.equal('precious');
  });

  it('removes its temporary folder after success and failure', async () => {
    const file = join(folder, 'backup.db');
    const make = (path: string) => {
      mkdirSync(`${path}.media`);
      writeFileSync(join(`${path}.media`, 'x'), 'x');
    };
    const fail = async (path: string) => {
      make(path);
      throw new Error('the disk is full');
    };
    await rejection(writeBackup(file, fail));
    expect(readdirSync(folder)).to.deep.equal([]);
    await writeBackup(file, async (path) => {
      make(path);
      const db = new DatabaseSync(path);
      db.exec('CREATE TABLE owners (id TEXT)');
      db.close();
    });
    expect(readdirSync(folder)).to.deep.equal(['backup.db', 'backup.db.media']);
    expect(readdirSync(`${file}.media`)).to.deep.equal(['x']);
  });

  it('is not accepted as a store if it is renamed unfinished', async () => {
    const path = join(folder, 'renamed.db');
    writeFileSync(`${path}.unfinished`, '');
    renameSync(`${path}.unfinished`, path);
    for (const opening of [{ existing: true }, { readOnly: true }]) {
      const error = await rejection(openStore(`sqlite:${path}`, opening));
      expect((error as Error).message).to.match(/^There is no Tollgate store at /);
    }
    expect(statSync(path).size).to.equal(0);
  });
});
