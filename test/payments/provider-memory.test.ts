// The memory of payment providers survives a restart, is shared by all processes, and is separate per provider.
import { expect } from 'chai';
import { createProviderMemory } from '../../lib/payments/provider-memory.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import plugin from '../../payments/sandbox/index.ts';
import { longer } from '../../testkit/long.ts';
import { makeOrder, openPayments } from '../../testkit/payments.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { signal } from './stage.ts';

for (const kind of longer([SQLITE], STORES)) {
  describe(`memory of payment providers on ${kind.name}`, () => {
    let database: Awaited<ReturnType<typeof kind.create>>;
    const stores: Store[] = [];
    const open = async () => {
      const store = await openStore(database.url);
      stores.push(store);
      return store;
    };
    beforeEach(async () => {
      database = await kind.create();
    });
    afterEach(async () => {
      for (const store of stores.splice(0)) await store.close();
      await database.remove();
    });

    it('is separate per provider and keeps the last value', async () => {
      const { settings } = await open();
      const [one, two] = [createProviderMemory(settings, 'one'), createProviderMemory(settings, 'two')];
      await one.set('x', '1');
      await one.set('x', '2');
      await two.set('x', '3');
      expect([await one.get('x'), await two.get('x'), await one.get('y')]).to.deep.equal(['2', '3', undefined]);
    });

    it('keeps a sandbox payment across a restart', async () => {
      const order = makeOrder();
      const first = await open();
      const before = openPayments(plugin, {}, { memory: createProviderMemory(first.settings, 'sandbox') }).provider;
      const { id } = await before.start(order, signal);
      await before.page?.({ method: 'POST', path: `/${id}`, query: {}, form: { button: 'paid' } }, signal);
      await first.close();
      stores.splice(0);
      const after = openPayments(
        plugin,
        {},
        { memory: createProviderMemory((await open()).settings, 'sandbox') },
      ).provider;
      expect(await after.fetch({ id }, signal)).to.include({ status: 'succeeded', order: order.id });
    });
  });
}
