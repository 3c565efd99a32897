// Replies of the management API match the API document, without fields that it does not name.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { MANAGE } from '../../../lib/api/management/routes.ts';
import { VERBS } from '../../../lib/manage/verbs.ts';
import { createSessions } from '../../../lib/users/sessions.ts';
import { ask, MESSAGES, send } from '../../../testkit/client.ts';
import { expectRecorded } from '../../../testkit/recorded.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../../testkit/upstream.ts';
import { applied } from '../../contract/store/context.ts';
import { changed, creditOf, newOrder, newSucceeded } from '../../contract/store/payments.ts';
import { makeUser } from '../../contract/store/people.ts';
import { type ApiDocument, type Json, readDocument } from '../document.ts';
import { type ManagementStage, openManagementStage } from './stage.ts';

/** Names of what a schema lets be anything, or an object or a list of anything. */
function listVague(name: string, schema: Json): readonly string[] {
  if (schema.$ref !== undefined) return [];
  const { type, properties, items, additionalProperties } = schema;
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const choices: readonly Json[] = schema.anyOf ?? schema.oneOf ?? [];
  const isTold = type !== undefined || choices.length > 0 || 'enum' in schema || 'const' in schema;
  if (!isTold || (type === 'object' && !properties && !others) || (type === 'array' && !items)) return [name];
  const unnamed = [...choices, others, items].filter((each) => each !== undefined);
  return [
    ...Object.entries(properties ?? {}).flatMap(([key, each]) => listVague(key, each)),
    ...unnamed.flatMap((each) => listVague(name, each)),
  ];
}

describe('the management API in the API document', () => {
  let upstream: TestUpstream;
  let stage: ManagementStage;
  let key: string;
  let api: ApiDocument;
  const seen = new Set<string>();

  before(async () => {
    upstream = await startUpstream(chatAnswer('hello', { input: 1000, output: 2000 }));
    stage = await openManagementStage({}, upstream.url);
    key = await stage.managementKey();
    api = readDocument((await send(`${stage.gateway.url}/openapi.json`)).json);
  });
  after(async () => {
    await stage.gateway.stop();
    await upstream.close();
  });

  it('says what is recorded', () => {
    const { paths, components } = api.json;
    const verbs = Object.entries(paths).filter(([path]) => path.startsWith(MANAGE));
    const used = new Set<string>();
    const follow = (part: unknown): void => {
      for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
        if (!used.has(name)) follow(components.schemas[used.add(name) && name]);
      }
    };
    follow(verbs);
    const schemas = Object.entries(components.schemas).filter(([name]) => used.has(name));
    const texts = [...verbs, ...schemas].map(([name, part]) => `===== ${name}\n${JSON.stringify(part, null, 1)}`);
    expectRecorded(
      new URL('recorded-document.txt', import.meta.url),
      texts.map((text) => text.replaceAll(/\n {4,}/g, ' ')),
    );
  });

  /** Expects success, and the reply that the document describes. */
  async function does(words: string, values: Readonly<Record<string, string>> = {}, body: object = {}, query = '') {
    const verb = VERBS.find((each) => each.words === words);
    if (!verb) throw new Error(`there is no verb ${words}`);
    const { requestBody } = api.json.paths[MANAGE + verb.route.path][verb.route.method.toLowerCase()];
    expect(requestBody !== undefined, words).to.equal(
      verb.route.method === 'POST' && Object.keys(verb.input).length > 0,
    );
    const path = verb.route.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? ''));
    const reply = await stage.ask(key, `/manage${path}${query}`, verb.route.method === 'POST' ? body : undefined);
    expect(reply.status, `${words}: ${reply.text}`).to.equal(200);
    seen.add(words);
    return api.checkReply(`${verb.route.method} ${MANAGE}${verb.route.path}`, reply).json;
  }

  it('is answered as described: accounts, keys, money, reports and holds', async () => {
    const { account_id: account } = await does('account create', {}, { name: 'Acme' });
    const of = { account };
    await does('wallet topup', of, { amount_rub: 1000, payment_id: randomUUID() });
    await does('wallet adjust', of, { amount_rub: -5, reason: 'r' });
    const correction = { amount_rub: 5, reason: 'r', adjust_id: 'once' };
    expect(await does('wallet adjust', of, correction)).to.include({ adjust_id: 'once', repeated: false });
    expect(await does('wallet adjust', of, correction)).to.include({ adjust_id: 'once', repeated: true });
    await does('grant give', of, { amount_rub: 50, grant_id: randomUUID(), reason: 'trial', expires: '2040-01-01' });
    await does('grant monthly', of, { amount_rub: 7, reason: 'staff' });
    await does('account show', of);
    await does('grant monthly', of, { amount_rub: null });
    await does('grant list', of);
    const limits = { budget_rub: 500, reset: 'day', user_budget_rub: 9, user_reset: 'day', per_minute: 900 };
    const issued = await does('key issue', of, { name: 'k', ...limits, models: ['model-a'], expires: '2040-01-01' });
    const call = await send(stage.gateway.url + MESSAGES, { key: issued.key, body: ask('hi') });
    expect(call.status, call.text).to.equal(200);
    for (const by of ['day', 'model', 'key', 'kind']) await does('usage', of, {}, `?by=${by}`);
    for (const by of ['day', 'model', 'upstream', 'account']) await does('cost report', of, {}, `?by=${by}`);
    await does('charge list', of);
    await does('charge show', { request: String(call.headers['x-request-id']) });
    await does('ledger list', of);
    await does('ledger verify');
    await does('key list', of);
    await does('key limit', { key: issued.key_id }, { budget_rub: null });
    const rotated = await does('key rotate', { key: issued.key_id });
    await does('key revoke', { key: rotated.key_id });
    const { hold_id: hold } = await does('hold create', {}, { account, amount_rub: 5, reason: 'job' });
    await does('hold renew', { hold });
    await does('hold show', { hold });
    await does('hold settle', { hold }, { amount_rub: 1, usage: { seconds: 3 } });
    const { hold_id: other } = await does('hold create', {}, { account, amount_rub: 5, reason: 'job' });
    await does('hold release', { hold: other });
    for (const words of ['account show', 'account suspend', 'account resume', 'wallet show']) await does(words, of);
    await does('account limit', of, { at_once: 5, addresses: ['127.0.0.1'] });
    await does('account price-list', of, { price_list: 'none' });
    await does('account list');
    for (const words of ['catalog check', 'catalog rates']) await does(words);
  });

  it('is answered as described: payments and people', async () => {
    const { id: account } = await stage.gateway.account();
    const order = newOrder(account);
    await stage.gateway.store.payments.create(order);
    await does('payment show', { payment: order.id });
    await does('payment list', {}, {}, `?account=${account}`);
    const { url } = await does('user invite', { account }, { email: 'bob@example.com' });
    expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/setup\?token=/);
    await does('user list');
  });

  it('is answered as described: refunds, decisions and disputes', async () => {
    const { store } = stage.gateway;
    const { account_id: account } = await does('account create', {}, { name: 'Payer' });
    const inReview = await changed(store, await newSucceeded(store, account), { kind: 'review', reason: 'sum' });
    await does('payment decide', { payment: inReview.id }, { reject: true, reason: 'seen' });
    const paid = await newSucceeded(store, account);
    await applied(store, creditOf(paid));
    await does('payment refund', { payment: paid.id }, { amount_rub: 10, reason: 'wish' });
    const other = await newSucceeded(store, account);
    await applied(store, creditOf(other));
    await does('payment dispute', { payment: other.id }, { open: 'CB 1', amount_rub: 300 });
    await does('payment show', { payment: other.id });
    await does('payment dispute', { payment: other.id }, { ended: 'lost' });
    await does('payment list', {}, {}, `?account=${account}`);
    await store.accounts.setWalletFlags(account, { playMoney: true });
    await does('wallet play-money', { account }, { how: 'convert', reason: 'r' });
  });

  it('is answered as described: promo codes, members, users, and end users of a key', async () => {
    const { gateway } = stage;
    const { id: account } = await gateway.account();
    const of = { account };
    const { code } = await does('promo create', {}, { amount_rub: 5, uses: 2, reason: 'spring', days: 30 });
    await does('promo list');
    await does('promo end', { code });
    await does('grant give', of, { amount_rub: 5, grant_id: 'document', reason: 'r' });
    await does('grant revoke', { ...of, grant: 'document' }, { reason: 'r' });
    const [owner, member] = [makeUser(), makeUser()];
    for (const user of [owner, member]) await gateway.store.users.add(user);
    await gateway.store.users.join({ user: owner.id, account, role: 'owner' });
    await gateway.store.users.join({ user: member.id, account, role: 'member' });
    await does('member invite', of, { email: 'carol@example.com', role: 'member', cap_rub: 5, reset: 'day' });
    await does('member set', { ...of, user: member.id }, { cap_rub: 5, reset: 'day' });
    await does('member list', of);
    await does('member remove', { ...of, user: member.id });
    const issued = await does('key issue', of, { name: 'k', user_budget_rub: 9, user_reset: 'day' });
    const body = { ...ask('hi'), metadata: { user_id: 'ann' } };
    const call = await send(gateway.url + MESSAGES, { key: issued.key, body });
    expect(call.status, call.text).to.equal(200);
    const { users } = await does('key users', { key: issued.key_id });
    expect(users).to.have.length(1);
    await createSessions({ store: gateway.store }).open(member, { address: '192.0.2.7', agent: 'curl' });
    const person = { user: member.id };
    for (const words of ['user sessions list', 'user sessions end', 'user suspend', 'user resume', 'user reset']) {
      await does(words, person);
    }
    await does('user remove', person);
    await does('user remove-owner', { ...of, user: owner.id });
  });

  it('says what is in each reply, but for some of many shapes', () => {
    const replies = VERBS.map(({ route: { method, path } }) => {
      return api.json.paths[MANAGE + path][method.toLowerCase()].responses[200];
    });
    const schemas = [
      ...replies.map((reply: Json) => reply.content['application/json'].schema),
      ...Object.entries(api.json.components.schemas).flatMap(([name, each]) => (/^Managed/.test(name) ? [each] : [])),
    ];
    const vague = new Set(schemas.flatMap((schema) => listVague('reply', schema)));
    const known = [
      'attempts',
      'entries',
      'receipt',
      'video',
      'provider_state',
      'refunds',
      'dispute',
      'cap',
      'problems',
    ];
    expect([...vague]).to.have.members(known);
  });

  it('is tried in these tests, with each of its verbs', () => {
    expect(VERBS.map(({ words }) => words).filter((words) => !seen.has(words))).to.deep.equal([]);
  });
});
