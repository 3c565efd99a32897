import { expect } from 'chai';
import { addCounts, namedCountsOf, tokenCountOf } from '../../../lib/upstream/host/token-counts.ts';

describe('untrusted counts of tokens', () => {
  it('are whole, more than zero and no more than can be counted', () => {
    const rows = [
      [1, 1],
      ['7', 7],
      [1.2, 2],
      [0.5, 1],
      [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
      ...[0, '0', '', ' ', -1, Number.MAX_SAFE_INTEGER + 1, Number.NaN, 'many', null, true, [1], {}].map(
        (value) => [value, undefined] as const,
      ),
    ] as const;
    for (const [value, count] of rows) expect(tokenCountOf(value), JSON.stringify(value)).to.equal(count);
  });

  it('add up to what is there', () => {
    expect([addCounts(1, 2), addCounts(1, undefined), addCounts(undefined, 2)]).to.deep.equal([3, 1, 2]);
    expect(addCounts(undefined, undefined)).to.equal(undefined);
    const names = { input: ['a', 'b'], output: ['c'] };
    expect(namedCountsOf({ a: 1, b: 2, c: 4 }, names)).to.deep.equal({ input: 3, output: 4 });
    expect(namedCountsOf({ b: 2, d: 5 }, names)).to.deep.equal({ input: 2 });
    expect(namedCountsOf({ c: 0, a: 'x' }, names)).to.deep.equal({});
    expect(namedCountsOf(null, names)).to.deep.equal({});
  });
});
