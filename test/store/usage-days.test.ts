// Which hours and days parts of a time are added up from: each hour of a part once, most of them as parts of UTC days.
import { expect } from 'chai';
import { addDays, findDayStartHour } from '../../lib/money/days.ts';
import { isUsed, listUsageSpans, type UsageSpan, type UsageSpans } from '../../lib/store/usage-days.ts';
import { NO_USAGE } from '../../lib/store/usage-totals.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MONTHS = Array.from({ length: 13 }, (_, at) => new Date(Date.UTC(2026, at)).toISOString().slice(0, 10));
const DAYS = Array.from({ length: 366 }, (_, at) => addDays('2026-01-01', at));

const countHours = (spans: readonly UsageSpan[]) =>
  spans.reduce((sum, { from, until }) => sum + (until - from) / HOUR_MS, 0);
const countRead = ({ hours, less }: UsageSpans) => countHours(hours) + countHours(less);

/** How often each hour counts for each part: once for its own one, and for others never. */
function expectEachOnce(starts: readonly number[], to: number): UsageSpans {
  const spans = listUsageSpans(starts, to);
  const counts = new Map<string, number>();
  const count = (list: readonly UsageSpan[], sign: 1 | -1) => {
    for (const { start, from, until } of list) {
      expect(from).to.be.below(until);
      for (let hour = from; hour < until; hour += HOUR_MS) {
        const name = `${start} ${hour}`;
        counts.set(name, (counts.get(name) ?? 0) + sign);
      }
    }
  };
  for (const { from, until } of spans.days) expect([from % DAY_MS, until % DAY_MS]).to.deep.equal([0, 0]);
  count(spans.hours, 1);
  count(spans.days, 1);
  count(spans.less, -1);
  const wanted: string[] = [];
  for (let hour = starts[0] as number; hour < to; hour += HOUR_MS)
    wanted.push(`${starts.findLast((each) => each <= hour)} ${hour}`);
  expect([...counts].filter(([, times]) => times !== 0).map(([name]) => name)).to.have.members(wanted);
  expect([...counts.values()].filter((times) => times < 0 || times > 1)).to.deep.equal([]);
  return spans;
}

describe('the spans of usage', () => {
  for (const [zone, ofMonths, ofDays] of [
    ['UTC', 0, 0],
    // Three hours before each part, and three that its last day has more.
    ['Europe/Moscow', 12 * 6, 365 * 6],
    // A day begins at 18:30 in UTC, which counts as 18 o'clock.
    ['Asia/Kolkata', 12 * 12, 365 * 12],
    // A month begins four or five hours after a day by UTC; the clocks change on two days.
    ['America/New_York', 104, 3174],
    // A day would be 18 hours besides: it is 24.
    ['Asia/Tokyo', 12 * 18, 365 * 24],
  ] as const) {
    it(`of a year in ${zone} are days, and by month ${ofMonths} hours, by day ${ofDays}`, () => {
      const list = (days: readonly string[]) => {
        const starts = days.slice(0, -1).map((day) => findDayStartHour(day, zone));
        return expectEachOnce(starts, findDayStartHour(days.at(-1) as string, zone));
      };
      expect([countRead(list(MONTHS)), countRead(list(DAYS))]).to.deep.equal([ofMonths, ofDays]);
    });
  }

  it('of parts that begin and end anywhere count each hour once', () => {
    const day = Date.UTC(2026, 0, 1);
    for (const length of [1, 5, 12, 13, 23, 24, 25, 30, 36, 47, 72]) {
      for (let begin = 0; begin < 24; begin += 1) {
        const starts = [0, 1, 2, 3].map((at) => day + (begin + at * length) * HOUR_MS);
        const spans = expectEachOnce(starts, day + (begin + 4 * length) * HOUR_MS);
        // At most half of the hours are read.
        if (spans.days.length === 4) expect(2 * countRead(spans)).to.be.at.most(4 * length);
      }
    }
  });

  it('of a part within a day, and of one that ends with it, are hours', () => {
    const day = Date.UTC(2026, 0, 1);
    const [two, four] = [day + 2 * HOUR_MS, day + 4 * HOUR_MS];
    const none = { days: [], less: [] };
    expect(listUsageSpans([two], four)).to.deep.equal({ hours: [{ start: two, from: two, until: four }], ...none });
    const next = day + DAY_MS;
    expect(listUsageSpans([two], next + DAY_MS)).to.deep.equal({
      hours: [],
      days: [{ start: two, from: day, until: next + DAY_MS }],
      less: [{ start: two, from: day, until: two }],
    });
    expect(listUsageSpans([], day)).to.deep.equal({ hours: [], ...none });
    expect(listUsageSpans([day], day)).to.deep.equal({ hours: [], ...none });
  });

  it('leave out what only days have that are not read for it', () => {
    expect(isUsed(NO_USAGE)).to.equal(false);
    expect([isUsed({ ...NO_USAGE, calls: 1 }), isUsed({ ...NO_USAGE, charged: -1n })]).to.deep.equal([true, true]);
  });
});
