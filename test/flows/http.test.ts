// HTTP as clients meet it: limits, CORS, request ids, bodies that stall or grow, the smaller endpoints.
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ask, CHAT, DIALECTS, MESSAGES, readHead, send, until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { itTimed } from '../../testkit/timed.ts';
import {
  chatAnswer,
  chatChunk,
  chatEnd,
  chatStall,
  SSE,
  startUpstream,
  type TestUpstream,
} from '../../testkit/upstream.ts';

describe('http', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream();
    const env = { RATE_LIMIT_PER_MINUTE: '5', BALANCE_RATE_LIMIT_PER_MINUTE: '7' };
    gateway = await startGateway({ catalog: chatCatalog(upstream.url), env });
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  it('limits the generating endpoints together, refused requests too, and names the seconds to wait', async () => {
    const { key } = await gateway.account();
    const codes: number[] = [];
    for (let at = 0; at < 7; at += 1) {
      const path = DIALECTS[at % 2] as string;
      const reply = await send(gateway.url + path, { key, body: at === 2 ? '{' : ask('hi') });
      codes.push(reply.status);
      if (reply.status !== 429) continue;
      expect(Number(reply.headers['retry-after'])).to.be.within(1, 59);
      expect(reply.json.error.type).to.equal('rate_limit_error');
      expect(reply.headers['x-should-retry']).to.equal(undefined);
    }
    expect(codes).to.deep.equal([200, 200, 400, 200, 200, 429, 429]);
    expect((await send(`${gateway.url}/api/v1/models`, { key })).status).to.equal(200);
    expect((await send(`${gateway.url}/api/v1/balance`, { key })).status).to.equal(200);
    const other = await gateway.account();
    expect((await send(gateway.url + CHAT, { key: other.key, body: ask('hi') })).status).to.equal(200);
  });

  it('limits the balance in a bucket of its own, and models not at all', async () => {
    const { key } = await gateway.account();
    const codes = [];
    for (let at = 0; at < 9; at += 1) codes.push((await send(`${gateway.url}/api/v1/balance`, { key })).status);
    expect(codes).to.deep.equal([200, 200, 200, 200, 200, 200, 200, 429, 429]);
    for (let at = 0; at < 20; at += 1) {
      expect((await send(`${gateway.url}/api/v1/models`, { key })).status).to.equal(200);
    }
  });

  it('lists models with their prices and the balance', async () => {
    const { key } = await gateway.account('1234.5');
    const { json } = await send(`${gateway.url}/api/v1/models`, { key });
    expect(json).to.deep.equal({
      object: 'list',
      currency: 'RUB',
      balance_rub: 1234.5,
      data: [
        {
          id: 'model-a',
          aliases: ['a'],
          type: 'text',
          endpoint: '/v1/messages',
          unit: '1M_tokens',
          price_rub: 1000,
          input_price_rub: 1000,
          output_price_rub: 5000,
          min_rub: 0.5,
          provider: 'Test',
          object: 'model',
          created: 0,
          owned_by: 'Test',
          display_name: 'model-a',
          max_output_tokens: 32_768,
          input_modalities: ['text'],
          supported_parameters: ['max_tokens', 'stop'],
        },
      ],
    });
  });

  it('answers in full, whatever range is requested', async () => {
    const { key } = await gateway.account();
    const body = ask('hi');
    const calls = [
      ['/api/v1/models', {}],
      ['/api/v1/balance', {}],
      ['/api/v1/none', {}],
      ['/healthz', {}],
      ['/openapi.json', {}],
      [MESSAGES, { body }],
    ] as const;
    for (const [path, options] of calls) {
      const whole = await send(gateway.url + path, { key, ...options });
      const asked = await send(gateway.url + path, { key, ...options, headers: { range: 'bytes=0-3' } });
      expect([path, asked.status]).to.deep.equal([path, whole.status]);
      expect(asked.json).to.be.an('object');
      expect(asked.headers).to.not.have.any.keys('accept-ranges', 'content-range');
    }
  });

  it('shows the wallet, including this call', async () => {
    const { key } = await gateway.account('2000');
    await send(gateway.url + MESSAGES, { key, body: ask('hi') });
    const { json } = await send(`${gateway.url}/api/v1/balance`, { key });
    expect(json.key.last_used_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(json.key.last_used_at)).to.be.closeTo(Date.now(), 2000);
    expect({ ...json, key: { ...json.key, last_used_at: '' } }).to.deep.equal({
      currency: 'RUB',
      balance_rub: 1999.5,
      topped_up_total_rub: 2000,
      spent_30d_rub: 0.5,
      min_topup_rub: 1000,
      auto_topup: { enabled: false, amount_rub: 0, threshold_rub: 0 },
      key: { name: 'test key', requests_count: 2, last_used_at: '' },
    });
  });

  it('allows any origin, answers preflights without a key, and exposes ids and retry-after, on errors too', async () => {
    const headers = {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key, content-type, x-stainless-os',
    };
    const preflight = await send(gateway.url + MESSAGES, { method: 'OPTIONS', headers });
    expect(preflight.status).to.equal(204);
    expect(preflight.headers).to.include({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'x-api-key, content-type, x-stainless-os',
      'access-control-allow-methods': 'GET, POST, OPTIONS',
    });
    const refused = await send(gateway.url + MESSAGES, { body: ask('hi'), headers: { origin: 'https://app.example' } });
    expect(refused.status).to.equal(401);
    expect(refused.headers['access-control-allow-origin']).to.equal('*');
    expect(refused.headers['access-control-expose-headers']).to.contain('retry-after').and.to.contain('request-id');
    expect(refused.headers['access-control-allow-credentials']).to.equal(undefined);
  });

  it('does not compress a stream for a client that takes gzip', async () => {
    const { key } = await gateway.account();
    const headers = { 'accept-encoding': 'gzip, br' };
    const reply = await send(gateway.url + MESSAGES, { key, headers, body: ask('hi', { stream: true }) });
    expect(reply.headers['content-encoding']).to.equal(undefined);
    expect(reply.text).to.contain('event: message_stop');
    expect(reply.headers['access-control-allow-origin']).to.equal('*');
    expect(reply.headers['x-request-id']).to.match(/^req_/);
  });

  it('names the port it listens on in its document, also where any free one was wanted', async () => {
    const { json } = await send(`${gateway.url}/openapi.json`);
    expect(json.servers).to.deep.equal([{ url: gateway.url }]);
    expect(new URL(gateway.url).port).to.not.equal('0');
  });

  it('is healthy and ready', async () => {
    expect((await send(`${gateway.url}/healthz`)).status).to.equal(200);
    const ready = await send(`${gateway.url}/readyz`);
    expect(ready.status).to.equal(200);
    expect(ready.json.store).to.equal(true);
  });

  describe('bodies', () => {
    const tooLong = 48 * 1024 * 1024 + 1;

    it('413 by the announced length, before it is sent', async () => {
      const { key } = await gateway.account();
      const raw = await rawExchange(gateway.url, [
        `POST ${CHAT} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n` +
          `content-length: ${tooLong}\r\n\r\n{`,
      ]);
      expect(raw).to.match(/^HTTP\/1\.1 413 /);
      expect(raw.toLowerCase()).to.contain('connection: close').and.to.contain('"code":"request_too_large"');
    });

    it('does not wait for the body of a refused request, and closes the connection', async () => {
      const refused = await rawExchange(gateway.url, [
        `POST ${CHAT} HTTP/1.1\r\nhost: x\r\nx-api-key: none\r\ntransfer-encoding: chunked\r\n\r\n`,
      ]);
      expect(refused).to.match(/^HTTP\/1\.1 401 [\s\S]*\r\nconnection: close\r\n/i);
    });

    it('413 for a chunked body that grows too long, although the client is still sending', async function () {
      this.timeout(60_000);
      const { key } = await gateway.account();
      const post = request(gateway.url + MESSAGES, {
        method: 'POST',
        agent: false,
        headers: { 'x-api-key': key, 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      });
      post.on('error', () => undefined);
      const answered = readHead(post);
      const piece = Buffer.alloc(1024 * 1024, 0x20);
      let stop = false;
      void answered.then(() => {
        stop = true;
      });
      for (let at = 0; at < 60 && !stop; at += 1) {
        if (!post.write(piece)) await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const response = await answered;
      expect(response.statusCode).to.equal(413);
      let text = '';
      for await (const chunk of response) text += chunk;
      expect(JSON.parse(text).error.type).to.equal('invalid_request_error');
      post.destroy();
    });

    it('answers input that is not HTTP, and headers that are too long', async () => {
      expect(await rawExchange(gateway.url, ['nonsense\r\n\r\n'])).to.match(/^HTTP\/1\.1 400 [\s\S]*"type":"error"/);
      const long = `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(64 * 1024)}\r\n\r\n`;
      expect(await rawExchange(gateway.url, [long])).to.match(/^HTTP\/1\.1 431 [\s\S]*"type":"error"/);
    });

    it('reads the same body in any number of pieces', async () => {
      const { key } = await gateway.account();
      const body = Buffer.from(JSON.stringify(ask('привет 👋', { model: 'nope' })));
      const head = `POST ${CHAT} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
      const raw = await rawExchange(gateway.url, [head, ...[...body].map((byte) => Buffer.from([byte]))]);
      expect(raw).to.contain('Unknown model');
    });
  });

  describe('with little patience', () => {
    const limitMs = 300;
    let impatient: TestGateway;
    before(async () => {
      impatient = await startGateway({
        catalog: chatCatalog(upstream.url),
        env: { FIRST_TOKEN_TIMEOUT_MS: '1000' },
        timings: { heartbeatMs: 100, headersTimeoutMs: limitMs, bodyLimits: { idleMs: limitMs } },
      });
    });
    after(() => impatient.stop());

    itTimed('408 for a body that stalls, in the envelope of its endpoint', async () => {
      const { key } = await impatient.account();
      for (const [path, envelope] of [
        [MESSAGES, '"type":"error"'],
        [CHAT, '"code":"request_timeout"'],
      ] as const) {
        const startedAt = performance.now();
        const raw = await rawExchange(impatient.url, [
          `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-length: 100\r\n\r\n{"model`,
        ]);
        expect(raw).to.match(/^HTTP\/1\.1 408 /);
        expect(raw).to.contain(envelope);
        expect(performance.now() - startedAt).to.be.within(limitMs - 1, 5000);
      }
    });

    itTimed(
      'closes a connection whose headers do not arrive, those of its first request or of a later one',
      async () => {
        for (const earlier of ['', 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n']) {
          const startedAt = performance.now();
          const raw = await rawExchange(impatient.url, [`${earlier}POST /api/v1/messages HTTP/1.1\r\nhost: x\r\n`]);
          expect(raw).to.match(earlier === '' ? /^(HTTP\/1\.1 408 |$)/ : /^HTTP\/1\.1 200 /);
          expect(raw.split('HTTP/1.1 200').length - 1).to.equal(earlier === '' ? 0 : 1);
          expect(performance.now() - startedAt).to.be.within(limitMs - 1, 2000);
        }
      },
    );

    it('keeps a stream alive while nothing comes, until the limit', async () => {
      upstream.behave(chatStall());
      const { key } = await impatient.account();
      for (const path of [MESSAGES, CHAT]) {
        const { text } = await send(impatient.url + path, { key, body: ask('hi', { stream: true }) });
        expect(text.match(/^: keep-alive$/gm)?.length).to.be.within(2, 9);
        expect(text).to.contain('did not answer in time').and.to.contain('Charge refunded');
      }
      await impatient.checkMoney();
      upstream.behave(chatAnswer('Hello there.'));
    });

    it('keeps a stream alive in the middle of an answer, while the upstream sends what is not delivered', async () => {
      upstream.behave(async ({ response }) => {
        response.writeHead(200, SSE);
        response.write(chatChunk('Hello '));
        for (let step = 0; step < 30; step += 1) {
          const delta = { reasoning_content: 'hm ' };
          response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
          await sleep(20);
        }
        response.end(chatChunk('there.') + chatEnd());
      });
      const { key } = await impatient.account();
      const { text } = await send(impatient.url + MESSAGES, { key, body: ask('hi', { stream: true }) });
      const [, between = ''] = /"text":"Hello "(.*)"text":"there\."/s.exec(text) ?? [];
      // Of thirty events: not one for each, and on a busy machine they take longer.
      expect(between.match(/^: keep-alive$/gm)?.length).to.be.within(2, 20);
      await impatient.checkMoney();
      upstream.behave(chatAnswer('Hello there.'));
    });
  });

  /** Sends pieces on a raw socket and reads until it is closed. */
  function rawExchange(url: string, pieces: readonly (string | Buffer)[]): Promise<string> {
    const { port, hostname } = new URL(url);
    return new Promise((resolve) => {
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
      for (const piece of pieces) socket.write(piece);
    });
  }

  it('writes one log line per request, without the key', async () => {
    const { key } = await gateway.account();
    const reply = await send(gateway.url + MESSAGES, { key, body: ask('hi') });
    const read = () => readFileSync(`${gateway.folder}/log`, 'utf8');
    const id = String(reply.headers['x-request-id']);
    await until(() => read().includes(id));
    const lines = read()
      .split('\n')
      .filter((line) => line.includes(id));
    expect(lines).to.have.length(1);
    expect(JSON.parse(lines[0] as string)).to.include({
      status: 200,
      path: MESSAGES,
      model: 'model-a',
      charged_micro: '500000',
    });
    expect(read()).not.to.contain(key);
  });
});
