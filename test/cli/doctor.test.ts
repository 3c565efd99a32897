// `tollgate doctor` and `tollgate support-bundle`, as processes.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createRig, expectRefusal, parseObject, type Rig, runCommand } from './command.ts';

describe('cli doctor', () => {
  let rig: Rig;
  before(async () => {
    rig = await createRig();
  });
  after(() => rig.close());

  it('prints each finding with what to do, and exits with 1 if something has failed', async () => {
    const { code, stdout, stderr } = await runCommand(['doctor'], { ...rig.env, PORT: '9' });
    expect([code, stderr]).to.deep.equal([1, '']);
    expect(stdout)
      .to.match(/^✓ PUBLIC_URL: http:/m)
      .and.to.match(/^✗ public address: .*\n {4}Start the service/m);
    expect(stdout).to.match(/\d+ fine, \d+ to look at, \d+ failed\n$/);
    const { ok, findings } = parseObject((await runCommand(['doctor', '--json'], { ...rig.env, PORT: '9' })).stdout);
    expect(ok).to.equal(false);
    expect(findings).to.be.an('array').that.is.not.empty;
  });

  it('writes a bundle that only its owner can read, and never over a file', async () => {
    const file = join(rig.folder, 'bundle.json');
    const { code } = await runCommand(['support-bundle', file], rig.env);
    expect(code).to.equal(0);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).to.include.keys('tollgate', 'node', 'settings', 'findings');
    expectRefusal(await runCommand(['support-bundle', file], rig.env), 1);
  });
});
