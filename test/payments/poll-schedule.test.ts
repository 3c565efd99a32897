import { expect } from 'chai';
import { nextPollAt, nextRefundPollAt } from '../../lib/payments/poll-schedule.ts';

const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const SINCE = 1_800_000_000_000;
const link = { createdAt: SINCE, expiresAt: SINCE + HOUR };

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
      expect(nextPollAt(link, SINCE + at)).to.equal(afterMs === null ? null : SINCE + at + afterMs);
    });
  }

  it('polls every minute until a payment link exists, and backs off for refunds', () => {
    const late = SINCE + 50 * HOUR;
    expect(nextPollAt({ createdAt: SINCE, expiresAt: null }, late)).to.equal(late + MINUTE);
    const end = 10 * MINUTE;
    for (const [age, wait] of [
      [MINUTE, MINUTE],
      [end - 1, MINUTE],
      [end, HOUR],
      [HOUR, HOUR],
    ] as const)
      expect(nextRefundPollAt(SINCE, SINCE + age), `${age}`).to.equal(SINCE + age + wait);
  });
});
