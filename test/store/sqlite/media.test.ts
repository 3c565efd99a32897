// Media files of the SQLite store on disk: their owner, what a crash or a full disk leaves, and what removes it.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { makeSecret } from '../../../lib/base/base62.ts';
import { HOUR_MS } from '../../../lib/base/durations.ts';
import type { SqliteOptions } from '../../../lib/store/sqlite/store.ts';
import { type Store, StoreError } from '../../../lib/store/store.ts';
import { until } from '../../../testkit/client.ts';
import { makeGate } from '../../../testkit/faulty-store.ts';
import { rejection } from '../../contract/store/context.ts';
import { bytesOf, isGone, newMedia, piecesOf } from '../../contract/store/media.ts';
import { PNG } from '../../media/sample-images.ts';
import { useFolder } from './folder.ts';

const CHILD = fileURLToPath(new URL('./media-child.ts', import.meta.url));

describe('sqlite media files', () => {
  const folder = useFolder();
  let path: string;
  let media: string;
  let store: Store;

  beforeEach(async () => {
    path = folder.file();
    media = `${path}.media`;
    store = await open(path);
  });

  const open = (file: string, options: SqliteOptions = {}) => folder.open(file, { inProcess: true, ...options });
  const keep = (expiresAt = Date.now() + HOUR_MS) => store.media.write(newMedia({ expiresAt }), piecesOf(PNG));
  const fileOf = (id: string) => join(media, id.slice(0, 2), id);
  const files = () =>
    existsSync(media)
      ? readdirSync(media, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(media, name)).isFile())
      : [];
  const age = (file: string, ms: number) => utimesSync(file, new Date(), new Date(Date.now() - ms));

  it('are stored beside the database in folders by id prefix, for the owner only', async () => {
    const { id } = await keep();
    expect(files()).to.deep.equal([join(id.slice(0, 2), id)]);
    expect(readFileSync(fileOf(id)).equals(PNG)).to.equal(true);
    expect(statSync(fileOf(id)).mode & 0o777).to.equal(0o600);
    expect(statSync(dirname(fileOf(id))).mode & 0o777).to.equal(0o700);
    expect(statSync(media).mode & 0o777).to.equal(0o700);
  });

  it('are stored in the configured folder', async () => {
    const other = folder.file();
    const mediaFolder = join(dirname(path), 'a', 'b');
    const named = await open(other, { mediaFolder });
    const { id } = await named.media.write(newMedia(), piecesOf(PNG));
    expect(existsSync(join(mediaFolder, id.slice(0, 2), id))).to.equal(true);
    expect(existsSync(`${other}.media`)).to.equal(false);
  });

  it('have ids that are safe file names', async () => {
    for (const id of ['..', '../../etc/passwd', 'a'.repeat(42), `${'a'.repeat(42)}/`, `${'a'.repeat(41)}..`]) {
      expect(await rejection(store.media.write(newMedia({ id }), piecesOf(PNG))), id).to.be.instanceOf(Error);
      expect(await store.media.get(id)).to.equal(undefined);
      expect(await isGone(store, id)).to.equal(true);
    }
    expect(files()).to.deep.equal([]);
  });

  it('are not found if they are lost or cut short, and are removed by the cleaner', async () => {
    const lost = await keep();
    const short = await keep();
    rmSync(fileOf(lost.id));
    writeFileSync(fileOf(short.id), PNG.subarray(0, 5));
    for (const { id } of [lost, short]) expect(await isGone(store, id)).to.equal(true);
    expect(await store.media.clean(Date.now() + 2 * HOUR_MS, 10)).to.equal(2);
    expect([await store.media.get(lost.id), files()]).to.deep.equal([undefined, []]);
  });

  describe('of a writer that is killed', () => {
    async function kill(): Promise<string> {
      const child = fork(CHILD, ['hold', path, makeSecret()]);
      expect((await once(child, 'message'))[0]).to.equal('writing');
      child.kill('SIGKILL');
      await once(child, 'exit');
      const [left = ''] = files();
      expect(left).to.match(/\.[0-9a-f]{8}\.part$/);
      return join(media, left);
    }

    it('stay for an hour, in which the writer might live, and are then removed', async () => {
      const left = await kill();
      expect(await store.media.clean(Date.now() + 1000 * HOUR_MS, 10)).to.equal(0);
      age(left, HOUR_MS - 60_000);
      expect(await store.media.clean(Date.now(), 10)).to.equal(0);
      age(left, HOUR_MS + 60_000);
      expect(await store.media.clean(Date.now(), 10)).to.equal(1);
      expect(files()).to.deep.equal([]);
    });

    it('are not found without their row, and are removed when they would have expired', async () => {
      const { id } = await keep();
      folder.raw(path).exec('DELETE FROM media');
      expect(await store.media.get(id)).to.equal(undefined);
      expect(await isGone(store, id)).to.equal(true);
      expect(await store.media.clean(Date.now(), 10)).to.equal(0);
      expect(files()).to.have.length(1);
      expect(await store.media.clean(Date.now() + 2 * HOUR_MS, 10)).to.equal(1);
      expect(files()).to.deep.equal([]);
    });
  });

  it('of another store in the same folder are not touched, nor are foreign files', async () => {
    const other = await open(folder.file(), { mediaFolder: media });
    const { id } = await other.media.write(newMedia({ expiresAt: Date.now() + HOUR_MS }), piecesOf(PNG));
    mkdirSync(join(media, 'lost+found'));
    mkdirSync(join(media, 'zz'), { recursive: true });
    for (const name of ['zz/notes.txt', 'zz/short', 'lost+found/x']) {
      writeFileSync(join(media, name), 'x');
      age(join(media, name), 100 * HOUR_MS);
    }
    expect(await store.media.clean(Date.now(), 10)).to.equal(0);
    expect((await bytesOf(other, id)).equals(PNG)).to.equal(true);
    expect(files()).to.have.length(4);
  });

  it('are removed even if another one cannot be, which is tried again', async () => {
    const [stuck, other] = [await keep(), await keep()];
    rmSync(fileOf(stuck.id));
    mkdirSync(join(fileOf(stuck.id), 'not-empty'), { recursive: true });
    const later = Date.now() + 2 * HOUR_MS;
    const failed = await store.media.clean(later, 10).catch((error: Error) => error.message);
    expect(failed).to.match(/^a media file: ERR_FS_EISDIR/);
    expect([await store.media.get(other.id), files()]).to.deep.equal([undefined, []]);
    // Without rows, too.
    const lost = makeSecret();
    mkdirSync(dirname(fileOf(lost)), { recursive: true });
    writeFileSync(fileOf(lost), 'x');
    expect(await store.media.clean(later, 10).catch((error: Error) => error.message)).to.equal(failed);
    expect(files()).to.deep.equal([]);
    rmSync(fileOf(stuck.id), { recursive: true });
    writeFileSync(fileOf(stuck.id), 'x');
    expect([await store.media.clean(later, 10), files()]).to.deep.equal([1, []]);
  });

  it('are all checked, some folders at a time', async () => {
    const ids = Array.from({ length: 150 }, makeSecret);
    for (const id of ids) {
      mkdirSync(dirname(fileOf(id)), { recursive: true });
      writeFileSync(fileOf(id), 'x');
      age(fileOf(id), 1000);
    }
    const folders = readdirSync(media).length;
    expect(folders).to.be.above(128);
    let removed = 0;
    for (let look = 0; look < Math.ceil(folders / 64); look += 1) {
      const count = await store.media.clean(Date.now(), 1000);
      expect(count).to.be.within(1, 100);
      removed += count;
    }
    expect([removed, files()]).to.deep.equal([150, []]);
  });

  it('fail on a full disk without leaving anything behind', async () => {
    const id = makeSecret();
    const limited = `ulimit -f 4096 && exec "${process.execPath}" "${CHILD}" fill "${path}" ${id}`;
    const child = spawn('sh', ['-c', limited], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const [said] = await once(child, 'message');
    await once(child, 'exit');
    expect(said).to.deep.equal({ applied: 'no', message: 'a media file: EFBIG' });
    expect(files()).to.deep.equal([]);
    expect(await store.media.get(id)).to.equal(undefined);
  });

  it('fail while the folder is not writable, and work again afterwards', async () => {
    if (process.getuid?.() === 0) {
      // Root may write anywhere: a file in place of the folder prevents it.
      writeFileSync(media, '');
    } else {
      mkdirSync(media);
      chmodSync(media, 0o500);
    }
    const error = await rejection(keep());
    expect(error).to.be.instanceOf(StoreError).and.to.include({ applied: 'no', blames: 'store' });
    if (statSync(media).isFile()) rmSync(media);
    else chmodSync(media, 0o700);
    const { id } = await keep();
    expect((await bytesOf(store, id)).equals(PNG)).to.equal(true);
  });

  it('are not named in errors, which are logged', async () => {
    const { id } = await keep();
    rmSync(dirname(fileOf(id)), { recursive: true });
    writeFileSync(dirname(fileOf(id)), '');
    const error = await rejection(bytesOf(store, id));
    expect(error).to.be.instanceOf(StoreError).and.to.include({ message: 'a media file: ENOTDIR', blames: 'store' });
    expect(inspect(error, { depth: 9 })).not.to.contain(id.slice(0, 8));
  });

  it('are removed if their row cannot be written', async () => {
    await keep();
    const db = folder.raw(path);
    db.exec('ALTER TABLE media RENAME COLUMN media_type TO other');
    expect(await rejection(keep())).to.be.instanceOf(StoreError);
    db.exec('ALTER TABLE media RENAME COLUMN other TO media_type');
    await keep();
    expect(await store.media.page({ limit: 10 })).to.have.length(2);
  });

  it('are removed at once if another process blocks the write of their row', async () => {
    const busy = await open(path, { busyMs: 20 });
    const db = folder.raw(path);
    db.exec('BEGIN IMMEDIATE');
    const written = busy.media.write(newMedia({ expiresAt: Date.now() + HOUR_MS }), piecesOf(PNG));
    expect(await rejection(written))
      .to.be.instanceOf(StoreError)
      .with.property('blames', 'store');
    db.exec('ROLLBACK');
    expect(files()).to.deep.equal([]);
  });

  it('stay if a slower writer of the same file finds their row', async () => {
    const gate = makeGate();
    const one = newMedia({ expiresAt: Date.now() + HOUR_MS });
    async function* slow() {
      await gate.opened;
      yield PNG;
    }
    const late = store.media.write(one, slow());
    await until(() => files().length === 1);
    await store.media.write(one, piecesOf(PNG));
    gate.open();
    expect(await rejection(late))
      .to.be.instanceOf(StoreError)
      .with.property('blames', 'batch');
    expect((await bytesOf(store, one.id)).equals(PNG)).to.equal(true);
  });

  it('are removed in steps if many are lost, after the expired ones', async () => {
    for (let count = 0; count < 3; count += 1) await keep();
    folder.raw(path).exec('DELETE FROM media');
    await keep();
    const steps: number[][] = [];
    for (let step = 0; step < 3; step += 1) {
      steps.push([await store.media.clean(Date.now() + 2 * HOUR_MS, step + 1), files().length]);
    }
    expect(steps).to.deep.equal([
      [1, 3],
      [2, 1],
      [1, 0],
    ]);
  });

  it('are read to their end even while they are cleaned', async () => {
    const long = Buffer.alloc(1_000_000, 7);
    const { id } = await store.media.write(newMedia({ expiresAt: Date.now() - 1 }), piecesOf(long));
    let read = 0;
    for await (const chunk of store.media.read(id)) {
      if (read === 0) expect(await store.media.clean(Date.now(), 10)).to.equal(1);
      read += chunk.length;
    }
    expect(read).to.equal(long.length);
  });

  it('can be moved with the database', async () => {
    const { id } = await keep();
    await store.close();
    const moved = folder.file();
    renameSync(path, moved);
    renameSync(media, `${moved}.media`);
    expect((await bytesOf(await open(moved), id)).equals(PNG)).to.equal(true);
  });
});
