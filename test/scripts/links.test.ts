import { expect } from 'chai';
import { findBrokenLinks } from '../../scripts/links.ts';

/** In two pieces, so that tidy does not take the examples for mentions of pages. */
const PAGES = 'docs';

function find(...files: readonly (readonly [path: string, text: string])[]): readonly string[] {
  return findBrokenLinks(new Map(files));
}

describe('broken links', () => {
  it('accepts pages, folders, headings and addresses elsewhere', () => {
    const page =
      '# A\n\n## Two words, `code`\n\n[b](guide/b.md) [h](guide/b.md#its-part) [f](guide) [self](#two-words-code) [x](https://example.org/a)';
    expect(find(['README.md', page], ['guide/b.md', '## Its part\n\n[up](../README.md)'])).to.deep.equal([]);
  });

  it('reports a missing file and a missing heading', () => {
    const broken = find(['guide/a.md', '[x](c.md) [y](b.md#gone)'], ['guide/b.md', '# B']);
    expect(broken).to.deep.equal(['guide/a.md: nothing at c.md', 'guide/a.md: no heading for b.md#gone']);
  });

  it('ignores what only looks like a link or a heading', () => {
    expect(find(['guide/a.md', '`[x](c.md)`\n\n```\n[y](d.md)\n```\n'])).to.deep.equal([]);
    expect(find(['guide/a.md', '[x](#a)\n\n```\n# a\n```\n'])).to.deep.equal(['guide/a.md: no heading for #a']);
  });

  it('reports pages that comments name', () => {
    expect(
      find(['lib/a.ts', `// ${PAGES}/gone.md says why; https://example.org/${PAGES}/else.md does not count.`]),
    ).to.deep.equal([`lib/a.ts: nothing at ${PAGES}/gone.md`]);
  });
});
