// What of the package needs no packing: the systemd unit, and what an old Node is told.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'acorn';
import { expect } from 'chai';
import { readConfig } from '../../lib/config.ts';
import { startFlags, startVariables } from '../../testkit/npm-start.ts';
import { parseUnit } from './unit.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

describe('the package', () => {
  it('explains itself to an old Node in one line, in syntax that Node 16 reads', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-node-'));
    const bin = join(ROOT, 'bin/tollgate.cjs');
    const options = { ecmaVersion: 2021, sourceType: 'script', allowHashBang: true } as const;
    expect(() => parse(readFileSync(bin, 'utf8'), options)).not.to.throw();
    for (const version of ['16.20.2', '24.13.1', '25.4.0']) {
      const old = join(folder, 'old.cjs');
      writeFileSync(old, `Object.defineProperty(process, 'versions', { value: { node: '${version}' } });`);
      const { status, stdout, stderr } = spawnSync(process.execPath, ['-r', old, bin, 'serve'], { encoding: 'utf8' });
      expect([status, stdout]).to.deep.equal([1, '']);
      expect(stderr).to.equal(`tollgate: Node 24.14, 25.5 or newer is needed, and this is Node ${version}.\n`);
    }
    rmSync(folder, { recursive: true });
  });
});

describe('the systemd unit', () => {
  const unit = parseUnit(read('deploy/tollgate.service'));
  const readSetting = (name: string) => unit.get(name)?.[0];

  it('may write to the state directory alone, and gains nothing', () => {
    const wanted = {
      NoNewPrivileges: 'yes',
      CapabilityBoundingSet: '',
      ProtectSystem: 'strict',
      ProtectHome: 'yes',
      PrivateTmp: 'yes',
      StateDirectory: 'tollgate',
      StateDirectoryMode: '0700',
      UMask: '0077',
      User: 'tollgate',
      SystemCallFilter: '@system-service',
    };
    for (const [name, value] of Object.entries(wanted)) expect(readSetting(name), name).to.equal(value);
    expect(unit.has('ReadWritePaths')).to.equal(false);
    // V8 writes code and runs it.
    expect(unit.has('MemoryDenyWriteExecute')).to.equal(false);
  });

  it('starts Node as npm start does, apart from an option that Node 24 does not know', () => {
    const flags = (readSetting('ExecStart') ?? '').split(' ').filter((word) => word.startsWith('--'));
    expect([...flags, '--memory-pool-timeout=1']).to.deep.equal(startFlags());
    const { NODE_COMPILE_CACHE: _, ...variables } = startVariables();
    const environment = (unit.get('Environment') ?? []).flatMap((line) => line.split(' '));
    expect(environment).to.include.members(Object.entries(variables).map((pair) => pair.join('=')));
  });

  it('leaves calls time to end, and allows enough connections', () => {
    expect(Number(readSetting('TimeoutStopSec'))).to.be.at.least(readConfig({}).drainMs / 1000 + 15);
    expect(Number(readSetting('LimitNOFILE'))).to.be.at.least(2100);
  });

  it('is accepted by systemd', function () {
    const { status, stdout, error } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=true', '--threshold=30', join(ROOT, 'deploy/tollgate.service')],
      { encoding: 'utf8' },
    );
    if (error) {
      console.log('    systemd-analyze is not here: its own check of the unit is left out');
      return this.skip();
    }
    expect(status, stdout.split('\n').at(-2)).to.equal(0);
  });
});
