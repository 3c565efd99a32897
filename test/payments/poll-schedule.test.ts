import { expect } from 'chai';
import { nextPollAt, nextRefundPollAt } from '../../lib/payments/poll-schedule.ts';

const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const link = { createdAt: 0, expiresAt: HOUR };

describe('the schedule of polls', () => {
  for (const [name, at, afterMs] of [
    ['at once', 0, 5 * SECOND],
    ['in its first minute', 59 * SECOND, 5 * SECOND],
    ['after its first minute', MINUTE, MINUTE],
    ['while its link lives', HOUR - 1, MINUTE],
    ['when its link has died', HOUR, HOUR],
    ['on the day after', 25 * HOUR - 1, HOUR],
    ['a day after its link', 25 * HOUR, null],
  ] as const) {
    it(`${name}: ${afterMs === null ? 'is the last' : `the next comes ${afterMs / SECOND} s later`}`, () => {
      expect(nextPollAt(link, at)).to.equal(afterMs === null ? null : at + afterMs);
    });
  }

  it('polls every minute until a payment link exists, and backs off for refunds', () => {
    expect(nextPollAt({ createdAt: 0, expiresAt: null }, 50 * HOUR)).to.equal(50 * HOUR + MINUTE);
    expect([nextRefundPollAt(0, MINUTE), nextRefundPollAt(0, HOUR)]).to.deep.equal([2 * MINUTE, 2 * HOUR]);
    const end = 10 * MINUTE;
    expect([nextRefundPollAt(0, end - 1), nextRefundPollAt(0, end)]).to.deep.equal([end - 1 + MINUTE, end + HOUR]);
  });
});
