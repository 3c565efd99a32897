// Videos over real HTTP: how they begin, what a look at them tells, what they cost, and who may see them.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { fault } from '../../lib/base/faults.ts';
import { open, send, until } from '../../testkit/client.ts';
import {
  accept,
  cut,
  FILM,
  type FilmUpstream,
  filmCatalog,
  inState,
  json,
  stall,
  startFilmUpstream,
  status,
} from '../../testkit/film-upstream.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { itOnSqlite } from '../../testkit/test-store.ts';
import { PNG } from '../media/sample-images.ts';

const VIDEOS = '/api/v1/videos';
const ENV = { VIDEO_POLL_MS: '20', VIDEO_RATE_LIMIT_PER_MINUTE: '100000', FIRST_TOKEN_TIMEOUT_MS: '600' };
const PNG_URI = `data:image/png;base64,${PNG.toString('base64')}`;

describe('videos', () => {
  let upstream: FilmUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startFilmUpstream();
    gateway = await startGateway({ catalog: filmCatalog(upstream.url), env: ENV });
  });
  beforeEach(async () => {
    upstream.behave({});
    upstream.begun.clear();
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const post = (body: object = {}, { key } = account) =>
    send(gateway.url + VIDEOS, { key, body: { model: 'film-a', prompt: 'A red square', ...body } });
  const look = (id: string, { key } = account) => send(`${gateway.url}${VIDEOS}?id=${id}`, { key });
  const ended = async (id: string) => {
    await until(async () => ['completed', 'failed'].includes((await look(id)).json.status), 10_000);
    return (await look(id)).json;
  };
  const balance = async () => Number((await gateway.wallet(account)).avail) / 1e6;

  it('start with the price charged, and end with a link to the file', async () => {
    const reply = await post();
    expect(reply.status, reply.text).to.equal(200);
    const { id, ...rest } = reply.json;
    expect(rest).to.deep.equal({
      object: 'video',
      model: 'film-a',
      status: 'queued',
      seconds: 5,
      price_rub: 75,
      balance_rub: 925,
      size: '1920x1080',
      resolution: null,
      billing: { charged_rub: 75, balance_rub: 925, unit: 'second', unit_price_rub: 15, price_option: '1080p' },
      poll: `/api/v1/videos?id=${id}`,
    });
    expect(id).to.equal(`vid_${String(reply.headers['x-request-id']).slice(4)}`);
    const { url, ...seen } = await ended(id);
    expect(seen).to.deep.equal({ id, status: 'completed', progress: 100 });
    const film = await fetch(url);
    expect(film.headers.get('content-type')).to.equal('video/mp4');
    expect(Buffer.from(await film.arrayBuffer()).equals(FILM)).to.equal(true);
    expect(await balance()).to.equal(925);
  });

  const bills: readonly [object, object][] = [
    [
      { model: 'f', resolution: '720p', seconds: 10 },
      { price_rub: 80, resolution: '720p', size: '1280x720' },
    ],
    [{ size: '720x1280' }, { price_rub: 40, resolution: null, size: '720x1280' }],
    [{ aspect: '9:16' }, { price_rub: 75, size: '1080x1920' }],
    [
      { model: 'film-flat', seconds: 4 },
      { price_rub: 36, size: '1920x1080' },
    ],
    [
      { model: 'film-each', seconds: 9 },
      { price_rub: 90, seconds: 9 },
    ],
    [{ seconds: null, size: null, aspect: null, resolution: null, image: null, extra: [1] }, { price_rub: 75 }],
  ];
  for (const [body, wanted] of bills) {
    it(`bill ${JSON.stringify(body)} as ${JSON.stringify(wanted)}`, async () => {
      const { json: begun } = await post(body);
      expect(begun).to.include(wanted);
      expect(begun.billing.charged_rub).to.equal(begun.price_rub);
      expect(begun.billing.unit).to.equal(begun.model === 'film-each' ? 'request' : 'second');
      expect((await ended(begun.id)).status).to.equal('completed');
    });
  }

  it('take a first frame as a data URI, or as the link of an image made here', async () => {
    const image = await gateway.store.media.write(
      {
        id: 'x'.repeat(43),
        account: account.id,
        kind: 'image',
        mediaType: 'image/png',
        createdAt: Date.now(),
        expiresAt: Date.now() + 60_000,
      },
      (async function* () {
        yield PNG;
      })(),
    );
    const link = `${gateway.url}/media/${image.id}.png`;
    for (const source of [
      { image: PNG_URI },
      { image: link },
      { input_reference: { image_url: PNG_URI } },
      { images: [PNG_URI] },
    ]) {
      const { json: begun, status: code } = await post(source);
      expect(code).to.equal(200);
      const sent = JSON.parse([...upstream.begun.values()].at(-1) ?? '{}');
      expect(Buffer.from(sent.image, 'base64').equals(PNG)).to.equal(true);
      await ended(begun.id);
    }
    const gone = await post({ image: `${gateway.url}/media/${'y'.repeat(43)}.png` });
    expect(gone.status).to.equal(400);
    expect(upstream.begun.size).to.equal(4);
  });

  it('fail with a message for the client and a refund, when the upstream says so', async () => {
    upstream.behave({ look: inState('failed', { task_status_msg: 'Failure to pass the risk control system' }) });
    const { json: begun } = await post();
    const seen = await ended(begun.id);
    expect(seen).to.deep.equal({
      id: begun.id,
      status: 'failed',
      progress: 0,
      url: null,
      error: fault('upstream_content').message,
      refunded: true,
    });
    expect(await balance()).to.equal(1000);
  });

  it('are visible to their own account only', async () => {
    const { json: begun } = await post();
    const other = await gateway.account();
    for (const [query, key, code] of [
      [`id=${begun.id}`, other.key, 404],
      [`id=vid_${'0'.repeat(32)}`, account.key, 404],
      ['id=constructor', account.key, 404],
      ['id=', account.key, 400],
      ['', account.key, 400],
      [`id=${begun.id}&id=${begun.id}`, account.key, 400],
      [`id=${begun.id}`, 'nobody', 401],
    ] as const) {
      const reply = await send(`${gateway.url}${VIDEOS}?${query}`, { key });
      expect([query, reply.status]).to.deep.equal([query, code]);
    }
    await ended(begun.id);
  });

  describe('whose submission fails', () => {
    const refusals = [400, 401, 402, 403, 404, 422, 429];
    for (const code of refusals) {
      it(`with ${code} are refunded, and the next route is asked unless the request itself is refused`, async () => {
        const isFinal = code === 400 || code === 422;
        upstream.behave({ submit: (exchange) => (exchange.before === 0 ? status(code)(exchange) : accept(exchange)) });
        const reply = await post({ model: 'film-two' });
        expect(upstream.begun.size).to.equal(isFinal ? 1 : 2);
        expect(reply.status).to.equal(isFinal ? 502 : 200);
        expect(await balance()).to.equal(isFinal ? 1000 : 995);
        if (!isFinal) {
          // A route that has failed again and again is asked last.
          const { model_name: asked } = JSON.parse([...upstream.begun.values()].at(-1) ?? '{}');
          const name = asked === 'up-spare' ? 'spare' : 'films';
          expect(await gateway.store.jobs.get(reply.json.id)).to.include({ upstream: name });
          await ended(reply.json.id);
          return;
        }
        expect(reply.json.error.message).to.contain('Charge refunded');
        expect(reply.headers['x-should-retry']).to.equal('false');
      });
    }

    const doubts = {
      'with 500': status(500),
      'with 503': status(503),
      'by a connection that is cut': cut,
      'by silence': stall,
      'by a reply without a job': (exchange: Parameters<typeof accept>[0]) => json(exchange.response, { code: 0 }),
      'by a reply that is not JSON': ({ response }: Parameters<typeof accept>[0]) => void response.end('<html>'),
    };
    for (const [name, submit] of Object.entries(doubts)) {
      it(`${name} are refunded, and never sent again, here or elsewhere`, async () => {
        upstream.behave({ submit });
        const reply = await post({ model: 'film-two' });
        expect(reply.status).to.equal(502);
        expect(reply.json.error.message).to.contain('Charge refunded');
        expect(upstream.begun.size).to.equal(1);
        expect(await balance()).to.equal(1000);
        const job = await gateway.store.jobs.get(`vid_${String(reply.headers['x-request-id']).slice(4)}`);
        expect(job).to.include({ phase: 'failed', dueAt: null });
      });
    }

    it('because the host refuses connections are sent to the next route', async () => {
      const dead = { plugin: 'kling', settings: { baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'a:b' } };
      const catalog = filmCatalog(upstream.url) as { upstreams: object; models: readonly object[] };
      const spelling = (name: string, pixels: string) => {
        return { upstream: name, model: 'm', options: { resolutions: { '480p': pixels } } };
      };
      const spelled = {
        ...{ id: 'film-spelled', type: 'video', provider: 'Test', price: { second: { '480p': '1' } } },
        routes: [spelling('films', '848x480'), spelling('spare', '832x480')],
      };
      const other = await startGateway({
        catalog: {
          ...catalog,
          upstreams: { ...catalog.upstreams, films: dead },
          models: [...catalog.models, spelled],
        },
        env: ENV,
      });
      try {
        const { key } = await other.account();
        const reply = await send(other.url + VIDEOS, { key, body: { model: 'film-two', prompt: 'x' } });
        expect(reply.status, reply.text).to.equal(200);
        expect(await other.store.jobs.get(reply.json.id)).to.include({ upstream: 'spare', phase: 'running' });
        // The reply tells the size that this route was asked for.
        const body = { model: 'film-spelled', prompt: 'x', aspect: '9:16' };
        expect((await send(other.url + VIDEOS, { key, body })).json).to.include({ size: '480x832', price_rub: 5 });
        await other.checkMoney();
      } finally {
        await other.stop();
      }
    });
  });

  itOnSqlite('that the store cannot read or write get 503, cost nothing, and reach no upstream', async () => {
    const broken = await startGateway({ catalog: filmCatalog(upstream.url), env: ENV });
    const database = new DatabaseSync(broken.databaseUrl.slice('sqlite:'.length), { timeout: 5_000 });
    try {
      const { key, id } = await broken.account();
      database.exec('ALTER TABLE jobs RENAME TO gone');
      const begun = await send(broken.url + VIDEOS, { key, body: { model: 'film-a', prompt: 'x' } });
      const seen = await send(`${broken.url}${VIDEOS}?id=vid_${'0'.repeat(32)}`, { key });
      database.exec('ALTER TABLE gone RENAME TO jobs');
      expect([begun, seen].map(({ status, json }) => [status, json.error.type])).to.deep.equal([
        [503, 'api_error'],
        [503, 'api_error'],
      ]);
      await until(async () => (await broken.store.jobs.open()) === 0);
      expect(upstream.begun.size).to.equal(0);
      await until(async () => (await broken.store.ledger.wallet(id))?.avail === 1_000_000_000n);
      await broken.checkMoney();
    } finally {
      database.close();
      await broken.stop();
    }
  });

  it('go on when their client leaves during the submission', async () => {
    let arrived: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    upstream.behave({
      async submit(exchange) {
        arrived();
        await new Promise((resolve) => setTimeout(resolve, 150));
        await accept(exchange);
      },
    });
    const sent = open(gateway.url + VIDEOS, { key: account.key, body: { model: 'film-a', prompt: 'x' } });
    sent.on('error', () => undefined);
    await waiting;
    sent.destroy();
    const jobs = async () =>
      (await gateway.store.jobs.page({ limit: 1000 })).filter(({ wallet }) => wallet === account.id);
    await until(async () => (await jobs())[0]?.phase === 'completed');
    expect(await jobs()).to.have.length(1);
    expect(await balance()).to.equal(925);
  });

  it('go on when the gateway stops and starts again', async () => {
    const first = await startGateway({ catalog: filmCatalog(upstream.url), env: ENV });
    const { key } = await first.account();
    upstream.behave({ look: inState('processing') });
    const { json: begun } = await send(first.url + VIDEOS, { key, body: { model: 'film-a', prompt: 'x' } });
    const home = { folder: first.folder, database: first.databaseUrl };
    await first.gateway.stop();
    upstream.behave({});
    const second = await startGateway({ catalog: filmCatalog(upstream.url), env: ENV, ...home });
    const seen = async () => (await send(`${second.url}${VIDEOS}?id=${begun.id}`, { key })).json;
    await until(async () => (await seen()).status === 'completed');
    await second.checkMoney();
    await second.stop();
    await first.store.close();
  });
});
