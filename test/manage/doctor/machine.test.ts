// What the doctor says of settings, disks and clocks, each case by itself.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../../lib/config.ts';
import { checkClock, checkDisk, checkRoom, checkSettings } from '../../../lib/manage/doctor/machine.ts';
import { readFreeBytes } from '../../../lib/store/free-space.ts';

const NO_TLS = 'is not encrypted';
const NO_KEY = 'SECRETS_KEY: warning: not set: secrets of authenticator apps and webhooks are in the store as they are';
const SECRETS_KEY = 'ab'.repeat(32);

describe('the doctor’s look at a machine', () => {
  const CASES: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[]])[] = [
    ['of a trial on this machine', {}, ['PUBLIC_URL: ok: http://127.0.0.1:8080']],
    [
      'of a trial on all addresses',
      { HOST: '0.0.0.0' },
      ['PUBLIC_URL: failed: not set, so links point to this machine'],
    ],
    [
      'of a complete service',
      { HOST: '0.0.0.0', PUBLIC_URL: 'https://ai.example.com', SECRETS_KEY },
      ['PUBLIC_URL: ok: https://ai.example.com', 'SECRETS_KEY: ok: secrets in the store are encrypted'],
    ],
    ['of an address of this machine', { PUBLIC_URL: 'http://localhost:9' }, ['PUBLIC_URL: ok: http://localhost:9']],
    ['of its address by number', { PUBLIC_URL: 'http://[::1]:9' }, ['PUBLIC_URL: ok: http://[::1]:9']],
    [
      'of an address without TLS',
      { PUBLIC_URL: 'http://ai.example.com' },
      [`PUBLIC_URL: warning: http://ai.example.com ${NO_TLS}`, NO_KEY],
    ],
    [
      'of an address with a path',
      { PUBLIC_URL: 'https://ai.example.com/llm', SECRETS_KEY },
      [
        'PUBLIC_URL: warning: the pages do not work under a path such as /llm',
        'SECRETS_KEY: ok: secrets in the store are encrypted',
      ],
    ],
    [
      'of a catalog that the next installation replaces',
      { PUBLIC_URL: 'http://localhost:9', CATALOG_DIR: '/srv/node_modules/tollgate/catalog' },
      [
        'PUBLIC_URL: ok: http://localhost:9',
        'CATALOG_DIR: warning: /srv/node_modules/tollgate/catalog is replaced by the next installation',
      ],
    ],
    [
      'of such a catalog in a trial',
      { CATALOG_DIR: '/srv/node_modules/tollgate/catalog' },
      ['PUBLIC_URL: ok: http://127.0.0.1:8080'],
    ],
    [
      'of misspelled variables',
      { RATE_LIMIT_PER_MINUT: '5', SECRET_KEYS: 'x', FOO: '1' },
      [
        'settings: warning: the variable RATE_LIMIT_PER_MINUT is not read',
        'settings: warning: the variable SECRET_KEYS is not read',
        'PUBLIC_URL: ok: http://127.0.0.1:8080',
      ],
    ],
  ];
  for (const [name, env, wanted] of CASES)
    it(`${name}, says what to do about each setting that is wrong`, () => {
      const findings = checkSettings(readConfig(env));
      expect(findings.map(({ name, state, detail }) => `${name}: ${state}: ${detail}`)).to.deep.equal(wanted);
      for (const { state, advice } of findings) expect(advice === undefined).to.equal(state === 'ok');
    });

  it('lets clocks differ by 15 seconds, by the one in the middle', () => {
    const look = (...apart: readonly number[]) => {
      const { state, detail } = checkClock(apart.map((ms) => [1_800_000_000_000 + ms, 1_800_000_000_000]));
      return `${state}: ${detail}`;
    };
    const fine = 'ok: within 15 s of others';
    expect(look()).to.equal('warning: no other machine to compare it with');
    expect([look(15_000), look(-15_000)]).to.deep.equal([fine, fine]);
    expect(look(15_001)).to.equal('failed: differs by 15 s from others');
    expect(look(-90_000)).to.equal('failed: differs by -90 s from others');
    // By their size, not by their letters.
    expect(look(9000, 100_000, 10_000)).to.equal(fine);
    expect(look(100_000, 9000, 20_000)).to.equal('failed: differs by 20 s from others');
    expect([look(0, 20_000), look(0, 0, 20_000, 20_000)].map((said) => said.slice(0, 6))).to.deep.equal([
      'failed',
      'failed',
    ]);
  });

  it('warns below two GiB of room, and fails below 200 MiB', () => {
    const look = (mib: number) => checkRoom('disk', mib * 1024 ** 2);
    expect(look(2048)).to.deep.equal({ name: 'disk', state: 'ok', detail: '2.0 GiB free' });
    expect([look(2047), look(200), look(199)].map(({ state }) => state)).to.deep.equal([
      'warning',
      'warning',
      'failed',
    ]);
  });

  it('says how much room each folder has, and which one is not there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-doctor-'));
    try {
      const none = join(folder, 'none');
      const env = { DATABASE_URL: `sqlite:${join(folder, 'a.db')}`, DATA_DIR: none };
      const [found, missing, ...others] = await checkDisk(readConfig(env));
      expect(found?.name).to.equal(`disk of ${folder}`);
      const gib = (await readFreeBytes(folder)) / 1024 ** 3;
      expect(found?.detail).to.match(/^\d+\.\d GiB free$/);
      expect(Number.parseFloat(found?.detail ?? '')).to.be.closeTo(gib, 1);
      expect(found?.state).to.equal(gib >= 2 ? 'ok' : gib >= 0.2 ? 'warning' : 'failed');
      expect(missing).to.include({ name: `disk of ${none}`, state: 'failed', detail: 'ENOENT' });
      expect(others).to.deep.equal([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
