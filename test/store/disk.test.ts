import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeFolder } from '../../lib/store/disk.ts';
import { rejection } from '../contract/store/context.ts';

describe('a folder on disk', () => {
  let root: string;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'tollgate-disk-'));
  });
  after(() => rmSync(root, { recursive: true }));

  it('is created with its parents, for the owner only, even concurrently', async () => {
    const folder = join(root, 'a', 'b', 'c');
    await Promise.all([makeFolder(folder), makeFolder(folder), makeFolder(join(root, 'a', 'b', 'd'))]);
    for (const made of [folder, join(root, 'a')]) expect(statSync(made).mode & 0o777).to.equal(0o700);
    await makeFolder(folder);
  });

  it('is refused below a file and where it cannot be created', async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    for (const folder of [file, join(file, 'x', 'y'), '/dev/null']) {
      expect(await rejection(makeFolder(folder))).to.have.property('code', 'ENOTDIR');
    }
    if (process.platform === 'linux') {
      expect(await rejection(makeFolder('/proc/tollgate/media'))).to.have.property('code', 'ENOENT');
    }
  });
});
