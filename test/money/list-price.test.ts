// What a call at an account's own prices would have cost without them.
import { expect } from 'chai';
import { compareWithList, computeDifference } from '../../lib/money/list-price.ts';
import { scalePrices } from '../../lib/money/markup.ts';

const LIST = { name: 'partner', version: 'abcd0123' };

describe('list prices beside those of an account', () => {
  const charge = (kind: 'text' | 'embedding' | 'image' | 'edit' | 'video', list: object, usage: object | null) => ({
    ...{ kind, state: 'settled' as const, usage: usage && JSON.stringify(usage) },
    prices: JSON.stringify({ input: '1', output: '1', list: { ...LIST, prices: list } }),
  });

  for (const [name, of, amount] of [
    ['text', charge('text', { input: '9000000', output: '2000000' }, { tokens_input: 1e6, tokens_output: 1e6 }), 11n],
    ['a band', charge('text', BANDED(), { tokens_input: 2e6, tokens_output: 0 }), 40n],
    ['embeddings', charge('embedding', { input: '3000000' }, { tokens_input: 2e6 }), 6n],
    ['an image', charge('image', { request: '5000000' }, { images: 1 }), 5n],
    ['an edit', charge('edit', { request: '6000000' }, {}), 6n],
    ['a video', charge('video', { unit: 'request', request: '7000000' }, { seconds: 5 }), 7n],
    ['seconds', charge('video', { unit: 'second', second: '2000000' }, { seconds: 5 }), 10n],
    [
      'a resolution',
      charge(
        'video',
        { unit: 'second', second: { '720p': '1', '1080p': '3000000' } },
        { seconds: 5, resolution: '1080p' },
      ),
      15n,
    ],
  ] as const) {
    it(`are computed for ${name}`, () => {
      expect(compareWithList(of)).to.deep.equal({ ...LIST, amount: amount * 1_000_000n });
    });
  }

  function BANDED(): object {
    return { input: '9000000', output: '2', bands: [{ above: 1_000_000, input: '20000000', output: '3' }] };
  }

  it('have the same minimum', () => {
    const of = charge('text', { input: '1', output: '1' }, { tokens_input: 1, tokens_output: 1 });
    expect(compareWithList(of)?.amount).to.equal(500_000n);
  });

  it('have no sum for a call that runs, was not charged, or was repeated, and are none for a call without a list', () => {
    const of = charge('text', { input: '1', output: '1' }, { tokens_input: 1, tokens_output: 1 });
    for (const other of [
      { ...of, state: 'held' as const, usage: null },
      { ...of, state: 'released' as const },
      charge('text', { input: '1', output: '1' }, { tokens_input: 1, tokens_output: 1, repeated_as: 'req_2' }),
      charge('text', { what: 'else' }, { tokens_input: 1, tokens_output: 1 }),
    ]) {
      expect(compareWithList(other)).to.deep.equal({ ...LIST, amount: undefined });
    }
    expect(compareWithList({ ...of, prices: '{"input":"1","output":"1"}' })).to.equal(undefined);
  });

  it('differ by a percentage with one decimal', () => {
    expect(computeDifference(12_000_000n, 10_800_000n)).to.equal(-10);
    expect(computeDifference(3n, 2n)).to.equal(-33.3);
    expect(computeDifference(10n, 12n)).to.equal(20);
    expect(computeDifference(0n, 12n)).to.equal(undefined);
  });

  it('times a factor are exact, rounded up once, and never zero', () => {
    const times = (factor: bigint, step = 1n) => scalePrices({ input: 1_000_001n, output: 7n }, { factor, step });
    expect(times(900_000n)).to.deep.equal({ input: 900_001n, output: 7n });
    expect(times(900_000n, 10_000n)).to.deep.equal({ input: 910_000n, output: 10_000n });
    expect(times(1n)).to.deep.equal({ input: 2n, output: 1n });
  });
});
