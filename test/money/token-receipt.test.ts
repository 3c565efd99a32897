import { expect } from 'chai';
import { itemizeTokens } from '../../lib/money/token-receipt.ts';

const PRICES = JSON.stringify({
  input: '2000000',
  cacheRead: '200000',
  cacheWrite: '2500000',
  output: '10000000',
  bands: [{ above: 200_000, input: '4000000', cacheRead: '400000', output: '15000000' }],
});
const receiptOf = (usage: object | null, more: object = {}) =>
  itemizeTokens({ kind: 'text', prices: PRICES, usage: usage && JSON.stringify(usage), ...more });

describe('the receipt of a text call', () => {
  it('has a line for each kind of token, and says what the cache saved', () => {
    expect(
      receiptOf({
        tokens_input: 1000,
        tokens_cache_read: 150_000,
        tokens_cache_write: 40_000,
        tokens_output: 20_000,
        tokens_reasoning: 5,
      }),
    ).to.deep.equal({
      lines: [
        { kind: 'input', count: 1000, rate: 2_000_000n, cost: 2_000n },
        { kind: 'cacheRead', count: 150_000, rate: 200_000n, cost: 30_000n },
        { kind: 'cacheWrite', count: 40_000, rate: 2_500_000n, cost: 100_000n },
        { kind: 'output', count: 20_000, rate: 10_000_000n, cost: 200_000n },
      ],
      reasoning: 5,
      above: undefined,
      total: 332_000n,
      // 582,000 without a cache, and the minimum with it.
      saved: 82_000n,
    });
  });

  it('names the band, whose prices all tokens have', () => {
    const {
      above,
      lines = [],
      saved,
    } = receiptOf({ tokens_input: 1, tokens_cache_read: 200_000, tokens_output: 1 }) ?? {};
    expect([above, saved]).to.deep.equal([200_000, 300_019n]);
    expect(lines.map(({ rate }) => rate)).to.deep.equal([4_000_000n, 400_000n, 15_000_000n]);
  });

  it('has a line for audio, which is no matter of the cache', () => {
    const prices = '{"input":"2000000","audio":"6000000","cacheRead":"200000","output":"10000000"}';
    const usage = { tokens_input: 100_000, tokens_audio: 200_000, tokens_output: 0 };
    const receipt = receiptOf(usage, { prices });
    expect(receipt?.lines.slice(0, 2)).to.deep.equal([
      { kind: 'input', count: 100_000, rate: 2_000_000n, cost: 200_000n },
      { kind: 'audio', count: 200_000, rate: 6_000_000n, cost: 1_200_000n },
    ]);
    expect(receipt).to.deep.include({ total: 1_400_000n, saved: 0n });
    expect(receiptOf({ ...usage, tokens_cache_read: 100_000 }, { prices })?.saved).to.equal(180_000n);
  });

  it('says what writing has cost above the input price', () => {
    const { saved } = receiptOf({ tokens_input: 0, tokens_cache_write: 200_000, tokens_output: 100_000 }) ?? {};
    expect(saved).to.equal(-100_000n);
  });

  it('knows no saving without cached tokens, and takes a charge of an earlier version', () => {
    const receipt = receiptOf(
      { tokens_input: 1_000_000, tokens_output: 0 },
      { prices: '{"input":"2000000","output":"1"}' },
    );
    expect(receipt).to.deep.include({ saved: 0n, above: undefined, reasoning: 0, total: 2_000_000n });
    expect(receipt?.lines.map(({ kind }) => kind)).to.deep.equal(['input', 'output']);
  });

  it('has only input for embeddings', () => {
    const receipt = receiptOf({ tokens_input: 3_000_000 }, { kind: 'embedding', prices: '{"input":"2000000"}' });
    expect(receipt).to.deep.include({
      lines: [{ kind: 'input', count: 3_000_000, rate: 2_000_000n, cost: 6_000_000n }],
      total: 6_000_000n,
      saved: 0n,
    });
  });

  it('does not exist for other calls, without usage, or where it cannot be computed', () => {
    expect(receiptOf(null)).to.equal(undefined);
    expect(receiptOf({ images: 1 }, { kind: 'image', prices: '{"request":"1"}' })).to.equal(undefined);
    expect(receiptOf({ tokens_input: -1, tokens_output: 1 })).to.equal(undefined);
    expect(receiptOf({ tokens_input: 1, tokens_output: 1 }, { prices: '{}' })).to.equal(undefined);
  });
});
