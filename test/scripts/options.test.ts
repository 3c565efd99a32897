// Options of scripts: a mistyped one is answered with those there are.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { itLong } from '../../testkit/long.ts';

const HELP: readonly (readonly [script: string, found: string])[] = [
  ['topology.ts', 'There are no options.'],
  ['drill.ts', 'There are no options.'],
  ['crash.ts', 'The options are --rounds …, --store ….'],
  ['smart-train.ts', 'The options are --check.'],
  ['store-fixture.ts', 'The arguments are the version.'],
  [
    'bench/store.ts',
    'The options are --store …, --url …, --seconds …, --rounds …, --wallets …, --calls …, --parts, --before ….',
  ],
];

describe('options of a script', () => {
  for (const [script, found] of HELP) {
    itLong(`are listed by --help and nothing else is done: ${script}`, function () {
      this.timeout(60_000);
      const run = spawnSync(process.execPath, [`scripts/${script}`, '--help'], { encoding: 'utf8', timeout: 50_000 });
      expect([run.status, run.stdout]).to.deep.equal([0, `${found}\n`]);
    });
  }

  it('are read by every script of the manifest that has some', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    const files = Object.values(scripts).flatMap((line) => /\bnode (?:\S+ )*(scripts\/\S+\.ts)/.exec(line)?.[1] ?? []);
    expect(files).to.include('scripts/topology.ts');
    // They pass their arguments on, or take none.
    const others = ['scripts/test.ts', 'scripts/slow.ts', 'scripts/tidy.ts', 'scripts/bench/main.ts'];
    const silent = files.filter((file) => !/\bread(?:Options|Words)\(/.test(readFileSync(file, 'utf8')));
    expect(silent).to.have.members(others);
  });

  itLong('end the script with an error and no stack if unknown', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/crash.ts', '--round', '3'], { encoding: 'utf8' });
    expect(status).to.equal(2);
    expect(stderr.split('\n')).to.deep.equal([
      "Unknown option '--round'",
      'The options are --rounds …, --store ….',
      '',
    ]);
  });
});
