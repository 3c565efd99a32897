// Every cap that a call can have at once (run, end user, member, key, wallet), with hundreds of calls at the same time over two
// gateways on one store: each cap in its turn is the one that is used up, and exactly.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import { send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { GENERATIONS, imageAnswer, imageCatalog } from '../../testkit/images.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import type { StoreDatabase } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';
import { PNG } from '../media/sample-images.ts';

const RUB = 1_000_000n;
const KEY_CACHE_MS = 50;
const CALLS = longer(40, 300);
/** What a call of either catalog costs. */
const PRICE = 10n;
/** Its images take their time, so that hundreds of calls do not settle at the same moment. */
const DRAWING = {
  upstreams: { sandbox: { plugin: 'sandbox' } },
  models: [
    {
      id: 'draw',
      type: 'image',
      provider: 'Test',
      price: { request: `${PRICE}` },
      routes: [{ upstream: 'sandbox', model: 'image' }],
    },
  ],
  defaults: { image: ['draw'] },
};
/** How many calls each cap allows, from the tightest. */
const ALLOWED = { run: 15n, user: 20n, member: 25n, key: 30n, wallet: 100n };

for (const kind of longer([SQLITE], STORES)) {
  describe(`all caps of a call, over two gateways: ${kind.name}`, () => {
    let database: StoreDatabase;
    let upstream: TestUpstream;
    let gateways: readonly TestGateway[];
    let account: TestAccount;
    before(async () => {
      database = await kind.create();
      upstream = await startUpstream(imageAnswer(PNG));
      const catalog = longer(imageCatalog(upstream.url, { defaults: { image: ['draw'] } }), DRAWING);
      const start = () => startGateway({ catalog, database: database.url, timings: { keyCacheMs: KEY_CACHE_MS } });
      gateways = [await start(), await start()];
      account = await (gateways[0] as TestGateway).account(`${ALLOWED.wallet * PRICE}`);
    });
    after(async () => {
      for (const gateway of gateways) await gateway.stop();
      await upstream.close();
      await database.remove();
    });

    async function prepare() {
      const { store } = gateways[0] as TestGateway;
      const user = makeUser();
      await store.users.add(user);
      const cap = { limit: ALLOWED.member * PRICE * RUB, reset: 'month', zone: 'UTC' } as const;
      await store.users.join({ user: user.id, account: account.id, role: 'member', cap });
      const limits = {
        budget: ALLOWED.key * PRICE * RUB,
        endUsers: { cap: ALLOWED.user * PRICE * RUB, reset: 'month' },
      } as const;
      const accounts = createAccounts({ store, keyPrefix: 'tg-' });
      const { key } = await accounts.issueKey(account.id, 'member', limits, user.id);
      const raise = () => store.users.setMembership({ user: user.id, account: account.id, role: 'member' }, Date.now());
      return { key, raise };
    }

    /** Half of the calls to each gateway, all at once; resolves to how many were paid. */
    async function race(key: string, more: (call: number) => { user?: string; run?: string }) {
      const calls = Array.from({ length: CALLS }, (_, call) => {
        const { user, run } = more(call);
        const headers: Record<string, string> =
          run === undefined ? {} : { 'x-run-budget': `${run}; ${ALLOWED.run * PRICE}` };
        const url = (gateways[call % gateways.length] as TestGateway).url + GENERATIONS;
        return send(url, {
          key,
          headers,
          body: { prompt: 'a hill', ...(user !== undefined && { user }) },
        });
      });
      const replies = await Promise.all(calls);
      expect(replies.filter(({ status }) => status !== 200 && status !== 402)).to.deep.equal([]);
      return BigInt(replies.filter(({ status }) => status === 200).length);
    }

    it('are each exact', async () => {
      const { key, raise } = await prepare();
      const ann = { user: 'ann' };
      const { run, user, member, key: ofKey, wallet } = ALLOWED;
      expect(await race(key, () => ({ ...ann, run: 'nightly' }))).to.equal(run);
      expect(await race(key, () => ann)).to.equal(user - run);
      expect(await race(key, (call) => ({ user: `guest-${call}` }))).to.equal(member - user);
      await raise();
      await sleep(3 * KEY_CACHE_MS);
      expect(await race(key, (call) => ({ user: `other-${call}` }))).to.equal(ofKey - member);
      let left = wallet - ofKey;
      while (left > BigInt(CALLS)) {
        expect(await race(account.key, () => ({}))).to.equal(BigInt(CALLS));
        left -= BigInt(CALLS);
      }
      expect(await race(account.key, () => ({}))).to.equal(left);
      const [first] = gateways as [TestGateway];
      expect((await first.wallet(account)).avail).to.equal(0n);
      await first.checkMoney();
    }).timeout(180_000);
  });
}
