// The management API on a running gateway: what its verbs do, what they refuse, and what is logged.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { itOnSqlite } from '../../../testkit/test-store.ts';
import { apply, reserveOf, settleOf } from '../../cli/calls.ts';
import { runCommand } from '../../cli/command.ts';
import { makeUser } from '../../contract/store/people.ts';
import { type ManagementStage, openManagementStage } from './stage.ts';

describe('the management API', () => {
  let stage: ManagementStage;
  let key: string;
  const ask: ManagementStage['ask'] = (...args) => stage.ask(...args);

  before(async () => {
    stage = await openManagementStage();
    key = await stage.managementKey();
  });
  after(() => stage.gateway.stop());

  const post = (path: string, body: object = {}, headers: Record<string, string> = {}) =>
    ask(key, `/manage${path}`, body, { headers });
  const get = (path: string) => ask(key, `/manage${path}`);
  const log = async () => stage.gateway.store.auditLog.page({ limit: 1 });

  async function newAccount(rub = 1000): Promise<string> {
    const { json } = await post('/accounts', { name: 'Acme' });
    if (rub > 0)
      await post(`/accounts/${json.account_id}/wallet/topup`, { amount_rub: rub, payment_id: json.account_id });
    return json.account_id;
  }

  it('opens an account, books its payment once, and issues a key that works', async () => {
    const { json: made, status } = await post('/accounts', { name: 'Acme' });
    expect(status).to.equal(200);
    const payment = { amount_rub: 1500.5, payment_id: 'inv-1' };
    const path = `/accounts/${made.account_id}/wallet/topup`;
    expect((await post(path, payment)).json).to.include({ balance_rub: 1500.5, repeated: false });
    expect((await post(path, payment)).json).to.include({ balance_rub: 1500.5, repeated: true });
    const issued = await post(`/accounts/${made.account_id}/keys`, {
      name: 'production',
      budget_rub: 10,
      reset: 'day',
    });
    expect(issued.json.key).to.match(/^tg-sk-/);
    expect((await ask(issued.json.key, '/balance')).json).to.include({ balance_rub: 1500.5 });
    const { json: listed } = await get(`/accounts/${made.account_id}/keys`);
    expect(listed.keys[0]).to.deep.include({ key_id: issued.json.key_id, spent_rub: 0 });
    expect(listed.keys[0].budget).to.include({ rub: 10, reset: 'day' });
  });

  it('answers what the command prints with --json', async () => {
    const id = await newAccount();
    const { databaseUrl, folder } = stage.gateway;
    const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl, DATA_DIR: folder };
    const cases = {
      [`/accounts/${id}`]: ['account', 'show', id],
      [`/accounts/${id}/wallet`]: ['wallet', 'show', id],
      [`/accounts/${id}/usage?by=model&from=2026-01-01`]: ['usage', id, '--by', 'model', '--from', '2026-01-01'],
      [`/accounts/${id}/entries?limit=5`]: ['ledger', 'list', id, '--limit', '5'],
      '/ledger/verify': ['ledger', 'verify'],
    };
    for (const [path, words] of Object.entries(cases)) {
      const { store: _, ...printed } = JSON.parse((await runCommand([...words, '--json'], env)).stdout);
      expect((await get(path)).json, path).to.deep.equal(printed);
    }
  });

  it('logs a change with the name of the key, the address, and what was sent', async () => {
    const id = await newAccount(0);
    await post(`/accounts/${id}/limits`, { per_minute: 5, addresses: null });
    const [line] = await log();
    expect(line).to.include({ action: 'account.limit', account: id, target: id, address: '127.0.0.1' });
    expect(line?.user).to.match(/^billing \(mk_[0-9a-f]{24}\)$/);
    expect(JSON.parse(line?.detail ?? '')).to.deep.equal({ per_minute: 5, addresses: null });
  });

  it('refuses limits of requests above those that its document names', async () => {
    const id = await newAccount(0);
    for (const [name, most] of Object.entries({ per_minute: 1_000_000, at_once: 100_000, wait_seconds: 60 })) {
      const limit = (value: number) => post(`/accounts/${id}/limits`, { at_once: 2, [name]: value });
      expect((await limit(most)).status, name).to.equal(200);
      const { status, json } = await limit(most + 1);
      expect([status, json.error.message]).to.deep.equal([
        400,
        `Invalid \`${name}\`: must be a whole number from 1 to ${most}, or null.`,
      ]);
    }
  });

  it('changes and removes limits of a key, and leaves the others', async () => {
    const id = await newAccount();
    const { json: issued } = await post(`/accounts/${id}/keys`, { name: 'k', budget_rub: 5, models: ['model-a'] });
    const limit = (body: object) => post(`/keys/${issued.key_id}/limits`, body);
    expect((await limit({ budget_rub: 7, at_once: 2 })).json).to.deep.include({ models: ['model-a'] });
    const { json } = await limit({ models: null, at_once: null });
    expect(json).to.include({ models: null });
    expect(json.budget.rub).to.equal(7);
    expect(json.requests.at_once).to.equal(null);
    expect((await limit({ reset: 'day' })).status).to.equal(200);
    const { json: bare } = await post(`/accounts/${id}/keys`, { name: 'bare' });
    const refused = await post(`/keys/${bare.key_id}/limits`, { reset: 'day' });
    expect(refused.status).to.equal(400);
    expect(refused.json.error.message).to.equal(
      'Invalid `request`: `reset` needs `budget_rub`: the key has no budget.',
    );
  });

  it('answers a repeat with the same reply, also with a new key in it', async () => {
    const id = await newAccount();
    const headers = { 'idempotency-key': 'issue 1' };
    const first = await post(`/accounts/${id}/keys`, { name: 'one' }, headers);
    const second = await post(`/accounts/${id}/keys`, { name: 'one' }, headers);
    expect(second.text).to.equal(first.text);
    expect([first.headers['idempotent-replayed'], second.headers['idempotent-replayed']]).to.deep.equal([
      undefined,
      'true',
    ]);
    expect((await get(`/accounts/${id}/keys`)).json.keys).to.have.length(1);
    expect((await post(`/accounts/${id}/keys`, { name: 'two' }, headers)).status).to.equal(422);
    const rows = await stage.gateway.store.management.replyPage({ limit: 1000 });
    expect(JSON.stringify(rows)).to.not.include(first.json.key);
    // Another key has idempotency keys of its own.
    const other = await stage.managementKey(['keys']);
    const made = await ask(other, `/manage/accounts/${id}/keys`, { name: 'two' }, { headers });
    expect(made.status).to.equal(200);
  });

  it('runs one of several equal requests at once', async () => {
    const id = await newAccount();
    const headers = { 'idempotency-key': 'burst' };
    const all = await Promise.all([1, 2, 3, 4].map(() => post(`/accounts/${id}/keys`, { name: 'one' }, headers)));
    for (const { status, headers: sent } of all) {
      expect(status).to.be.oneOf([200, 409]);
      expect(Number(sent['retry-after']) > 0, 'says when to ask again').to.equal(status === 409);
    }
    expect((await get(`/accounts/${id}/keys`)).json.keys).to.have.length(1);
  });

  it('goes on after a gateway that died: with changes that may be made again, and not with others', async () => {
    const id = await newAccount();
    const { management } = stage.gateway.store;
    const wait = (pattern: string) => ({ 'idempotency-key': pattern });
    const paths = { adjust: `/accounts/${id}/wallet/adjust`, issue: `/accounts/${id}/keys` };
    const bodies = { adjust: { amount_rub: 5, reason: 'gift' }, issue: { name: 'k' } };
    for (const name of ['adjust', 'issue'] as const) {
      const before = new Set((await management.replyPage({ limit: 1000 })).map(({ id: known }) => known));
      await post(paths[name], bodies[name], wait(name));
      const row = (await management.replyPage({ limit: 1000 })).find(({ id: found }) => !before.has(found));
      if (row) await management.putReplies([{ ...row, reply: null, lease: 1 }]);
    }
    expect((await post(paths.adjust, bodies.adjust, wait('adjust'))).json).to.include({ repeated: true });
    const lost = await post(paths.issue, bodies.issue, wait('issue'));
    expect([lost.status, lost.headers['x-should-retry']]).to.deep.equal([409, 'false']);
    expect((await get(`/accounts/${id}/wallet`)).json).to.include({ balance_rub: 1005, adjusted_rub: 5 });
  });

  itOnSqlite('says that a change is not confirmed when its reply or its line in the log cannot be stored', async () => {
    const id = await newAccount();
    const db = new DatabaseSync(stage.gateway.databaseUrl.slice('sqlite:'.length), { timeout: 5000 });
    try {
      for (const [name, event] of Object.entries({
        reply: 'UPDATE ON management_replies',
        line: 'INSERT ON audit_log',
      })) {
        db.exec(`CREATE TRIGGER refused BEFORE ${event} BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`);
        const payment = { amount_rub: 10, payment_id: `unconfirmed-${name}` };
        const answer = await post(`/accounts/${id}/wallet/topup`, payment);
        db.exec('DROP TRIGGER refused');
        expect([answer.status, answer.json.error.message], name).to.deep.equal([
          503,
          'The change was not confirmed. Repeat the request with the same idempotency key.',
        ]);
      }
    } finally {
      db.close();
    }
    expect((await get(`/accounts/${id}/wallet`)).json).to.include({ balance_rub: 1020 });
  });

  it('lets a refused request be sent again, also in another form', async () => {
    const headers = { 'idempotency-key': 'first' };
    const { json: made } = await post('/accounts', { name: 'Acme' });
    const path = `/accounts/${made.account_id}/wallet/topup`;
    const small = await post(path, { amount_rub: 5, payment_id: 'small' }, headers);
    expect(small.status).to.equal(409);
    expect(small.json.error.message).to.equal(
      'Nothing was changed: the first top-up of a wallet is at least 1000.00 RUB.',
    );
    expect((await post(path, { amount_rub: 1000, payment_id: 'small' }, headers)).status).to.equal(200);
  });

  it('refuses what is not there, and every kind of wrong input, in plain words', async () => {
    const id = await newAccount();
    const unknown = await get('/accounts/acc_none');
    expect([unknown.status, unknown.json.error.message]).to.deep.equal([
      404,
      'Not found: there is no account "acc_none".',
    ]);
    const topup = `/accounts/${id}/wallet/topup`;
    const cases: readonly [string, unknown, number, RegExp][] = [
      [topup, { amount_rub: 5 }, 400, /payment_id.*is required/],
      [topup, { amount_rub: -5, payment_id: 'x' }, 400, /amount_rub.*above zero/],
      [topup, { amount_rub: 0.0000001, payment_id: 'x' }, 400, /amount_rub/],
      [topup, { amount_rub: 1e30, payment_id: 'x' }, 400, /amount_rub/],
      [topup, { amount_rub: '5', payment_id: 'x' }, 400, /amount_rub/],
      [topup, { amount_rub: 5, payment_id: 'x', balance: 5 }, 400, /balance.*is not one of/],
      [topup, { amount_rub: 5, payment_id: ' ' }, 400, /payment_id.*empty/],
      [topup, [], 400, /object/],
      [topup, '{', 400, /JSON/],
      [`/accounts/${id}/keys`, { name: 'k', expires: 'soon' }, 400, /expires/],
      [`/accounts/${id}/keys`, { name: 'k', addresses: ['here'] }, 409, /not an address/],
      [`/keys/key_none/revoke`, {}, 404, /no key/],
      ['/payments/pay_none/refund', { amount_rub: 5, reason: 'r' }, 404, /no payment/],
    ];
    for (const [path, body, status, message] of cases) {
      const reply = await post(path, body as object);
      expect([path, reply.status], reply.text).to.deep.equal([path, status]);
      expect(reply.json.error.message).to.match(message);
    }
    const queries: readonly [string, RegExp][] = [
      [`/accounts/${id}/usage?by=colour`, /by.*day, model/],
      [`/accounts/${id}/usage?form=2026-01-01`, /form.*is not one of/],
      [`/accounts/${id}/charges?limit=0`, /limit/],
      [`/accounts/${id}/charges?limit=5&limit=6`, /limit.*twice/],
      [`/accounts/${id}/usage?from=2026-02-01&to=2026-01-01`, /to.*must be later/],
    ];
    for (const [path, message] of queries) {
      const reply = await get(path);
      expect([path, reply.status], reply.text).to.deep.equal([path, 400]);
      expect(reply.json.error.message).to.match(message);
    }
    const bare = await ask(
      key,
      `/manage${topup}`,
      { amount_rub: 5, payment_id: 'x' },
      { headers: { 'idempotency-key': '' } },
    );
    expect([bare.status, bare.json.error.message]).to.deep.equal([
      400,
      'Invalid `idempotency-key`: must be 1 to 255 printable characters.',
    ]);
    expect((await get(`/accounts/${id}/wallet`)).json.balance_rub).to.equal(1000);
  });

  it('answers with 404 for whatever a path or a cursor names that is not there', async () => {
    const id = await newAccount();
    const { id: stranger, ...more } = makeUser();
    await stage.gateway.store.users.add({ id: stranger, ...more });
    const cases: readonly [string, object, RegExp][] = [
      ['/promo/NONE/end', {}, /no code/],
      [`/accounts/${id}/grants/none/revoke`, { reason: 'r' }, /no such grant/],
      [`/accounts/${id}/members/${stranger}`, { role: 'member' }, /does not belong/],
      [`/accounts/${id}/members/${stranger}/remove`, {}, /does not belong/],
      [`/accounts/${id}/owners/${stranger}/remove`, {}, /not an owner/],
    ];
    for (const [path, body, message] of cases) {
      const reply = await post(path, body);
      expect([path, reply.status], reply.text).to.deep.equal([path, 404]);
      expect(reply.json.error.message).to.match(message);
    }
    for (const path of ['/keys/key_none/users', '/payments?before=pay_none', `/accounts/${id}/charges?before=req_none`])
      expect([path, (await get(path)).status]).to.deep.equal([path, 404]);
  });

  it('shows owners their calls without what the upstreams cost and what operators call their prices', async () => {
    const { store } = stage.gateway;
    const id = await newAccount();
    const list = { name: 'friends', version: 'abcd0123', prices: { request: '2500000' } };
    const prices = JSON.stringify({ request: '2000000', list });
    await apply(store, { ...reserveOf(id, 'req_listed'), chargeKind: 'image', prices });
    await apply(store, { ...settleOf(id, 'req_listed', 2_000_000n), usage: '{"images":1}' });
    const own = await stage.ownKey(id);
    const shown = (await get('/charges/req_listed')).json;
    expect(shown).to.deep.include({ attempts: [], price_list: { name: 'friends', version: 'abcd0123' } });
    const { attempts: _, price_list: __, ...rest } = shown;
    expect((await ask(own, '/account/calls/req_listed')).json).to.deep.equal(rest);
    expect(rest).to.deep.include({ list_price: { rub: 2.5, difference_percent: -20 } });
    expect((await ask(own, '/account/calls')).text)
      .to.contain('req_listed')
      .and.to.not.contain('friends');
  });

  it('takes no character that cannot be read as an id: two such payments would be one', async () => {
    const id = await newAccount();
    for (const payment_id of ['\ud83d', '\ud83e']) {
      const { status, json } = await post(`/accounts/${id}/wallet/topup`, { amount_rub: 1000, payment_id });
      expect(status).to.equal(400);
      expect(json.error.message).to.contain('`payment_id`').and.to.contain('could not be read');
    }
    expect((await stage.gateway.store.ledger.entries(id, { limit: 9 })).map(({ note }) => note)).to.not.include(
      '\ufffd',
    );
  });

  it('books a payment once, also if its id is copied with characters that are not seen', async () => {
    const id = await newAccount();
    const before = (await stage.gateway.store.ledger.wallet(id))?.topped ?? 0n;
    const topUp = (payment_id: string) => post(`/accounts/${id}/wallet/topup`, { amount_rub: 1000, payment_id });
    expect((await topUp(`unseen-${id}`)).status).to.equal(200);
    for (const sign of ['\u200b', '\ufeff', '\u00ad']) {
      const { status, json } = await topUp(`unseen-${id.slice(0, 4)}${sign}${id.slice(4)}`);
      expect([status, json.error.message]).to.satisfy(
        ([code, text]: [number, string]) => code === 400 && text.includes('`payment_id`') && text.includes('invisible'),
      );
    }
    expect((await stage.gateway.store.ledger.wallet(id))?.topped).to.equal(before + 1_000_000_000n);
  });

  it('reads no archive for an owner, and says the same of calls of others as of none', async () => {
    const { store } = stage.gateway;
    const [mine, other] = [await newAccount(), await newAccount()];
    await apply(store, reserveOf(other, 'req_of_other'));
    const at = { startedAt: 5, before: Date.now(), first: 1, last: Date.now() };
    const sums = { sha256: 's', calls: 1, entries: 2, charged: 1n };
    await store.archives.put({ id: 'arc_test', file: '/nowhere/calls.gz', state: 'done', ...at, ...sums });
    const own = await stage.ownKey(mine);
    for (const id of ['req_of_other', 'req_none', 'hold_none', `req_${Date.now().toString(16).padStart(12, '0')}00`]) {
      const { status, json, text } = await ask(own, `/account/calls/${id}`);
      expect([status, json.error.message]).to.deep.equal([404, `Not found: the account has no call "${id}".`]);
      expect(text).to.not.contain('nowhere');
    }
    expect((await get('/charges/hold_none')).text).to.contain('/nowhere/calls.gz');
  });

  it('takes a change without a body, of any type, where it needs no fields', async () => {
    const id = await newAccount();
    const change = (path: string, headers: Record<string, string>) =>
      ask(key, `/manage/accounts/${id}/${path}`, undefined, {
        method: 'POST',
        headers: { 'idempotency-key': `bare ${path}`, ...headers },
      });
    expect((await change('suspend', {})).json).to.include({ status: 'suspended' });
    expect((await change('resume', { 'content-type': 'text/plain' })).json).to.include({ status: 'active' });
    expect((await change('keys', {})).json.error.message).to.match(/^Invalid `name`/);
  });

  it('takes no operator away, and suspends others', async () => {
    const { store } = stage.gateway;
    const person = (id: string, operator: boolean) => ({
      ...{ id, email: `${id}@example.com`, password: 'x', totpSecret: null, totpStep: 0, recovery: [] },
      ...{ operator, status: 'active', language: 'en', timeZone: 'UTC', createdAt: 5, version: 1 },
    });
    for (const [id, operator] of [
      ['usr_boss', true],
      ['usr_owner', false],
    ] as const)
      await store.users.add(person(id, operator) as never);
    for (const path of ['suspend', 'remove', 'sessions/end']) {
      const { status, json } = await post(`/users/usr_boss@example.com/${path}`);
      expect([path, status], json.error.message).to.deep.equal([path, 409]);
    }
    expect((await post('/users/usr_owner/suspend')).json).to.include({ status: 'suspended' });
    expect((await log())[0]).to.deep.include({ action: 'user.suspend', target: 'usr_owner' });
    expect((await log())[0]?.user).to.match(/^billing/);
  });
});
