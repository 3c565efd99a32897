import { expect } from 'chai';
import { createRecentBalanceCache } from '../../lib/api/recent-balance-cache.ts';

describe('solvent accounts', () => {
  it('are known for a second, each by itself', () => {
    let now = 50;
    const solvent = createRecentBalanceCache(() => now);
    solvent.note('one');
    now += 500;
    solvent.note('two');
    now += 499;
    expect(['one', 'two', 'three'].map(solvent.has)).to.deep.equal([true, true, false]);
    now += 1;
    expect(['one', 'two'].map(solvent.has)).to.deep.equal([false, true]);
    solvent.note('one');
    expect(solvent.has('one')).to.equal(true);
  });

  it('are forgotten when there are too many of them', () => {
    const solvent = createRecentBalanceCache(() => 0);
    const names = Array.from({ length: 1001 }, (_, at) => `${at}`);
    for (const name of names) solvent.note(name);
    expect(names.filter(solvent.has)).to.deep.equal(['1000']);
  });
});
