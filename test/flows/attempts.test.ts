// What calls of every kind book of their attempts at real sockets: the key and id of each request, its cost in the
// vendor's currency, and what a job costs once its upstream has said so.
import { expect } from 'chai';
import type { Attempt } from '../../lib/money/attempt.ts';
import { ask, CHAT, type Reply, send, until } from '../../testkit/client.ts';
import { scrape } from '../../testkit/exposition.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { GENERATIONS } from '../../testkit/images.ts';
import { chatAnswer, startUpstream, type TestUpstream, type UpstreamCall } from '../../testkit/upstream.ts';
import { MP4, PNG } from '../media/sample-images.ts';

const KEYS = ['key-of-one-1', 'key-of-two-2'] as const;
const RATE = 80_000_000n;

describe('attempts at upstreams', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;
  /** The status with which the upstream refuses a key. */
  let refused: Readonly<Record<string, number>>;
  let film: { readonly status: string };
  let count: number;

  function answer(call: UpstreamCall): void | Promise<void> {
    const { request, response } = call;
    const key = String(request.headers.authorization).replace('Bearer ', '');
    count += 1;
    const status = refused[key];
    response.setHeader('x-request-id', `vendor-${count}`);
    const json = (code: number, body: unknown) =>
      void response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (status !== undefined) return json(status, { error: { message: 'no' } });
    if (request.url?.includes('/images/')) {
      const image = { b64_json: PNG.toString('base64') };
      return json(200, { data: [image, image] });
    }
    if (request.url?.includes('/content'))
      return void response.writeHead(200, { 'content-type': 'video/mp4' }).end(MP4);
    if (request.url?.includes('/videos')) return json(200, { id: 'vid-at-vendor', ...film });
    if (request.url?.includes('/embeddings')) {
      return json(200, { data: [{ index: 0, embedding: [0.5] }], usage: { prompt_tokens: 4, total_tokens: 4 } });
    }
    return chatAnswer('Hello there.')(call);
  }

  beforeEach(async () => {
    [refused, film, count] = [{}, { status: 'queued' }, 0];
    upstream = await startUpstream(answer);
    const settings = { baseUrl: `${upstream.url}/v1`, apiKey: KEYS };
    const model = (id: string, type: string, price: object, cost: object) => {
      const plugin = type === 'image' ? 'image' : type === 'video' ? 'video' : 'text';
      const routes = [{ upstream: plugin, model: `up-${id}`, cost: { currency: 'USD', ...cost } }];
      return { id, type, provider: 'Test', routes, price };
    };
    const catalog = {
      upstreams: {
        text: { plugin: 'openai-compatible', settings },
        image: { plugin: 'openai-images', settings },
        video: { plugin: 'openai-videos', settings },
      },
      rates: { USD: { rub: '80', from: '2026-01-01' } },
      models: [
        model('model-a', 'text', { input: '1000', output: '5000' }, { input: '1', output: '2' }),
        model('vectors', 'embedding', { input: '1000' }, { input: '1' }),
        model('draw', 'image', { request: '10' }, { request: '0.04' }),
        { ...model('film', 'video', { second: { '720p': '80' } }, { second: { '720p': '0.1' } }), seconds: [4] },
      ],
    };
    gateway = await startGateway({ catalog, env: { VIDEO_POLL_MS: '50', METRICS_PORT: '0' } });
    account = await gateway.account();
  });
  afterEach(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    await upstream.close();
  });

  const post = (path: string, body: object): Promise<Reply> => send(gateway.url + path, { key: account.key, body });

  /** The attempts of the only call, once it has ended. */
  async function booked(isDone: (last: Attempt | undefined) => boolean = (last) => last !== undefined) {
    let rows: readonly Attempt[] = [];
    await until(async () => {
      rows = await gateway.store.attempts.page({ limit: 10 });
      return isDone(rows.at(-1));
    });
    return rows;
  }
  const brief = ({ number, keyPlace, requestId, ending, certainty, cost }: Attempt) =>
    [number, keyPlace, requestId, ending, certainty, cost && Number(cost.cost)] as const;

  it('have a row for each key that was tried', async () => {
    refused = { [KEYS[0]]: 429 };
    expect((await post(CHAT, ask('hi'))).status).to.equal(200);
    const rows = await booked();
    expect(rows.map(brief).map((row) => row.slice(0, 5))).to.deep.equal([
      [1, 1, 'vendor-1', 'refused', 'none'],
      [2, 2, 'vendor-2', 'answered', 'reported'],
    ]);
    expect(rows.map(({ cost }) => [cost?.currency, cost?.rate])).to.deep.equal([
      ['USD', RATE],
      ['USD', RATE],
    ]);
    expect(rows[0]?.cost).to.include({ cost: 0n, costRub: 0n });
    const { tokens_input: input, tokens_output: output } = JSON.parse(rows[1]?.usage ?? '{}');
    expect(rows[1]?.cost?.cost).to.equal(BigInt(input + 2 * output));
  });

  it('of images and embeddings have what came back', async () => {
    await post(GENERATIONS, { model: 'draw', prompt: 'a hill' });
    await post('/api/v1/embeddings', { model: 'vectors', input: 'hello' });
    // Two images at 0.04 USD, of which one is charged; four tokens at 1 USD per million.
    expect((await booked((last) => last?.model === 'vectors')).map(brief)).to.deep.equal([
      [1, 1, 'vendor-1', 'answered', 'reported', 80_000],
      [1, 1, 'vendor-2', 'answered', 'reported', 4],
    ]);
  });

  it('of a failed image may have cost one, and of failed embeddings their input', async () => {
    refused = { [KEYS[0]]: 500, [KEYS[1]]: 500 };
    expect((await post(GENERATIONS, { model: 'draw', prompt: 'a hill' })).status).to.equal(502);
    expect((await post('/api/v1/embeddings', { model: 'vectors', input: 'hello' })).status).to.equal(502);
    expect((await booked((last) => last?.model === 'vectors')).map(brief)).to.deep.equal([
      [1, 1, 'vendor-1', 'failed', 'possible', 40_000],
      [1, 1, 'vendor-2', 'failed', 'possible', 1],
    ]);
  });

  it('of a video run until its job has ended', async () => {
    await post('/api/v1/videos', { model: 'film', prompt: 'a hill' });
    expect((await booked()).map(brief)).to.deep.equal([[1, 1, 'vid-at-vendor', 'running', 'possible', 400_000]]);
    film = { status: 'completed' };
    const rows = await booked((last) => last?.ending === 'answered');
    expect(rows.map(brief)).to.deep.equal([[1, 1, 'vid-at-vendor', 'answered', 'reported', 400_000]]);
    expect(rows[0]?.usage).to.equal('{"seconds":4,"resolution":"720p"}');
    const cost = ['tollgate_upstream_cost_rubles_total', { model: 'film', certainty: 'reported' }] as const;
    await until(async () => (await scrape(gateway.gateway.facts.metricsUrl ?? '')).sum(...cost) === 32);
  });

  it('of a video that failed may have cost all of it, and of a refused one nothing', async () => {
    await post('/api/v1/videos', { model: 'film', prompt: 'a hill' });
    film = { status: 'failed' };
    const rows = await booked((last) => last?.ending === 'failed');
    expect(rows.map(brief)).to.deep.equal([[1, 1, 'vid-at-vendor', 'failed', 'possible', 400_000]]);
    refused = { [KEYS[0]]: 400, [KEYS[1]]: 400 };
    await post('/api/v1/videos', { model: 'film', prompt: 'a hill' });
    const all = await booked((last) => last?.ending === 'refused');
    expect(brief(all[1] as Attempt).slice(3)).to.deep.equal(['refused', 'none', 0]);
  });
});
