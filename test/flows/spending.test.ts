// What a request itself allows it to spend, over real HTTP: its own limit, the budget of its run, and that of its end user.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import { HOUR_MS } from '../../lib/base/durations.ts';
import type { Membership } from '../../lib/store/ports/users.ts';
import { createUserRemoval } from '../../lib/users/user-removal.ts';
import { ask, CHAT, DIALECTS, MESSAGES, RESPONSES, type Reply, send } from '../../testkit/client.ts';
import { type TestClock, takeClock } from '../../testkit/clock.ts';
import { EMBEDDINGS } from '../../testkit/embeddings.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { EDITS, GENERATIONS } from '../../testkit/images.ts';
import { makeUser } from '../contract/store/people.ts';
import { PNG } from '../media/sample-images.ts';

const VIDEOS = '/api/v1/videos';
const RUB = 1_000_000n;
const KEY_CACHE_MS = 50;
const IMAGE = `data:image/png;base64,${PNG.toString('base64')}`;
const route = (model: string) => [{ upstream: 'sandbox', model }];
const CATALOG = {
  upstreams: { sandbox: { plugin: 'sandbox' } },
  models: [
    {
      id: 'write',
      type: 'text',
      provider: 'Test',
      price: { input: '1000', output: '5000' },
      routes: route('standard'),
    },
    { id: 'embed', type: 'embedding', provider: 'Test', price: { input: '1000' }, routes: route('embedding') },
    { id: 'draw', type: 'image', provider: 'Test', price: { request: '10' }, edits: true, routes: route('image') },
    { id: 'film', type: 'video', provider: 'Test', price: { request: '40' }, routes: route('video') },
  ],
  defaults: { image: ['draw'], edit: ['draw'] },
};

/** One call of each kind. */
const CALLS: readonly (readonly [path: string, body: object])[] = [
  [MESSAGES, ask('hi', { model: 'write' })],
  [CHAT, ask('hi', { model: 'write' })],
  [RESPONSES, { model: 'write', input: 'hi', max_output_tokens: 1000 }],
  [EMBEDDINGS, { model: 'embed', input: 'hi' }],
  [GENERATIONS, { prompt: 'a hill' }],
  [EDITS, { prompt: 'a hill', image: IMAGE }],
  [VIDEOS, { model: 'film', prompt: 'a hill' }],
];

describe('limits of a request on spending', () => {
  let gateway: TestGateway;
  let account: TestAccount;
  let clock: TestClock;

  before(async () => {
    clock = takeClock();
    gateway = await startGateway({ catalog: CATALOG, timings: { keyCacheMs: KEY_CACHE_MS } });
  });
  beforeEach(async () => {
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway?.stop();
    clock.restore();
  });

  const post = (path: string, body: object, headers: Record<string, string> = {}, key = account.key): Promise<Reply> =>
    send(gateway.url + path, { key, body, headers });

  function refusal(reply: Reply, path: string, status = 402): string {
    expect(reply.status, reply.text).to.equal(status);
    const type = status === 402 ? 'billing_error' : 'invalid_request_error';
    const code = status === 402 ? 'insufficient_balance' : 'invalid_request';
    const { message } = reply.json.error;
    const chat = { error: { message, type, code } };
    expect(reply.json).to.deep.equal(
      [CHAT, RESPONSES, EMBEDDINGS].includes(path) ? chat : { type: 'error', error: { type, message } },
    );
    return message;
  }

  const chargesOf = async () => (await gateway.store.ledger.charges(account.id, { limit: 50 })).length;

  for (const [path, body] of CALLS) {
    it(`refuse a call that may cost more than its max_cost_rub, before any hold, on ${path}`, async () => {
      const message = refusal(await post(path, { ...body, max_cost_rub: 0.000001 }), path);
      expect(message).to.match(
        /^This call (needs a reserve of|costs) \d+\.\d+ RUB, which is above its `max_cost_rub` of 0\.000001 RUB/,
      );
      expect(await chargesOf()).to.equal(0);
      const needs = Number(/ (\d+\.\d+) RUB, which/.exec(message)?.[1]);
      expect((await post(path, { ...body, max_cost_rub: needs })).status).to.equal(200);
      expect((await post(path, { ...body, max_cost_rub: null })).status).to.equal(200);
    });

    it(`name a max_cost_rub that is none, on ${path}`, async () => {
      for (const wrong of [0, -1, '5', true, 1e-7, [], {}]) {
        const message = refusal(await post(path, { ...body, max_cost_rub: wrong }), path, 400);
        expect(message).to.equal('Invalid `max_cost_rub`: must be a number of RUB above zero with at most 6 decimals.');
      }
      expect(await chargesOf()).to.equal(0);
    });
  }

  it('refuse a stream as a plain reply', async () => {
    for (const path of DIALECTS) {
      const body = ask('hi', { model: 'write', stream: true });
      refusal(await post(path, { ...body, max_cost_rub: 0.01 }), path);
      refusal(await post(path, body, { 'x-run-budget': 'short; 0.01' }), path);
    }
    expect(await chargesOf()).to.equal(0);
  });

  it('read max_cost_rub of a form, too', async () => {
    const form = new FormData();
    form.set('prompt', 'a hill');
    form.set('max_cost_rub', '9.99');
    form.set('image', new Blob([new Uint8Array(PNG)]), 'a.png');
    const url = gateway.url + EDITS;
    const reply = await fetch(url, { method: 'POST', headers: { 'x-api-key': account.key }, body: form });
    expect(reply.status).to.equal(402);
    expect(await reply.text()).to.contain('costs 10.00 RUB, which is above its `max_cost_rub` of 9.99 RUB');
  });

  describe('of a run', () => {
    it('are shared by its concurrent calls of all kinds and keys, exactly', async () => {
      const other = await createAccounts({ store: gateway.store, keyPrefix: 'tg-' }).issueKey(account.id, 'other');
      const run = { 'x-run-budget': 'nightly; 35' };
      const calls = Array.from({ length: 30 }, (_, at) =>
        post(
          at % 3 === 0 ? EDITS : GENERATIONS,
          { prompt: 'a hill', ...(at % 3 === 0 && { image: IMAGE }) },
          run,
          at % 2 === 0 ? account.key : other.key,
        ),
      );
      const replies = await Promise.all(calls);
      expect(replies.filter(({ status }) => status === 200)).to.have.length(3);
      for (const [at, reply] of replies.entries()) {
        if (reply.status === 200) continue;
        expect(refusal(reply, at % 3 === 0 ? EDITS : GENERATIONS)).to.equal(
          'The budget of the run "nightly" does not cover this call, which costs 10.00 RUB. The budget is 35.00 RUB for 24 hours ' +
            'from the first call of the run. 5.00 RUB of it is left.',
        );
      }
      // Another run, the same name in another account, and calls of no run are free of it.
      expect((await post(GENERATIONS, { prompt: 'a hill' }, { 'x-run-budget': 'daily; 35' })).status).to.equal(200);
      expect((await post(GENERATIONS, { prompt: 'a hill' })).status).to.equal(200);
      account = await gateway.account();
      expect((await post(GENERATIONS, { prompt: 'a hill' }, run)).status).to.equal(200);
    });

    it('get back what a call did not use', async () => {
      // Each holds some 5 RUB of output and costs far less.
      const body = ask('hi', { model: 'write', max_tokens: 1000 });
      for (let calls = 0; calls < 4; calls += 1) {
        const reply = await post(CHAT, body, { 'x-run-budget': 'chatty; 8' });
        expect(reply.status, reply.text).to.equal(200);
      }
    });

    it('must be written as a name and an amount', async () => {
      const wrong = [
        'nightly',
        'nightly;',
        '; 5',
        'a; 0',
        'a; -5',
        'a; 1.0000001',
        'a; 5 RUB',
        'a; b; 5',
        `${'x'.repeat(129)}; 5`,
        'a; 1e3',
        'a; 5, b; 5',
        // Blanks that the HTTP parser leaves.
        `${'\u00a0'.repeat(14_000)}a`,
      ];
      const startedAt = performance.now();
      for (const header of wrong) {
        const message = refusal(await post(CHAT, ask('hi', { model: 'write' }), { 'x-run-budget': header }), CHAT, 400);
        expect(message, header).to.contain('Invalid `x-run-budget`: must be a name of 1 to 128 characters');
      }
      // No header takes quadratic time.
      expect(performance.now() - startedAt).to.be.below(2000);
      for (const header of ['a;5', ' a b c ;  0.5 ', `${'x'.repeat(128)}; 5`]) {
        const reply = await post(GENERATIONS, { prompt: 'a hill' }, { 'x-run-budget': header });
        expect([header, reply.status]).to.deep.equal([
          header,
          header.includes('0.5') || header.includes('5') ? 402 : 200,
        ]);
      }
      expect(await chargesOf()).to.equal(0);
    });

    it('open anew after 24 hours', async () => {
      const draw = () => post(GENERATIONS, { prompt: 'a hill' }, { 'x-run-budget': 'once; 15' });
      expect((await draw()).status).to.equal(200);
      clock.set(23.9 * HOUR_MS);
      expect((await draw()).status).to.equal(402);
      clock.set(24.1 * HOUR_MS);
      expect((await draw()).status).to.equal(200);
      clock.set(0);
    });
  });

  describe('of an end user', () => {
    async function issue(rub: bigint) {
      const accounts = createAccounts({ store: gateway.store, keyPrefix: 'tg-' });
      return accounts.issueKey(account.id, 'app', { endUsers: { cap: rub * RUB, reset: 'month' } });
    }

    const named: readonly (readonly [
      where: string,
      named: (name: string) => readonly [body: object, headers: Record<string, string>],
    ])[] = [
      ['user', (user) => [{ user }, {}]],
      ['safety_identifier', (name) => [{ safety_identifier: name, user: 'another' }, {}]],
      ['metadata.user_id', (name) => [{ metadata: { user_id: name } }, {}]],
      // Whatever a person writes into a body that the program passes on.
      ['x-openwebui-user-id', (name) => [{ user: `new-${Math.random()}` }, { 'x-openwebui-user-id': name }]],
    ];

    for (const [where, nameIn] of named) {
      it(`are exact for each one in ${where}, however many call at once`, async () => {
        const { key } = await issue(25n);
        const calls = Array.from({ length: 24 }, (_, at) => {
          const [body, headers] = nameIn(`someone-${at % 2}`);
          return post(GENERATIONS, { prompt: 'a hill', ...body }, headers, key);
        });
        const replies = await Promise.all(calls);
        for (const user of [0, 1]) {
          const own = replies.filter((_, at) => at % 2 === user);
          expect(own.filter(({ status }) => status === 200)).to.have.length(2);
          const message = refusal(own.find(({ status }) => status !== 200) as Reply, GENERATIONS);
          expect(message).to.contain(
            `The budget of the end user "someone-${user}" does not cover this call, which costs 10.00 RUB.`,
          );
          expect(message).to.match(
            /The budget is 25\.00 RUB per month and resets at \d{4}-\d\d-01T00:00:00\+03:00\. 5\.00 RUB of it is left\.$/,
          );
        }
      });
    }

    it('count calls of every kind', async () => {
      const { key } = await issue(1n);
      for (const [path, body] of CALLS.filter(([path]) => path !== EMBEDDINGS)) {
        const reply = await post(path, { ...body, user: 'u', max_tokens: 8192, max_output_tokens: 8192 }, {}, key);
        refusal(reply, path);
      }
      expect(await chargesOf()).to.equal(0);
    });

    it('count calls that name nobody together, and go away with the limit', async () => {
      const { id, key } = await issue(15n);
      const draw = (body: object = {}) => post(GENERATIONS, { prompt: 'a hill', ...body }, {}, key);
      expect((await draw()).status).to.equal(200);
      expect(refusal(await draw({ user: 5 }), GENERATIONS)).to.contain('The budget of calls that name no end user');
      expect((await draw({ user: 'somebody' })).status).to.equal(200);
      await createAccounts({ store: gateway.store, keyPrefix: 'tg-' }).limitKey(id, { endUsers: undefined });
      await sleep(3 * KEY_CACHE_MS);
      expect((await draw()).status).to.equal(200);
    });

    it('stay with a replaced key', async () => {
      const { id, key } = await issue(15n);
      expect((await post(GENERATIONS, { prompt: 'a hill', user: 'u' }, {}, key)).status).to.equal(200);
      const { key: next } = await createAccounts({ store: gateway.store, keyPrefix: 'tg-' }).rotateKey(id, 1);
      expect((await post(GENERATIONS, { prompt: 'a hill', user: 'u' }, {}, next)).status).to.equal(402);
      expect((await post(GENERATIONS, { prompt: 'a hill', user: 'v' }, {}, next)).status).to.equal(200);
    });
  });

  describe('of a member', () => {
    /** A member with a key. */
    async function join(rub: bigint | undefined, role: 'member' | 'owner' = 'member') {
      const { store } = gateway;
      const user = makeUser();
      await store.users.add(user);
      const cap = rub === undefined ? {} : { cap: { limit: rub * RUB, reset: 'month', zone: 'UTC' } as const };
      await store.users.join({ user: user.id, account: account.id, role, ...cap });
      const accounts = createAccounts({ store, keyPrefix: 'tg-' });
      const issue = () => accounts.issueKey(account.id, 'own', {}, user.id);
      return { user, issue, set: (change: Pick<Membership, 'role' | 'cap'>) => setRole(user.id, change) };
    }
    async function setRole(user: string, change: Pick<Membership, 'role' | 'cap'>) {
      await gateway.store.users.setMembership({ user, account: account.id, ...change }, Date.now());
      await sleep(3 * KEY_CACHE_MS);
    }
    const draw = (key: string) => post(GENERATIONS, { prompt: 'a hill' }, {}, key);

    it('are exact over all of their keys, and do not touch those of the account', async () => {
      const { issue } = await join(25n);
      const [one, two] = [await issue(), await issue()];
      const replies = await Promise.all(Array.from({ length: 12 }, (_, at) => draw((at % 2 === 0 ? one : two).key)));
      expect(replies.filter(({ status }) => status === 200)).to.have.length(2);
      const refused = replies.find(({ status }) => status === 402);
      expect(refused && refusal(refused, GENERATIONS)).to.match(
        /^The cap of the member who owns this key does not cover this call, which costs 10\.00 RUB\. The cap is 25\.00 RUB per month and resets at \d{4}-\d\d-01T00:00:00\+00:00\. 5\.00 RUB of it is left\. An owner of the account can raise it\.$/,
      );
      expect((await draw(account.key)).status).to.equal(200);
    });

    it('count calls of every kind', async () => {
      const { key } = await (await join(1n)).issue();
      for (const [path, body] of CALLS.filter(([path]) => path !== EMBEDDINGS)) {
        refusal(await post(path, { ...body, max_tokens: 8192, max_output_tokens: 8192 }, {}, key), path);
      }
      expect(await chargesOf()).to.equal(0);
    });

    it('change within a second, with the role too', async () => {
      const { issue, set } = await join(5n);
      const { key } = await issue();
      expect((await draw(key)).status).to.equal(402);
      await set({ role: 'member', cap: { limit: 15n * RUB, reset: 'month', zone: 'UTC' } });
      expect((await draw(key)).status).to.equal(200);
      expect((await draw(key)).status).to.equal(402);
      await set({ role: 'owner' });
      expect((await draw(key)).status).to.equal(200);
    });

    it('end with the membership; keys of suspended members wait', async () => {
      const { user, issue } = await join(undefined);
      const { key } = await issue();
      const ofOwner = await (await join(undefined, 'owner')).issue();
      const removal = createUserRemoval({ store: gateway.store });
      await removal.suspend(user.id);
      await sleep(3 * KEY_CACHE_MS);
      const reply = await draw(key);
      expect([reply.status, reply.json.error.message]).to.deep.equal([403, 'The user who owns this key is suspended.']);
      await removal.resume(user.id);
      await sleep(3 * KEY_CACHE_MS);
      expect((await draw(key)).status).to.equal(200);
      await removal.leaveAccount(user, account.id);
      await sleep(3 * KEY_CACHE_MS);
      expect((await draw(key)).status).to.equal(401);
      expect((await draw(ofOwner.key)).status).to.equal(200);
    });
  });
});
