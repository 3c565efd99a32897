// What the store remembers of the prices of catalogs.
import { expect } from 'chai';
import { createCatalogHistory, joinPrices } from '../../lib/catalog/history.ts';
import type { StatedPrice } from '../../lib/catalog/markup.ts';
import type { Rate } from '../../lib/money/cost.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import { rejection } from '../contract/store/context.ts';

const NO_RATES: ReadonlyMap<string, Rate> = new Map();

describe('the history of catalogs', () => {
  let faulty: FaultyStore;
  let writes = 0;
  beforeEach(async () => {
    faulty = await openFaultyStore();
    writes = 0;
    faulty.always('settings.set', (call) => {
      writes += 1;
      return call();
    });
  });
  afterEach(() => faulty.close());

  const stated = (statement: string, price: StatedPrice['price']): StatedPrice => ({ statement, price });
  const pricesOf = (...rows: readonly (readonly [string, StatedPrice])[]) => ({
    prices: new Map(rows),
    rates: NO_RATES,
  });

  const text = stated('[1]', { input: 1n, output: 2n, bands: [{ above: 5, input: 3n, output: 4n }] });
  const video = stated('[2]', { unit: 'second', byResolution: new Map([['720p', 8n]]) });

  it('has the prices of the last catalog with a model, also of another gateway', async () => {
    const history = createCatalogHistory(faulty.store);
    expect(await history.readPrices()).to.deep.equal(new Map());
    await history.record(pricesOf(['text', text], ['image', stated('[3]', { request: 5n })]));
    await createCatalogHistory(faulty.store).record(
      pricesOf(['video', video], ['image', stated('[4]', { request: 6n })]),
    );
    expect(await history.readPrices()).to.deep.equal(
      new Map([
        ['text', text],
        ['image', stated('[4]', { request: 6n })],
        ['video', video],
      ]),
    );
  });

  it('writes nothing if nothing has changed', async () => {
    const history = createCatalogHistory(faulty.store);
    for (const _ of [1, 2, 3]) await history.record(pricesOf(['text', text], ['video', video]));
    expect(writes).to.equal(1);
    await history.record(pricesOf(['text', stated('[1]', { input: 1n, output: 3n })]));
    expect(writes).to.equal(2);
  });

  it('passes over a price of an unknown shape', async () => {
    const rows = [
      ['later', '[1]', '{"per_page":"1"}'],
      ['text', '[1]', '{"input":"1","output":"2"}'],
    ];
    await faulty.real.settings.set('catalog/prices', JSON.stringify(rows));
    const known = await createCatalogHistory(faulty.store).readPrices();
    expect(known).to.deep.equal(new Map([['text', stated('[1]', { input: 1n, output: 2n })]]));
  });

  it('is asked for statements that this gateway has missed', () => {
    const [own, other, later] = ['[1]', '[2]', '[3]'].map((name) => stated(name, { request: BigInt(name.charAt(1)) }));
    const prices = (...rows: readonly (readonly [string, StatedPrice | undefined])[]) =>
      new Map(rows.flatMap(([id, price]) => (price ? [[id, price]] : [])));
    const known = joinPrices(prices(['both', own], ['mine', own]), prices(['both', other], ['theirs', later]));
    expect(known.get('both', '[1]')).to.equal(own);
    expect(known.get('both', '[2]')).to.equal(other);
    expect(known.get('mine', '[9]')).to.equal(own);
    expect(known.get('theirs', '[9]')).to.equal(later);
    expect(known.get('nothing', '[1]')).to.equal(undefined);
  });

  it('rejects if the store does not answer', async () => {
    const history = createCatalogHistory(faulty.store);
    const away = () => Promise.reject(new Error('away'));
    for (const call of ['rates.record', 'settings.get', 'settings.set'] as const) {
      faulty.next(call, away);
      expect(`${await rejection(history.record(pricesOf(['text', text])))}`, call).to.contain('away');
    }
  });
});
