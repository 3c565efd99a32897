// When budgets start anew, in zones with and without summer time.
import { expect } from 'chai';
import { formatMoment, periodAt } from '../../lib/money/period.ts';

const MOSCOW = 'Europe/Moscow';
const BERLIN = 'Europe/Berlin';

const ROWS: readonly (readonly [
  at: string,
  reset: 'day' | 'week' | 'month',
  zone: string,
  start: string,
  end: string,
])[] = [
  ['2026-11-22T20:59:59.999Z', 'day', MOSCOW, '2026-11-21T21:00:00Z', '2026-11-22T21:00:00Z'],
  ['2026-11-22T21:00:00Z', 'day', MOSCOW, '2026-11-22T21:00:00Z', '2026-11-23T21:00:00Z'],
  // A Sunday and a Monday.
  ['2026-11-22T12:00:00Z', 'week', MOSCOW, '2026-11-15T21:00:00Z', '2026-11-22T21:00:00Z'],
  ['2026-11-22T21:00:00Z', 'week', MOSCOW, '2026-11-22T21:00:00Z', '2026-11-29T21:00:00Z'],
  ['2026-12-31T20:59:59Z', 'month', MOSCOW, '2026-11-30T21:00:00Z', '2026-12-31T21:00:00Z'],
  ['2026-12-31T21:00:00Z', 'month', MOSCOW, '2026-12-31T21:00:00Z', '2027-01-31T21:00:00Z'],
  ['2028-02-29T12:00:00Z', 'month', 'UTC', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z'],
  // 23 and 25 hours.
  ['2026-03-29T12:00:00Z', 'day', BERLIN, '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
  ['2026-10-25T00:30:00Z', 'day', BERLIN, '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
  ['2026-03-30T12:00:00Z', 'month', BERLIN, '2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z'],
  ['2026-11-22T18:14:00Z', 'day', 'Asia/Kathmandu', '2026-11-21T18:15:00Z', '2026-11-22T18:15:00Z'],
  ['2026-11-22T04:00:00Z', 'day', 'America/New_York', '2026-11-21T05:00:00Z', '2026-11-22T05:00:00Z'],
  // Its clocks go forward at midnight: the day begins at one.
  ['2026-04-24T12:00:00Z', 'day', 'Africa/Cairo', '2026-04-23T22:00:00Z', '2026-04-24T21:00:00Z'],
];

describe('periods of a budget', () => {
  for (const [at, reset, zone, start, end] of ROWS) {
    it(`${reset} of ${at} in ${zone}`, () => {
      expect(periodAt(Date.parse(at), { reset, zone })).to.deep.equal({
        start: Date.parse(start),
        end: Date.parse(end),
      });
    });
  }

  it('follow each other without a gap, at every hour of two years', () => {
    // Compared without chai, which would take most of the time.
    const broken: string[] = [];
    for (const zone of [MOSCOW, BERLIN, 'America/Sao_Paulo', 'Africa/Cairo', 'Pacific/Apia']) {
      for (const reset of ['day', 'week', 'month'] as const) {
        let before = periodAt(Date.UTC(2025, 0, 1), { reset, zone });
        for (let at = Date.UTC(2025, 0, 1); at < Date.UTC(2027, 0, 1); at += 3_600_000) {
          const period = periodAt(at, { reset, zone });
          const follows = period.start === before.start || period.start === before.end;
          if (at < period.start || at >= (period.end ?? 0) || !follows) broken.push(`${zone} ${reset} ${at}`);
          before = period;
        }
      }
    }
    expect(broken).to.deep.equal([]);
  });

  it('do not depend on what was asked before', () => {
    const day = { reset: 'day', zone: MOSCOW } as const;
    const first = Date.parse('2026-11-22T12:00:00Z');
    const [one, next, again] = [first, first + 86_400_000, first].map((at) => periodAt(at, day));
    expect(again).to.deep.equal(one);
    expect(next?.start).to.equal(one?.end);
  });

  it('never end without a reset', () => {
    expect(periodAt(Date.now(), { reset: 'none', zone: MOSCOW })).to.deep.equal({ start: 0, end: null });
  });

  it('are told in the time of their zone', () => {
    const at = Date.parse('2026-11-22T21:00:00Z');
    expect(formatMoment(at, MOSCOW)).to.equal('2026-11-23T00:00:00+03:00');
    expect(formatMoment(at, 'America/St_Johns')).to.equal('2026-11-22T17:30:00-03:30');
    expect(formatMoment(at, 'UTC')).to.equal('2026-11-22T21:00:00+00:00');
  });
});
