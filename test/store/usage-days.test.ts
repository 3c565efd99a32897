// Which hours and days parts of a time are added up from: each hour once, and whole UTC days by their own sums.
import { expect } from 'chai';
import { addDays, findDayStartHour } from '../../lib/money/days.ts';
import { listUsageSpans, type UsageSpan } from '../../lib/store/usage-days.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MONTHS = Array.from({ length: 13 }, (_, at) => new Date(Date.UTC(2026, at)).toISOString().slice(0, 10));

const countHours = (spans: readonly UsageSpan[]) =>
  spans.reduce((sum, { from, until }) => sum + (until - from) / HOUR_MS, 0);

describe('the spans of usage', () => {
  for (const [zone, edges] of [
    ['UTC', 0],
    // Three hours before each month, and 21 at its end.
    ['Europe/Moscow', 12 * 24],
    // A day begins at 18:30 in UTC, which counts as 18 o'clock.
    ['Asia/Kolkata', 12 * 24],
    // The hours that the clocks skip and repeat are in whole days.
    ['America/New_York', 12 * 24],
  ] as const) {
    it(`of a year by month are days, and in ${zone} ${edges} hours`, () => {
      const starts = MONTHS.slice(0, 12).map((day) => findDayStartHour(day, zone));
      const to = findDayStartHour(MONTHS[12] as string, zone);
      const { hours, days } = listUsageSpans(starts, to);
      expect(countHours(hours)).to.equal(edges);
      expect(countHours(hours) + countHours(days)).to.equal((to - (starts[0] as number)) / HOUR_MS);
      for (const { from, until } of days) expect([from % DAY_MS, until % DAY_MS]).to.deep.equal([0, 0]);
      const all = [...hours, ...days].toSorted((one, other) => one.from - other.from);
      for (const [at, { start, from, until }] of all.entries()) {
        expect(from).to.be.below(until);
        expect(start).to.equal(starts.findLast((each) => each <= from));
        expect(until).to.equal(all[at + 1]?.from ?? to);
      }
    });
  }

  it('of days by UTC are days, and in other zones hours', () => {
    const list = (zone: string) => {
      const starts = [0, 1, 2].map((at) => findDayStartHour(addDays('2026-03-07', at), zone));
      return listUsageSpans(starts, findDayStartHour('2026-03-10', zone));
    };
    expect(list('UTC').hours).to.deep.equal([]);
    expect(list('UTC').days).to.have.length(3);
    // The second day has 23 hours.
    expect(countHours(list('America/New_York').hours)).to.equal(71);
    expect(list('America/New_York').days).to.deep.equal([]);
  });

  it('of a part within a day, and of one that ends with it, are hours', () => {
    const day = Date.UTC(2026, 0, 1);
    const [two, four] = [day + 2 * HOUR_MS, day + 4 * HOUR_MS];
    expect(listUsageSpans([two], four)).to.deep.equal({ hours: [{ start: two, from: two, until: four }], days: [] });
    const next = day + DAY_MS;
    expect(listUsageSpans([two], next)).to.deep.equal({ hours: [{ start: two, from: two, until: next }], days: [] });
    expect(listUsageSpans([two], next + DAY_MS)).to.deep.equal({
      hours: [{ start: two, from: two, until: next }],
      days: [{ start: two, from: next, until: next + DAY_MS }],
    });
    expect(listUsageSpans([], day)).to.deep.equal({ hours: [], days: [] });
    expect(listUsageSpans([day], day)).to.deep.equal({ hours: [], days: [] });
  });
});
