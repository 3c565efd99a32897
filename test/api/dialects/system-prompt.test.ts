// What becomes of a system prompt, in its field and in messages.
import { expect } from 'chai';
import { readMessages, readSystem } from '../../../lib/api/dialects/messages.ts';

const prompt = { role: 'user', content: 'hi' };

describe('a system prompt', () => {
  const line = 'x-acme-billing-header: version=2.1.9; call=1f;';
  const brief = { type: 'text', text: 'Be brief.', cache: { ttl: '5m' } };
  const block = { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } };

  it('does not have what an agent says to its vendor of each call', () => {
    expect(readSystem([{ type: 'text', text: line }, block])).to.deep.equal([brief]);
    expect(readSystem([{ ...block, text: `${line}\n\nBe brief.` }])).to.deep.equal([brief]);
    const { system } = readMessages([{ role: 'system', content: `${line}\nBe brief.` }, prompt]);
    expect(system).to.deep.equal([{ type: 'text', text: 'Be brief.' }]);
  });

  it('has everything else', () => {
    for (const other of ['x-acme-billing-header', `x-acme-billing-header: ${'x'.repeat(301)}`, `Say ${line}`])
      expect(readSystem(other)).to.deep.equal([{ type: 'text', text: other }]);
    expect(readMessages([{ role: 'user', content: line }]).messages[0]?.content).to.deep.equal([
      { type: 'text', text: line },
    ]);
  });
});
