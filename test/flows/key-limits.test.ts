// What an owner allows a key, over real HTTP: its last moment, its models and its budget, on every endpoint.
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import { hashKey } from '../../lib/accounts/key.ts';
import type { RequestedLimits } from '../../lib/accounts/limits.ts';
import { ask, CHAT, DIALECTS, MESSAGES, RESPONSES, type Reply, readHead, send } from '../../testkit/client.ts';
import { EMBEDDINGS } from '../../testkit/embeddings.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { EDITS, GENERATIONS } from '../../testkit/images.ts';
import { longer } from '../../testkit/long.ts';
import { PROMPTS } from '../../testkit/smart.ts';
import { itTimed } from '../../testkit/timed.ts';
import { PNG } from '../media/sample-images.ts';

const VIDEOS = '/api/v1/videos';
const MODELS = '/api/v1/models';
/** Shortened from a second: how long a gateway takes for a change of a key. */
const KEY_CACHE_MS = 100;
const IMAGE = `data:image/png;base64,${PNG.toString('base64')}`;

const text = (id: string, model = 'standard') => ({
  id,
  aliases: [`${id}-alias`],
  type: 'text',
  provider: 'Test',
  price: { input: '1000', output: '5000' },
  routes: [{ upstream: 'sandbox', model }],
});

const CATALOG = {
  upstreams: { sandbox: { plugin: 'sandbox' } },
  models: [
    ...['small', 'middle', 'big'].map((id) => text(id)),
    text('eye', 'vision'),
    { ...text('lens', 'vision'), vision: true },
    {
      id: 'embed',
      type: 'embedding',
      provider: 'Test',
      price: { input: '1000' },
      routes: [{ upstream: 'sandbox', model: 'embedding' }],
    },
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
  smart: { lite: ['small'], standard: ['middle'], heavy: ['big'] },
  vision: ['eye'],
  defaults: { image: ['draw'], edit: ['draw'] },
};

/** One call of each kind. */
const CALLS: readonly (readonly [path: string, model: string, body: object])[] = [
  [MESSAGES, 'middle', ask('hi')],
  [CHAT, 'middle', ask('hi')],
  [RESPONSES, 'middle', { input: 'hi', max_output_tokens: 1000 }],
  [EMBEDDINGS, 'embed', { input: 'hi' }],
  [GENERATIONS, 'draw', { prompt: 'a hill' }],
  [EDITS, 'draw', { prompt: 'a hill', image: IMAGE }],
  [VIDEOS, 'film', { prompt: 'a hill' }],
];

describe('limits of a key', () => {
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    gateway = await startGateway({ catalog: CATALOG, timings: { keyCacheMs: KEY_CACHE_MS } });
  });
  beforeEach(async () => {
    account = await gateway.account();
  });
  after(() => gateway.stop());

  const accounts = () => createAccounts({ store: gateway.store, keyPrefix: 'tg-' });

  async function issue(wish: Partial<RequestedLimits>) {
    return accounts().issueKey(account.id, 'little', wish);
  }

  const post = (key: string, path: string, body: object): Promise<Reply> => send(gateway.url + path, { key, body });

  function expectRefusal(reply: Reply, path: string, want: { status: number; type: string; code: string }): string {
    expect(reply.status, reply.text).to.equal(want.status);
    const { message } = reply.json.error;
    const chat = { error: { message, type: want.type, code: want.code } };
    expect(reply.json).to.deep.equal(
      [CHAT, RESPONSES, EMBEDDINGS].includes(path) ? chat : { type: 'error', error: { type: want.type, message } },
    );
    expect(reply.headers['x-should-retry']).to.equal('false');
    return message;
  }

  async function expectNoMoney(): Promise<void> {
    expect((await gateway.wallet(account)).seq).to.equal(1);
    await gateway.checkMoney();
  }

  const EXPIRED = { status: 401, type: 'authentication_error', code: 'invalid_api_key' };
  const FORBIDDEN = { status: 403, type: 'permission_error', code: 'model_not_allowed' };

  it('accept the key until its expiry, then say that it has expired', async () => {
    const expiresAt = Date.now() + 400;
    const { id, key } = await issue({ expiresAt });
    expect((await send(gateway.url + MODELS, { key })).status).to.equal(200);
    await new Promise((resolve) => setTimeout(resolve, expiresAt - Date.now() + 5));
    for (const [path, model, body] of CALLS) {
      const message = expectRefusal(await post(key, path, { ...body, model }), path, EXPIRED);
      expect(message).to.equal(`The API key has expired: it was valid until ${new Date(expiresAt).toISOString()}.`);
    }
    for (const path of [MODELS, '/api/v1/balance', `${VIDEOS}?id=vid_1`]) {
      expect((await send(gateway.url + path, { key })).status, path).to.equal(401);
    }
    expect((await gateway.store.keys.get(id))?.revokedAt).to.equal(null);
    await expectNoMoney();
  });

  it('refuse an unlisted model on every endpoint, before any hold', async () => {
    const { key } = await issue({ models: ['small'] });
    for (const [path, model, body] of CALLS) {
      const message = expectRefusal(await post(key, path, { ...body, model }), path, FORBIDDEN);
      expect(message).to.equal(`This API key may not be used for model \`${model}\`. It may be used for \`small\`.`);
    }
    // Also where the model is the default one, and in place of an empty wallet's 402.
    expectRefusal(await post(key, GENERATIONS, { prompt: 'a hill' }), GENERATIONS, FORBIDDEN);
    await expectNoMoney();
    account = await gateway.account('0');
    const penniless = await issue({ models: ['small'] });
    for (const [path, model, body] of CALLS) {
      expectRefusal(await post(penniless.key, path, { ...body, model }), path, FORBIDDEN);
    }
  });

  it('accept a model by any of its names', async () => {
    const { key } = await issue({ models: ['middle-alias', 'embed', 'draw', 'film'] });
    for (const [path, model, body] of CALLS) {
      expect((await post(key, path, { ...body, model })).status, path).to.equal(200);
    }
    expect((await post(key, MESSAGES, ask('hi', { model: 'middle-alias' }))).status).to.equal(200);
  });

  for (const path of DIALECTS) {
    it(`let smart pick among the key's models on ${path}`, async () => {
      const { key } = await issue({ models: ['big'] });
      const reply = await post(key, path, ask(PROMPTS.lite, { model: 'smart' }));
      expect(reply.status, reply.text).to.equal(200);
      expect([reply.json.model, reply.json.smart_routing.tier]).to.deep.equal(['big', 'lite']);
      const charge = await gateway.store.ledger.charge(String(reply.headers['x-request-id']));
      expect(charge?.model).to.equal('big');
      const { key: none } = await issue({ models: ['draw'] });
      const message = expectRefusal(await post(none, path, ask('hi', { model: 'auto' })), path, FORBIDDEN);
      expect(message).to.contain('`smart`');
    });

    it(`let a call with images be answered only by models that they name on ${path}`, async () => {
      const part =
        path === CHAT
          ? { type: 'image_url', image_url: { url: IMAGE } }
          : { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') } };
      const call = (model: string) => ({ model, messages: [{ role: 'user', content: [part] }], max_tokens: 100 });
      const { key } = await issue({ models: ['small'] });
      expectRefusal(await post(key, path, call('small')), path, FORBIDDEN);
      expectRefusal(await post(key, path, call('eye')), path, FORBIDDEN);
      // Others that see answer only if the catalog names none of the key's.
      for (const [models, answers] of [
        [['small', 'lens', 'eye'], 'eye'],
        [['small', 'lens'], 'lens'],
      ] as const) {
        const { key: wider } = await issue({ models });
        const reply = await post(wider, path, call('small'));
        expect([reply.status, reply.json.model]).to.deep.equal([200, answers]);
      }
    });
  }

  it("list only the key's models, and smart if one of its tiers is among them", async () => {
    const listed = async (models: readonly string[] | null) => {
      const { key } = await issue({ models });
      const { json } = await send(gateway.url + MODELS, { key });
      return (json.data as { id: string }[]).map(({ id }) => id);
    };
    expect(await listed(null)).to.deep.equal([
      'small',
      'middle',
      'big',
      'eye',
      'lens',
      'embed',
      'draw',
      'film',
      'smart',
    ]);
    expect(await listed(['big-alias', 'film'])).to.deep.equal(['big', 'film', 'smart']);
    expect(await listed(['draw'])).to.deep.equal(['draw']);
  });

  it('apply a change as soon as the key is read again', async () => {
    const { id, key } = await issue({});
    expect((await post(key, MESSAGES, ask('hi', { model: 'big' }))).status).to.equal(200);
    await accounts().limitKey(id, { models: ['small'] });
    await sleep(2 * KEY_CACHE_MS);
    expectRefusal(await post(key, MESSAGES, ask('hi', { model: 'big' })), MESSAGES, FORBIDDEN);
  });

  itTimed('are checked again once the body has arrived, on every endpoint, before any hold', async () => {
    const changes: readonly (readonly [status: number, change: (of: TestAccount) => Promise<unknown>])[] = [
      [401, ({ keyId }) => accounts().revokeKey(keyId)],
      [401, ({ keyId }) => accounts().limitKey(keyId, { expiresAt: Date.now() + 100 })],
      [403, ({ keyId }) => accounts().limitKey(keyId, { models: ['small'] })],
      [403, ({ id }) => accounts().suspend(id)],
    ];
    const begin = async (path: string, body: object) => {
      const owner = await gateway.account();
      const text = JSON.stringify(body);
      const headers = { 'content-length': String(text.length), 'x-api-key': owner.key };
      const call = request(gateway.url + path, { method: 'POST', headers, agent: false });
      call.write(text.slice(0, 10));
      return { path, owner, answered: readHead(call), finish: () => call.end(text.slice(10)) };
    };
    const calls = await Promise.all(
      CALLS.flatMap(([path, model, body]) =>
        changes.map(async ([status, change]) => ({ ...(await begin(path, { ...body, model })), status, change })),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const { owner, change } of calls) await change(owner);
    await sleep(2 * KEY_CACHE_MS);
    for (const { path, owner, status, answered, finish } of calls) {
      finish();
      const response = (await answered).resume();
      expect([path, response.statusCode]).to.deep.equal([path, status]);
      expect(await gateway.store.ledger.charges(owner.id, { limit: 5 })).to.deep.equal([]);
    }
    await gateway.checkMoney();
  });

  describe('budget', () => {
    const OVER = { status: 402, type: 'billing_error', code: 'insufficient_balance' };
    /** In micro-roubles. */
    const readSpent = async (id: string) => (await gateway.store.ledger.budgets([id]))[0]?.spent;

    /** What the answers to some calls at once come to: those that were paid for, and those that the budget refused. */
    function countAnswers(replies: readonly Reply[], path: string) {
      const paid = replies.filter(({ status }) => status === 200);
      const refused = replies.filter(({ status }) => status !== 200);
      for (const reply of refused) expectRefusal(reply, path, OVER);
      return { paid: paid.length, refused: refused.length };
    }

    for (const [path, model, body] of CALLS.filter(([path]) => path !== EMBEDDINGS)) {
      it(`refuses only calls that it does not cover on ${path}`, async () => {
        const price = { draw: 10, film: 40, middle: 41 }[model] ?? 0;
        const { id, key } = await issue({ budget: BigInt(price) * 1_000_000n, reset: 'month' });
        const call = { ...body, model, [path === RESPONSES ? 'max_output_tokens' : 'max_tokens']: 8192 };
        const first = await post(key, path, call);
        expect(first.status, first.text).to.equal(200);
        const spent = await readSpent(id);
        expect(spent).to.equal((await gateway.wallet(account)).charged);
        const message = expectRefusal(await post(key, path, call), path, OVER);
        const needs = model === 'middle' ? /needs a reserve of 4\d\.\d+ RUB/ : new RegExp(`costs ${price}\\.00 RUB`);
        expect(message)
          .to.match(/^The budget of the key "little" does not cover this call, which /)
          .and.to.match(needs);
        expect(message).to.contain(`The budget is ${price}.00 RUB per month and resets at `);
        expect(message).to.match(/ at \d{4}-\d\d-01T00:00:00\+03:00\. [\d.]+ RUB of it is left\.$/);
        expect(await readSpent(id)).to.equal(spent);
        await accounts().limitKey(id, { budget: 1000n * 1_000_000n });
        await sleep(2 * KEY_CACHE_MS);
        expect((await post(key, path, call)).status).to.equal(200);
        await gateway.checkMoney();
      });
    }

    it('refuses a stream as a plain reply', async () => {
      const { key } = await issue({ budget: 1n });
      for (const path of DIALECTS) {
        const message = expectRefusal(await post(key, path, ask('hi', { model: 'middle', stream: true })), path, OVER);
        expect(message).to.match(
          /The budget is 0\.000001 RUB in total and does not reset\. 0\.000001 RUB of it is left\.$/,
        );
      }
      await expectNoMoney();
    });

    it('is exact for concurrent calls of each kind', async () => {
      for (const [path, model, body] of CALLS.filter(([, model]) => ['draw', 'film'].includes(model))) {
        const price = model === 'film' ? 40n : 10n;
        const { id, key } = await issue({ budget: 3n * price * 1_000_000n + 1n, reset: 'day' });
        const calls = Array.from({ length: longer(6, 12) }, () => post(key, path, { ...body, model }));
        expect(countAnswers(await Promise.all(calls), path)).to.deep.equal({ paid: 3, refused: calls.length - 3 });
        expect(await readSpent(id)).to.equal(3n * price * 1_000_000n);
      }
      await gateway.checkMoney();
    });

    it('is shared by a key and its replacement: spending carries over, and concurrent calls on both never exceed it', async () => {
      const { id, key: old } = await issue({ budget: 70n * 1_000_000n, reset: 'month' });
      const draw = (key: string) => post(key, GENERATIONS, { prompt: 'a hill' });
      for (let calls = 0; calls < 2; calls += 1) expect((await draw(old)).status).to.equal(200);
      const { key: fresh } = await accounts().rotateKey(id, 1);
      const { id: last, key: newest } = await accounts().rotateKey(
        (await accounts().listKeys(account.id)).find((row) => row.hash === hashKey(fresh))?.id ?? '',
        1,
      );
      const calls = Array.from({ length: longer(12, 24) }, (_, at) => draw([old, fresh, newest][at % 3] as string));
      expect(countAnswers(await Promise.all(calls), GENERATIONS)).to.deep.equal({ paid: 5, refused: calls.length - 5 });
      expect(await readSpent(id)).to.equal(70n * 1_000_000n);
      await gateway.checkMoney();
      // Also when the one before has gone, and by its own limit.
      await accounts().revokeKey(id);
      expectRefusal(await draw(newest), GENERATIONS, OVER);
      await accounts().limitKey(last, { budget: 85n * 1_000_000n });
      await sleep(2 * KEY_CACHE_MS);
      const more = await Promise.all([draw(fresh), draw(newest), draw(fresh)]);
      expect(countAnswers(more, GENERATIONS)).to.deep.equal({ paid: 1, refused: 2 });
      await gateway.checkMoney();
    });

    it('is not checked for a repeat of a paid call: the repeat gets the reply, another call a 402', async () => {
      const { id, key } = await issue({ budget: 10n * 1_000_000n });
      const draw = (order: string) =>
        send(gateway.url + GENERATIONS, { key, body: { prompt: 'a hill' }, headers: { 'idempotency-key': order } });
      const first = await draw('first');
      expect(first.status, first.text).to.equal(200);
      const [again, other] = [await draw('first'), await draw('other')];
      expect(again.json).to.deep.equal(first.json);
      expectRefusal(other, GENERATIONS, OVER);
      // The refused one has not taken its key.
      await accounts().limitKey(id, { budget: 20n * 1_000_000n });
      await sleep(2 * KEY_CACHE_MS);
      expect((await draw('other')).status).to.equal(200);
      expect(await readSpent(id)).to.equal(20n * 1_000_000n);
      await gateway.checkMoney();
    });

    it('applies to one key only, and stores nothing for a key without one', async () => {
      const { key } = await issue({ budget: 1n });
      expectRefusal(await post(key, GENERATIONS, { prompt: 'a hill' }), GENERATIONS, OVER);
      expect((await post(account.key, GENERATIONS, { prompt: 'a hill' })).status).to.equal(200);
      expect(await readSpent(account.keyId)).to.equal(undefined);
    });

    it('does not change the shape of the balance', async () => {
      const { key } = await issue({ budget: 1n, models: ['small'], expiresAt: Date.now() + 60_000 });
      const { json } = await send(`${gateway.url}/api/v1/balance`, { key });
      expect(Object.keys(json.key)).to.deep.equal(['name', 'requests_count', 'last_used_at']);
    });
  });
});
