import { expect } from 'chai';
import { findCount, readCount, sumNamedCounts } from '../../../lib/upstream/host/token-counts.ts';

describe('untrusted counts of tokens', () => {
  it('are whole, zero or more, and no more than can be counted', () => {
    const rows = [
      [0, 0],
      ['0', 0],
      [1, 1],
      ['7', 7],
      [1.2, 2],
      [0.5, 1],
      [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
      ...['', ' ', -1, Number.MAX_SAFE_INTEGER + 1, Number.NaN, 'many', null, true, [1], {}].map(
        (value) => [value, undefined] as const,
      ),
    ] as const;
    for (const [value, count] of rows) expect(readCount(value), JSON.stringify(value)).to.equal(count);
  });

  it('have the first of several names that is above zero', () => {
    expect([findCount(0, 1, 8), findCount('x', 0), findCount(undefined, null), findCount()]).to.deep.equal([
      1,
      0,
      undefined,
      undefined,
    ]);
  });

  it('are added up by their kinds', () => {
    const names = { input: ['a', 'b'], cacheRead: ['r'], output: ['c'] };
    expect(sumNamedCounts({ a: 1, b: 2, c: 4, r: 0 }, names)).to.deep.equal({ input: 3, cacheRead: 0, output: 4 });
    expect(sumNamedCounts({ b: 2, d: 5 }, names)).to.deep.equal({ input: 2 });
    expect(sumNamedCounts({ a: 'x' }, names)).to.deep.equal({});
    expect(sumNamedCounts(null, names)).to.deep.equal({});
  });
});
