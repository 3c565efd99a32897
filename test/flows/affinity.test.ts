// Conversations and their caches: each stays on its route and key, in every gateway, leaves them while they fail, and
// returns.
import { expect } from 'chai';
import { ask, CHAT, MESSAGES, RESPONSES, type SendOptions, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import {
  answerStatus,
  chatAnswer,
  startUpstream,
  type TestUpstream,
  type UpstreamCall,
} from '../../testkit/upstream.ts';

const KEYS = ['key-of-one-1', 'key-of-two-2', 'key-of-three'];
const PRICE = { input: '1000', output: '5000', cacheRead: '100' };
const NAMES = Array.from({ length: 36 }, (_, at) => `conversation ${at}`);
/** Enough to see the same again. */
const SOME = longer(12, NAMES.length);

describe('the route and key of a conversation', () => {
  let upstreams: readonly TestUpstream[];
  let gateways: readonly TestGateway[];
  let account: TestAccount;
  /** Which upstream answered last, and with which key. */
  let answered = '';

  const well = (at: number) => (call: UpstreamCall) => {
    answered = `${at} ${call.request.headers.authorization?.replace('Bearer ', '')}`;
    return chatAnswer('Hello there.')(call);
  };

  before(async () => {
    upstreams = await Promise.all([1, 2, 3].map(() => startUpstream()));
    const entries = upstreams.map(({ url }, at) => {
      const settings = { baseUrl: `${url}/v1`, apiKey: at === 0 ? KEYS : 'key', cacheKey: 'send' };
      return [`up-${at}`, { plugin: 'openai-compatible', settings }];
    });
    const routes = upstreams.map((_, at) => ({ upstream: `up-${at}`, model: 'm' }));
    const model = { type: 'text', provider: 'Test', price: PRICE, routes };
    const catalog = {
      upstreams: Object.fromEntries(entries),
      models: [
        { ...model, id: 'model-a', order: 'latency' },
        { ...model, id: 'listed' },
        { ...model, id: 'keyed', routes: routes.slice(0, 1) },
        { ...model, id: 'uncached', routes: routes.slice(0, 1), price: { input: '1000', output: '5000' } },
      ],
    };
    const first = await startGateway({ catalog });
    const { databaseUrl: database } = first;
    gateways = [first, await startGateway({ catalog, database })];
    account = await first.account('100000');
  });
  beforeEach(() => {
    for (const [at, upstream] of upstreams.entries()) upstream.behave(well(at));
  });
  after(async () => {
    await gateways[0]?.checkMoney();
    for (const gateway of [...gateways].reverse()) await gateway.stop();
    for (const upstream of upstreams) await upstream.close();
  });

  /** Makes one call, and says which upstream answered it with which key. */
  async function place(
    body: object,
    { at = 0, path = CHAT, key = account.key, headers = {} }: SendOptions & { at?: number; path?: string } = {},
  ): Promise<string> {
    const { status, text } = await send(`${gateways[at]?.url}${path}`, { key, headers, body });
    if (status !== 200) throw new Error(`${status}: ${text}`);
    return answered;
  }
  const keyed = (name: string, more: object = {}) => ask('hi', { prompt_cache_key: name, ...more });
  async function placeAll(more: object = {}, at = 0, count = NAMES.length): Promise<readonly string[]> {
    const places: string[] = [];
    for (const name of NAMES.slice(0, count)) places.push(await place(keyed(name, more), { at }));
    return places;
  }

  const placeSome = (more: object = {}, at = 0) => placeAll(more, at, SOME);
  const listUpstreams = (places: readonly string[]) => [...new Set(places.map(([upstream]) => upstream))].sort();

  it('are the same for every call and in every gateway, and are spread over conversations', async () => {
    const places = await placeAll();
    expect(listUpstreams(places)).to.deep.equal(['0', '1', '2']);
    expect(await placeSome()).to.deep.equal(places.slice(0, SOME));
    expect(await placeSome({}, 1)).to.deep.equal(places.slice(0, SOME));
  });

  it('are those of a key, a header, a user or the opening of the conversation, in any dialect', async () => {
    const turns = (text: string) => [
      { role: 'user', content: text },
      { role: 'assistant', content: 'Yes?' },
      { role: 'user', content: 'Go on.' },
    ];
    const seen: string[] = [];
    for (const name of NAMES.slice(0, SOME)) {
      const headers = { 'x-session-id': name };
      const inChat = await place(ask('a'), { headers });
      expect(await place(ask('b'), { headers, path: MESSAGES })).to.equal(inChat);
      expect(await place(ask('b'), { headers, path: RESPONSES })).to.equal(inChat);
      expect(await place(ask('c', { metadata: { user_id: name } }), { headers })).to.equal(inChat);

      const byUser = await place(ask('a', { metadata: { user_id: name } }), { path: MESSAGES });
      expect(await place(ask('b', { metadata: { user_id: name } }))).to.equal(byUser);

      const byOpening = await place(ask(name, { system: 'Be brief.' }), { path: MESSAGES });
      const later = { ...ask(name, { system: 'Be brief.' }), messages: turns(name) };
      expect(await place(later, { path: MESSAGES })).to.equal(byOpening);
      seen.push(inChat, byUser, byOpening);
    }
    expect(listUpstreams(seen)).to.deep.equal(['0', '1', '2']);
  });

  it("are another account's own", async () => {
    const other = await (gateways[0] as TestGateway).account('100000');
    const places = await placeSome();
    const others: string[] = [];
    for (const name of NAMES.slice(0, SOME)) others.push(await place(keyed(name), { key: other.key }));
    expect(others).not.to.deep.equal(places);
  });

  it('begin with the first route where the catalog lists them in order', async () => {
    for (const name of NAMES.slice(0, 6)) expect(await place(keyed(name, { model: 'listed' }))).to.match(/^0 /);
  });

  it('are a key in turn at a model without a price of cached tokens', async () => {
    const places: string[] = [];
    for (let count = 0; count < 3; count += 1) places.push(await place(keyed('a', { model: 'uncached' })));
    expect(new Set(places).size).to.equal(3);
  });

  it('change while the route fails, for its own conversations only, and return with it', async () => {
    const before = await placeAll();
    upstreams[1]?.behave(answerStatus(503));
    const meanwhile = await placeAll();
    for (const [at, there] of before.entries()) {
      if (there.startsWith('1')) expect(meanwhile[at]).to.match(/^[02] /);
      else expect(meanwhile[at]).to.equal(there);
    }
    // Where it goes instead is the same for all calls.
    expect(await placeSome()).to.deep.equal(meanwhile.slice(0, SOME));
    upstreams[1]?.behave(well(1));
    const [name] = NAMES.filter((_, at) => before[at]?.startsWith('1'));
    await until(async () => (await place(keyed(name ?? ''))).startsWith('1'));
    expect(await placeSome()).to.deep.equal(before.slice(0, SOME));
  });

  it('change while the key is paused, and return after that', async () => {
    const model = 'keyed';
    const before = await placeAll({ model });
    expect(new Set(before).size).to.equal(3);
    const [, refused] = KEYS;
    upstreams[0]?.behave((call) => {
      if (call.request.headers.authorization !== `Bearer ${refused}`) return well(0)(call);
      call.response.setHeader('retry-after', '1');
      return answerStatus(429)(call);
    });
    const [name = ''] = NAMES.filter((_, at) => before[at] === `0 ${refused}`);
    const instead = await place(keyed(name, { model }));
    expect(instead).to.be.oneOf([`0 ${KEYS[0]}`, `0 ${KEYS[2]}`]);
    upstreams[0]?.behave(well(0));
    await until(async () => (await place(keyed(name, { model }))) === `0 ${refused}`);
    expect(await placeSome({ model })).to.deep.equal(before.slice(0, SOME));
  });
});
