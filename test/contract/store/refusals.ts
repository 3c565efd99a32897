// Refused requests: counted by key, reason and hour, and kept for a week.
import { expect } from 'chai';
import { HOUR_MS } from '../../../lib/base/durations.ts';
import { REFUSALS_KEPT_MS, type Refusal } from '../../../lib/store/ports/refusals.ts';
import { newId, type StoreContext } from './context.ts';

const HOUR = Date.UTC(2026, 10, 26, 9);

export function refusalContract(context: StoreContext): void {
  const refusal = (account: string, more: Partial<Refusal> = {}): Refusal => ({
    account,
    key: 'key_a',
    hour: HOUR,
    code: 'no_funds',
    count: 1,
    lastAt: HOUR + 5,
    status: 402,
    message: 'Top up.',
    ...more,
  });
  const list = async (account: string, options: { keys?: readonly string[]; limit?: number } = {}) =>
    (await context.other()).refusals.list(account, { limit: 10, ...options });

  it('adds the counts of a key, a reason and an hour up, with what the latest said', async () => {
    const { refusals } = context.store;
    const account = newId('acc');
    await refusals.add([refusal(account, { count: 2 }), refusal(account, { code: 'rate_limited', status: 429 })]);
    await refusals.add([refusal(account, { count: 3, lastAt: HOUR + 9, message: 'Top up now.' })]);
    await refusals.add([]);
    expect(await list(account)).to.deep.equal([
      refusal(account, { count: 5, lastAt: HOUR + 9, message: 'Top up now.' }),
      refusal(account, { code: 'rate_limited', status: 429 }),
    ]);
  });

  it('keeps what the latest said where the clocks of gateways differ', async () => {
    const { refusals } = context.store;
    const account = newId('acc');
    await refusals.add([refusal(account, { lastAt: HOUR + 9, message: '$code' })]);
    await refusals.add([refusal(account, { lastAt: HOUR + 8, status: 400, message: 'Earlier.' })]);
    expect(await list(account)).to.deep.equal([refusal(account, { count: 2, lastAt: HOUR + 9, message: '$code' })]);
    await refusals.add([refusal(account, { lastAt: HOUR + 9, message: 'At the same time.' })]);
    const latest = { lastAt: HOUR + 9, message: 'At the same time.' };
    expect(await list(account)).to.deep.equal([refusal(account, { count: 3, ...latest })]);
  });

  it('reads all page by page, and writes them as they are', async () => {
    const { refusals } = context.store;
    const account = newId('acc');
    const rows = ['a', 'b', 'c'].map((code) => refusal(account, { code }));
    await refusals.add(rows);
    await refusals.put([]);
    await refusals.put([refusal(account, { code: 'b', count: 7, message: 'Other.' })]);
    const wanted = [rows[0], refusal(account, { code: 'b', count: 7, message: 'Other.' }), rows[2]];
    const found: Refusal[] = [];
    for (let after: Refusal | undefined; ; ) {
      const page = await refusals.page({ limit: 2, ...(after && { after }) });
      found.push(...page);
      after = page.at(-1);
      if (page.length < 2) break;
    }
    expect(found.filter((row) => row.account === account)).to.deep.equal(wanted);
    expect(new Set(found.map((row) => JSON.stringify(row))).size).to.equal(found.length);
  });

  it('counts what several processes add at once', async () => {
    const account = newId('acc');
    const stores = [context.store, await context.other()];
    await Promise.all([...stores, ...stores].map(({ refusals }) => refusals.add([refusal(account)])));
    expect(await list(account)).to.deep.equal([refusal(account, { count: 4 })]);
  });

  it('lists the latest first, of some keys, and of no other account', async () => {
    const { refusals } = context.store;
    const [account, stranger] = [newId('acc'), newId('acc')];
    const early = refusal(account, { lastAt: HOUR + 1, key: 'key_b' });
    const late = refusal(account, { lastAt: HOUR + HOUR_MS, hour: HOUR + HOUR_MS });
    const middle = refusal(account, { lastAt: HOUR + 8 });
    await refusals.add([early, late, middle, refusal(stranger)]);
    expect(await list(account)).to.deep.equal([late, middle, early]);
    expect(await list(account, { limit: 2 })).to.deep.equal([late, middle]);
    expect(await list(account, { keys: ['key_b', 'key_c'] })).to.deep.equal([early]);
    expect(await list(account, { keys: [] })).to.deep.equal([]);
  });

  it('removes what is older than a week, in parts', async () => {
    const { refusals } = context.store;
    const account = newId('acc');
    const old = ['one', 'two', 'three'].map((code) => refusal(account, { code, hour: HOUR - HOUR_MS }));
    await refusals.add([...old, refusal(account)]);
    const now = HOUR + REFUSALS_KEPT_MS;
    let removed = 0;
    for (let count = 2; count === 2; removed += count) count = await refusals.clean(now, 2);
    expect(removed).to.be.at.least(3);
    expect(await list(account)).to.deep.equal([refusal(account)]);
  });
}
