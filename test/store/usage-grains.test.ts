// What days of usage have besides the hours that are taken away from them.
import { expect } from 'chai';
import { isUsed } from '../../lib/store/usage-grains.ts';
import { NO_USAGE } from '../../lib/store/usage-totals.ts';

describe('sums of usage', () => {
  it('leave out what only days have that are not read for it', () => {
    expect(isUsed(NO_USAGE)).to.equal(false);
    expect([isUsed({ ...NO_USAGE, calls: 1 }), isUsed({ ...NO_USAGE, charged: -1n })]).to.deep.equal([true, true]);
  });
});
