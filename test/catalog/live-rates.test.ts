// Rates, prices and losses across reloads and starts, with what a real store remembers.
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { type CatalogHistory, createCatalogHistory } from '../../lib/catalog/history.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { until } from '../../testkit/client.ts';
import { createFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { rejection, type StoreDatabase } from '../contract/store/context.ts';
import { catalogOf, TEXT } from './folder.ts';
import { CatalogStage } from './stage.ts';

const BEFORE = Date.parse('2026-11-26T12:00:00Z');
const MIDNIGHT = Date.parse('2026-11-30T21:00:00Z');
const SOLD = { input: 40_000_000n, output: 240_500_000n };

for (const kind of longer([SQLITE], STORES)) {
  describe(`live rates on ${kind.name}`, () => {
    const stage = new CatalogStage();
    let database: StoreDatabase;
    let store: Store;
    let now = BEFORE;
    beforeEach(async () => {
      stage.open();
      now = BEFORE;
      database = await kind.create();
      store = await openStore(database.url, { inProcess: true });
    });
    afterEach(async () => {
      await stage.close();
      await store.close();
      await database.remove();
    });

    const history = (): CatalogHistory => createCatalogHistory(store, () => now);
    const load = (from: CatalogHistory = history()) => stage.load({ history: from, now: () => now });
    const usd = (...rates: readonly (readonly [rub: string, from: string])[]) =>
      stage.folder.write({ rates: { USD: rates.map(([rub, from]) => ({ rub, from })) } }, 'rates.json');
    const models = (more: object = {}) => {
      const routes = [{ upstream: 'one', model: 'm', cost: { currency: 'USD', input: '0.5', output: '3' } }];
      const upstreams = { one: stage.up('k') };
      stage.folder.write(catalogOf({ upstreams, models: [{ ...TEXT, routes, ...more }] }));
    };
    const records = async () => (await store.rates.list()).map(({ rub, from, at }) => [rub, from, at]);

    it('follow a reload: derived prices move, those of a call that holds do not', async () => {
      models({ price: { markup: '1.5' } });
      usd(['80', '2026-11-01']);
      await load();
      const held = stage.model();
      expect(held.price.input).to.equal(60_000_000n);
      usd(['90', '2026-11-01']);
      expect(await stage.live.reload()).to.equal(true);
      expect(stage.model().price.input).to.equal(67_500_000n);
      expect(stage.model().prices).to.contain('"67500000"');
      expect([held.price.input, held.routes[0]?.cost?.rate.rub]).to.deep.equal([60_000_000n, 80_000_000n]);
      expect(await records()).to.deep.equal([
        [80_000_000n, '2026-11-01', BEFORE],
        [90_000_000n, '2026-11-01', BEFORE],
      ]);
    });

    it('take effect on their day without an edit', async () => {
      models({ price: { markup: '1.5' } });
      usd(['80', '2026-11-01'], ['100', '2026-12-01']);
      await load();
      stage.live.watch();
      now = MIDNIGHT - 1;
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(stage.model().price.input).to.equal(60_000_000n);
      now = MIDNIGHT;
      await until(() => stage.model().price.input === 75_000_000n);
      // They are recorded after they have taken effect.
      await until(async () => (await records()).length > 1);
      expect(await records()).to.deep.equal([
        [80_000_000n, '2026-11-01', BEFORE],
        [100_000_000n, '2026-12-01', MIDNIGHT],
      ]);
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(stage.lines.filter((line) => line.includes('was reloaded'))).to.have.length(1);
    });

    it('below cost leave the price as it was, also after a restart, and tell the operator', async () => {
      models();
      usd(['80', '2026-11-01']);
      await load();
      expect(stage.losses).to.deep.equal([[]]);
      usd(['81', '2026-11-01']);
      expect(await stage.live.reload()).to.equal(true);
      expect(stage.model().price).to.deep.equal(SOLD);
      expect(stage.losses.at(-1)).to.have.length(2);
      expect(stage.lines.join()).to.contain('the price stays as it was: price.input is 40.00 RUB, below the cost');
      await stage.live.close();
      await load();
      expect(stage.model().price).to.deep.equal(SOLD);
      expect(stage.losses.at(-1)).to.have.length(2);
      usd(['80', '2026-11-01']);
      expect(await stage.live.reload()).to.equal(true);
      expect(stage.losses.at(-1)).to.deep.equal([]);
    });

    it('below cost leave a price that only another gateway had in force, as a start would', async () => {
      models();
      usd(['70', '2026-11-01']);
      await load();
      const other = new CatalogStage();
      other.folder = stage.folder;
      models({ price: { ...TEXT.price, input: '39' } });
      await other.load({ history: history(), now: () => now });
      // This one sees both edits at once.
      usd(['80', '2026-11-01']);
      try {
        for (const { live } of [other, stage]) expect(await live.reload()).to.equal(true);
        for (const each of [other, stage]) expect(each.model().price.input).to.equal(39_000_000n);
        // A slower one has recorded what it had before.
        const prices = new Map([[TEXT.id, { statement: 'of a former version', price: SOLD }]]);
        await history().record({ prices, rates: new Map() });
        usd(['81', '2026-11-01']);
        expect(await stage.live.reload()).to.equal(true);
        expect(stage.model().price.input).to.equal(39_000_000n);
      } finally {
        await other.live.close();
      }
    });

    it('below cost refuse a reload that edits the price', async () => {
      models();
      usd(['80', '2026-11-01']);
      await load();
      models({ price: { ...TEXT.price, input: '39' } });
      expect(await stage.live.reload()).to.equal(false);
      expect(stage.live.failure()?.reason).to.contain(
        'price.input is 39.00 RUB, below the cost over one (m), 40.00 RUB',
      );
      expect(stage.model().price).to.deep.equal(SOLD);
    });

    it('below cost leave the price of a model as it was that an edit removed and another brings back', async () => {
      models();
      usd(['80', '2026-11-01']);
      await load();
      stage.folder.write(catalogOf({ upstreams: { one: stage.up('k') }, models: [{ ...TEXT, id: 'another' }] }));
      usd(['81', '2026-11-01']);
      expect(await stage.live.reload()).to.equal(true);
      models();
      expect(await stage.live.reload()).to.equal(true);
      expect(stage.model().price).to.deep.equal(SOLD);
      expect(stage.losses.at(-1)).to.have.length(2);
    });

    it('below cost refuse a first start', async () => {
      models();
      usd(['81', '2026-11-01']);
      const refused = await rejection(load());
      expect(refused).to.be.instanceOf(OperatorError);
      expect(`${refused}`).to.contain('model text-1: price.input is 40.00 RUB, below the cost over one (m), 40.50 RUB');
    });

    it('are recorded after a store that did not answer is back, and prices take effect without it', async () => {
      const faulty = createFaultyStore(store);
      models({ price: { markup: '1.5' } });
      usd(['80', '2026-11-01']);
      faulty.next('rates.record', refuse);
      await load(createCatalogHistory(faulty.store, () => now));
      expect(stage.model().price.input).to.equal(60_000_000n);
      expect(stage.lines.join()).to.contain('the store did not take the prices and rates');
      expect(await records()).to.deep.equal([]);
      stage.live.watch();
      await until(async () => (await records()).length === 1);
    });
  });
}
