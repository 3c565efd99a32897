// The examples of docs/testing.md run as printed, with the checkout in place of the package.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { itLong } from '../../testkit/long.ts';
import { readTestingExamples } from '../../testkit/testing-examples.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const useCheckout = (code: string) =>
  code
    .replace("'tollgate/testing'", JSON.stringify(new URL('../../lib/testing.ts', import.meta.url)))
    .replace("'tollgate'", JSON.stringify(new URL('../../lib/index.ts', import.meta.url)));

describe('the guide to embedding and testing', () => {
  let folder: string;

  before(() => {
    // Below the checkout, which has mocha and nock.
    mkdirSync(join(ROOT, '.cache'), { recursive: true });
    folder = mkdtempSync(join(ROOT, '.cache/guide-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  function run(code: string, command: readonly string[], input = '') {
    const file = join(folder, 'example.test.mjs');
    writeFileSync(file, useCheckout(code));
    const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
    return spawnSync(process.execPath, [...command, file], {
      cwd: folder,
      env: { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE },
      encoding: 'utf8',
      input,
    });
  }

  itLong('runs a gateway inside a program', () => {
    const { status, stdout, stderr } = run(readTestingExamples().program, []);
    expect(status, stderr).to.equal(0);
    expect(stdout).to.match(/^200 with a demo account$/m);
  });

  itLong('runs one in a process of its own, for tests in another language', () => {
    const input = '["addAccount", {"rub": "10"}]\n["wallet"]\n["requests"]\n';
    const { status, stdout, stderr } = run(readTestingExamples().process, [], input);
    expect(status, stderr).to.equal(0);
    const [ready, account, wallet, requests] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(ready.url).to.match(/^http:/);
    expect([account.key, ready.key].map((key) => key.slice(0, 6))).to.deep.equal(['tg-sk-', 'tg-sk-']);
    expect([wallet, requests]).to.deep.equal([{ available: '1000.00', held: '0.00' }, []]);
  });

  itLong('runs one inside tests of mocha, with nock', () => {
    const mocha = join(ROOT, 'node_modules/mocha/bin/mocha.js');
    const { status, stdout, stderr } = run(readTestingExamples().mocha, [mocha, '--no-config', '--timeout', '60000']);
    expect(status, stdout + stderr).to.equal(0);
    expect(stdout).to.include('2 passing');
  });
});
