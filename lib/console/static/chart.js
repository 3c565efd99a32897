// @ts-check
// Names the bar above or below the pointer in the chart's caption, however low the bar. Without it the table below says
// the same, and a browser shows the name of a bar after a while.

/** The chart pointed at, and its caption as it was. */
let shown = /** @type {{ chart: Element, caption: string } | undefined} */ (undefined);

for (const kind of ['pointerdown', 'pointermove']) {
  document.addEventListener(kind, (event) => {
    const { target, clientX } = /** @type {PointerEvent} */ (event);
    const chart = target instanceof Element ? target.closest('.chart svg')?.parentElement : undefined;
    if (shown && shown.chart !== chart) leave();
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
  shown ??= { chart, caption: caption.textContent ?? '' };
  mark(chart, bar);
  caption.textContent = bar.textContent;
}

function leave() {
  if (!shown) return;
  const { chart, caption: text } = shown;
  shown = undefined;
  mark(chart);
  const caption = chart.querySelector('figcaption');
  if (caption) caption.textContent = text;
}

/**
 * @param {Element} chart
 * @param {Element} [bar]
 */
function mark(chart, bar) {
  for (const each of chart.querySelectorAll('.here')) each.classList.remove('here');
  bar?.classList.add('here');
}
