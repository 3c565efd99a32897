// What the listing of models promises is what calls cost, and the wallet tells the same as every bill.
import { expect } from 'chai';
import { CHAT, type Reply, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { EDITS, GENERATIONS } from '../../testkit/images.ts';

const VIDEOS = '/api/v1/videos';

interface Entry {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly type: string;
  readonly endpoint: string;
  readonly unit: string;
  readonly price_rub: number;
  readonly price_rub_by_resolution?: Readonly<Record<string, number>>;
}

const sandbox = { upstream: 'sandbox' };
const video = (id: string, price: object, more: object = {}) => {
  return { id, type: 'video', provider: 'Test', routes: [{ ...sandbox, model: 'video' }], price, ...more };
};
const CATALOG = {
  upstreams: { sandbox: { plugin: 'sandbox' } },
  models: [
    {
      id: 'words',
      aliases: ['w'],
      type: 'text',
      provider: 'Test',
      price: { input: '1000', output: '5000' },
      routes: [{ ...sandbox, model: 'standard' }],
    },
    {
      id: 'draw',
      aliases: ['d'],
      type: 'image',
      provider: 'Test',
      price: { request: '12.5' },
      edits: true,
      routes: [{ ...sandbox, model: 'image' }],
    },
    video('film-tiers', { second: { '480p': '2', '720p': '3.5', '768p': '4', '1080p': '6', '2k': '9', '4k': '14' } }),
    video('film-low', { second: { '480p': '2', '768p': '4' } }, { aliases: ['low'], seconds: [8] }),
    video('film-high', { second: { '2k': '9', '4k': '14' } }),
    video('film-flat', { second: '1.25' }),
    video('film-each', { request: '20' }),
  ],
  defaults: { image: ['draw'], edit: ['draw'] },
  smart: { lite: 'words', standard: 'words', heavy: 'words' },
};

describe('prices and the wallet', () => {
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    gateway = await startGateway({
      catalog: CATALOG,
      env: { VIDEO_POLL_MS: '20', VIDEO_RATE_LIMIT_PER_MINUTE: '5000' },
    });
  });
  beforeEach(async () => {
    account = await gateway.account('5000');
  });
  afterEach(() => gateway.checkMoney());
  after(() => gateway.stop());

  const get = async (path: string) => (await send(gateway.url + path, { key: account.key })).json;
  const post = (path: string, body: object): Promise<Reply> => send(gateway.url + path, { key: account.key, body });
  const balance = async () => (await get('/api/v1/balance')).balance_rub;
  const entries = async () => (await get('/api/v1/models')).data as readonly Entry[];

  it('are listed with paths that take the model, under its id and each alias', async () => {
    for (const { id, aliases, endpoint, type } of await entries()) {
      const path = `/api${endpoint.replace(/^\/api/, '')}`;
      for (const model of [id, ...aliases]) {
        const { status, text } = await post(path, { model });
        // The model is taken; what to make is missing.
        expect([status, text.includes('`model`'), text.includes('nknown model')], `${model} at ${path}`).to.deep.equal([
          400,
          false,
          false,
        ]);
        expect(text).to.contain(type === 'text' ? '`messages`' : '`prompt`');
      }
    }
  });

  it('are listed with exactly the keys of their type', async () => {
    const keys = ['id', 'aliases', 'type', 'endpoint', 'unit', 'price_rub', 'provider'];
    // Beyond the specification: what lists of other services have, and what clients size their prompts by.
    const facts = ['object', 'created', 'owned_by', 'display_name', 'max_output_tokens', 'input_modalities'];
    const ofText = [...keys, 'input_price_rub', 'output_price_rub', 'min_rub', ...facts, 'supported_parameters'];
    const tiers = [...keys, 'price_rub_by_resolution'];
    const found = new Map((await entries()).map((entry) => [entry.id, entry]));
    const wanted = {
      words: [ofText, '1M_tokens', 1000],
      draw: [keys, 'request', 12.5],
      'film-tiers': [tiers, 'second', 6],
      'film-low': [tiers, 'second', 4],
      'film-high': [tiers, 'second', 9],
      'film-flat': [keys, 'second', 1.25],
      'film-each': [keys, 'request', 20],
      smart: [[...keys, 'min_rub', 'description'], '1M_tokens', null],
    } as const;
    expect([...found.keys()]).to.have.members(Object.keys(wanted));
    for (const [id, [names, unit, price]] of Object.entries(wanted)) {
      expect(found.get(id), id).to.have.all.keys(...names);
      expect(found.get(id)).to.include({ unit, price_rub: price });
    }
  });

  it('are charged for videos as they are listed, at every resolution', async () => {
    for (const { id, unit, type, price_rub: price, price_rub_by_resolution: byLabel } of await entries()) {
      if (type !== 'video') continue;
      const asked: [label: string | undefined, price: number][] = [[undefined, price]];
      for (const [label, ofLabel] of Object.entries(byLabel ?? {})) asked.push([label, ofLabel]);
      for (const [resolution, unitPrice] of asked) {
        const before = await balance();
        const { json } = await post(VIDEOS, { model: id, prompt: 'x', ...(resolution && { resolution }) });
        const times = unit === 'request' ? 1 : json.seconds;
        expect(json).to.include({ price_rub: unitPrice * times, resolution: resolution ?? null, status: 'queued' });
        expect(json.billing).to.include({ unit, unit_price_rub: unitPrice, charged_rub: unitPrice * times });
        expect(json.balance_rub).to.equal(before - unitPrice * times);
        expect(await balance()).to.equal(json.balance_rub);
      }
    }
  });

  it('use the tier nearest to a size, and say which size was asked for and which tier billed', async () => {
    const rows = [
      ['film-tiers', '1920x1080', '1920x1080', '1080p', 6],
      ['film-tiers', '1280x720', '1280x720', '720p', 3.5],
      ['film-tiers', '1344x768', '1366x768', '768p', 4],
      ['film-tiers', '640x480', '640x480', '480p', 2],
      ['film-tiers', '2560x1440', '2560x1440', '2k', 9],
      ['film-tiers', '2160x3840', '2160x3840', '4k', 14],
      ['film-low', '8192x8192', '768x768', '768p', 4],
      ['film-high', '16x16', '1440x1440', '2k', 9],
    ] as const;
    for (const [model, wished, size, label, unitPrice] of rows) {
      const { json } = await post(VIDEOS, { model, size: wished, prompt: 'x' });
      expect(json).to.include({ size, resolution: null });
      expect(json.billing).to.include({ price_option: label, unit_price_rub: unitPrice });
    }
  });

  it('report every charge and refund the same everywhere', async () => {
    const expectBalance = async (rub: number, spent: number) => {
      const wallet = await get('/api/v1/balance');
      expect(wallet).to.include({ currency: 'RUB', balance_rub: rub, spent_30d_rub: spent, topped_up_total_rub: 5000 });
      expect((await get('/api/v1/models')).balance_rub).to.equal(rub);
    };
    await expectBalance(5000, 0);
    const made = await post(GENERATIONS, { prompt: 'a hill' });
    expect(made.json).to.have.all.keys('created', 'data');
    await expectBalance(4987.5, 12.5);
    expect((await post(GENERATIONS, { prompt: '[[fail]]' })).status).to.equal(502);
    await expectBalance(4987.5, 12.5);
    const image = made.json.data[0].url;
    const edited = await post(EDITS, { prompt: 'blue', image });
    expect(edited.json.billing).to.deep.equal({ charged_rub: 12.5, balance_rub: 4975 });
    await expectBalance(4975, 25);
    const started = await post(VIDEOS, { model: 'film-each', prompt: '[[fail]]', image });
    expect(started.json).to.include({ price_rub: 20, balance_rub: 4955 });
    const poll = started.json.poll as string;
    await until(async () => (await get(poll)).status === 'failed');
    expect(await get(poll)).to.include({ refunded: true, url: null });
    await expectBalance(4975, 25);
    const said = await post(CHAT, { model: 'w', messages: [{ role: 'user', content: 'hi' }] });
    expect(said.json.billing).to.include({ charged_rub: 0.5, balance_rub: 4974.5 });
    await expectBalance(4974.5, 25.5);
    const { key } = await get('/api/v1/balance');
    expect(key).to.have.all.keys('name', 'requests_count', 'last_used_at');
  });
});
