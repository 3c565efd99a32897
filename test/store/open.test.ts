// From a URL to a store: what cannot be opened is reported to the operator in one plain line.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { COPY_SETTING, COPY_UNFINISHED } from '../../lib/store/copy.ts';
import { locateStore, makeMediaFolder, openStore } from '../../lib/store/open.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { rejection } from '../contract/store/context.ts';

const NOBODY = 65_534;
const CHILD = fileURLToPath(new URL('./open-child.ts', import.meta.url));

/** What this process has open, by the end of its path; on Linux. */
function openFiles(name: string): readonly string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).endsWith(name);
    } catch {
      // The descriptor that reads the folder is closed by now.
      return false;
    }
  });
}

describe('openStore', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-open-'));
    chmodSync(folder, 0o755);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function refused(url: string): Promise<string> {
    const error = await rejection(openStore(url));
    expect(error).to.be.instanceOf(OperatorError);
    const { message } = error as OperatorError;
    expect(message).to.not.include('\n');
    return message;
  }

  it('creates the folders and the file, for the owner only', async () => {
    const path = join(folder, 'some', 'where', 'a.db');
    const store = await openStore(`sqlite:${path}`);
    await store.settings.set('a', 'b');
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777).to.equal(0o600);
    await store.close();
    expect(existsSync(`${path}-wal`), 'all of it is in one file').to.equal(false);
  });

  it('creates a file that nobody else can open at any time', async () => {
    const made = join(folder, 'made');
    mkdirSync(made);
    // Sees every state of the folder that lasts for some microseconds.
    const seen = new Int32Array(new SharedArrayBuffer(8));
    const watcher = new Worker(
      `const { readdirSync, statSync } = require('node:fs');
      const { workerData: { made, seen } } = require('node:worker_threads');
      while (Atomics.load(seen, 1) === 0) {
        for (const name of readdirSync(made)) {
          const found = statSync(made + '/' + name, { throwIfNoEntry: false });
          if (found) Atomics.or(seen, 0, found.mode & 0o777);
        }
      }`,
      { eval: true, workerData: { made, seen } },
    );
    await once(watcher, 'online');
    const before = process.umask(0);
    try {
      for (let round = 0; round < longer(2, 4); round += 1) {
        const store = await openStore(`sqlite:${join(made, `${round}.db`)}`);
        await store.backup(join(made, `${round}.backup`));
        await store.close();
      }
    } finally {
      process.umask(before);
      Atomics.store(seen, 1, 1);
      await once(watcher, 'exit');
    }
    expect(Atomics.load(seen, 0).toString(8)).to.equal('600');
  });

  it('accepts a relative path, and the scheme in any letter case', async () => {
    const before = process.cwd();
    process.chdir(folder);
    try {
      await (await openStore('SQLite:./relative.db')).close();
    } finally {
      process.chdir(before);
    }
    expect(existsSync(join(folder, 'relative.db'))).to.equal(true);
  });

  it('refuses an unknown scheme without showing the rest of the URL', async () => {
    const message = await refused('redis://user:secret@host/0');
    expect(message).to.include('redis').and.to.include('sqlite:<path>').and.not.include('secret');
  });

  it('refuses a text that is not a URL, and a URL without a file', async () => {
    expect(await refused('tollgate.db')).to.include('sqlite:<path>');
    expect(await refused('sqlite:')).to.include('sqlite:<path>');
    expect(await refused('sqlite::memory:')).to.include('sqlite:<path>');
  });

  it('opens an unfinished copy for the copy only', async () => {
    const url = `sqlite:${join(folder, 'copy.db')}`;
    const store = await openStore(url);
    await store.settings.set(COPY_SETTING, COPY_UNFINISHED);
    await store.close();
    expect(await refused(url)).to.include('an unfinished copy');
    expect(openFiles('copy.db')).to.deep.equal([]);
    const copy = await openStore(url, { unfinished: true });
    await copy.settings.set(COPY_SETTING, 'finished');
    await copy.close();
    await (await openStore(url)).close();
  });

  it('refuses a path that leads through a file', async () => {
    writeFileSync(join(folder, 'file'), 'x');
    const path = join(folder, 'file', 'a.db');
    expect(await refused(`sqlite:${path}`)).to.match(
      /folder of the database .* cannot be created: (ENOTDIR|EEXIST)\.$/,
    );
  });

  it('creates a folder for media files, unless they are in the database', async () => {
    const dataDir = join(folder, 'some', 'data');
    await makeMediaFolder({ databaseUrl: 'mongodb://127.0.0.1/a', dataDir });
    expect(existsSync(dataDir)).to.equal(false);
    await makeMediaFolder({ databaseUrl: 'SQLite:a.db', dataDir });
    expect(statSync(join(dataDir, 'media')).mode & 0o777).to.equal(0o700);
  });

  it('refuses a folder in place of the file', async () => {
    mkdirSync(join(folder, 'a-folder'));
    expect(await refused(`sqlite:${join(folder, 'a-folder')}`)).to.match(/is a folder\.$/);
  });

  it('finds the media folder of a store for any form of its URL', () => {
    const config = { databaseUrl: 'sqlite:./data/a.db', dataDir: '/srv' };
    const places: readonly [url: string, named: string | undefined, mediaFolder: string | undefined][] = [
      ['sqlite:./data/a.db', undefined, '/srv/media'],
      ['SQLite:data/../data/a.db', undefined, '/srv/media'],
      ['sqlite:./data/b.db', undefined, resolve('data/b.db.media')],
      ['sqlite:./data/a.db', 'named', resolve('named')],
      ['mongodb://host/a', undefined, undefined],
    ];
    for (const [url, named, mediaFolder] of places) {
      expect(locateStore(url, config, named)).to.deep.equal({ url, mediaFolder });
    }
  });

  describe('without the right to write', () => {
    /** The error of a process that is not root. */
    async function refusedToNobody(...args: readonly string[]): Promise<{ name: string; message: string }> {
      const nobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
      const child = fork(CHILD, args, nobody);
      const [error] = await once(child, 'message');
      await once(child, 'exit');
      return error;
    }

    function locked(name: string): string {
      const path = join(folder, name);
      mkdirSync(path);
      chmodSync(path, 0o555);
      return path;
    }

    itLong('refuses a folder', async () => {
      const path = join(locked('locked'), 'a.db');
      const message = `The database ${path} cannot be written: EACCES.`;
      expect(await refusedToNobody(`sqlite:${path}`)).to.deep.equal({ name: 'OperatorError', message });
    });

    itLong('refuses a path with a missing folder', async () => {
      const path = join(locked('locked-too'), 'more', 'a.db');
      const message = `The folder of the database ${path} cannot be created: EACCES.`;
      expect(await refusedToNobody(`sqlite:${path}`)).to.deep.equal({ name: 'OperatorError', message });
    });

    itLong('refuses a folder of media files', async () => {
      const data = join(folder, 'data');
      mkdirSync(join(data, 'media'), { recursive: true });
      chmodSync(join(data, 'media'), 0o555);
      const message = `DATA_DIR: the folder ${join(data, 'media')} cannot be written to: EACCES`;
      const error = { name: 'OperatorError', message };
      expect(await refusedToNobody(`SQLite:${join(folder, 'a.db')}`, data)).to.deep.equal(error);
    });

    itLong('refuses a read-only file', async () => {
      const place = join(folder, 'readable');
      const path = join(place, 'a.db');
      await (await openStore(`sqlite:${path}`)).close();
      chmodSync(place, 0o777);
      chmodSync(path, 0o444);
      const message = `The database ${path} cannot be written: EACCES.`;
      expect(await refusedToNobody(`sqlite:${path}`)).to.deep.equal({ name: 'OperatorError', message });
    });
  });
});
