// What alerts count as spent: without what running calls hold, also when a call begins or ends meanwhile.
import { expect } from 'chai';
import type { WatchedKey } from '../../lib/alerts/budget.ts';
import { readSettledSums } from '../../lib/alerts/settled-sums.ts';
import { HOUR_MS } from '../../lib/base/durations.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import type { LedgerStore } from '../../lib/store/ports/ledger.ts';

const AT = 1_800_000_000_000;
const PERIOD = 1_700_000_000_000;

describe('the settled sums of keys', () => {
  interface Facts {
    /** Of the key, at the first and at the second look. */
    readonly spent: readonly [bigint, bigint];
    readonly held?: bigint;
    readonly running?: readonly object[];
    readonly period?: number;
  }

  async function look({ spent, held = 1n, running = [], period = PERIOD }: Facts) {
    const asked: object[] = [];
    let looks = 0;
    const ledger = {
      budgets: async (ids: readonly string[]) => {
        looks += 1;
        const sum = { wallet: 'acc', key: ids[0], period: looks === 1 ? PERIOD : period };
        return [{ ...sum, spent: spent[looks === 1 ? 0 : 1] }];
      },
      wallet: async () => ({ held }),
      charges: async (account: string, query: object) => {
        asked.push({ account, ...query });
        return running;
      },
    } as unknown as Pick<LedgerStore, 'budgets' | 'wallet' | 'charges'>;
    const key = { id: 'key_1', name: 'shop', limits: { ...NO_LIMITS, budget: 100n } } as WatchedKey;
    const sums = await readSettledSums(ledger, { account: 'acc', keys: new Map([['key_1', key]]), at: AT });
    return { spent: sums.get('key_1')?.spent, asked };
  }
  const call = (more: object = {}) => ({ key: 'key_1', period: PERIOD, reserved: 10n, ...more });

  it('leave out what running calls of the same key and period have reserved', async () => {
    const others = [call({ key: 'key_2' }), call({ period: PERIOD - 1 }), call({ budgetKey: 'key_0' })];
    const shared = call({ key: 'key_3', budgetKey: 'key_1', reserved: 5n });
    const { spent, asked } = await look({ spent: [95n, 95n], running: [call(), shared, ...others] });
    expect(spent).to.equal(80n);
    expect(asked).to.deep.equal([{ account: 'acc', limit: 1000, filter: { state: 'held', from: AT - HOUR_MS } }]);
  });

  it('read running calls only if an alert is due and the wallet holds something', async () => {
    const running = [call()];
    expect(await look({ spent: [79n, 79n], running })).to.deep.equal({ spent: 79n, asked: [] });
    expect(await look({ spent: [95n, 95n], running, held: 0n })).to.deep.equal({ spent: 95n, asked: [] });
    expect((await look({ spent: [80n, 80n], running })).spent).to.equal(70n);
  });

  it('take the lower of what was read before and after the calls, of one period', async () => {
    expect((await look({ spent: [95n, 90n] })).spent, 'a call has ended').to.equal(90n);
    expect((await look({ spent: [95n, 99n] })).spent, 'a call has begun').to.equal(95n);
    expect((await look({ spent: [95n, 1n], period: PERIOD + 1 })).spent, 'the next period').to.equal(95n);
  });
});
