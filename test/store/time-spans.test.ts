// Which sums the parts of a time are added up from: each hour of a part once, most of them as parts of days and weeks.
import { expect } from 'chai';
import { DAY_MS, HOUR_MS, WEEK_MS } from '../../lib/base/durations.ts';
import { addDays, findDayStartHour } from '../../lib/money/days.ts';
import { splitTime, type TimeSpan } from '../../lib/store/time-spans.ts';

const DAYS_AND_HOURS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
] as const;
const WEEKS_TOO = [['week', WEEK_MS], ...DAYS_AND_HOURS] as const;
const LENGTHS = { week: WEEK_MS, day: DAY_MS, hour: HOUR_MS };
const MONTHS = Array.from({ length: 13 }, (_, at) => new Date(Date.UTC(2026, at)).toISOString().slice(0, 10));
const DAYS = Array.from({ length: 366 }, (_, at) => addDays('2026-01-01', at));

type Span = TimeSpan<keyof typeof LENGTHS>;
type Grains = typeof DAYS_AND_HOURS | typeof WEEKS_TOO;

/** How many sums are read for one name. */
const countRead = (spans: readonly Span[], wanted: Span['grain']) =>
  spans.reduce((sum, { grain, from, until }) => sum + (grain === wanted ? (until - from) / LENGTHS[grain] : 0), 0);

/** How often each hour counts for each part: once for its own one, and for others never. */
function expectEachOnce(starts: readonly number[], to: number, grains: Grains = DAYS_AND_HOURS): readonly Span[] {
  const spans: readonly Span[] = splitTime<Span['grain']>(starts, to, grains);
  const counts = new Map<string, number>();
  for (const { grain, start, from, until, sign } of spans) {
    expect(from).to.be.below(until);
    expect([from % LENGTHS[grain], until % LENGTHS[grain]]).to.deep.equal([0, 0]);
    for (let hour = from; hour < until; hour += HOUR_MS) {
      const name = `${start} ${hour}`;
      counts.set(name, (counts.get(name) ?? 0) + sign);
    }
  }
  const wanted: string[] = [];
  for (let hour = starts[0] as number; hour < to; hour += HOUR_MS)
    wanted.push(`${starts.findLast((each) => each <= hour)} ${hour}`);
  expect([...counts].filter(([, times]) => times !== 0).map(([name]) => name)).to.have.members(wanted);
  expect([...counts.values()].filter((times) => times < 0 || times > 1)).to.deep.equal([]);
  return spans;
}

describe('the spans of a time', () => {
  for (const [zone, ofMonths, ofDays] of [
    ['UTC', 0, 0],
    // Three hours before each part, and three that its last day has more.
    ['Europe/Moscow', 12 * 6, 365 * 6],
    // A day begins at 18:30 in UTC, which counts as 18 o'clock.
    ['Asia/Kolkata', 12 * 12, 365 * 12],
    // A month begins four or five hours after a day by UTC; the clocks change on two days.
    ['America/New_York', 104, 3174],
    // A day begins at 15 o'clock.
    ['Asia/Tokyo', 12 * 18, 365 * 18],
  ] as const) {
    it(`of a year in ${zone} are days, and by month ${ofMonths} hours, by day ${ofDays}`, () => {
      const list = (days: readonly string[]) => {
        const starts = days.slice(0, -1).map((day) => findDayStartHour(day, zone));
        return expectEachOnce(starts, findDayStartHour(days.at(-1) as string, zone));
      };
      expect([countRead(list(MONTHS), 'hour'), countRead(list(DAYS), 'hour')]).to.deep.equal([ofMonths, ofDays]);
    });
  }

  it('of parts that begin and end anywhere count each hour once', () => {
    const day = Date.UTC(2026, 0, 1);
    for (const length of [1, 5, 12, 13, 23, 24, 25, 30, 36, 47, 72, 200, 500]) {
      for (let begin = 0; begin < 24; begin += 1) {
        const starts = [0, 1, 2, 3].map((at) => day + (begin + at * length) * HOUR_MS);
        const to = day + (begin + 4 * length) * HOUR_MS;
        const spans = expectEachOnce(starts, to);
        // Fewer hours than without days.
        const days = new Set(spans.filter(({ grain }) => grain === 'day').map(({ start }) => start));
        if (days.size === 4) expect(countRead(spans, 'hour')).to.be.below(4 * length);
        expectEachOnce(starts, to, WEEKS_TOO);
      }
    }
  });

  it('of a month are weeks, at most three days at each end, and their hours', () => {
    for (let day = 0; day < 14; day += 1) {
      for (const hours of [0, 3, 9, 15, 21]) {
        const from = Date.UTC(2026, 9, 1 + day) - hours * HOUR_MS;
        const spans = expectEachOnce([from], from + 30 * DAY_MS, WEEKS_TOO);
        expect(countRead(spans, 'week')).to.be.within(4, 5);
        expect(countRead(spans, 'day')).to.be.at.most(7);
        expect(countRead(spans, 'hour')).to.be.at.most(2 * 12);
      }
    }
  });

  it('of a part within a day, and of one that ends with it, are hours', () => {
    const day = Date.UTC(2026, 0, 1);
    const [two, four] = [day + 2 * HOUR_MS, day + 4 * HOUR_MS];
    const split = (starts: readonly number[], to: number) => splitTime(starts, to, DAYS_AND_HOURS);
    const hours = { grain: 'hour', start: two, from: two, until: four, sign: 1 };
    expect(split([two], four)).to.deep.equal([hours]);
    const next = day + DAY_MS;
    expect(split([two], next + DAY_MS)).to.deep.equal([
      { grain: 'day', start: two, from: day, until: next + DAY_MS, sign: 1 },
      { grain: 'hour', start: two, from: day, until: two, sign: -1 },
    ]);
    expect([split([], day), split([day], day)]).to.deep.equal([[], []]);
  });

  it('end within an hour, as now does', () => {
    const [from, to] = [DAY_MS, DAY_MS + 2 * HOUR_MS + 60_000];
    expect(splitTime([from], to, WEEKS_TOO)).to.deep.equal([{ grain: 'hour', start: from, from, until: to, sign: 1 }]);
  });
});
