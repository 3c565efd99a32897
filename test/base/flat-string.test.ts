import { expect } from 'chai';
import { flattenString } from '../../lib/base/flat-string.ts';

describe('flattenString', () => {
  it('returns an equal string', () => {
    const chain = ['{"id":"', 'Жук 😀', '"}'].reduce((text, part) => text + part, '');
    for (const text of ['', 'a', chain, chain.slice(3)]) expect(flattenString(text)).to.equal(text);
  });
});
