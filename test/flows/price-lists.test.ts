// Two accounts make the same calls in a whole gateway: one pays list prices, the other those of its price list.
import { expect } from 'chai';
import { ask, CHAT, findBilling, MESSAGES, parseEvents, type Reply, send, until } from '../../testkit/client.ts';
import { EMBEDDINGS, embedAnswer } from '../../testkit/embeddings.ts';
import { type FilmUpstream, startFilmUpstream } from '../../testkit/film-upstream.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { GENERATIONS, imageAnswer } from '../../testkit/images.ts';
import { chatAnswer, chatHeld, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';

const RUB = 1_000_000n;

describe('price lists', () => {
  let upstream: TestUpstream;
  let films: FilmUpstream;
  let gateway: TestGateway;
  let plain: TestAccount;
  let partner: TestAccount;

  const catalogOf = (partnerList: object | undefined) => {
    const model = (id: string, type: string, price: object, more: object = {}) => {
      return { id, type, provider: 'Test', price, routes: [{ upstream: 'up', model: id }], ...more };
    };
    const settings = { baseUrl: `${upstream.url}/v1`, apiKey: 'k' };
    return {
      upstreams: {
        up: { plugin: 'openai-compatible', settings },
        draw: { plugin: 'openai-images', settings },
        films: { plugin: 'kling', settings: { baseUrl: `${films.url}/v1`, apiKey: 'access:secret' } },
      },
      models: [
        model('model-a', 'text', { input: '1000', output: '5000' }, { aliases: ['a'] }),
        model('embed-a', 'embedding', { input: '100000' }),
        model('draw-a', 'image', { request: '10' }, { routes: [{ upstream: 'draw', model: 'd' }] }),
        model(
          'film-a',
          'video',
          { second: { '720p': '8', '1080p': '15' } },
          { routes: [{ upstream: 'films', model: 'f' }] },
        ),
      ],
      smart: { lite: 'a', standard: 'a', heavy: 'a' },
      ...(partnerList && { priceLists: { partner: partnerList } }),
    };
  };
  const LIST = { factor: '0.9', models: { 'draw-a': { request: '7' } } };

  before(async () => {
    [upstream, films] = [await startUpstream(), await startFilmUpstream()];
    gateway = await startGateway({ catalog: catalogOf(LIST), env: { VIDEO_POLL_MS: '20' } });
    // The calls that wait for a change are charged, too, however many a busy machine makes of them.
    [plain, partner] = [await gateway.account(), await gateway.account('100000')];
    await gateway.store.accounts.setPriceList(partner.id, 'partner');
  });
  beforeEach(() => upstream.behave(chatAnswer('hello', { input: 1000, output: 2000 })));
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
    await films.close();
  });

  const post = async ({ key }: TestAccount, path: string, body: object): Promise<Reply> => {
    const reply = await send(gateway.url + path, { key, body });
    expect(reply.status, reply.text).to.be.oneOf([200, 202]);
    return reply;
  };
  /** The charge of the latest call. */
  const latestCharge = async ({ id }: TestAccount) => {
    const [charge] = await gateway.store.ledger.charges(id, { limit: 1 });
    if (!charge) throw new Error('there is no call');
    return charge;
  };
  const chargedBoth = async (path: string, body: object) => {
    for (const account of [plain, partner]) await post(account, path, body);
    return Promise.all([plain, partner].map(async (account) => (await latestCharge(account)).charged));
  };

  it('set the price of text, by name and by smart, over both formats, with what the list price was', async () => {
    for (const [path, model] of [
      [CHAT, 'model-a'],
      [MESSAGES, 'smart'],
    ] as const) {
      expect(await chargedBoth(path, { ...ask('hi'), model, max_tokens: 3000 })).to.deep.equal([11n * RUB, 9_900_000n]);
    }
    const [one, other] = [await latestCharge(plain), await latestCharge(partner)];
    expect(JSON.parse(one.prices)).to.deep.equal({ input: '1000000000', output: '5000000000' });
    const { list, ...own } = JSON.parse(other.prices);
    expect(own).to.deep.equal({ input: '900000000', output: '4500000000' });
    expect(list).to.deep.include({ name: 'partner', prices: JSON.parse(one.prices) });
  });

  it('set the price of embeddings, images and videos', async () => {
    upstream.behave(embedAnswer({ tokens: 100 }));
    expect(await chargedBoth(EMBEDDINGS, { model: 'embed-a', input: 'x'.repeat(400) })).to.deep.equal([
      10n * RUB,
      9n * RUB,
    ]);
    upstream.behave(imageAnswer(PNG));
    expect(await chargedBoth(GENERATIONS, { model: 'draw-a', prompt: 'x' })).to.deep.equal([10n * RUB, 7n * RUB]);
    const video = { model: 'film-a', prompt: 'x', seconds: 5, resolution: '1080p' };
    expect(await chargedBoth('/api/v1/videos', video)).to.deep.equal([75n * RUB, 67_500_000n]);
    const { prices } = await latestCharge(partner);
    expect(JSON.parse(prices)).to.deep.include({ second: { '1080p': '13500000' } });
    expect(JSON.parse(prices).list.prices).to.deep.equal({
      unit: 'second',
      second: { '720p': '8000000', '1080p': '15000000' },
    });
  });

  it('are what the account sees of the models', async () => {
    const priceOf = async ({ key }: TestAccount, path: string) => (await send(gateway.url + path, { key })).json;
    for (const [account, price] of [
      [plain, 1000],
      [partner, 900],
    ] as const) {
      const { data } = await priceOf(account, '/api/v1/models');
      expect(data.find(({ id }: { id: string }) => id === 'model-a')).to.include({ price_rub: price });
      expect(await priceOf(account, '/api/v1/models/a')).to.include({ price_rub: price, output_price_rub: 5 * price });
    }
  });

  it('hold at the own price', async () => {
    const call = { ...ask('hi'), model: 'a', max_tokens: 20_000, max_cost_rub: 95 };
    const status = async ({ key }: TestAccount) => (await send(gateway.url + CHAT, { key, body: call })).status;
    expect([await status(plain), await status(partner)]).to.deep.equal([402, 200]);
  });

  it('stay as they were held when the catalog changes or the account leaves the list; later calls pay anew', async () => {
    const held = chatHeld({ input: 1000, output: 2000 });
    upstream.behave(held.behaviour);
    const running = post(partner, CHAT, { ...ask('hi'), model: 'a', max_tokens: 3000, stream: true });
    await until(async () => (await gateway.wallet(partner)).held > 0n);
    gateway.writeCatalog(catalogOf({ factor: '0.5' }));
    expect(await gateway.gateway.reload()).to.equal(true);
    await gateway.store.accounts.setPriceList(partner.id, undefined);
    held.finish();
    expect(findBilling(parseEvents((await running).text))).to.include({ charged_rub: 9.9 });
    const before = await latestCharge(partner);
    upstream.behave(chatAnswer('hello', { input: 1000, output: 2000 }));
    const charge = async () => {
      await post(partner, CHAT, { ...ask('hi'), model: 'a', max_tokens: 3000 });
      return (await latestCharge(partner)).charged;
    };
    await until(async () => (await charge()) === 11n * RUB);
    await gateway.store.accounts.setPriceList(partner.id, 'partner');
    await until(async () => (await charge()) === 5_500_000n);
    expect(JSON.parse((await latestCharge(partner)).prices).list.version).not.to.equal(
      JSON.parse(before.prices).list.version,
    );

    gateway.writeCatalog(catalogOf(undefined));
    expect(await gateway.gateway.reload()).to.equal(true);
    expect(await charge(), 'a list that is gone').to.equal(11n * RUB);
    gateway.writeCatalog(catalogOf(LIST));
    expect(await gateway.gateway.reload()).to.equal(true);
  });
});
