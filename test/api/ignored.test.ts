// Ignored fields are documented, in the API document and in docs/api.md.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { IGNORED_FIELDS } from '../../lib/api/dialects/text-fields.ts';
import { describeApi } from '../../lib/api/openapi/document.ts';
import { SAMPLING_FIELDS } from '../../lib/calls/text/sampling.ts';
import { SUBJECTS } from '../contract/dialect/subject.ts';

const IGNORED = IGNORED_FIELDS.filter((name) => !SAMPLING_FIELDS.some((field) => field === name));

describe('ignored fields', () => {
  it('do not change a request, whatever their values', () => {
    for (const { dialect, body } of SUBJECTS) {
      const plain = body({ messages: [{ role: 'user', content: 'hi' }] });
      for (const value of ['x', 5, null, [{}], { deep: [1] }]) {
        const more = Object.fromEntries(IGNORED.map((name) => [name, value]));
        expect(dialect.parse({ ...plain, ...more })).to.deep.equal(dialect.parse(plain));
      }
    }
  });

  it('are listed in docs/api.md and in the schemas of both requests', () => {
    const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
    const [, listed = ''] = /Accepted and ignored, on all text endpoints:(.*?)and\s+anything/s.exec(page) ?? [];
    expect([...listed.matchAll(/`(\w+)`/g)].map(([, name]) => name)).to.deep.equal(IGNORED);
    const [, drawn = ''] = /So are\s(.*?), whatever their values/s.exec(page) ?? [];
    expect([...drawn.matchAll(/`(\w+)`/g)].map(([, name]) => name)).to.deep.equal([...SAMPLING_FIELDS]);
    const { schemas } = (describeApi('http://x') as never as { components: { schemas: Record<string, Schema> } })
      .components;
    for (const name of ['MessageRequest', 'ChatRequest']) {
      for (const field of IGNORED_FIELDS) {
        const isDrawn = !IGNORED.includes(field);
        expect(schemas[name]?.properties[field]?.description, `${name}.${field}`).to.match(
          isDrawn ? /^Checked and passed on by models/ : /^Accepted and ignored\.$/,
        );
      }
    }
  });
});

interface Schema {
  readonly properties: Readonly<Record<string, { readonly description?: string }>>;
}
