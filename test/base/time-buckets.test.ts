// Durations in buckets: where each counts, and what percentiles they give.
import { expect } from 'chai';
import {
  addTimes,
  BUCKET_BOUNDS_MS,
  BUCKET_COUNT,
  estimatePercentile,
  findBucket,
  NO_TIMES,
} from '../../lib/base/time-buckets.ts';

/** Counts with so many in some buckets. */
const counts = (...filled: readonly (readonly [bucket: number, count: number])[]) =>
  filled.reduce((all, [bucket, count]) => all.with(bucket, count), [...NO_TIMES]);

describe('durations in buckets', () => {
  it('count up to a bound and with it, and in the last bucket above all', () => {
    expect([0, 100, 101, 200, 60_000, 60_001].map(findBucket)).to.deep.equal([0, 0, 1, 1, 14, 15]);
    expect([BUCKET_COUNT, NO_TIMES.length]).to.deep.equal([16, 16]);
  });

  it('are added to others, and taken away again', () => {
    const one = counts([0, 2], [3, 1]);
    const other = counts([3, 4], [15, 1]);
    const both = addTimes(one, other);
    expect(both).to.deep.equal(counts([0, 2], [3, 5], [15, 1]));
    expect(addTimes(both, other, -1)).to.deep.equal(one);
    expect(addTimes(one, NO_TIMES)).to.equal(one);
    // Of a row that an earlier version wrote.
    expect(addTimes(one, [1])).to.deep.equal(counts([0, 3], [3, 1]));
  });

  it('have percentiles that lie evenly within a bucket', () => {
    expect(estimatePercentile(counts([1, 4]), 0.5)).to.equal(150);
    expect(estimatePercentile(counts([0, 1], [1, 2], [5, 1]), 0.5)).to.equal(150);
    expect(estimatePercentile(counts([0, 1], [1, 2], [5, 1]), 0.75)).to.equal(200);
    expect(estimatePercentile(counts([0, 1], [1, 2], [5, 1]), 1)).to.equal(750);
  });

  it('have the start of the last bucket, which has no end, and none of nothing', () => {
    expect(estimatePercentile(counts([0, 1], [15, 9]), 0.9)).to.equal(BUCKET_BOUNDS_MS.at(-1));
    expect(estimatePercentile(NO_TIMES, 0.5)).to.equal(undefined);
    expect(estimatePercentile(counts([0, 1]), 0)).to.equal(undefined);
  });
});
