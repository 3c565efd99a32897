import { expect } from 'chai';
import { MAX_TOKENS_MAXIMUM } from '../../../lib/base/token-limits.ts';
import { computeExcess, computeOvershoot, computeUncappedExcess } from '../../../lib/calls/text/overshoot.ts';
import { estimateTokens } from '../../../lib/calls/text/tokens.ts';
import { Meter } from '../../../lib/stream/meter.ts';
import { delta, usage } from './stage.ts';

const RUB = 1_000_000n;

/** 1000 tokens of input are held at 1000 RUB per million, 512 of output at 5000: 3.56 RUB. */
function running({ trusted = true } = {}) {
  const outputMax = trusted ? 500 : Number.POSITIVE_INFINITY;
  const meter = new Meter({ trusted, inputEstimate: 1000, inputMax: 100_000, outputMax, estimateTokens });
  const price = { input: 1000n * RUB, audio: 8000n * RUB, cacheWrite1h: 9000n * RUB, output: 5000n * RUB };
  const terms = { model: { price }, held: { input: 1000, output: 512 } };
  return { meter, overshoot: () => computeOvershoot({ ...terms, meter }, 3_560_000n) };
}

describe('overshoot of a running text call', () => {
  it('is nothing while it keeps within its hold', () => {
    const { meter, overshoot } = running();
    expect(overshoot()).to.equal(0n);
    meter.push([usage(1000, 500), delta('x'.repeat(100_000))]);
    expect(overshoot()).to.equal(0n);
  });

  it('is what is used above the hold, not above one side of it', () => {
    const { meter, overshoot } = running();
    meter.push([usage(3000, 0)]);
    expect(overshoot()).to.equal(0n);
    meter.push([usage(5000, 1)]);
    expect(overshoot()).to.equal(5_005_000n - 3_560_000n);
  });

  it('is what writing to a cache costs above the hold, of no more tokens than are held', () => {
    const { meter, overshoot } = running();
    meter.push([{ type: 'usage', input: 900, cacheWrite1h: 100, output: 1 }]);
    expect(overshoot()).to.equal(0n);
    meter.push([{ type: 'usage', input: 0, cacheWrite1h: 1000, output: 1 }]);
    expect(overshoot()).to.equal(9_005_000n - 3_560_000n);
  });

  it('is what audio that nobody sent costs above the hold, of no more tokens than are held', () => {
    const { meter, overshoot } = running();
    meter.push([{ type: 'usage', input: 0, audio: 1000, output: 1 }]);
    expect(overshoot()).to.equal(8_005_000n - 3_560_000n);
  });

  it('counts the text of a buffered answer above its max_tokens', () => {
    const { meter, overshoot } = running({ trusted: false });
    meter.push([delta('x'.repeat(4 * 1512))]);
    expect(overshoot()).to.equal(5000n * 1000n);
  });

  it('of an answer without a cap is at most what the longest with one costs, at the dearest price', () => {
    const price = { input: 1000n * RUB, output: 5000n * RUB };
    expect(computeUncappedExcess(price)).to.equal(5000n * BigInt(MAX_TOKENS_MAXIMUM));
    const bands = [{ above: 1000, input: 2000n * RUB, output: 9000n * RUB }];
    expect(computeUncappedExcess({ ...price, bands })).to.equal(9000n * BigInt(MAX_TOKENS_MAXIMUM));
    expect(computeExcess(price, { buffered: true, documentsExcess: 1000, audioExcess: 1000 })).to.equal(
      computeUncappedExcess(price),
    );
  });

  it('of a call with files is at most what they may have above what is held, at the dearest price of input', () => {
    const price = { input: 1000n * RUB, output: 5000n * RUB };
    expect(computeExcess(price, { buffered: false })).to.equal(undefined);
    const excess = { buffered: false, documentsExcess: 98_000, audioExcess: 100_000 };
    expect(computeExcess(price, excess)).to.equal(198n * RUB);
    const bands = [{ above: 1000, input: 2000n * RUB, output: 5000n * RUB }];
    expect(computeExcess({ ...price, bands }, excess)).to.equal(396n * RUB);
    // Recordings at the dearest of both prices.
    expect(computeExcess({ ...price, audio: 3000n * RUB }, excess)).to.equal(398n * RUB);
    expect(computeExcess({ ...price, audio: 1n }, excess)).to.equal(198n * RUB);
    expect(computeExcess({ ...price, audio: 3000n * RUB }, { buffered: false, audioExcess: 1000 })).to.equal(3n * RUB);
  });
});
