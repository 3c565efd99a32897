// Days of time zones: when they start, also where clocks change, and which whole hours belong to them.
import { expect } from 'chai';
import { HOUR_MS } from '../../lib/base/durations.ts';
import {
  addDays,
  findDayStart,
  findDayStartHour,
  findHourDay,
  formatDay,
  hasSplitHours,
  parseDay,
} from '../../lib/money/days.ts';
import { longer } from '../../testkit/long.ts';

const ZONES = [
  'UTC',
  'Europe/Moscow',
  'America/New_York',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'America/Havana',
].concat(['Asia/Kolkata', 'Asia/Kathmandu', 'Pacific/Chatham', 'America/St_Johns', 'Africa/Casablanca']);

describe('calendar days', () => {
  it('are parsed only in the form 2026-11-26', () => {
    const read = ['2026-11-26', '2024-02-29', '1999-12-31', '2026-02-29', '2026-13-01', '0001-01-01', '26-11-2026', '']
      .concat(['2026-11-26T00:00', ' 2026-11-26', '3026-11-26'])
      .map(parseDay);
    expect(read).to.deep.equal(['2026-11-26', '2024-02-29', '1999-12-31', ...Array(8).fill(undefined)]);
  });

  it('are added across months and years', () => {
    expect([addDays('2026-02-28', 1), addDays('2026-12-31', 1), addDays('2026-03-01', -1)]).to.deep.equal([
      ...['2026-03-01', '2027-01-01', '2026-02-28'],
    ]);
  });

  for (const [zone, day, at] of [
    ['UTC', '2026-11-26', '2026-11-26T00:00:00Z'],
    ['Europe/Moscow', '2026-11-26', '2026-11-25T21:00:00Z'],
    ['Asia/Vladivostok', '2026-11-26', '2026-11-25T14:00:00Z'],
    ['Asia/Kolkata', '2026-11-26', '2026-11-25T18:30:00Z'],
    ['America/New_York', '2026-03-08', '2026-03-08T05:00:00Z'],
    ['America/New_York', '2026-03-09', '2026-03-09T04:00:00Z'],
    // Midnight is skipped there.
    ['America/Havana', '2026-03-08', '2026-03-08T05:00:00Z'],
  ] as const) {
    it(`begin in ${zone} at ${at}: ${day}`, () => {
      expect(new Date(findDayStart(day, zone)).toISOString()).to.equal(at.replace('Z', '.000Z'));
      expect(formatDay(findDayStart(day, zone), zone)).to.equal(day);
      expect(formatDay(findDayStart(day, zone) - 1, zone)).to.equal(addDays(day, -1));
    });
  }

  // Clocks that change at midnight, and by half an hour.
  const some = ['America/Havana', 'Australia/Lord_Howe'];
  for (const zone of longer(some, ZONES)) {
    it(`cover every hour of a year exactly once in ${zone}, within half an hour of midnight`, () => {
      const first = Date.UTC(2026, 0, 1);
      let day = findHourDay(first, zone);
      for (let hour = first; hour < first + 366 * 24 * HOUR_MS; hour += HOUR_MS) {
        const found = findHourDay(hour, zone);
        if (found !== day) {
          expect([found, hour]).to.deep.equal([addDays(day, 1), findDayStartHour(found, zone)]);
          expect(Math.abs(hour - findDayStart(found, zone))).to.be.at.most(HOUR_MS / 2);
          day = found;
        }
        expect(findHourDay(hour + HOUR_MS - 1, zone)).to.equal(found);
      }
    });
  }

  it('start within an hour only in zones whose offset from UTC is not whole hours', () => {
    const split = ZONES.filter((zone) => hasSplitHours(['2026-01-15'], zone));
    expect(split).to.deep.equal(['Asia/Kolkata', 'Asia/Kathmandu', 'Pacific/Chatham', 'America/St_Johns']);
    expect(hasSplitHours(['2026-01-15', '2026-07-15'], 'Australia/Lord_Howe'), 'half an hour in winter').to.equal(true);
  });
});
