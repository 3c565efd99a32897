// A bar chart as server-side SVG; the table below it has the same values.
import type { Micro } from '../money/money.ts';
import { type Html, html } from './html.ts';

interface Bar {
  readonly name: string;
  readonly value: Micro;
  /** The formatted value. */
  readonly text: string;
}

const BARS_MIN = 14;
const WIDTH = 720;
const HEIGHT = 160;
const GAP = 2;

export function barChart(title: string, bars: readonly Bar[]): Html {
  const most = bars.map(({ value }) => value).reduce(maxMicro, 1n);
  // A few bars must not fill the whole width.
  const step = WIDTH / Math.max(BARS_MIN, bars.length);
  const columns = bars.map(({ name, value, text }, at) => {
    const height = Math.max(1, Number((value * BigInt(HEIGHT)) / most));
    const x = (at * step).toFixed(1);
    const width = Math.max(1, step - GAP).toFixed(1);
    return html`<rect x="${x}" y="${HEIGHT - height}" width="${width}" height="${height}"><title>${name}: ${text}</title></rect>`;
  });
  const first = bars[0]?.name ?? '';
  const last = bars.at(-1)?.name ?? '';
  return html`<figure class="chart"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}: ${first} – ${last}">${columns}</svg>
<figcaption>${title}: ${first} – ${last}</figcaption></figure>`;
}

function maxMicro(one: Micro, other: Micro): Micro {
  if (one > other) return one;
  return other;
}
