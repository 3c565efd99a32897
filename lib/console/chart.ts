// A chart of stacked bars as server-side SVG: a zero line, a few round gridlines, one place for each hour or day of the
// range, whether it has calls or not, and each bar a link. The table below it has the same values.
import { type Html, html } from './html.ts';

/** One hour or day of the range. */
export interface ChartSlot {
  /** Its full name and values, as screen readers and the caption say them. */
  readonly text: string;
  /** The label below it; only some slots have one. */
  readonly tick?: string | undefined;
  /** Where its bar leads. */
  readonly href?: string | undefined;
  /** It is not over yet. */
  readonly isNow?: boolean;
}

export interface ChartSeries {
  readonly name: string;
  /** One for each slot, from the bottom up. */
  readonly values: readonly number[];
}

/** Undefined where there is nothing to show. */
export interface ChartLine {
  readonly name: string;
  readonly values: readonly (number | undefined)[];
  readonly isDashed?: boolean;
}

export interface Chart {
  /** Unique on its page. */
  readonly id: string;
  readonly title: string;
  readonly slots: readonly ChartSlot[];
  /** Stacked, the first one at the bottom; at most `SERIES_MAX`. */
  readonly series: readonly ChartSeries[];
  /** Drawn as a line over the bars. */
  readonly line?: ChartLine | undefined;
  /** A value as the axis shows it. */
  readonly format: (value: number) => string;
}

/** As many as the colours. */
export const SERIES_MAX = 6;
const WIDTH = 720;
const TOP = 26;
const BOTTOM = 232;
const HEIGHT = 262;
const LINES_WANTED = 4;
/** The widest bar: a few must not fill the whole width. */
const BAR_MAX = 40;

export function barChart(chart: Chart): Html {
  const { id, title, slots, series, line, format } = chart;
  const totals = slots.map((_, at) => series.reduce((sum, { values }) => sum + Math.max(0, values[at] ?? 0), 0));
  const most = Math.max(...totals, ...(line?.values ?? []).map((value) => value ?? 0), 0);
  const step = findGridStep(most);
  const top = Math.max(step, Math.ceil(most / step) * step);
  const scale = (value: number) => BOTTOM - ((BOTTOM - TOP) * Math.max(0, value)) / top;
  const tallest = totals.indexOf(Math.max(...totals));
  const bars = slots.map((slot, at) =>
    bar(
      { slot, at, count: slots.length, hatch: `${id}-now` },
      { values: series.map(({ values }) => values[at] ?? 0), scale },
    ),
  );
  const label =
    most > 0 &&
    (totals[tallest] ?? 0) > 0 &&
    tallestLabel(tallest, slots.length, { y: scale(totals[tallest] ?? 0), text: format(totals[tallest] ?? 0) });
  return html`<figure class="chart" id="${id}">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="group" aria-label="${title}">
<defs><pattern id="${id}-now" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="stripe" width="3" height="6"/></pattern></defs>
${gridLines({ step, top, scale })}
${bars}
${line && lineOver(line, scale)}
${axisLabels({ step, top, scale }, format)}
${label}
</svg>
<figcaption>${title}</figcaption>
${legend(series, line)}
</figure>`;
}

interface BarPlace {
  readonly slot: ChartSlot;
  readonly at: number;
  readonly count: number;
  readonly hatch: string;
}

type Scale = (value: number) => number;

function bar(
  { slot, at, count, hatch }: BarPlace,
  { values, scale }: { values: readonly number[]; scale: Scale },
): Html {
  const { left, width, middle, step } = placeSlot(at, count);
  let sum = 0;
  const parts = values.map((value, index) => {
    if (value <= 0) return undefined;
    const from = scale(sum);
    sum += value;
    const height = from - scale(sum);
    return html`<rect class="s${index + 1}" x="${round(left)}" y="${round(from - height)}" width="${round(width)}" height="${round(height)}"/>`;
  });
  const now = slot.isNow === true && sum > 0;
  const y = scale(sum);
  const shapes = html`<title>${slot.text}</title>
<rect class="place" x="${round(at * step)}" y="${TOP}" width="${round(step)}" height="${BOTTOM - TOP}"/>
${parts}${now && html`<rect fill="url(#${hatch})" x="${round(left)}" y="${round(y)}" width="${round(width)}" height="${round(BOTTOM - y)}"/>`}`;
  const tick =
    slot.tick !== undefined &&
    html`<text class="tick" x="${round(clampTick(middle))}" y="${BOTTOM + 20}" text-anchor="${findAnchor(middle)}">${slot.tick}</text>`;
  if (slot.href === undefined) return html`<g role="img" aria-label="${slot.text}">${shapes}</g>${tick}`;
  return html`<a href="${slot.href}" aria-label="${slot.text}">${shapes}</a>${tick}`;
}

function placeSlot(at: number, count: number) {
  const step = WIDTH / Math.max(1, count);
  const width = Math.min(BAR_MAX, Math.max(1, step * 0.78));
  const middle = (at + 0.5) * step;
  return { step, width, middle, left: middle - width / 2 };
}

interface Grid {
  readonly step: number;
  readonly top: number;
  readonly scale: Scale;
}

function listGridValues({ step, top }: Grid): readonly number[] {
  return Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
}

function gridLines(grid: Grid): Html {
  return html`${listGridValues(grid).map((value) => {
    const y = round(grid.scale(value));
    return html`<line class="${value === 0 ? 'zero' : 'grid'}" x1="0" x2="${WIDTH}" y1="${y}" y2="${y}"/>`;
  })}`;
}

/** Over the bars, so that none hides them. */
function axisLabels(grid: Grid, format: Chart['format']): Html {
  const values = listGridValues(grid).filter((value) => value > 0);
  return html`${values.map((value) => html`<text class="axis" x="0" y="${round(grid.scale(value) - 4)}" aria-hidden="true">${format(value)}</text>`)}`;
}

/** Where there is no value, the line has a gap; a value between two gaps is a dot. */
function lineOver({ values, isDashed = false }: ChartLine, scale: Scale): Html {
  const runs: string[][] = [[]];
  for (const [at, value] of values.entries()) {
    if (value === undefined) runs.push([]);
    else runs.at(-1)?.push(`${round(placeSlot(at, values.length).middle)},${round(scale(value))}`);
  }
  return html`${runs.filter((run) => run.length > 0).map((run) => html`<polyline${isDashed && html` class="dashed"`} points="${(run.length === 1 ? [...run, ...run] : run).join(' ')}"/>`)}`;
}

function tallestLabel(at: number, count: number, { y, text }: { y: number; text: string }): Html {
  const { middle } = placeSlot(at, count);
  return html`<text class="most" x="${round(middle)}" y="${round(y - 5)}" text-anchor="${findAnchor(middle)}" aria-hidden="true">${text}</text>`;
}

/** Labels at the ends stay inside. */
function findAnchor(middle: number): 'start' | 'middle' | 'end' {
  if (middle < WIDTH * 0.05) return 'start';
  return middle > WIDTH * 0.95 ? 'end' : 'middle';
}

function clampTick(middle: number): number {
  if (middle < WIDTH * 0.05) return 0;
  return middle > WIDTH * 0.95 ? WIDTH : middle;
}

function legend(series: readonly ChartSeries[], line: ChartLine | undefined): Html | undefined {
  if (series.length < 2 && !line) return undefined;
  const items = series.map(({ name }, index) => html`<li><span class="swatch s${index + 1}"></span>${name}</li>`);
  return html`<ul class="legend">${items}${line && html`<li><span class="swatch line${line.isDashed && html` dashed`}"></span>${line.name}</li>`}</ul>`;
}

/** 1, 2, 2.5 or 5 times a power of ten: the smallest step that makes at most four gridlines. */
export function findGridStep(most: number): number {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most / LINES_WANTED));
  const found = [1, 2, 2.5, 5, 10].find((factor) => most / (factor * power) <= LINES_WANTED);
  return (found ?? 10) * power;
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** The largest series, and the sum of the rest as one of its own. */
export function mergeSmallSeries(series: readonly ChartSeries[], others: string): readonly ChartSeries[] {
  const sumValues = ({ values }: ChartSeries) => values.reduce((sum, value) => sum + value, 0);
  const sorted = series.toSorted((one, other) => sumValues(other) - sumValues(one));
  if (sorted.length <= SERIES_MAX) return sorted;
  const rest = sorted.slice(SERIES_MAX - 1);
  const values = (rest[0]?.values ?? []).map((_, at) => rest.reduce((sum, each) => sum + (each.values[at] ?? 0), 0));
  return [...sorted.slice(0, SERIES_MAX - 1), { name: others, values }];
}
