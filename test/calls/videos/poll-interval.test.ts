// When a job is looked at again.
import { expect } from 'chai';
import { computeNextPollMs, type Pace } from '../../../lib/calls/videos/poll-interval.ts';

const MIDDLE = 0.5;
const pace = (more: Partial<Pace>): Pace => ({ ageMs: 0, pollMs: 5000, open: 1, ...more });

describe('the pace of looks', () => {
  const rows: readonly [string, Partial<Pace>, ms: number][] = [
    ['begins with the interval', {}, 5000],
    ['stays there while a job is young', { ageMs: 40_000 }, 5000],
    ['grows with the age of the job', { ageMs: 120_000 }, 15_000],
    ['ends at twelve intervals', { ageMs: 7_000_000 }, 60_000],
    ['doubles after a poll without a verdict', { backsOff: true }, 10_000],
    ['waits as long as the upstream wants', { retryAfterMs: 30_000 }, 30_000],
    ['and no shorter than it would by itself', { retryAfterMs: 100 }, 5000],
    ['but not for ever', { retryAfterMs: 86_400_000 }, 600_000],
    ['spreads many jobs', { open: 2000 }, 60_000],
    ['waits a quarter of an hour at most', { open: 100_000 }, 900_000],
    ['leaves a hundred alone', { open: 100 }, 5000],
  ];
  for (const [name, more, ms] of rows) {
    it(name, () => expect(computeNextPollMs(pace(more), MIDDLE)).to.equal(ms));
  }

  it('keeps those apart that began together', () => {
    expect([0, 0.999].map((random) => computeNextPollMs(pace({}), random))).to.deep.equal([4000, 5998]);
  });
});
