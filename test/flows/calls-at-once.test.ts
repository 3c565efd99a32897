// Calls at once of a key and of an account, over two gateways on one store: an upstream counts how many really run.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import { getAccountCallsId, getKeyCallsId } from '../../lib/money/budget.ts';
import type { RequestLimits } from '../../lib/money/request-limits.ts';
import { ask, CHAT, DIALECTS, sayFor, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { type Behaviour, chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import type { StoreDatabase } from '../contract/store/context.ts';

const KEY_CACHE_MS = 50;
const CALLS = longer(40, 300);

for (const kind of longer([SQLITE], STORES)) {
  describe(`calls at once over two gateways: ${kind.name}`, () => {
    let database: StoreDatabase;
    let upstream: TestUpstream;
    let gateways: readonly [TestGateway, TestGateway];
    let account: TestAccount;
    const running = { now: 0, most: 0 };

    before(async () => {
      database = await kind.create();
      upstream = await startUpstream();
      const catalog = {
        upstreams: {
          up: { plugin: 'openai-compatible', settings: { baseUrl: `${upstream.url}/v1`, apiKey: 'k' } },
        },
        models: [
          {
            id: 'write',
            type: 'text',
            provider: 'Test',
            price: { input: '1000', output: '5000' },
            routes: [{ upstream: 'up', model: 'm' }],
          },
        ],
      };
      const env = { RATE_LIMIT_PER_MINUTE: '100000' };
      const start = () => startGateway({ catalog, database: database.url, env, timings: { keyCacheMs: KEY_CACHE_MS } });
      gateways = [await start(), await start()];
    });
    beforeEach(async () => {
      account = await gateways[0].account('100000');
      Object.assign(running, { now: 0, most: 0 });
      upstream.behave(answerAfter(() => sleep(5)));
    });
    afterEach(() => gateways[0].checkMoney());
    after(async () => {
      for (const gateway of gateways) await gateway.stop();
      await upstream.close();
      await database.remove();
    });

    /** Answers once the promise resolves, and counts how many calls it has. */
    function answerAfter(wait: () => Promise<unknown>): Behaviour {
      return async (call) => {
        running.now += 1;
        running.most = Math.max(running.most, running.now);
        await wait();
        running.now -= 1;
        await chatAnswer('Hello.')(call);
      };
    }

    const limit = (requests: RequestLimits | undefined) =>
      createAccounts({ store: gateways[0].store, keyPrefix: 'tg-' }).limit(account.id, requests);
    const issue = async (requests: RequestLimits) =>
      createAccounts({ store: gateways[0].store, keyPrefix: 'tg-' }).issueKey(account.id, 'little', { requests });
    const post = async (key: string, at: number) => {
      const path = DIALECTS[at % DIALECTS.length] as string;
      const { url } = gateways[at % 2] as TestGateway;
      return send(url + path, { key, body: sayFor(path, ask('hi', { model: 'write', stream: at % 5 === 0 })) });
    };
    const count = async (id: string) => (await gateways[0].store.ledger.budgets([id]))[0]?.spent;

    it('never run more than the limit, and all get their turn', async () => {
      await limit({ atOnce: 5, waitSeconds: 60 });
      const key = await issue({ atOnce: 3, waitSeconds: 60 });
      // Nobody leaves before as many run as may, however slowly they arrive.
      upstream.behave(
        answerAfter(async () => {
          await until(() => running.most >= 5, 60_000);
          await sleep(5);
        }),
      );
      const replies = await Promise.all(
        Array.from({ length: CALLS }, (_, at) => post(at % 4 < 2 ? key.key : account.key, at)),
      );
      expect(new Set(replies.map(({ status }) => status))).to.deep.equal(new Set([200]));
      expect(running.most).to.equal(5);
      expect(await count(getAccountCallsId(account.id))).to.equal(0n);
      expect(await count(getKeyCallsId(key.id))).to.equal(0n);
      expect(await count(getKeyCallsId(account.keyId))).to.equal(undefined);
    }).timeout(180_000);

    it('are refused in the other gateway, in time and with the same words, and follow a limit that changes', async () => {
      const held = Promise.withResolvers<void>();
      upstream.behave(answerAfter(() => held.promise));
      await limit({ atOnce: 2 });
      await sleep(2 * KEY_CACHE_MS);
      const begun = [post(account.key, 0), post(account.key, 0)];
      await until(() => running.now === 2);
      const refused = await post(account.key, 1);
      expect(refused.status, refused.text).to.equal(429);
      expect(refused.json.error.message).to.equal(
        'Too many calls at once: the limit is 2. Retry when one of them has ended.',
      );
      expect(refused.headers).to.include({ 'retry-after': '1' }).and.not.have.property('x-should-retry');
      // Raised while a call waits, which the first gateway does not see begin.
      await limit({ atOnce: 2, waitSeconds: 60 });
      await sleep(2 * KEY_CACHE_MS);
      const waiting = post(account.key, 1);
      await sleep(100);
      expect(running.now).to.equal(2);
      await limit({ atOnce: 3, waitSeconds: 60 });
      await until(() => running.now === 3);
      // Lowered below what runs: nobody enters.
      await limit({ atOnce: 1 });
      await sleep(2 * KEY_CACHE_MS);
      for (const at of [0, 1]) expect((await post(account.key, at)).status).to.equal(429);
      // Removed: a call does not count any more.
      await limit(undefined);
      await sleep(2 * KEY_CACHE_MS);
      const free = post(account.key, 1);
      await until(() => running.now === 4);
      expect(await count(getAccountCallsId(account.id))).to.equal(3n);
      held.resolve();
      const statuses = (await Promise.all([...begun, waiting, free])).map(({ status }) => status);
      expect(statuses).to.deep.equal([200, 200, 200, 200]);
      expect(await count(getAccountCallsId(account.id))).to.equal(0n);
    });

    for (const [what, limits, wanted] of [
      ['budget', { budget: 1n }, 402],
      ['models', { models: ['other'] }, 403],
    ] as const)
      it(`are held to the ${what} that the key has when their turn comes`, async () => {
        const held = Promise.withResolvers<void>();
        const key = await issue({ atOnce: 1, waitSeconds: 60 });
        for (const at of [0, 1]) expect((await post(account.key, at)).status).to.equal(200);
        upstream.behave(answerAfter(() => held.promise));
        const begun = post(key.key, 0);
        await until(() => running.now === 1);
        const waiting = post(key.key, 1);
        // Long enough to wait in line.
        await sleep(500);
        await createAccounts({ store: gateways[0].store, keyPrefix: 'tg-' }).limitKey(key.id, limits);
        await sleep(2 * KEY_CACHE_MS);
        held.resolve();
        expect((await begun).status).to.equal(200);
        const { status, text } = await waiting;
        expect(status, text).to.equal(wanted);
      });

    it('take no place for requests that are free, and give it back after a failure', async () => {
      await limit({ atOnce: 1 });
      await sleep(2 * KEY_CACHE_MS);
      upstream.behave(({ response }) => void response.writeHead(500).end());
      for (const at of [1, 2, 3]) expect((await post(account.key, at)).status).to.be.above(499);
      upstream.behave(chatAnswer('Hello.'));
      const wrong = { key: account.key, body: { model: 'write' } };
      expect((await send(gateways[1].url + CHAT, wrong)).status).to.equal(400);
      expect((await post(account.key, 1)).status).to.equal(200);
      expect(await count(getAccountCallsId(account.id))).to.equal(0n);
    });
  });
}
