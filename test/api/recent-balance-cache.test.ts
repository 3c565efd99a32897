import { expect } from 'chai';
import { createRecentBalanceCache } from '../../lib/api/recent-balance-cache.ts';

describe('recent balances', () => {
  it('are remembered for a second, each separately', () => {
    let now = 50;
    const recentBalances = createRecentBalanceCache(() => now);
    recentBalances.note('one');
    now += 500;
    recentBalances.note('two');
    now += 499;
    expect(['one', 'two', 'three'].map(recentBalances.has)).to.deep.equal([true, true, false]);
    now += 1;
    expect(['one', 'two'].map(recentBalances.has)).to.deep.equal([false, true]);
    recentBalances.note('one');
    expect(recentBalances.has('one')).to.equal(true);
  });

  it('are forgotten when there are too many', () => {
    const recentBalances = createRecentBalanceCache(() => 0);
    const names = Array.from({ length: 1001 }, (_, at) => `${at}`);
    for (const name of names) recentBalances.note(name);
    expect(names.filter(recentBalances.has)).to.deep.equal(['1000']);
  });
});
