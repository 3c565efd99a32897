// Which names a key may have on the pages.
import { expect } from 'chai';
import { isKeyName } from '../../lib/console/issue-key.ts';

describe('the name of a key', () => {
  it('is one line of 1 to 100 characters', () => {
    expect(['a', 'x'.repeat(100), 'a b'].filter(isKeyName)).to.have.length(3);
    expect(['', 'x'.repeat(101), 'a\nb'].filter(isKeyName)).to.deep.equal([]);
  });
});
