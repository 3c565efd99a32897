// Large images of answers that arrive at the same moment wait for each other: none fails, and each is paid.
import http from 'node:http';
import { expect } from 'chai';
import { CHAT, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { chatEnd, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { png } from '../media/sample-images.ts';

const MIB = 1024 * 1024;
const IMAGE = png({ bytes: 2 * MIB }).toString('base64');
const EVENT = `data: ${JSON.stringify({
  id: 'up_1',
  choices: [{ index: 0, delta: { images: [{ image_url: { url: `data:image/png;base64,${IMAGE}` } }] } }],
})}\n\n`;
const PRICE = 8n * 1000n + 1300n * 5000n;

describe('images of answers for which there is no room yet', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    const model = {
      ...{ id: 'm', type: 'text', provider: 'Test', price: { input: '1000', output: '5000' } },
      routes: [
        { upstream: 'up', model: 'm' },
        { upstream: 'other', model: 'm' },
      ],
    };
    const up = { plugin: 'openai-compatible', settings: { baseUrl: `${upstream.url}/v1`, apiKey: 'secret' } };
    gateway = await startGateway({
      catalog: { upstreams: { up, other: up }, models: [model] },
      // An upstream that has to wait is not silent.
      env: { IDLE_TIMEOUT_MS: '1500', TOTAL_TIMEOUT_MS: '7000' },
    });
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      response.end(EVENT + chatEnd({ input: 8, output: 1300 }));
    });
  });
  beforeEach(async () => {
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const ask = (stream: boolean) =>
    send(gateway.url + CHAT, {
      key: account.key,
      body: { model: 'm', max_tokens: 2000, stream, messages: [{ role: 'user', content: 'Draw.' }] },
    });
  const charged = async () => {
    await until(async () => (await gateway.wallet(account)).held === 0n);
    return (await gateway.wallet(account)).charged;
  };

  /** A body of which nothing more arrives takes the memory that it announces, of the 48 MiB that a key may have. */
  async function upload(bytes: number): Promise<http.ClientRequest> {
    const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' };
    const request = http.request(gateway.url + CHAT, {
      method: 'POST',
      headers: { ...headers, 'content-length': bytes },
    });
    request.on('error', () => undefined);
    request.write('{');
    await new Promise((resolve) => setTimeout(resolve, 300));
    return request;
  }

  it('come one after the other', async () => {
    const body = await upload(42 * MIB);
    const answers = await Promise.all(Array.from({ length: 6 }, (_, at) => ask(at % 2 === 0)));
    body.destroy();
    expect(answers.map(({ status, text }) => [status, text.includes(IMAGE)])).to.deep.equal(
      answers.map(() => [200, true]),
    );
    expect(await charged()).to.equal(6n * PRICE);
  }).timeout(60_000);

  it('come once there is room, however long the upstream had to wait', async () => {
    const body = await upload(47 * MIB);
    const answer = ask(true);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    body.destroy();
    expect((await answer).text.includes(IMAGE)).to.equal(true);
    expect(await charged()).to.equal(PRICE);
  }).timeout(20_000);

  it('fail at the end of the time of the call, without another route, and are refunded', async () => {
    const calls = upstream.calls.length;
    const body = await upload(47 * MIB);
    const { status, json } = await ask(false);
    body.destroy();
    expect([status, json.error.message, upstream.calls.length - calls]).to.deep.equal([
      503,
      'Too many large answers are being delivered at the moment. Charge refunded.',
      1,
    ]);
    expect(await charged()).to.equal(0n);
  }).timeout(20_000);
});
