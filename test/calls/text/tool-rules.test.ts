import { expect } from 'chai';
import { fitTools } from '../../../lib/calls/text/tool-rules.ts';
import type { Tool } from '../../../lib/upstream/contract/content.ts';

describe('names of tools', () => {
  it('fit or do not fit the pattern of a vendor, whatever its flags', () => {
    const list = ['look', 'seek', 'find it', 'take'].map((name): Tool => ({ name, schema: {} }));
    for (const flags of ['', 'g', 'y']) {
      const toolNames = new RegExp('^[a-z]+$', flags);
      const { clientNames } = fitTools({ messages: [], tools: { list } }, { toolNames });
      expect([...clientNames.values()], flags).to.deep.equal(['find it']);
    }
  });
});
