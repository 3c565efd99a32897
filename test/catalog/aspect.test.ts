// Which texts are aspects: two numbers from 1 to 99.
import { expect } from 'chai';
import { ASPECT, ASPECTS } from '../../lib/catalog/aspect.ts';

describe('aspects', () => {
  it('are two numbers without leading zeros', () => {
    for (const word of [...ASPECTS, '1:1', '21:9', '99:99']) expect(word).to.match(ASPECT);
    for (const word of [
      '',
      '16',
      '16:',
      ':9',
      '0:1',
      '1:0',
      '016:9',
      '16:09',
      '160:9',
      '16:100',
      ' 16:9',
      '16:9:1',
      '16x9',
    ])
      expect(word).not.to.match(ASPECT);
  });
});
