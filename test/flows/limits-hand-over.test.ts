// A second process starts beside one that counts rate limits by its own memory: both together admit what one may.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createLimiter, type Limiter } from '../../lib/accounts/rate-limiter.ts';
import { createLedger } from '../../lib/ledger/ledger.ts';
import { createOwner, type Owner } from '../../lib/ledger/owner.ts';
import type { Store } from '../../lib/store/store.ts';
import { until } from '../../testkit/client.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { itTimed } from '../../testkit/timed.ts';
import { newId, useStore } from '../contract/store/context.ts';

const RULE = { name: 'generate', perMinute: 30 };
/** A process that lives renews within a second; one that does not answer for two is not waited for. */
const WAIT_MS = 2000;

for (const kind of longer([SQLITE], STORES)) {
  describe(`handing limits over on ${kind.name}`, () => {
    const context = useStore(kind);
    let owners: Owner[];
    let key: string;
    beforeEach(() => {
      owners = [];
      key = newId('key');
    });
    afterEach(async () => {
      for (const owner of owners) await owner.stop();
    });

    /** What a process has of limits, on a store of its own. */
    async function start(store: Store, leaseMs = 15_000): Promise<{ limiter: Limiter; owner: Owner }> {
      const log = { warn: () => undefined, error: () => undefined };
      const ownerId = newId('own');
      const limiter = createLimiter({ store: store.limits });
      const ledger = createLedger({ store, ownerId, leaseMs, log });
      const owner = createOwner({ store: store.owners, ledger, ownerId, leaseMs, log, onPeers: limiter.setPeers });
      owners.push(owner);
      await owner.start();
      return { limiter, owner };
    }

    const isLocal = (limiter: Limiter) => !(limiter.hit(RULE, newId('key')) instanceof Promise);
    const admitted = async (hits: readonly ReturnType<Limiter['hit']>[]) =>
      (await Promise.all(hits)).filter(({ allowed }) => allowed).length;

    it('admits no more than the limit from the first moment of the second, and of the third', async () => {
      const stores = [await context.open(), await context.open()] as const;
      const { limiter: first } = await start(context.store);
      expect(isLocal(first)).to.equal(true);
      const hits = Array.from({ length: 20 }, () => first.hit(RULE, key));
      const hitAll = (limiters: readonly Limiter[], count: number) => {
        for (let at = 0; at < count; at += 1) hits.push(...limiters.map((limiter) => limiter.hit(RULE, key)));
      };
      await sleep(300);
      const { limiter: second } = await start(stores[0]);
      hitAll([second, first], 20);
      const { limiter: third } = await start(stores[1]);
      hitAll([third, second, first], 20);
      expect(await admitted(hits)).to.equal(RULE.perMinute);
    });

    it('admits no more than the limit when two start at once', async () => {
      const other = await context.open();
      const [first, second] = await Promise.all([start(context.store), start(other)]);
      const hits: ReturnType<Limiter['hit']>[] = [];
      for (let round = 0; round < 60; round += 1) {
        for (const { limiter } of [first, second]) hits.push(limiter.hit(RULE, key));
        await sleep(20);
      }
      expect(await admitted(hits)).to.equal(RULE.perMinute);
    });

    it('counts in memory again once the other has left, and hands over again', async () => {
      const { limiter } = await start(context.store, 300);
      const { owner } = await start(await context.open(), 300);
      await until(() => !isLocal(limiter));
      const hits = Array.from({ length: 25 }, () => limiter.hit(RULE, key));
      await Promise.all(hits);
      await owner.stop();
      await until(() => isLocal(limiter));
      hits.push(...Array.from({ length: 4 }, () => limiter.hit(RULE, key)));
      const { limiter: next } = await start(await context.open(), 300);
      hits.push(...Array.from({ length: 10 }, () => next.hit(RULE, key)));
      expect(await admitted(hits)).to.equal(RULE.perMinute);
    });

    itTimed('does not wait for a process that was killed while counting in memory', async () => {
      await context.store.owners.renew({ id: 'killed', leaseMs: 15_000, alone: true });
      const { limiter } = await start(context.store);
      const startedAt = performance.now();
      expect((await limiter.hit(RULE, key)).allowed).to.equal(true);
      expect(performance.now() - startedAt).to.be.within(WAIT_MS - 100, WAIT_MS + 2000);
      await context.store.owners.remove('killed');
    });
  });
}
