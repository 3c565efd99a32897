// The cost of routing everyday prompts, measured in a process of its own on an idle machine.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';

/** Other work on the machine only adds: the best of so many looks counts. */
const LOOKS_MAX = 3;

/** What a prompt of 4 KB may cost. */
const PROMPT_MICROS = 300;
/** What the reference of `cost.ts` takes on a 2.8 GHz Xeon; where it takes longer, everything may. */
const REFERENCE_MICROS = 70;

describe('cost of the smart router', function () {
  this.timeout(120_000);

  it('takes at most 300 µs for a prompt of 4 KB', async () => {
    const script = new URL('./cost.ts', import.meta.url).pathname;
    let over: readonly string[] = ['not measured'];
    for (let look = 1; over.length > 0 && look <= LOOKS_MAX; look += 1) {
      const { stdout } = await promisify(execFile)(process.execPath, [script]);
      const costs = JSON.parse(stdout) as Record<string, number>;
      expect(costs).to.have.all.keys('reference', 'russian', 'english', 'paragraphs', 'bullets', 'code');
      const { reference = 0, ...kinds } = costs;
      const limit = PROMPT_MICROS * Math.max(1, reference / REFERENCE_MICROS);
      const slow = Object.entries(kinds).filter(([, cost]) => cost >= limit);
      over = slow.map(([name, cost]) => `${name}: ${cost.toFixed()} of ${limit.toFixed()} µs`);
    }
    expect(over).to.deep.equal([]);
  });
});
