// A real gateway, real calls, real scrapes: everything that happens is counted once, under labels that are bounded.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect } from 'chai';
import { ask, CHAT, DIALECTS, MESSAGES, open, readHead, send, until } from '../../testkit/client.ts';
import { type Exposition, scrape } from '../../testkit/exposition.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import {
  answerStatus,
  chatAnswer,
  chatChunk,
  chatEnd,
  chatStall,
  SSE,
  startUpstream,
  type TestUpstream,
} from '../../testkit/upstream.ts';

const REQUESTS = 'tollgate_requests_total';
const ATTEMPTS = 'tollgate_upstream_attempts_total';

describe('metrics', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;
  let url: string;
  let earlier: Exposition;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      catalog: chatCatalog(upstream.url),
      env: { METRICS_PORT: '0', BALANCE_RATE_LIMIT_PER_MINUTE: '2' },
    });
    url = gateway.gateway.facts.metricsUrl ?? '';
  });
  beforeEach(async () => {
    upstream.behave(chatAnswer('Hello there.'));
    account = await gateway.account();
    earlier = await scrape(url);
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  /** How much a metric has grown since the test began. */
  async function grown(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const now = await scrape(url);
    return Math.round((now.sum(name, labels) - earlier.sum(name, labels)) * 1e6) / 1e6;
  }
  /** A request is counted when its reply is over, which its client may see first. */
  const counted = (count: number) => until(async () => (await grown(REQUESTS)) === count);

  for (const path of DIALECTS) {
    it(`counts and times answers, and their money: ${path}`, async () => {
      const startedAt = performance.now();
      for (const stream of [true, false, true]) {
        expect((await send(gateway.url + path, { key: account.key, body: ask('hi', { stream }) })).status).to.equal(
          200,
        );
      }
      await counted(3);
      const labels = { endpoint: path, model: 'model-a', status: '200', outcome: 'ok' };
      expect(await grown(REQUESTS, labels)).to.equal(3);
      expect(await grown('tollgate_first_fragment_seconds_count', { model: 'model-a' })).to.equal(3);
      const seconds = (performance.now() - startedAt) / 1000;
      expect(await grown('tollgate_first_fragment_seconds_sum', { model: 'model-a' })).to.be.within(0, seconds);
      expect(await grown('tollgate_request_duration_seconds_count', { endpoint: path, stream: 'true' })).to.equal(2);
      expect(await grown('tollgate_request_duration_seconds_count', { endpoint: path, stream: 'false' })).to.equal(1);
      expect(await grown(ATTEMPTS, { upstream: 'up', outcome: 'ok', kind: '' })).to.equal(3);
      const { charged } = await gateway.wallet(account);
      expect(await grown('tollgate_charged_rubles_total', { model: 'model-a' })).to.equal(Number(charged) / 1e6);
      expect(await grown('tollgate_refunded_rubles_total')).to.equal(0);
      expect(await grown('tollgate_ledger_operations_total')).to.equal(6);
      expect(await grown('tollgate_ledger_commit_seconds_count', { result: 'ok' })).to.be.within(2, 6);
      expect(await grown('tollgate_usage_estimated_total')).to.equal(0);
    });
  }

  it('counts refusals by fault; a name from a client becomes a label only if the catalog knows it', async () => {
    const poor = await gateway.account('0');
    const calls: readonly [path: string, options: Parameters<typeof send>[1], status: number, labels: object][] = [
      [MESSAGES, { body: ask('hi') }, 401, { endpoint: MESSAGES, model: 'unknown', outcome: 'missing_key' }],
      [CHAT, { key: 'tg-sk-no', body: ask('hi') }, 401, { endpoint: CHAT, model: 'unknown', outcome: 'invalid_key' }],
      [
        MESSAGES,
        { key: account.key, body: ask('hi', { model: 'x"y\nz' }) },
        400,
        { model: 'unknown', outcome: 'unknown_model' },
      ],
      [
        MESSAGES,
        { key: account.key, body: ask('hi', { model: 'film-a' }) },
        400,
        { model: 'unknown', outcome: 'wrong_model_type' },
      ],
      [MESSAGES, { key: account.key, body: '{' }, 400, { model: 'unknown', outcome: 'invalid_json' }],
      [CHAT, { key: poor.key, body: ask('hi', { model: 'a' }) }, 402, { model: 'model-a', outcome: 'never_topped_up' }],
      ['/api/v1/nothing/here', { key: account.key }, 404, { endpoint: 'other', model: '', outcome: 'not_found' }],
      [MESSAGES, { key: account.key }, 405, { endpoint: MESSAGES, model: '', outcome: 'method_not_allowed' }],
      ['/api/v1/balance', { key: account.key }, 200, { endpoint: '/api/v1/balance', model: '', outcome: 'ok' }],
      ['/api/v1/balance', { key: account.key }, 200, { endpoint: '/api/v1/balance', model: '', outcome: 'ok' }],
      [
        '/api/v1/balance',
        { key: account.key },
        429,
        { endpoint: '/api/v1/balance', model: '', outcome: 'rate_limited' },
      ],
    ];
    for (const [path, options, status] of calls) {
      expect((await send(gateway.url + path, options)).status, path).to.equal(status);
    }
    await counted(calls.length);
    for (const [, , status, labels] of calls) {
      const same = calls.filter((other) => JSON.stringify(other[3]) === JSON.stringify(labels)).length;
      expect(await grown(REQUESTS, { ...labels, status: `${status}` }), JSON.stringify(labels)).to.equal(same);
    }
    expect(await grown('tollgate_charged_rubles_total')).to.equal(0);
    expect(await grown(ATTEMPTS)).to.equal(0);
  });

  it('counts input that is not HTTP', async () => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').resume();
    socket.write('NOT HTTP\r\n\r\n');
    await new Promise((resolve) => socket.once('close', resolve));
    expect(await grown('tollgate_malformed_requests_total', { status: '400' })).to.equal(1);
  });

  it('counts failures of upstreams by their kind, and what was refunded', async () => {
    const failures = [
      [answerStatus(401), 'upstream_failed', 'auth'],
      [answerStatus(429), 'upstream_failed', 'rate'],
      [answerStatus(503), 'upstream_failed', 'overloaded'],
      [answerStatus(400), 'upstream_refused', 'request'],
    ] as const;
    for (const [behaviour, outcome, kind] of failures) {
      upstream.behave(behaviour);
      const { status } = await send(gateway.url + CHAT, { key: account.key, body: ask('hi') });
      expect(status).to.equal(502);
      expect(await grown(ATTEMPTS, { upstream: 'up', outcome, kind })).to.equal(1);
    }
    await counted(4);
    expect(await grown(REQUESTS, { model: 'model-a', status: '502', outcome: 'upstream_failed' })).to.equal(3);
    expect(await grown(REQUESTS, { model: 'model-a', status: '502', outcome: 'upstream_refused' })).to.equal(1);
    expect(await grown('tollgate_first_fragment_seconds_count')).to.equal(0);
    expect(await grown('tollgate_request_duration_seconds_count')).to.equal(0);
    const hold = 5.005;
    expect(await grown('tollgate_refunded_rubles_total', { model: 'model-a' })).to.equal(4 * hold);
    expect((await gateway.wallet(account)).charged).to.equal(0n);
  });

  it('counts a stream that breaks off under its fault, though its status is 200', async () => {
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      response.end(chatChunk('Half an'));
    });
    await send(gateway.url + MESSAGES, { key: account.key, body: ask('hi', { stream: true }) });
    await counted(1);
    expect(await grown(REQUESTS, { status: '200', outcome: 'upstream_truncated' })).to.equal(1);
    expect(await grown(ATTEMPTS, { outcome: 'upstream_truncated', kind: '' })).to.equal(1);
    expect(await grown('tollgate_first_fragment_seconds_count', { model: 'model-a' })).to.equal(1);
    expect(await grown('tollgate_charged_rubles_total', { model: 'model-a' })).to.equal(0.5);
  });

  it('shows calls and streams under way, and counts clients that leave', async () => {
    upstream.behave(chatStall(['first ']));
    const calls = [true, true, false].map((stream) =>
      open(gateway.url + CHAT, { key: account.key, body: ask('hi', { stream }) }),
    );
    const [first, second] = await Promise.all(calls.slice(0, 2).map(readHead));
    for (const reply of [first, second]) reply?.on('error', () => undefined).resume();
    await until(async () => (await scrape(url)).sum('tollgate_open_calls') === 3);
    expect((await scrape(url)).sum('tollgate_open_streams')).to.equal(2);
    for (const call of calls) call.on('error', () => undefined).destroy();
    await counted(3);
    expect(await grown(REQUESTS, { status: '200', outcome: 'gone', model: 'model-a' })).to.equal(2);
    expect(await grown(REQUESTS, { status: '0', outcome: 'gone', model: 'model-a' })).to.equal(1);
    await until(async () => (await grown(ATTEMPTS, { upstream: 'up', outcome: 'gone' })) === 3);
    await until(async () => (await scrape(url)).sum('tollgate_open_calls') === 0);
    expect((await scrape(url)).sum('tollgate_open_streams')).to.equal(0);
  });

  it('counts implausible usage, and charges above the hold', async () => {
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      response.end(chatChunk('Hello.') + chatEnd({ output: -1 }));
    });
    await send(gateway.url + CHAT, { key: account.key, body: ask('hi') });
    upstream.behave(chatAnswer('Hello.', { input: 60, output: 1000 }));
    await send(gateway.url + CHAT, { key: account.key, body: ask('hi') });
    await counted(2);
    expect(await grown('tollgate_usage_estimated_total', { model: 'model-a' })).to.equal(1);
    expect(await grown('tollgate_overshoot_rubles_total', { model: 'model-a' })).to.equal(0.055);
  });

  it('shows the state of the service', async () => {
    const now = await scrape(url);
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(now.sum('tollgate_build_info', { version, node: process.version })).to.equal(1);
    expect(now.sum('tollgate_store_up')).to.equal(1);
    expect(now.sum('tollgate_models')).to.equal(1);
    expect(now.sum('tollgate_ledger_queue_operations')).to.equal(0);
    expect(now.samples.filter(({ name }) => name === 'tollgate_ledger_problems')).to.have.length(0);
    expect(now.sum('process_cpu_seconds_total')).to.be.above(0);
    expect(now.types.has('nodejs_eventloop_lag_p99_seconds')).to.equal(true);
  });

  it('reveals nothing of an account', async () => {
    await send(gateway.url + CHAT, { key: account.key, body: ask('a prompt of somebody') });
    await counted(1);
    const { text } = await scrape(url);
    for (const secret of [
      account.id,
      account.keyId,
      account.key,
      'up-secret-key-1',
      'req_',
      'acc_',
      'tg-sk',
      'somebody',
    ]) {
      expect(text).not.to.contain(secret);
    }
  });

  it("serves nothing else on its port, and is not on the clients' port", async () => {
    const root = url.replace('/metrics', '');
    expect((await send(`${root}/`)).status).to.equal(404);
    expect((await send(`${root}/metrics/x`)).status).to.equal(404);
    expect((await send(`${root}/metrics?name=x`)).status).to.equal(200);
    const posted = await send(url, { method: 'POST', body: {} });
    expect([posted.status, posted.headers.allow]).to.deep.equal([405, 'GET, HEAD']);
    const head = await send(url, { method: 'HEAD' });
    expect([head.status, head.text]).to.deep.equal([200, '']);
    expect((await send(`${gateway.url}/metrics`)).status).to.equal(404);
  });

  it('collects nothing without its port', async () => {
    const bare = await startGateway({ catalog: chatCatalog(upstream.url) });
    try {
      expect(bare.gateway.facts.metricsUrl).to.equal(undefined);
      expect((await send(`${bare.url}/metrics`)).status).to.equal(404);
    } finally {
      await bare.stop();
    }
  });
});
