// Calls that are sent again under their idempotency key, but with another API key of the account: it learns nothing that a
// call of its own would not have told it.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import type { RequestedLimits } from '../../lib/accounts/limits.ts';
import { ask, CHAT, MESSAGES, type Reply, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { EDITS, GENERATIONS } from '../../testkit/images.ts';
import { forgetReplies } from '../../testkit/repeats.ts';
import { PNG } from '../media/sample-images.ts';

const RUB = 1_000_000n;
/** Shortened from a second: how long a gateway takes for a change of a key. */
const KEY_CACHE_MS = 100;
const IMAGE = `data:image/png;base64,${PNG.toString('base64')}`;

const text = (id: string) => ({
  id,
  aliases: [`${id}-alias`],
  type: 'text',
  provider: 'Test',
  price: { input: '1000', output: '5000' },
  routes: [{ upstream: 'sandbox', model: 'standard' }],
});

const CATALOG = {
  upstreams: { sandbox: { plugin: 'sandbox' } },
  models: [
    ...['small', 'big'].map(text),
    {
      id: 'draw',
      type: 'image',
      provider: 'Test',
      price: { request: '10' },
      edits: true,
      routes: [{ upstream: 'sandbox', model: 'image' }],
    },
    {
      id: 'film',
      type: 'video',
      provider: 'Test',
      price: { request: '40' },
      routes: [{ upstream: 'sandbox', model: 'video' }],
    },
  ],
  smart: { lite: ['big'], standard: ['big'], heavy: ['big'] },
  defaults: { image: ['draw'], edit: ['draw'] },
};

/** One call of each kind, with the model that it runs on. */
const CALLS: readonly (readonly [path: string, model: string, body: object])[] = [
  [MESSAGES, 'big', ask('hi', { model: 'big' })],
  [CHAT, 'big', ask('hi', { model: 'smart' })],
  [GENERATIONS, 'draw', { prompt: 'a hill' }],
  [EDITS, 'draw', { prompt: 'a hill', image: IMAGE }],
  ['/api/v1/videos', 'film', { model: 'film', prompt: 'a hill' }],
];

describe('an idempotency key and several API keys', () => {
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    gateway = await startGateway({ catalog: CATALOG, timings: { keyCacheMs: KEY_CACHE_MS } });
  });
  beforeEach(async () => {
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(() => gateway.stop());

  const accounts = () => createAccounts({ store: gateway.store, keyPrefix: 'tg-' });
  const issue = (wish: Partial<RequestedLimits>) => accounts().issueKey(account.id, 'little', wish);
  const post = (key: string, path: string, body: object): Promise<Reply> =>
    send(gateway.url + path, { key, body, headers: { 'idempotency-key': 'order-1' } });
  const isReplay = ({ status, headers }: Reply) => status === 200 && headers['idempotent-replayed'] === 'true';

  for (const [path, model, body] of CALLS) {
    it(`refuses on ${path} the reply of a model that the repeating key may not use`, async () => {
      const first = await post(account.key, path, body);
      expect(first.status, first.text).to.equal(200);
      const { seq } = await gateway.wallet(account);
      const { key: barred } = await issue({ models: ['small'] });
      const refused = await post(barred, path, body);
      expect(refused.status, refused.text).to.equal(403);
      expect(refused.json.error.message).to.equal(
        `This API key may not be used for model \`${model}\`. It may be used for \`small\`.`,
      );
      // Nor is it told which call it was.
      await forgetReplies(gateway.store);
      expect((await post(barred, path, body)).status).to.equal(403);
      expect((await gateway.wallet(account)).seq).to.equal(seq);
    });

    it(`replays on ${path} for another key that could have made the call`, async () => {
      const first = await post(account.key, path, body);
      const { key } = await issue({ models: [model === 'big' ? 'big-alias' : model], budget: 100n * RUB });
      const again = await post(key, path, body);
      expect([isReplay(again), again.text]).to.deep.equal([true, first.text]);
      expect((await gateway.store.ledger.charges(account.id, { limit: 10 })).length).to.equal(1);
    });
  }

  it('refuses a reply that the budget of the repeating key would not have covered', async () => {
    const first = await post(account.key, GENERATIONS, { prompt: 'a hill' });
    const { id, key } = await issue({ budget: 10n * RUB - 1n, reset: 'day' });
    const refused = await post(key, GENERATIONS, { prompt: 'a hill' });
    expect(refused.status, refused.text).to.equal(402);
    expect(refused.json.error.message).to.match(
      /^The budget of the key "little" does not cover this call, which costs/,
    );
    expect(await gateway.store.ledger.budgets([id])).to.deep.equal([]);
    await accounts().limitKey(id, { budget: 10n * RUB });
    await sleep(2 * KEY_CACHE_MS);
    expect((await post(key, GENERATIONS, { prompt: 'a hill' })).text).to.equal(first.text);
  });

  it('checks no budget twice: neither of the paying key nor of its replacement', async () => {
    const { id, key } = await issue({ budget: 10n * RUB });
    const first = await post(key, GENERATIONS, { prompt: 'a hill' });
    const { key: fresh } = await accounts().rotateKey(id, 1);
    for (const each of [key, fresh]) {
      const again = await post(each, GENERATIONS, { prompt: 'a hill' });
      expect([isReplay(again), again.text]).to.deep.equal([true, first.text]);
    }
  });

  it('refuses it to the key that made the call, once that key is no longer allowed', async () => {
    const { id, key } = await issue({});
    expect((await post(key, GENERATIONS, { prompt: 'a hill' })).status).to.equal(200);
    await accounts().limitKey(id, { models: ['small'] });
    await sleep(2 * KEY_CACHE_MS);
    expect((await post(key, GENERATIONS, { prompt: 'a hill' })).status).to.equal(403);
    await accounts().limitKey(id, { models: null, expiresAt: Date.now() + 50 });
    await sleep(2 * KEY_CACHE_MS);
    expect((await post(key, GENERATIONS, { prompt: 'a hill' })).status).to.equal(401);
    await accounts().revokeKey(id);
    await sleep(2 * KEY_CACHE_MS);
    expect((await post(key, GENERATIONS, { prompt: 'a hill' })).status).to.equal(401);
  }).timeout(20_000);
});
