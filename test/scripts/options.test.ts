// Options of scripts: a mistyped one is answered with those there are.
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { itLong } from '../../testkit/long.ts';

describe('options of a script', () => {
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
