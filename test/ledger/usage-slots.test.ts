// The usage of an account in slots of time: one sum for each slot and group, and groups that are added together.
import { expect } from 'chai';
import { readUsageSlots, regroupUsage, type SlottedUsage } from '../../lib/ledger/usage-slots.ts';
import type { UsageSlotSum } from '../../lib/store/ports/usage.ts';
import { NO_USAGE } from '../../lib/store/usage-totals.ts';

describe('usage in slots of time', () => {
  const slots = [0, 10, 20].map((from) => ({ from, to: from + 10 }));

  async function read(...rows: readonly (readonly [at: number, group: string, calls: number, charged: bigint])[]) {
    const asked: object[] = [];
    const usage = {
      slots: async (wallet: string, query: object) => {
        asked.push({ wallet, ...query });
        return rows.map(([at, group, calls, charged]): UsageSlotSum => ({ ...NO_USAGE, at, group, calls, charged }));
      },
    };
    const found = await readUsageSlots(usage, 'acc_1', { slots, by: 'key' });
    return { found, asked };
  }
  const brief = ({ total, groups }: SlottedUsage) => ({
    total: [total.calls, total.charged],
    groups: groups.map(({ name, total, slots }) => [name, total.calls, total.charged, slots.map(({ calls }) => calls)]),
  });

  it('has a place for each slot, the dearest group first, and of equal ones that with more calls', async () => {
    const { found, asked } = await read([0, 'a', 1, 5n], [20, 'a', 2, 5n], [10, 'b', 4, 10n], [20, 'c', 1, 11n]);
    expect(asked).to.deep.equal([{ wallet: 'acc_1', by: 'key', starts: [0, 10, 20], to: 30 }]);
    expect(brief(found)).to.deep.equal({
      total: [8, 31n],
      groups: [
        ['c', 1, 11n, [0, 0, 1]],
        ['b', 4, 10n, [0, 4, 0]],
        ['a', 3, 10n, [1, 0, 2]],
      ],
    });
  });

  it('is added up, slot by slot, where groups become one', async () => {
    const { found } = await read(
      [0, 'a', 1, 5n],
      [20, 'a', 2, 5n],
      [10, 'b', 4, 7n],
      [20, 'b', 3, 1n],
      [20, 'c', 1, 11n],
    );
    expect(brief(regroupUsage(found, (name) => (name === 'c' ? 'ann' : 'bob')))).to.deep.equal({
      total: [11, 29n],
      groups: [
        ['bob', 10, 18n, [1, 4, 5]],
        ['ann', 1, 11n, [0, 0, 1]],
      ],
    });
  });

  it('is none without slots, which asks nobody', async () => {
    const usage = { slots: () => expect.fail('it was asked') };
    expect(await readUsageSlots(usage, 'acc_1', { slots: [], by: 'key' })).to.deep.equal({
      total: NO_USAGE,
      groups: [],
    });
  });
});
