// `tollgate catalog console`: what pages wrote, as a file, and back to an earlier version.
import { expect } from 'chai';
import { openStore } from '../../lib/store/open.ts';
import { createRig, parseObject, type Rig, runCommand } from './command.ts';

describe('cli catalog console', () => {
  let rig: Rig;
  before(async () => {
    rig = await createRig();
  });
  after(() => rig.close());
  const run = (...words: string[]) => runCommand(['catalog', 'console', ...words], rig.env);

  it('prints a file, lists versions, and goes back to one', async () => {
    const part = { overrides: { 'text-1': { off: true } } };
    const store = await openStore(rig.env.DATABASE_URL ?? '', { inProcess: true });
    try {
      expect((await run('export')).stdout).to.equal('{}\n');
      const version = { seq: 1, at: 1_790_000_000_000, user: 'usr_1', note: 'model text-1 changed' };
      await store.catalogVersions.add({ ...version, text: JSON.stringify(part) });
      const exported = await run('export');
      expect(JSON.parse(exported.stdout)).to.deep.equal(part);
      expect(exported.stderr).to.match(/^Store: /);
      expect((await run('restore', '7')).code).to.equal(1);
      expect(parseObject((await run('restore', '0', '--json')).stdout)).to.include({ version: 2 });
      expect(JSON.parse((await run('export', '--json')).stdout)).to.deep.equal({});
      expect((await run('restore', '1')).stdout).to.match(/^version 3 is version 1 again$/m);
      expect(JSON.parse((await run('export')).stdout)).to.deep.equal(part);
      const { stdout } = await run('history');
      expect(stdout)
        .to.match(/^ +3 .* catalog\.restore 1$/m)
        .and.to.match(/^ +1 .*usr_1 +model text-1 changed$/m);
      expect((await store.auditLog.page({ limit: 1 }))[0]).to.include({ action: 'catalog.restore', target: '1' });
    } finally {
      await store.close();
    }
  });
});
