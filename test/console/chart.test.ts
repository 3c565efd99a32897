// Charts: round gridlines, a place for every slot, links, and the names that people without a picture get.
import { expect } from 'chai';
import { barChart, type Chart, findGridStep, mergeSmallSeries, SERIES_MAX } from '../../lib/console/chart.ts';
import { listDaySlots, listHourSlots, nameSlots } from '../../lib/console/time-slots.ts';
import { expectRecorded } from '../../testkit/recorded.ts';

const MOSCOW = 'Europe/Moscow';

describe('a chart', () => {
  const chart = (more: Partial<Chart> = {}) =>
    barChart({
      id: 'c',
      title: 'Sums',
      slots: [
        { text: 'one: 5', href: '/one', tick: '1' },
        { text: 'two: none' },
        { text: 'three: 20', href: '/three', isNow: true },
      ],
      series: [
        { name: 'a', values: [5, 0, 15] },
        { name: 'b', values: [0, 0, 5] },
      ],
      format: String,
      ...more,
    }).text;
  const count = (text: string, part: RegExp) => [...text.matchAll(part)].length;

  it('has at most four gridlines, at round values', () => {
    const rows = [
      [0, 1],
      [3, 1],
      [4, 1],
      [4.1, 2],
      [9, 2.5],
      [100, 25],
      [101, 50],
      [780, 200],
      [0.5, 0.2],
    ] as const;
    for (const [most, step] of rows) expect(findGridStep(most), String(most)).to.be.closeTo(step, 1e-9);
    for (let most = 1; most < 2000; most += 7) expect(most / findGridStep(most)).to.be.at.most(4);
  });

  it('keeps a place for what has no value, and draws no bar there', () => {
    const text = chart();
    expect(count(text, /class="place"/g)).to.equal(3);
    expect(count(text, /class="s[12]"[^>]*height/g)).to.equal(3);
    expect(text).to.contain('<g role="img" aria-label="two: none">');
  });

  it('makes bars links that say their values', () => {
    expect(chart()).to.match(/<a href="\/three" aria-label="three: 20">/);
    expect(count(chart(), /<a /g)).to.equal(2);
  });

  it('marks what is not over, labels the tallest bar, and names series', () => {
    const text = chart();
    expect(count(text, /fill="url\(#c-now\)"/g)).to.equal(1);
    expect(text).to.match(/class="most"[^>]*>20</);
    expect(text).to.match(/<li><span class="swatch s2"><\/span>b<\/li>/);
  });

  it('interrupts a line where there is nothing', () => {
    const line = { name: 'cost', values: [1, undefined, 2] };
    expect(count(chart({ line }), /<polyline/g)).to.equal(2);
  });

  it('draws nothing but the axis without values, and escapes texts', () => {
    const text = chart({ slots: [{ text: '<b>', href: '/?a&b' }], series: [{ name: 'a', values: [0] }] });
    expect(text).to.contain('aria-label="&lt;b&gt;"').and.not.contain('class="most"');
    expect(text).to.contain('class="zero"');
  });

  it('is drawn as recorded, whatever its shape', () => {
    const slots = (count: number) => Array.from({ length: count }, (_, at) => ({ text: `slot ${at}`, tick: `${at}` }));
    const series = (...values: readonly (readonly number[])[]) =>
      values.map((each, at) => ({ name: `s${at}`, values: each }));
    const texts = [
      chart(),
      chart({ slots: slots(1), series: series([7]) }),
      chart({ slots: slots(30), series: series(Array.from({ length: 30 }, (_, at) => 30 - at)) }),
      chart({ line: { name: 'cost', values: [30, undefined, 2], isDashed: true } }),
      chart({ line: { name: 'cost', values: [1, 2, 3] }, series: series([0, 0, 0]) }),
      chart({ series: series([-5, 3, 0]), slots: slots(3).map((slot) => ({ ...slot, isNow: true })) }),
      chart({ slots: [], series: [] }),
    ];
    expectRecorded(
      new URL('charts.txt', import.meta.url),
      texts.map((text) => text.replace(/\n\n+/g, '\n')),
    );
  });

  it('adds up all but the largest series', () => {
    const series = Array.from({ length: 9 }, (_, at) => ({ name: `m${at}`, values: [at, 1] }));
    const merged = mergeSmallSeries(series, 'others');
    expect(merged.map(({ name }) => name)).to.deep.equal(['m8', 'm7', 'm6', 'm5', 'm4', 'others']);
    expect(merged.at(-1)?.values).to.deep.equal([6, 4]);
    expect(merged).to.have.length(SERIES_MAX);
  });
});

describe('the slots of a chart', () => {
  it('are local days, a short one where clocks change', () => {
    const days = listDaySlots('2026-10-24', '2026-10-26', 'Europe/Berlin');
    expect(days.map(({ from, to }) => (to - from) / 3_600_000)).to.deep.equal([24, 25, 24]);
    const [day] = listDaySlots('2026-11-25', '2026-11-25', MOSCOW);
    expect(day?.from).to.equal(Date.UTC(2026, 10, 24, 21));
  });

  it('have labels at both ends and on Mondays that do not overlap', () => {
    const days = listDaySlots('2026-10-29', '2026-11-27', MOSCOW);
    const { tick, name } = nameSlots('day', 'ru', MOSCOW);
    const ticks = days.map((slot, at) => tick(slot, at, days.length)).filter((text) => text !== undefined);
    expect(ticks).to.deep.equal(['29 окт.', '2 нояб.', '9 нояб.', '16 нояб.', '23 нояб.', '27 нояб.']);
    expect(name(days[0] as (typeof days)[0])).to.equal('чт, 29\u00a0окт.');
  });

  it('are hours with every third labelled', () => {
    const hours = listHourSlots(Date.UTC(2026, 10, 25, 21), Date.UTC(2026, 10, 26, 21), MOSCOW);
    expect(hours).to.have.length(24);
    expect(hours[0]?.day).to.equal('2026-11-26');
    const { tick, name } = nameSlots('hour', 'en', MOSCOW);
    expect(hours.map((slot, at) => tick(slot, at, 24)).filter(Boolean)).to.have.length(8);
    expect(name(hours[1] as (typeof hours)[0])).to.equal('26\u00a0Nov, 01:00');
  });
});
