// `tollgate provider check`, in both modes, from a checkout and from the packed package.
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { itLong } from '../../testkit/long.ts';
import { createRig, parseObject, type Rig, runCommand } from './command.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SANDBOX = join(ROOT, 'providers/sandbox');

describe('cli provider', function () {
  this.timeout(60_000);
  let rig: Rig;

  before(async () => {
    rig = await createRig();
  });

  after(() => rig.close());

  it('prints each check and their number, and needs neither a store nor a valid environment', async () => {
    const env = { PATH: process.env.PATH, DATABASE_URL: 'nonsense' };
    const { code, stdout } = await runCommand(['provider', 'check', SANDBOX], env);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^\nsettings\n {2}✓ make a provider.*\n\n\d+ checks, all passed\n$/s);
  });

  itLong('prints one object with --json', async () => {
    const { ok, checks, failures } = await rig.json('provider', 'check', SANDBOX);
    expect([ok, failures]).to.deep.equal([true, []]);
    expect(checks).to.be.above(5);
  });

  it('exits with 1 if a check fails, and says which and why', async () => {
    const folder = join(rig.folder, 'failing', 'sandbox');
    await cp(SANDBOX, folder, { recursive: true });
    const index = join(folder, 'index.ts');
    const source = await readFile(index, 'utf8');
    await writeFile(index, source.replaceAll("kept < all ? 'length' : reason", 'reason'));
    const { code, stdout } = await rig.run('provider', 'check', folder, '--json');
    const { ok, failures } = parseObject(stdout) as { ok: boolean; failures: readonly object[] };
    expect([code, ok]).to.deep.equal([1, false]);
    expect(failures).to.have.length(1);
    expect(failures[0]).to.include({ group: 'calls', check: 'are cut at the limit of tokens' });
  });

  it('refuses a folder without a plugin, and a missing folder', async () => {
    expect(await rig.refused(1, 'provider', 'check', join(rig.folder, 'nowhere'))).to.match(
      /There is no folder \S+nowhere$/m,
    );
    expect(await rig.refused(1, 'provider', 'check', rig.folder)).to.include('neither index.js nor index.ts');
    expect(await rig.refused(2, 'provider', 'check')).to.include("missing required argument 'folder'");
  });

  itLong('runs from the packed package on an external folder', async () => {
    const { execFile } = await import('node:child_process');
    const { promisify } = await import('node:util');
    const own = join(rig.folder, 'own');
    const installed = join(own, 'node_modules', 'tollgate');
    await mkdir(installed, { recursive: true });
    const build = ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', join(installed, 'dist')];
    await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), build);
    await cp(join(ROOT, 'package.json'), join(installed, 'package.json'));
    await symlink(join(ROOT, 'node_modules'), join(installed, 'node_modules'));
    const plugin = join(own, 'providers', 'studio');
    await cp(join(ROOT, 'test/upstream/check/studio'), plugin, { recursive: true });
    const index = join(plugin, 'index.ts');
    const types = "'../../../../lib/upstream/contract/provider.ts'";
    const source = await readFile(index, 'utf8');
    expect(source).to.include(types);
    await writeFile(index, source.replace(types, "'tollgate/plugin'"));
    const main = join(installed, 'dist/lib/cli/main.js');
    const { stdout } = await promisify(execFile)(process.execPath, [main, 'provider', 'check', plugin, '--json']);
    expect(JSON.parse(stdout)).to.deep.include({ ok: true, failures: [] });
    await rm(own, { recursive: true });
  });
});
