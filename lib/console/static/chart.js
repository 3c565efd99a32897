// @ts-check
// Shows the values of the bar under the pointer, or with the focus, in the chart's caption. Without it, the title of a bar
// and the table below have the same values.

/** The charts whose caption shows a bar, with their own captions. */
const captions = new WeakMap();

for (const kind of ['pointerdown', 'pointermove', 'focusin']) {
  document.addEventListener(kind, ({ target }) => {
    const bar = target instanceof Element ? target.closest('.chart svg > a, .chart svg > g') : null;
    for (const chart of document.querySelectorAll('.chart')) show(chart, bar && chart.contains(bar) ? bar : null);
  });
}

/**
 * @param {Element} chart
 * @param {Element | null} bar
 */
function show(chart, bar) {
  const caption = chart.querySelector('figcaption');
  if (!caption) return;
  if (!captions.has(chart)) captions.set(chart, caption.textContent);
  const text = bar?.getAttribute('aria-label') ?? captions.get(chart);
  if (caption.textContent !== text) caption.textContent = text;
}
