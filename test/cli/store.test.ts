// `tollgate store backup`: a complete copy, which never overwrites a file.
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openStore } from '../../lib/store/open.ts';
import { itLong } from '../../testkit/long.ts';
import { newMedia, piecesOf } from '../contract/store/media.ts';
import { PNG } from '../media/sample-images.ts';
import { createRig, type Rig, runCommand, spawnCommand } from './command.ts';

describe('cli store', () => {
  let rig: Rig;
  let account: string;

  before(async () => {
    rig = await createRig();
    account = String((await rig.json('account', 'create', '--name', 'kept')).account_id);
    await rig.json('wallet', 'topup', account, '1000', '--payment-id', 'p1');
  });

  after(() => rig.close());

  it('writes a copy that the command line can use', async () => {
    const file = join(rig.folder, 'copy one.db');
    const json = await rig.json('store', 'backup', file);
    expect(json).to.deep.equal({ file, bytes: (await stat(file)).size });
    await rig.json('wallet', 'topup', account, '5', '--payment-id', 'after');
    const env = { ...rig.env, DATABASE_URL: `sqlite:${file}` };
    expect(JSON.parse((await runCommand(['--json', 'wallet', 'show', account], env)).stdout).balance_rub).to.equal(
      1000,
    );
    expect(JSON.parse((await runCommand(['--json', 'ledger', 'verify'], env)).stdout).ok).to.equal(true);
  });

  it('writes media files beside the copy, and says where', async () => {
    const store = await openStore(rig.databaseUrl, { inProcess: true, mediaFolder: join(rig.folder, 'media') });
    await store.media.write(newMedia({ expiresAt: Date.now() + 60_000 }), piecesOf(PNG));
    await store.close();
    const file = join(rig.folder, 'with media.db');
    const json = await rig.json('store', 'backup', file);
    expect(json).to.deep.equal({ file, bytes: (await stat(file)).size, media: `${file}.media` });
    const copy = await openStore(`sqlite:${file}`, { inProcess: true, readOnly: true });
    expect(await copy.media.page({ limit: 10 })).to.have.length(1);
    await copy.close();
  });

  itLong('resolves a relative path from the working directory', async () => {
    const { code, stdout } = await spawnCommand(['store', 'backup', 'relative.db'], rig.env, { cwd: rig.folder });
    expect(code).to.equal(0);
    expect(stdout).to.match(/^backup +\/.*\/relative\.db$/m);
    expect((await stat(join(rig.folder, 'relative.db'))).size).to.be.above(0);
  });

  it('refuses an existing file, a folder and a missing parent folder', async () => {
    const file = join(rig.folder, 'precious.txt');
    await writeFile(file, 'precious');
    await mkdir(join(rig.folder, 'folder'));
    await rig.refused(1, 'store', 'backup', file);
    expect(await readFile(file, 'utf8')).to.equal('precious');
    await rig.refused(1, 'store', 'backup', join(rig.folder, 'folder'));
    await rig.refused(1, 'store', 'backup', join(rig.folder, 'nowhere', 'copy.db'));
    await rig.refused(1, 'store', 'backup', join(rig.folder, 'test.db'));
    expect(await rig.json('wallet', 'show', account)).to.include({ balance_rub: 1005 });
  });
});
