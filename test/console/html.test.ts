// The html tag: what it escapes and what it passes.
import { expect } from 'chai';
import { type HtmlValue, html } from '../../lib/console/html.ts';

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
