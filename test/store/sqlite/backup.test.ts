// The backup of a SQLite store: its progress, and media files that cannot be read.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { copyDatabase, reportBackupProgress } from '../../../lib/store/sqlite/backup.ts';
import { StoreError } from '../../../lib/store/store.ts';
import { rejection } from '../../contract/store/context.ts';
import { newMedia, piecesOf } from '../../contract/store/media.ts';
import { PNG } from '../../media/sample-images.ts';
import { useFolder } from './folder.ts';

describe('backup of a SQLite store', () => {
  const folder = useFolder();
  const open = (path: string) => folder.open(path, { inProcess: true });
  const namesOf = (file: string) =>
    readdirSync(dirname(file)).filter((name) => join(dirname(file), name).startsWith(file));

  it('reports the copied pages step by step', async () => {
    const path = folder.file();
    await (await open(path)).close();
    folder.raw(path).exec('CREATE TABLE large (bytes BLOB); INSERT INTO large VALUES (zeroblob(20000000))');
    const told: number[][] = [];
    const pages = { set: (counts: number[]) => told.push(counts) } as unknown as Int32Array;
    await copyDatabase({ path, mediaFolder: `${path}.media` }, folder.file(), pages);
    const [[first = 0, total = 0] = []] = told;
    expect(first).to.be.above(0).and.below(total);
    expect(told.at(-1)).to.deep.equal([total, total]);
  });

  it('reports nothing before the number of pages is known, and its end once it is done', async () => {
    const told: unknown[] = [];
    const report = (progress: unknown) => void told.push(progress);
    await reportBackupProgress(async () => undefined, report);
    expect(told).to.deep.equal([]);
    await reportBackupProgress(async (pages) => pages.set([3, 3]), report);
    expect(told).to.deep.equal([{ done: 3, total: 3 }]);
  });

  it('has no media file that ends at this very moment', async () => {
    const { now } = Date;
    const path = folder.file();
    const expiresAt = now() + 3_600_000;
    const store = await open(path);
    for (const more of [0, 1]) await store.media.write(newMedia({ expiresAt: expiresAt + more }), piecesOf(PNG));
    const file = folder.file();
    Date.now = () => expiresAt;
    try {
      await copyDatabase({ path, mediaFolder: `${path}.media` }, file, new Int32Array(2));
    } finally {
      Date.now = now;
    }
    const left = await (await open(file)).media.page({ limit: 10 });
    expect(left.map((row) => row.expiresAt)).to.deep.equal([expiresAt + 1]);
  });

  it('has no row of a lost media file', async () => {
    const path = folder.file();
    const store = await open(path);
    const write = () => store.media.write(newMedia({ expiresAt: Date.now() + 3_600_000 }), piecesOf(PNG));
    const kept = await write();
    const lost = await write();
    rmSync(join(`${path}.media`, lost.id.slice(0, 2), lost.id));
    const file = folder.file();
    await store.backup(file);
    expect(await (await open(file)).media.page({ limit: 10 })).to.deep.equal([kept]);
  });

  it('fails if a media file cannot be read', async () => {
    const path = folder.file();
    const store = await open(path);
    const { id } = await store.media.write(newMedia({ expiresAt: Date.now() + 3_600_000 }), piecesOf(PNG));
    const at = join(`${path}.media`, id.slice(0, 2), id);
    rmSync(at);
    mkdirSync(at);
    const file = folder.file();
    expect(await rejection(store.backup(file)))
      .to.be.instanceOf(StoreError)
      .with.property('blames', 'store');
    expect(namesOf(file)).to.deep.equal([]);
  });
});
