// The walks that `npm run -s token-path` prints are in the code.
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { itLong } from '../../testkit/long.ts';

describe('the walks of a token and of a held amount', () => {
  itLong('names only functions that are there', () => {
    const printed = execFileSync(process.execPath, ['scripts/token-path.ts'], { encoding: 'utf8' });
    expect(printed).to.match(/^ *\d+ {2}in \d+ files$/m);
    expect(printed).to.match(/^ *\d+ {2}in \d+ files, with \d+ steps and \d+ types$/m);
  });
});
