// The html tag: what it escapes and what it passes.
import { expect } from 'chai';
import { type HtmlValue, html } from '../../lib/console/html.ts';
import { cpuMs } from '../../testkit/event-loop-ticks.ts';
import { itTimed } from '../../testkit/timed.ts';

describe('the html tag', () => {
  it('escapes characters that could start markup or end an attribute', () => {
    const evil = `<img src=x onerror="alert('1')">&`;
    expect(html`<p title="${evil}">${evil}</p>`.text).to.equal(
      '<p title="&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;">' +
        '&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;</p>',
    );
  });

  it('passes its own markup once, also from lists', () => {
    const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`);
    expect(html`<ul>${items}</ul>`.text).to.equal('<ul><li>a</li><li>&lt;b&gt;</li></ul>');
  });

  itTimed('takes little more for a long table than its text does', () => {
    const rows = Array.from({ length: 5000 }, () => ['a', 'b', 'c', 'd', 'e', 'f']);
    const table = () => html`${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}`.text;
    const toSafe = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
    const text = () => rows.map((row) => `<tr>${row.map((cell) => `<td>${toSafe(cell)}</td>`).join('')}</tr>`).join('');
    expect(table()).to.equal(text());
    expect(measure(table) / measure(text)).to.be.below(4);
  });

  it('leaves out what is absent, and keeps zero', () => {
    expect(html`[${false}${null}${undefined}${0}${''}]`.text).to.equal('[0]');
  });

  it('escapes objects that only look like markup', () => {
    const forged = JSON.parse('{"text":"<script>"}') as HtmlValue;
    expect(() => html`${forged}`.text).to.throw();
    const made = html`<b>`;
    for (const copy of [Object.create(made), { ...made, text: '<b>' }]) expect(() => html`${copy}`.text).to.throw();
    expect(html`${['<i>', ['<b>']]}`.text).to.equal('&lt;i&gt;&lt;b&gt;');
  });
});

/** CPU time of what is done many times, once it is compiled. */
function measure(run: () => unknown): number {
  for (let count = 0; count < 5; count += 1) run();
  const before = cpuMs();
  for (let count = 0; count < 20; count += 1) run();
  return cpuMs() - before;
}
