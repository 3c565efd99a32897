// A conversation that the gateway moves away from its cached prompt: what the next vendor writes anew is charged as if it
// had been read, and the receipt says so.
import { expect } from 'chai';
import { CHAT, MESSAGES, parseEvents, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOwner } from '../../testkit/pages.ts';
import { type CachingVendor, createMessageVendor } from '../../testkit/prompt-cache.ts';
import { answerStatus, startUpstream, type TestUpstream, type UpstreamCall } from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';

const SCRIPT = { calls: 1, tool: 'none', arguments: () => '{}' };
const SYSTEM = 'word '.repeat(8_000);
/** Micro-roubles for a token. */
const RATES = { input: 300n, output: 1500n, read: 30n, written: 375n };
const PRICE = { input: '300', output: '1500', cacheRead: '30', cacheWrite: '375' };

describe('a conversation that is moved', () => {
  let upstreams: readonly TestUpstream[];
  /** One cache for each key of each upstream. */
  let vendors: Map<string, CachingVendor>;
  let gateway: TestGateway;
  let account: TestAccount;

  const answer = (at: number) => (call: UpstreamCall) => {
    const place = `${at} ${call.request.headers['x-api-key']}`;
    const vendor = vendors.get(place) ?? createMessageVendor(SCRIPT);
    vendors.set(place, vendor);
    return vendor.behaviour(call);
  };

  const catalogOf = (routes: readonly number[]) => ({
    upstreams: Object.fromEntries(
      upstreams.map(({ url }, at) => {
        const apiKey = at === 2 ? ['first-key', 'second-key'] : 'only-key';
        return [`up-${at}`, { plugin: 'anthropic', settings: { baseUrl: url, apiKey } }];
      }),
    ),
    models: [
      {
        id: 'model-a',
        type: 'text',
        provider: 'Test',
        price: PRICE,
        routes: routes.map((at) => ({ upstream: `up-${at}`, model: 'm' })),
      },
    ],
  });

  beforeEach(async () => {
    vendors = new Map();
    upstreams = await Promise.all([0, 1, 2].map((at) => startUpstream(answer(at))));
    gateway = await startGateway({ catalog: catalogOf([0, 1]) });
    account = await gateway.account('10000');
  });
  afterEach(async () => {
    // The audit computes each cost again from its counts and prices.
    await gateway.checkMoney();
    await gateway.stop();
    for (const upstream of upstreams) await upstream.close();
  });

  /** One call: the counts that the client is told, what its charge keeps, and what it cost. */
  async function call(session = 'a', path: string = MESSAGES, begin = session, more: readonly object[] = []) {
    const marked = { type: 'text', text: `${begin}: ${SYSTEM}`, cache_control: { type: 'ephemeral' } };
    const body =
      path === MESSAGES
        ? { system: [marked], messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }, ...more] }] }
        : {
            messages: [
              { role: 'system', content: [marked] },
              { role: 'user', content: 'Hello' },
            ],
          };
    const headers = { 'x-session-id': session };
    const asked = { model: 'model-a', max_tokens: 100, ...body };
    const {
      status,
      json,
      text,
      headers: replied,
    } = await send(gateway.url + path, {
      key: account.key,
      headers,
      body: asked,
    });
    if (status !== 200) throw new Error(`${status}: ${text}`);
    const charge = await gateway.store.ledger.charge(String(replied['x-request-id']));
    const usage = JSON.parse(charge?.usage ?? '{}');
    return { told: json.usage, usage, charged: charge?.charged, json, id: charge?.id };
  }

  const at = (place: string) => vendors.get(place)?.counted.at(-1);

  it('pays for reading where another route writes anew, and as it is counted from then on', async () => {
    const first = await call();
    const { written = 0, input = 0, output = 0 } = at('0 only-key') ?? {};
    expect(written).to.be.above(9_000);
    expect(first.charged).to.equal(
      BigInt(written) * RATES.written + BigInt(input) * RATES.input + BigInt(output) * RATES.output,
    );
    expect(first.usage).not.to.have.property('tokens_cache_moved');
    expect((await call()).told.cache_read_input_tokens).to.equal(written);

    upstreams[0]?.behave(answerStatus(503));
    const moved = await call();
    expect(at('1 only-key')).to.deep.equal({ input, read: 0, written, output });
    expect(moved.told).to.deep.equal({ input_tokens: input, output_tokens: output, cache_read_input_tokens: written });
    expect(moved.usage).to.include({ tokens_cache_read: written, tokens_cache_moved: written });
    const read = BigInt(written) * RATES.read + BigInt(input) * RATES.input + BigInt(output) * RATES.output;
    expect(moved.charged).to.equal(read > 500_000n ? read : 500_000n);

    const later = await call();
    expect(later.usage).to.include({ tokens_cache_read: written }).and.not.to.have.property('tokens_cache_moved');
  });

  it('tells it in a chat, too, whose bill is the same', async () => {
    await call('a', CHAT);
    upstreams[0]?.behave(answerStatus(503));
    const { told, usage, charged, json } = await call('a', CHAT);
    expect(told.prompt_tokens_details).to.deep.equal({ cached_tokens: usage.tokens_cache_moved });
    expect(json.billing.charged_rub).to.equal(Number(charged) / 1e6);
  });

  it('tells it in a stream from its head on', async () => {
    const body = {
      model: 'model-a',
      max_tokens: 100,
      stream: true,
      system: [{ type: 'text', text: SYSTEM, cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: 'Hello' }],
    };
    const headers = { 'x-session-id': 'a' };
    const stream = async () => {
      const { text } = await send(gateway.url + MESSAGES, { key: account.key, headers, body });
      const events = parseEvents(text);
      const [start] = events;
      return {
        start: start?.data.message.usage,
        end: events.find(({ event }) => event === 'message_delta')?.data.usage,
      };
    };
    await stream();
    const { written = 0, input = 0, output = 0 } = at('0 only-key') ?? {};
    upstreams[0]?.behave(answerStatus(503));
    expect(await stream()).to.deep.equal({
      start: { input_tokens: input, output_tokens: 0, cache_read_input_tokens: written },
      end: { input_tokens: input, output_tokens: output, cache_read_input_tokens: written },
    });
  });

  it('shows it on the page of the call', async () => {
    await call();
    upstreams[0]?.behave(answerStatus(503));
    const { usage, id } = await call();
    const owner = await setUpOwner(gateway, account.id);
    const count = usage.tokens_cache_moved.toLocaleString('en');
    expect((await owner.get(`/account/calls/${id}?lang=en`)).text).to.contain(
      `${count} tokens count as read from the cache`,
    );
    expect((await owner.get(`/account/calls/${id}?lang=ru`)).text).to.contain('Разговор перенёс сам сервис');
  });

  it('pays for writing what it never had in a cache', async () => {
    upstreams[0]?.behave(answerStatus(503));
    const { usage } = await call();
    expect(usage).to.have.property('tokens_cache_write');
    expect(usage).not.to.have.property('tokens_cache_moved');
    // Nor what another conversation had.
    upstreams[0]?.behave(answer(0));
    await call('b');
    upstreams[0]?.behave(answerStatus(503));
    expect((await call('c')).usage).not.to.have.property('tokens_cache_moved');
  });

  it('pays for reading no other prompt, whatever name it comes under', async () => {
    await call('a');
    upstreams[0]?.behave(answerStatus(503));
    const other = await call('a', MESSAGES, 'b');
    expect(other.usage).to.have.property('tokens_cache_write').above(9_000);
    expect(other.usage).not.to.have.property('tokens_cache_moved');
    expect((await call('a')).usage).to.have.property('tokens_cache_moved');
  });

  it('pays for writing where another model answers, whose cache it never was in', async () => {
    const [model] = catalogOf([2]).models;
    const other = { ...model, id: 'model-b', vision: true, price: { input: '300', output: '1500' } };
    const models = [
      { ...model, vision: true },
      { ...other, routes: [{ upstream: 'up-1', model: 'm' }] },
    ];
    await reload({ ...catalogOf([2]), models, vision: ['model-b'] }, 2);
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') } };
    const look = () => call('a', MESSAGES, 'a', [image]);
    expect((await look()).usage).to.have.property('tokens_cache_write');
    upstreams[2]?.behave(answerStatus(503));
    const { usage } = await look();
    expect(upstreams[1]?.calls).to.have.length(1);
    expect(usage).not.to.have.property('tokens_cache_moved');
  });

  async function reload(catalog: object, route: number): Promise<void> {
    gateway.writeCatalog(catalog);
    const before = upstreams[route]?.calls.length ?? 0;
    await until(async () => {
      await call('probe');
      return (upstreams[route]?.calls.length ?? 0) > before;
    });
  }

  it('pays for reading where its key is paused', async () => {
    await reload(catalogOf([2]), 2);
    const { usage } = await call();
    expect(usage).to.have.property('tokens_cache_write');
    const own = upstreams[2]?.calls.at(-1)?.request.headers['x-api-key'];
    upstreams[2]?.behave((incoming) =>
      incoming.request.headers['x-api-key'] === own ? answerStatus(429)(incoming) : answer(2)(incoming),
    );
    const moved = await call();
    expect(at(`2 ${own === 'first-key' ? 'second-key' : 'first-key'}`)?.written).to.equal(usage.tokens_cache_write);
    expect(moved.usage.tokens_cache_moved).to.equal(usage.tokens_cache_write);
  });

  it('pays for reading where a reload takes its route', async () => {
    const { usage } = await call();
    await reload(catalogOf([1]), 1);
    expect((await call()).usage.tokens_cache_moved).to.equal(usage.tokens_cache_write);
  });
});
