// Several keys of one upstream, some of which it refuses: a call goes on with another, is paid for once, and only then
// fails.
import { expect } from 'chai';
import { ask, CHAT, DIALECTS, type Reply, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { GENERATIONS } from '../../testkit/images.ts';
import { chatAnswer, startUpstream, type TestUpstream, type UpstreamCall } from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';

const KEYS = ['key-of-one-1', 'key-of-two-2', 'key-of-three'] as const;
const VIDEOS = '/api/v1/videos';

describe('several keys of an upstream', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;
  /** What the upstream says to a key; another is served. */
  let refusals: Readonly<Record<string, string>>;
  let asked: (readonly [method: string, key: string])[];

  const readKey = ({ request }: UpstreamCall) => String(request.headers.authorization).replace('Bearer ', '');

  function answer(call: UpstreamCall): void | Promise<void> {
    const { request, response } = call;
    const key = readKey(call);
    asked.push([request.method ?? '', key]);
    const refusal = refusals[key];
    const json = (status: number, body: unknown) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (refusal !== undefined) return json(403, { error: { message: refusal, type: 'permission_error' } });
    if (request.url?.includes('/images/')) return json(200, { data: [{ b64_json: PNG.toString('base64') }] });
    if (request.url?.includes('/videos')) return json(200, { id: 'v1', status: 'queued' });
    return chatAnswer('Hello there.')(call);
  }

  beforeEach(async () => {
    [refusals, asked] = [{}, []];
    upstream = await startUpstream(answer);
    const settings = { baseUrl: `${upstream.url}/v1`, apiKey: KEYS };
    const model = (id: string, type: string, price: object) => {
      const routes = [{ upstream: type, model: `up-${id}` }];
      return { id, type, provider: 'Test', routes, price };
    };
    const catalog = {
      upstreams: {
        text: { plugin: 'openai-compatible', settings },
        image: { plugin: 'openai-images', settings },
        video: { plugin: 'openai-videos', settings },
      },
      models: [
        model('model-a', 'text', { input: '1000', output: '5000' }),
        model('draw', 'image', { request: '10' }),
        { ...model('film', 'video', { second: { '720p': '8' } }), seconds: [4] },
      ],
    };
    gateway = await startGateway({ catalog, env: { VIDEO_POLL_MS: '100', METRICS_PORT: '0' } });
    account = await gateway.account();
  });
  afterEach(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    await upstream.close();
  });

  const post = (path: string, body: object): Promise<Reply> => send(gateway.url + path, { key: account.key, body });
  const charges = () => gateway.store.ledger.charges(account.id, { limit: 10 });
  const operator = () => (gateway.gateway.facts.metricsUrl ?? '').replace(/\/metrics$/, '');
  const resting = async () => (await send(`${operator()}/readyz?verbose`)).json.upstreams;

  for (const path of DIALECTS)
    for (const stream of [true, false])
      it(`answer with the last one that is accepted: ${path}${stream ? ', streaming' : ''}`, async () => {
        refusals = { [KEYS[0]]: 'Project does not have access to this model', [KEYS[1]]: 'forbidden' };
        const reply = await post(path, ask('hi', { stream }));
        expect([reply.status, reply.text.includes('Hello')]).to.deep.equal([200, true]);
        expect(asked.map(([, key]) => key)).to.deep.equal(KEYS);
        await until(async () => (await charges()).every(({ state }) => state === 'settled'));
        expect((await charges()).length).to.equal(1);
        expect((await resting()).text).to.include({ keys: 3, keys_resting: 2 });
        expect([(await post(path, ask('hi', { stream }))).status, asked.at(-1)?.[1]]).to.deep.equal([200, KEYS[2]]);
        expect(asked.length).to.equal(4);
      });

  it('make an image with the next one, which is paid for once', async () => {
    refusals = { [KEYS[0]]: 'forbidden' };
    const { status } = await post(GENERATIONS, { model: 'draw', prompt: 'a door' });
    expect([status, asked.length, (await charges()).map(({ state }) => state)]).to.deep.equal([200, 2, ['settled']]);
  });

  it('poll a video with the key that started it, whatever that key is refused meanwhile', async () => {
    refusals = { [KEYS[0]]: 'forbidden' };
    const begun = await post(VIDEOS, { model: 'film', prompt: 'a door', seconds: 4 });
    expect(asked).to.deep.equal([
      ['POST', KEYS[0]],
      ['POST', KEYS[1]],
    ]);
    expect(begun.status).to.be.oneOf([200, 202]);
    refusals = { [KEYS[1]]: 'forbidden' };
    await until(() => asked.filter(([method]) => method === 'GET').length > 2);
    expect(new Set(asked.slice(2).map(([, key]) => key))).to.deep.equal(new Set([KEYS[1]]));
    expect((await charges()).map(({ state }) => state)).to.deep.equal(['settled']);
  });

  it('fail only when each was asked, and nothing is charged', async () => {
    refusals = Object.fromEntries(KEYS.map((key) => [key, 'forbidden']));
    const reply = await post(CHAT, ask('hi'));
    expect([reply.status, asked.map(([, key]) => key)]).to.deep.equal([502, KEYS]);
    expect(reply.text).to.contain('refunded');
    expect((await charges()).map(({ state, charged }) => [state, charged])).to.deep.equal([['released', 0n]]);
  });

  it("are not paused for a client's mistake", async () => {
    refusals = { [KEYS[0]]: 'Your input was flagged by our moderation' };
    const reply = await post(CHAT, ask('hi'));
    expect([reply.status, asked.length]).to.deep.equal([502, 1]);
    expect((await resting()).text).to.include({ keys: 3, keys_resting: 0 });
  });
});
