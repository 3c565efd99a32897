// The history of exchange rates.
import { expect } from 'chai';
import { newId, type StoreContext } from './context.ts';

export function rateContract(context: StoreContext): void {
  const newCurrency = () => newId('C');
  const rate = (currency: string, rub: bigint, more: object = {}) => ({
    currency,
    rub,
    from: '2026-11-26',
    at: 5,
    ...more,
  });
  const listed = async (...currencies: readonly string[]) =>
    (await context.store.rates.list()).filter(({ currency }) => currencies.includes(currency));

  it('keeps each rate that differs from the one before', async () => {
    const { rates } = context.store;
    const currency = newCurrency();
    await rates.record([rate(currency, 81_400_000n)]);
    await rates.record([rate(currency, 81_400_000n, { at: 6 })]);
    await rates.record([rate(currency, 82_000_000n, { at: 7 })]);
    await rates.record([rate(currency, 82_000_000n, { from: '2026-12-01', at: 8 })]);
    await rates.record([rate(currency, 81_400_000n, { at: 9 })]);
    expect(await listed(currency)).to.deep.equal([
      { ...rate(currency, 81_400_000n), seq: 1 },
      { ...rate(currency, 82_000_000n, { at: 7 }), seq: 2 },
      { ...rate(currency, 82_000_000n, { from: '2026-12-01', at: 8 }), seq: 3 },
      { ...rate(currency, 81_400_000n, { at: 9 }), seq: 4 },
    ]);
  });

  it('lists currencies in order, and keeps the largest rate unchanged', async () => {
    const { rates } = context.store;
    const [first, second] = [newCurrency(), newCurrency()].sort() as [string, string];
    await rates.record([rate(second, 1n), rate(first, 1_000_000_000_000n)]);
    await rates.record([]);
    const found = await listed(first, second);
    expect(found.map(({ currency, rub }) => [currency, rub])).to.deep.equal([
      [first, 1_000_000_000_000n],
      [second, 1n],
    ]);
  });

  it('keeps one row of a rate that several processes record at once', async () => {
    const currency = newCurrency();
    const stores = [context.store, await context.other()];
    await Promise.all([...stores, ...stores].map(({ rates }) => rates.record([rate(currency, 5n)])));
    expect(await listed(currency)).to.have.length(1);
    await Promise.all(stores.map(({ rates }, at) => rates.record([rate(currency, BigInt(at + 6))])));
    const found = await listed(currency);
    expect(found.map(({ seq }) => seq)).to.deep.equal([1, 2, 3]);
    expect(new Set(found.map(({ rub }) => rub))).to.deep.equal(new Set([5n, 6n, 7n]));
  });

  it('takes the rates of another store as they are, repeatedly', async () => {
    const { rates } = context.store;
    const currency = newCurrency();
    const rows = [1n, 2n].map((rub, at) => ({ ...rate(currency, rub), seq: at + 1 }));
    for (const _ of [1, 2]) await rates.put(rows);
    await rates.put([]);
    expect(await listed(currency)).to.deep.equal(rows);
    await rates.record([rate(currency, 3n)]);
    expect((await listed(currency)).at(-1)).to.include({ seq: 3, rub: 3n });
  });
}
