// The API document of embeddings matches a running gateway, in every documented status.
import { request as openRequest } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { parseEmbedding } from '../../lib/api/embedding-request.ts';
import { type Reply, readHead, send } from '../../testkit/client.ts';
import { EMBEDDINGS, embedAnswer, embeddingCatalog } from '../../testkit/embeddings.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { forgetReplies } from '../../testkit/repeats.ts';
import { itOnSqlite } from '../../testkit/test-store.ts';
import { answerStatus, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { type ApiDocument, readDocument } from './document.ts';

describe('the API document of embeddings', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let api: ApiDocument;
  const seen = new Set<string>();

  before(async () => {
    upstream = await startUpstream();
    const env = { RATE_LIMIT_PER_MINUTE: '3' };
    gateway = await startGateway({
      catalog: embeddingCatalog(upstream.url),
      env,
      timings: { bodyLimits: { idleMs: 500, roomMs: 100 } },
    });
    api = readDocument((await send(`${gateway.url}/openapi.json`)).json);
  });
  beforeEach(() => upstream.behave(embedAnswer()));
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  function check(status: number, reply: Reply): void {
    expect(reply.status, reply.text).to.equal(status);
    seen.add(`POST ${EMBEDDINGS} ${status}`);
    api.checkReply(`POST ${EMBEDDINGS}`, reply);
  }
  const ask = (more: object = {}) => ({ model: 'embed-a', input: 'a hill', ...more });
  const call = (key: string, more: object = {}) => send(gateway.url + EMBEDDINGS, { key, body: ask(more) });

  it('accepts and rejects requests like the gateway', () => {
    const good = [{}, { input: ['a'] }, { input: [1, 2] }, { input: [[1]] }, { dimensions: null }, { dimensions: 3 }];
    const wrong = [{ input: '' }, { input: [] }, { input: null }, { input: [''] }, { input: [[]] }, { input: [-1] }];
    const fields = [{ model: 5 }, { dimensions: 0 }, { dimensions: 1.5 }, { encoding_format: 'int8' }];
    const open = readDocument(api.json, { open: true });
    const pointer = '/components/schemas/EmbeddingRequest';
    for (const more of [...good, { encoding_format: 'base64', user: 'me', other: 1 }]) {
      parseEmbedding(ask(more));
      open.check(pointer, ask(more));
    }
    for (const more of [...wrong, ...fields, { input: Array(2049).fill('x') }]) {
      expect(() => parseEmbedding(ask(more)), JSON.stringify(more)).to.throw();
      expect(() => open.check(pointer, ask(more)), JSON.stringify(more)).to.throw();
    }
  });

  it('lists the models with their prices and facts', async () => {
    const { key } = await gateway.account();
    const { json } = api.checkReply('GET /api/v1/models', await send(`${gateway.url}/api/v1/models`, { key }));
    const [first, second, third] = json.data.filter(({ type }: { type: string }) => type === 'embedding');
    expect(first).to.deep.equal({
      id: 'embed-a',
      aliases: ['ea'],
      type: 'embedding',
      endpoint: '/v1/embeddings',
      unit: '1M_tokens',
      price_rub: 1000,
      input_price_rub: 1000,
      min_rub: 0.5,
      max_inputs: 2048,
      dimensions: { default: 3, min: 1, max: 3 },
      provider: 'Test',
    });
    expect(second).to.include({ max_inputs: 3, context_length: 10 });
    expect(third).to.not.have.any.keys('dimensions', 'context_length');
  });

  /** Announces a body and sends only its first byte. */
  async function sendPartly(key: string, length: number): Promise<Reply> {
    const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-length': length };
    const sent = openRequest(gateway.url + EMBEDDINGS, { method: 'POST', agent: false, headers });
    sent.on('error', () => undefined);
    sent.write('{');
    const response = await readHead(sent);
    let text = '';
    for await (const chunk of response) text += chunk;
    sent.destroy();
    return { status: response.statusCode ?? 0, headers: response.headers, text, json: JSON.parse(text) };
  }

  it('matches replies and refusals', async () => {
    const { key } = await gateway.account();
    check(200, await call(key, { input: ['a', 'b'] }));
    check(200, await call(key, { encoding_format: 'base64' }));
    check(400, await call(key, { model: 'model-a' }));
    check(429, await call(key));
    check(401, await call('wrong'));
    const other = await gateway.account();
    upstream.behave(answerStatus(500));
    check(502, await call(other.key));
    check(402, await call((await gateway.account('0')).key));
    const headers = { 'content-type': 'text/plain' };
    check(415, await send(gateway.url + EMBEDDINGS, { key: other.key, headers, body: 'hi' }));
    check(413, await sendPartly(other.key, 48 * 1024 * 1024 + 1));
    const gone = await gateway.account();
    await gateway.store.accounts.setStatus(gone.id, 'suspended');
    check(403, await call(gone.key));
    check(408, await sendPartly((await gateway.account()).key, 100));
  });

  it('matches repeats', async () => {
    const { key } = await gateway.account();
    const headers = { 'idempotency-key': 'order-1' };
    const repeat = (more: object = {}) => send(gateway.url + EMBEDDINGS, { key, headers, body: ask(more) });
    check(200, await repeat());
    check(422, await repeat({ input: 'a lake' }));
    await forgetReplies(gateway.store);
    check(409, await repeat());
  });

  itOnSqlite('matches replies of an unavailable service', async () => {
    const { key: large } = await gateway.account();
    // There is room for one of them; the rest of its body does not come.
    const announced = [1, 2].map(() => sendPartly(large, 40 * 1024 * 1024));
    const [late, refused] = (await Promise.all(announced)).sort((one, two) => one.status - two.status);
    check(408, late as Reply);
    check(503, refused as Reply);
    const broken = await startGateway({ catalog: embeddingCatalog(upstream.url) });
    try {
      const { key, id } = await broken.account();
      check(200, await send(broken.url + EMBEDDINGS, { key, body: ask() }));
      const database = new DatabaseSync(broken.databaseUrl.slice('sqlite:'.length), { timeout: 5_000 });
      database.exec('PRAGMA foreign_keys = OFF');
      database.prepare('DELETE FROM wallets WHERE id = ?').run(id);
      database.close();
      check(500, await send(broken.url + EMBEDDINGS, { key, body: ask() }));
    } finally {
      await broken.stop();
    }
  });

  itOnSqlite('covers every status in the document', () => {
    const documented = api.statusesOf(`POST ${EMBEDDINGS}`).map((status) => `POST ${EMBEDDINGS} ${status}`);
    expect([...seen].sort()).to.deep.equal(documented.sort());
  });
});
