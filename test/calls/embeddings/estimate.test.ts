import { expect } from 'chai';
import { estimateInputs, judgeCount } from '../../../lib/calls/embeddings/estimate.ts';
import { watchTicks } from '../../../testkit/event-loop-ticks.ts';

describe('the estimate of inputs', () => {
  it('is exact for tokens, with what a model may add to each input', async () => {
    expect(await estimateInputs({ inputs: [], tokens: [[1, 2], [3]] })).to.deep.equal({
      held: 3 + 8,
      billed: 3,
      max: 9 + 128,
    });
  });

  it('holds at least a token for four bytes, and bills at least one for each input', async () => {
    const { held, billed } = await estimateInputs({ inputs: ['a', 'b', 'c'] });
    expect(held).to.be.at.least(3 + 12);
    expect(billed).to.equal(3);
    expect((await estimateInputs({ inputs: ['x'.repeat(400_000)] })).held).to.be.at.least(100_000);
  });

  it('bills a text by about as many tokens as it has words', async () => {
    const words = 'The quick brown fox jumps over the lazy dog and runs. '.repeat(100);
    expect((await estimateInputs({ inputs: [words] })).billed).to.be.within(1000, 1500);
  });

  it('takes megabytes without keeping others waiting', async () => {
    const ticks = watchTicks();
    await estimateInputs({ inputs: ['слово '.repeat(1_000_000)] });
    ticks.stop();
    expect(ticks.worstMs()).to.be.below(500);
  });

  for (const [counted, tokens] of [
    [10, 10],
    [50, 50],
    [51, 50],
    [0, 20],
    [-1, 20],
    [Number.NaN, 20],
    [undefined, 20],
  ] as const) {
    it(`bills ${tokens} where an upstream counts ${counted}`, () => {
      const { tokens: billed, doubt } = judgeCount(counted, { held: 30, billed: 20, max: 50 });
      expect(billed).to.equal(tokens);
      expect(doubt).to.equal(counted === tokens ? undefined : `usage reported as input ${counted}`);
    });
  }
});
