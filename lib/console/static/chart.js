// @ts-check
// Shows the value of the bar under the pointer in the chart's caption. Without it, the table below has the same values.

/** The chart under the pointer, and its own caption. */
let pointed = /** @type {{ chart: Element, caption: string } | undefined} */ (undefined);

for (const kind of ['pointerdown', 'pointermove']) {
  document.addEventListener(kind, (event) => {
    const { target, clientX } = /** @type {PointerEvent} */ (event);
    const chart = target instanceof Element ? target.closest('.chart svg')?.parentElement : undefined;
    if (pointed && pointed.chart !== chart) leave();
    if (chart) point(chart, clientX);
  });
}

/**
 * @param {Element} chart
 * @param {number} x
 */
function point(chart, x) {
  const bars = [...chart.querySelectorAll('rect')];
  const bar = bars.findLast((each) => each.getBoundingClientRect().left <= x) ?? bars[0];
  const caption = chart.querySelector('figcaption');
  if (!bar || !caption) return;
  pointed ??= { chart, caption: caption.textContent ?? '' };
  highlight(chart, bar);
  caption.textContent = bar.textContent;
}

function leave() {
  if (!pointed) return;
  const { chart, caption: text } = pointed;
  pointed = undefined;
  highlight(chart);
  const caption = chart.querySelector('figcaption');
  if (caption) caption.textContent = text;
}

/**
 * @param {Element} chart
 * @param {Element} [bar]
 */
function highlight(chart, bar) {
  for (const each of chart.querySelectorAll('.here')) each.classList.remove('here');
  bar?.classList.add('here');
}
