// How the attempts of a video end: those that were booked while it ran, or none of a process that died.
import { expect } from 'chai';
import { endJobAttempts } from '../../../lib/calls/videos/job-attempts.ts';

type Job = Parameters<typeof endJobAttempts>[0];
type Row = Parameters<typeof endJobAttempts>[1][number];

const JOB = { charge: 'ch_1', wallet: 'wa_1', model: 'm', upstream: 'up', createdAt: 100 } as Job;
const row = (number: number, more: object) =>
  ({
    charge: 'ch_1',
    wallet: 'wa_1',
    number,
    last: true,
    model: 'm',
    upstream: 'up',
    at: 200,
    totalMs: 0,
    ...more,
  }) as unknown as Row;
const brief = (rows: readonly Row[], how: 'completed' | 'failed', now = 500) =>
  endJobAttempts(JOB, rows, { how, now }).map(({ at, ending, certainty, totalMs }) => [at, ending, certainty, totalMs]);

describe('the attempts of a video that ended', () => {
  const failed = row(1, { ending: 'failed', certainty: 'none', totalMs: 7 });
  const running = row(2, { ending: 'running', certainty: 'possible' });

  it('end with the last, which ran', () => {
    const first = [200, 'failed', 'none', 7];
    expect(brief([failed, running], 'completed')).to.deep.equal([first, [200, 'answered', 'reported', 300]]);
    expect(brief([failed, running], 'failed')).to.deep.equal([first, [200, 'failed', 'possible', 300]]);
    expect(brief([running], 'failed', 100)).to.deep.equal([[200, 'failed', 'possible', 0]]);
  });

  it('stay as they were if they had ended before', () => {
    const ended = row(2, { ending: 'answered', certainty: 'reported', totalMs: 9 });
    expect(brief([ended], 'failed')).to.deep.equal([[200, 'answered', 'reported', 9]]);
  });

  it('are one since the video was asked for if none was booked', () => {
    expect(brief([], 'completed')).to.deep.equal([[100, 'answered', 'reported', 400]]);
    expect(brief([], 'failed')).to.deep.equal([[100, 'lost', 'possible', 400]]);
  });
});
