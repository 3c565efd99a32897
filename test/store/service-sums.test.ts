// Which sums of the whole service answer a question about a time.
import { expect } from 'chai';
import { DAY_MS, HOUR_MS, listServiceSpans, WEEK_MS } from '../../lib/store/service-sums.ts';

describe('the parts of a time', () => {
  const list = (from: number, to: number) =>
    listServiceSpans({ from, to, by: 'name' }).map((span) => [span.grain, span.from, span.to]);

  it('are the coarsest that fit', () => {
    const [from, day, end] = [WEEK_MS - DAY_MS - HOUR_MS, WEEK_MS - DAY_MS, 3 * WEEK_MS];
    expect(list(from, end + HOUR_MS)).to.deep.equal([
      ['hour', from, day],
      ['day', day, WEEK_MS],
      ['week', WEEK_MS, end],
      ['hour', end, end + HOUR_MS],
    ]);
  });

  it('end within an hour, as now does', () => {
    const minute = 60_000;
    expect(list(DAY_MS, DAY_MS + 2 * HOUR_MS + minute)).to.deep.equal([
      ['hour', DAY_MS, DAY_MS + 2 * HOUR_MS],
      ['hour', DAY_MS + 2 * HOUR_MS, DAY_MS + 2 * HOUR_MS + minute],
    ]);
    expect(list(DAY_MS + minute, DAY_MS + 2 * minute)).to.deep.equal([['hour', DAY_MS + minute, DAY_MS + 2 * minute]]);
  });

  it('are one without a sum, for a time without a length', () => {
    expect(list(DAY_MS, DAY_MS)).to.deep.equal([['hour', DAY_MS, DAY_MS]]);
  });
});
