// The line of a request says how its call ended and what it came to, also when the client did not wait for that.
import { once } from 'node:events';
import { expect } from 'chai';
import { ask, DIALECTS, open, readHead, send, until } from '../../testkit/client.ts';
import { scrape } from '../../testkit/exposition.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { readLogLines } from '../../testkit/log-lines.ts';
import {
  answerStatus,
  chatAnswer,
  chatChunk,
  chatStall,
  startUpstream,
  type TestUpstream,
} from '../../testkit/upstream.ts';

type Line = Readonly<Record<string, unknown>>;

describe('the log line of a request', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;
  let earlier: number;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalog: chatCatalog(upstream.url), env: { METRICS_PORT: '0' } });
  });
  beforeEach(async () => {
    account = await gateway.account();
    earlier = lines().length;
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const lines = (): readonly Line[] => readLogLines(gateway);
  const isRequest = ({ msg }: Line) => msg === 'request';

  /** All that was logged from the start of the test to the line of its one request. */
  async function logged(): Promise<{ line: Line; others: readonly Line[] }> {
    await until(() => lines().slice(earlier).some(isRequest));
    const found = lines().slice(earlier);
    expect(found.filter(isRequest)).to.have.length(1);
    return { line: found.find(isRequest) as Line, others: found.filter((line) => !isRequest(line)) };
  }

  for (const path of DIALECTS) {
    for (const stream of [true, false]) {
      it(`has the charge and the tokens: ${path}, stream ${stream}`, async () => {
        upstream.behave(chatAnswer('Hello.', { input: 60, output: 1000 }));
        await send(gateway.url + path, { key: account.key, body: ask('hi', { stream }) });
        const { line } = await logged();
        expect(line).to.include({ status: 200, aborted: false, ending: 'finish', charged_micro: '5060000' });
        expect(line).to.include({ tokens_input: 60, tokens_output: 1000 });
        expect(line).to.include({ account: account.id, key: account.keyId, stream });
      });

      it(`has them when the client left, without a warning about usage: ${path}, stream ${stream}`, async () => {
        // 2000 characters are counted as 501 tokens: 2.505 RUB, and 5 tokens of input.
        upstream.behave(chatStall(['z'.repeat(2000)]));
        const arrived = upstream.nextCall();
        const call = open(gateway.url + path, { key: account.key, body: ask('hi', { stream }) });
        call.on('error', () => undefined);
        if (stream) {
          const response = await readHead(call);
          await new Promise((resolve) => response.on('error', () => undefined).once('data', resolve));
        } else {
          await arrived;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        call.destroy();
        const { line, others } = await logged();
        expect(line).to.include({ status: stream ? 200 : 0, aborted: true, ending: 'gone', model: 'model-a' });
        expect(line).to.include({ charged_micro: '2510000', tokens_input: 5, tokens_output: 501 });
        expect([line.doubt, others]).to.deep.equal([undefined, []]);
        expect((await gateway.wallet(account)).charged).to.equal(2_510_000n);
        const metrics = await scrape(gateway.gateway.facts.metricsUrl ?? '');
        expect(metrics.sum('tollgate_usage_estimated_total')).to.equal(0);
      });
    }
  }

  it('says that the client left before anything was held', async () => {
    const arrival = once(gateway.gateway.server.listener, 'request');
    const call = open(gateway.url + DIALECTS[0], {
      key: account.key,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': '100' },
    });
    call.on('error', () => undefined);
    await arrival;
    await new Promise((resolve) => setTimeout(resolve, 100));
    call.destroy();
    const { line } = await logged();
    expect(line).to.include({ status: 0, aborted: true, ending: 'gone' });
    expect(line).not.to.have.any.keys('charged_micro', 'err', 'fault');
  });

  it('names the field that is wrong, and the model that was asked for', async () => {
    await send(gateway.url + DIALECTS[0], { key: account.key, body: ask('hi', { max_tokens: -1 }) });
    expect((await logged()).line).to.include({ status: 400, fault: 'invalid_field', field: 'max_tokens' });
    earlier = lines().length;
    await send(gateway.url + DIALECTS[1], { key: account.key, body: ask('hi', { model: 'model-z' }) });
    expect((await logged()).line).to.include({ status: 400, fault: 'unknown_model', asked: 'model-z' });
  });

  it("never has an upstream's words, which may quote the prompt", async () => {
    const quoted = 'words of the prompt in the error of the vendor';
    for (const status of [400, 401, 404, 429, 500]) {
      earlier = lines().length;
      upstream.behave(({ response }) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: quoted, type: 'some_error' } }));
      });
      await send(gateway.url + DIALECTS[1], { key: account.key, body: ask('hi') });
      const { line, others } = await logged();
      expect(line).to.include({ status: 502, ending: 'error' });
      const attempts = others.filter(({ route }) => route === undefined);
      expect(attempts.map(({ upstream: name, status: said }) => [name, said])).to.deep.equal([['up', status]]);
      expect(JSON.stringify([line, ...others])).not.to.contain('words of');
    }
    upstream.behave(answerStatus(200));
  });

  it("never has an upstream's words from a stream or another kind of answer either", async () => {
    const quoted = 'words of the prompt in the error of the vendor';
    const event = (value: unknown) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
    const failure = event({ error: { message: quoted, code: quoted } });
    const bodies = [failure, chatChunk('Hel') + failure, chatChunk('Hel') + event(`{${quoted}`), event(quoted)];
    for (const body of [...bodies, quoted, JSON.stringify({ error: { message: quoted } })]) {
      for (const type of ['text/event-stream', 'application/json']) {
        earlier = lines().length;
        upstream.behave(({ response }) => {
          response.writeHead(200, { 'content-type': type, 'x-error': quoted });
          response.end(body);
        });
        await send(gateway.url + DIALECTS[0], { key: account.key, body: ask('hi', { stream: true }) });
        const { line, others } = await logged();
        expect(line.ending, `${type} ${body}`).to.equal('error');
        expect(JSON.stringify([line, ...others])).not.to.contain('words of');
      }
    }
    upstream.behave(({ response }) => {
      response.writeHead(302, { location: `https://example.com/${quoted}` }).end();
    });
    earlier = lines().length;
    await send(gateway.url + DIALECTS[1], { key: account.key, body: ask('hi') });
    const { others } = await logged();
    expect(others).not.to.deep.equal([]);
    expect(JSON.stringify(others)).not.to.contain('words of');
    upstream.behave(answerStatus(200));
  });
});
