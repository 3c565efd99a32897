// The usage of an account by key, kind and model at once, and any two of them added up from it.
import { expect } from 'chai';
import { addUpNames, readUsageNames } from '../../lib/ledger/usage-names.ts';
import { NO_USAGE } from '../../lib/store/usage-totals.ts';

describe('usage by key, kind and model at once', () => {
  const total = (calls: number, charged: bigint) => ({ ...NO_USAGE, calls, charged });
  const usage = {
    sums: async (wallet: string, query: object) => {
      expect([wallet, query]).to.deep.equal(['acc_1', { by: 'names', from: 0, kind: 'text' }]);
      return [
        { group: 'key_1 text model-a', ...total(1, 5n) },
        { group: 'key_2 text model-a', ...total(2, 3n) },
        { group: 'key_1 text some reason of a hold', ...total(3, 7n) },
      ];
    },
  };

  it('tells the names of each sum, also where the last one has spaces', async () => {
    expect(await readUsageNames(usage, 'acc_1', { from: 0, kind: 'text' })).to.deep.equal([
      { key: 'key_1', kind: 'text', model: 'model-a', total: total(1, 5n) },
      { key: 'key_2', kind: 'text', model: 'model-a', total: total(2, 3n) },
      { key: 'key_1', kind: 'text', model: 'some reason of a hold', total: total(3, 7n) },
    ]);
  });

  it('is added up by any of them, the highest charge first', async () => {
    const rows = await readUsageNames(usage, 'acc_1', { from: 0, kind: 'text' });
    expect(addUpNames(rows, ({ key }) => key)).to.deep.equal([
      { name: 'key_1', total: total(4, 12n) },
      { name: 'key_2', total: total(2, 3n) },
    ]);
    expect(addUpNames(rows, ({ model }) => model).map(({ name }) => name)).to.deep.equal([
      'model-a',
      'some reason of a hold',
    ]);
  });
});
