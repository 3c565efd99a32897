// The scripts of package.json as npm runs them: `.env` is read where there is one, and nobody is told where there is none.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { itLong } from '../../testkit/long.ts';
import { spawnChild } from '../../testkit/process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

describe('the file .env', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-env-'));
    cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
    for (const name of ['lib', '.cache']) symlinkSync(join(ROOT, name), join(folder, name));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs a script; a bad LOG_LEVEL ends it before it does anything. */
  async function run(script: string, args: string, env: Readonly<Record<string, string>> = {}) {
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const command = `cd '${folder}' && ${scripts[script]} ${args}`;
    return spawnChild('sh', ['-c', command], { PATH: process.env.PATH ?? '', ...env }).exit;
  }

  for (const [script, args] of [
    ['start', ''],
    ['tollgate', 'account list'],
  ] as const) {
    const itHere = script === 'start' ? it : itLong;
    itHere(`sets variables for ${script}, below those of the environment`, async () => {
      const lines = ['LOG_LEVEL=loud', `DATABASE_URL=sqlite:${folder}/test.db`, 'PORT=http'];
      writeFileSync(join(folder, '.env'), `${lines.join('\n')}\n`);
      const { code, stdout, stderr } = await run(script, args, { PORT: '0' });
      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr).to.match(/^tollgate: Bad environment: LOG_LEVEL must be one of [^;\n]+\n$/);
    });

    itLong(`is optional for ${script}`, async () => {
      const { code, stdout, stderr } = await run(script, args, { LOG_LEVEL: 'loud' });
      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr).to.match(/^tollgate: Bad environment: LOG_LEVEL must be one of [^;\n]+\n$/);
    });
  }
});
