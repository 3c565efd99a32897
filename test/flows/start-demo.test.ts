// `npm run demo`: the product in ten seconds, on a terminal or not.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { itLong } from '../../testkit/long.ts';
import { spawnChild } from '../../testkit/process.ts';

const DEMO = fileURLToPath(new URL('../../scripts/demo.ts', import.meta.url));
/** Its path is in a line whose width is checked. */
const TMPDIR = '/tmp';

/** Ten by itself; on a machine that is busy with other tests sixteen and more. */
const SECONDS_MAX = 40;

describe('demo', () => {
  itLong('shows two paid answers, two images, a refund, the wallet and the books, and cleans up', async () => {
    const leftovers = () => readdirSync(TMPDIR).filter((name) => name.startsWith('tollgate-demo-'));
    const before = new Set(leftovers());
    const startedAt = performance.now();
    const child = spawnChild(process.execPath, [DEMO], { PATH: process.env.PATH ?? '', TMPDIR });
    let chunks = 0;
    child.process.stdout?.on('data', () => {
      chunks += 1;
    });
    const { code, stdout, stderr } = await child.exit;
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(performance.now() - startedAt).to.be.below(SECONDS_MAX * 1000);
    // Word by word, not in one piece.
    expect(chunks).to.be.above(50);
    for (const essential of [
      'POST /api/v1/messages',
      'POST /api/v1/chat/completions',
      '/media/',
      'Charge refunded.',
      'adds up',
    ]) {
      expect(stdout).to.contain(essential);
    }
    const numbers = (name: string) =>
      [...stdout.matchAll(new RegExp(`^ +${name} +([\\d.]+)$`, 'gm'))].map(([, text]) => Number(text));
    expect(numbers('charged_rub')).to.have.length(3);
    const [first = 0, second = 0, edit = 0] = numbers('charged_rub');
    expect(first).to.be.above(0.5);
    expect(second).to.be.at.least(0.5);
    expect(edit).to.equal(5);
    expect(numbers('before')).to.deep.equal([1000]);
    expect(numbers('after')[0]).to.be.closeTo(1000 - first - second - 2 * edit, 0.001);
    expect(numbers('balance_rub').at(-1)).to.equal(numbers('after')[0]);
    // No colours where nobody looks, no line with blanks at its end, none too wide.
    expect(stdout).to.not.contain('\u001b');
    expect(stdout).to.not.match(/[ \t]$/m);
    expect(stdout.split('\n').every((line) => [...line].length <= 84)).to.equal(true);
    expect(leftovers().filter((name) => !before.has(name))).to.deep.equal([]);
  });
});
