// When budgets reset, in zones with and without summer time.
import { expect } from 'chai';
import { DAY_MS, HOUR_MS } from '../../lib/base/durations.ts';
import { findPeriod, formatMoment } from '../../lib/money/period.ts';
import { longer } from '../../testkit/long.ts';

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
  // Its clocks go back from one to midnight, so midnight occurs twice: the day begins with the first.
  ['2026-11-01T04:30:00Z', 'day', 'America/Havana', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'],
  ['2020-10-23T21:30:00Z', 'day', 'Asia/Gaza', '2020-10-23T21:00:00Z', '2020-10-24T22:00:00Z'],
  ['2020-10-23T20:59:00Z', 'week', 'Asia/Gaza', '2020-10-18T21:00:00Z', '2020-10-25T22:00:00Z'],
  // A zone that left out a whole day.
  ['2011-12-30T12:00:00Z', 'day', 'Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-31T10:00:00Z'],
];

describe('budget periods', () => {
  for (const [at, reset, zone, start, end] of ROWS) {
    it(`give the ${reset} of ${at} in ${zone}`, () => {
      expect(findPeriod(Date.parse(at), { reset, zone })).to.deep.equal({
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
        let before = findPeriod(Date.UTC(2025, 0, 1), { reset, zone });
        for (let at = Date.UTC(2025, 0, 1); at < Date.UTC(2027, 0, 1); at += HOUR_MS) {
          const period = findPeriod(at, { reset, zone });
          const follows = period.start === before.start || period.start === before.end;
          if (at < period.start || at >= (period.end ?? 0) || !follows) broken.push(`${zone} ${reset} ${at}`);
          before = period;
        }
      }
    }
    expect(broken).to.deep.equal([]);
  });

  it('contain every moment around every clock change of two years', () => {
    const broken: string[] = [];
    const from = Date.UTC(2024, 0, 1);
    const zones = Intl.supportedValuesOf('timeZone').filter((_, at) => longer(at % 4 === 0, true));
    for (const zone of zones) {
      for (const change of changesOf(zone, { from, to: Date.UTC(2026, 0, 1) })) {
        for (let at = change - 26 * HOUR_MS; at < change + 26 * HOUR_MS; at += HOUR_MS / 2) {
          const { start, end } = findPeriod(at, { reset: 'day', zone });
          if (at < start || at >= (end ?? 0)) broken.push(`${zone} ${new Date(at).toISOString()}`);
        }
      }
    }
    expect(broken).to.deep.equal([]);
  });

  it('do not depend on earlier queries', () => {
    const day = { reset: 'day', zone: MOSCOW } as const;
    const first = Date.parse('2026-11-22T12:00:00Z');
    const [one, next, again] = [first, first + DAY_MS, first].map((at) => findPeriod(at, day));
    expect(again).to.deep.equal(one);
    expect(next?.start).to.equal(one?.end);
  });

  /** Counts the formatters created while `act` runs. */
  function countFormats(act: () => void): number {
    const { DateTimeFormat } = Intl;
    let made = 0;
    Intl.DateTimeFormat = class extends DateTimeFormat {
      constructor(...given: ConstructorParameters<typeof DateTimeFormat>) {
        super(...given);
        made += 1;
      }
    } as typeof DateTimeFormat;
    try {
      act();
    } finally {
      Intl.DateTimeFormat = DateTimeFormat;
    }
    return made;
  }

  it('create the expensive formatter of a zone only once', () => {
    const made = countFormats(() => {
      // A spelling that no other test uses, so that it is not cached yet.
      for (let day = 0; day < 3; day += 1) findPeriod(day * DAY_MS, { reset: 'day', zone: 'antarctica/troll' });
    });
    expect(made).to.equal(1);
  });

  it('do not cache a formatter for every spelling of a zone', () => {
    const name = 'america/argentina/comodrivadavia';
    const spelled = (number: number) =>
      [...name].map((letter, at) => ((number >> at) & 1 ? letter.toUpperCase() : letter)).join('');
    const look = (number: number) => formatMoment(0, spelled(number));
    // Only letters vary in case, not the slash.
    for (let number = 1; number < 3000; number += 1) look(number);
    expect(countFormats(() => look(2999))).to.equal(0);
    expect(countFormats(() => look(1))).to.equal(1);
  });

  it('never end without a reset', () => {
    expect(findPeriod(Date.now(), { reset: 'none', zone: MOSCOW })).to.deep.equal({ start: 0, end: null });
  });

  it('are formatted in the time of their zone', () => {
    const at = Date.parse('2026-11-22T21:00:00Z');
    expect(formatMoment(at, MOSCOW)).to.equal('2026-11-23T00:00:00+03:00');
    expect(formatMoment(at, 'America/St_Johns')).to.equal('2026-11-22T17:30:00-03:30');
    expect(formatMoment(at, 'UTC')).to.equal('2026-11-22T21:00:00+00:00');
    expect(formatMoment(at + 999, MOSCOW)).to.equal('2026-11-23T00:00:00+03:00');
  });
});

/** When a zone's clocks are changed, to half an hour. */
function changesOf(zone: string, { from, to }: { readonly from: number; readonly to: number }): readonly number[] {
  const offset = (at: number) => formatMoment(at, zone).slice(-6);
  const changes: number[] = [];
  const STEP_MS = 20 * DAY_MS;
  for (let at = from; at < to; at += STEP_MS) {
    let [low, high] = [at, at + STEP_MS];
    if (offset(low) === offset(high)) continue;
    while (high - low > 1_800_000) {
      const middle = (low + high) / 2;
      if (offset(middle) === offset(low)) low = middle;
      else high = middle;
    }
    changes.push(high);
  }
  return changes;
}
