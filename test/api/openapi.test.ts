// The API document is valid, complete, and matches the replies of a running gateway in every status.
import { request as openRequest } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { listRoutes } from '../../lib/http/late-routes.ts';
import {
  ask,
  COMPACT,
  DIALECTS,
  parseEvents,
  RESPONSES,
  type Reply,
  readHead,
  type SendOptions,
  send,
  until,
} from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { forgetReplies } from '../../testkit/repeats.ts';
import { itOnSqlite } from '../../testkit/test-store.ts';
import {
  answerStatus,
  type Behaviour,
  chatAnswer,
  chatChunk,
  SSE,
  startUpstream,
  type TestUpstream,
} from '../../testkit/upstream.ts';
import { newMedia, piecesOf } from '../contract/store/media.ts';
import { PNG } from '../media/sample-images.ts';
import { type ApiDocument, type Json, pointerOf, readDocument } from './document.ts';
import { type Counting, showCounts } from './openapi-counts.ts';
import { type Showing, showVideos, VIDEOS } from './openapi-videos.ts';

const PUBLIC_URL = 'https://gateway.example/base';
const MODELS = '/api/v1/models';
const BALANCE = '/api/v1/balance';
/** Of calls for a text. */
const TEXT_PATHS = [...DIALECTS, COMPACT];
const ONE_MODEL = 'GET /api/v1/models/{id}';

describe('the API document', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let api: ApiDocument;
  /** What was seen of each operation, as `POST /path 400`. */
  const seen = new Set<string>();

  before(async () => {
    upstream = await startUpstream();
    const env = {
      PUBLIC_URL: `${PUBLIC_URL}/`,
      RATE_LIMIT_PER_MINUTE: '5',
      COUNT_RATE_LIMIT_PER_MINUTE: '5',
      BALANCE_RATE_LIMIT_PER_MINUTE: '5',
    };
    const smart = { lite: 'model-a', standard: 'model-a', heavy: 'model-a' };
    gateway = await startGateway({
      catalog: chatCatalog(upstream.url, { smart }),
      env,
      timings: { bodyLimits: { idleMs: 500, roomMs: 100 } },
    });
    api = readDocument((await send(`${gateway.url}/openapi.json`)).json);
  });
  beforeEach(() => upstream.behave(chatAnswer('Hello there.', { input: 7, output: 400 })));
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  /** Sends a request and holds the reply against the document. */
  async function verify(path: string, status: number, options: SendOptions = {}, url = gateway.url): Promise<Reply> {
    const reply = await send(url + path, options);
    return verifyReply(path, status, reply, options.body !== undefined);
  }

  function verifyReply(path: string, status: number, reply: Reply, posted = TEXT_PATHS.includes(path)): Reply {
    expect(reply.status, reply.text).to.equal(status);
    const operation = `${posted ? 'POST' : 'GET'} ${path.split('?', 1)[0]}`;
    seen.add(`${operation} ${status}`);
    return api.checkReply(operation, reply);
  }

  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(api.json));
    expect(valid, JSON.stringify(errors)).to.equal(true);
    expect(api.json.openapi).to.match(/^3\.1\./);
    expect(api.json.servers).to.deep.equal([{ url: PUBLIC_URL }]);
  });

  it('names each type of a value once, as JSON Schema demands', () => {
    const types: string[][] = [];
    JSON.stringify(api.json, (key, value) => {
      if (key === 'type' && Array.isArray(value)) types.push(value);
      return value;
    });
    expect(types).to.not.be.empty;
    expect(types.filter((each) => new Set(each).size < each.length)).to.deep.equal([]);
  });

  it('names all routes of the server except pages, and no others', () => {
    const routes = listRoutes(gateway.gateway.server)
      .filter(({ method, realm }) => method !== '*' && method !== 'options' && realm.plugin !== 'web')
      .map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect([...api.operations].sort()).to.deep.equal([...routes].sort());
  });

  it('requires a key where the server does', async () => {
    for (const operation of api.operations) {
      const [method = '', path = ''] = operation.split(' ');
      const { status } = await send(gateway.url + path, { method });
      const { security } = api.json.paths[path][method.toLowerCase()];
      // No security of its own: that of the whole document.
      expect(security, operation).to.deep.equal(status === 401 ? undefined : []);
    }
    const { key } = await gateway.account();
    for (const [name, scheme] of Object.entries<Json>(api.json.components.securitySchemes)) {
      const [header, value] =
        scheme.type === 'http' ? ['authorization', `${scheme.scheme} ${key}`] : [scheme.name, key];
      const headers = { [header]: value };
      expect((await send(gateway.url + MODELS, { headers })).status, name).to.equal(200);
      expect(api.json.security).to.deep.include({ [name]: [] });
    }
  });

  it('resolves every reference, and uses every schema and response', () => {
    const references = new Set(
      [...JSON.stringify(api.json).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target),
    );
    for (const reference of references) expect(api.resolve({ $ref: reference }), reference).to.be.an('object');
    for (const name of Object.keys(api.json.components.schemas)) {
      expect(references.has(`#/components/schemas/${name}`), name).to.equal(true);
    }
  });

  it('has examples that match their schemas', () => {
    let checked = 0;
    const visit = (node: Json, pointer: string): void => {
      if (typeof node !== 'object' || node === null) return;
      const examples = [node.example, ...Object.values<Json>(node.examples ?? {}).map(({ value }) => value)];
      for (const example of node.schema ? examples.filter((value) => value !== undefined) : []) {
        api.check(`${pointer}/schema`, example);
        checked += 1;
      }
      for (const [key, value] of Object.entries(node)) visit(value, pointer + pointerOf(key));
    };
    visit(api.json, '');
    expect(checked).to.be.above(50);
  });

  async function suspended(): Promise<TestAccount> {
    const account = await gateway.account();
    await gateway.store.accounts.setStatus(account.id, 'suspended');
    return account;
  }

  describe('of replies', () => {
    const midStream: Behaviour = async ({ response }) => {
      response.writeHead(200, SSE);
      response.write(chatChunk('Hello '));
      await new Promise((resolve) => setTimeout(resolve, 30));
      response.destroy();
    };

    for (const path of DIALECTS) {
      it(`${path}: answers and streams`, async () => {
        const { key } = await gateway.account();
        await verify(path, 200, { key, body: ask('hi') });
        upstream.behave(chatAnswer('Hello there.', { reason: 'length' }));
        const whole = await verify(path, 200, { key, body: ask('hi', { stream: true }) });
        expect(parseEvents(whole.text)).to.have.length.above(4);
        upstream.behave(midStream);
        const broken = await verify(path, 200, { key, body: ask('hi', { stream: true }) });
        expect(broken.text).to.contain('"error"').and.to.contain('Hello ');
        upstream.behave(answerStatus(500));
        const failed = await verify(path, 200, { key, body: ask('hi', { stream: true }) });
        expect(failed.text).to.contain('Charge refunded');
      });

      it(`${path}: answers and streams with an image`, async () => {
        const { key } = await gateway.account();
        const url = `data:image/png;base64,${PNG.toString('base64')}`;
        const drawn = {
          index: 0,
          delta: { images: [{ type: 'image_url', image_url: { url } }] },
          finish_reason: 'stop',
        };
        upstream.behave(({ response }) => {
          response.writeHead(200, SSE).end(`data: ${JSON.stringify({ choices: [drawn] })}\n\ndata: [DONE]\n\n`);
        });
        for (const stream of [false, true]) {
          const { text } = await verify(path, 200, { key, body: ask('hi', { stream }) });
          expect(text).to.contain(PNG.toString('base64'));
        }
      });

      it(`${path}: answers and streams of smart, with its routing`, async () => {
        const { key } = await gateway.account();
        for (const model of ['smart', 'auto']) {
          const reply = await verify(path, 200, { key, body: ask('hi', { model }) });
          expect(reply.json).to.have.property('smart_routing');
          const stream = await verify(path, 200, { key, body: ask('hi', { model, stream: true }) });
          expect(stream.text.match(/"smart_routing"/g)).to.have.length(path === RESPONSES ? 3 : 1);
        }
      });
    }

    for (const path of TEXT_PATHS) {
      it(`${path}: repeats`, async () => {
        const { key } = await gateway.account();
        const headers = { 'idempotency-key': 'order-1' };
        const repeat = (status: number, body: object) => verify(path, status, { key, headers, body });
        await repeat(200, ask('hi'));
        expect((await repeat(200, ask('hi'))).headers['idempotent-replayed']).to.equal('true');
        await repeat(422, ask('hello'));
        await forgetReplies(gateway.store);
        await repeat(409, ask('hi'));
      });

      it(`${path}: refusals`, async () => {
        const { key } = await gateway.account();
        await verify(path, 401, { body: ask('hi') });
        await verify(path, 401, { body: ask('hi'), key: 'wrong' });
        await verify(path, 402, { body: ask('hi'), key: (await gateway.account('0')).key });
        await verify(path, 402, { body: ask('x'.repeat(4_000_000)), key });
        const other = await suspended();
        await verify(path, 403, { body: ask('hi'), key: other.key });
        await verify(path, 415, { body: 'hi', headers: { 'content-type': 'text/plain' }, key });
        await verify(path, 400, { body: '{', key });
        await verify(path, 400, { body: ask('hi', { model: 'old-a' }), key });
        const next = await gateway.account();
        for (const model of ['nope', 'image-a', 5])
          await verify(path, 400, { body: ask('hi', { model }), key: next.key });
        await verify(path, 400, { body: ask('', { stream: true }), key: next.key });
        upstream.behave(answerStatus(500));
        await verify(path, 502, { body: ask('hi'), key: next.key });
        const limited = await verify(path, 429, { body: ask('hi'), key: next.key });
        expect(Number(limited.headers['retry-after'])).to.be.within(1, 59);
        upstream.behave(answerStatus(400));
        const last = await gateway.account();
        const refused = await verify(path, 502, { body: ask('hi'), key: last.key });
        expect(refused.headers['x-should-retry']).to.equal('false');
      });
    }

    /** Announces a body and sends only its first byte. */
    async function sendPartly(path: string, { key }: TestAccount, length: number, url = gateway.url): Promise<Reply> {
      const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-length': length };
      const sent = openRequest(url + path, { method: 'POST', agent: false, headers });
      sent.on('error', () => undefined);
      sent.write('{');
      const response = await readHead(sent);
      let text = '';
      for await (const chunk of response) text += chunk;
      sent.destroy();
      return { status: response.statusCode ?? 0, headers: response.headers, text, json: JSON.parse(text) };
    }

    it('one model', async () => {
      const { key } = await gateway.account();
      const other = await suspended();
      const replies = [
        [200, 'model-a', { key }],
        [200, 'smart', { key }],
        [400, 'old-a', { key }],
        [401, 'model-a', {}],
        [403, 'model-a', { key: other.key }],
        [404, 'nope', { key }],
      ] as const;
      for (const [status, name, options] of replies) {
        const reply = await send(`${gateway.url}${MODELS}/${name}`, options);
        expect(api.checkReply(ONE_MODEL, reply).status, name).to.equal(status);
        seen.add(`${ONE_MODEL} ${status}`);
      }
    });

    it('token counts', () => {
      const verifyCount: Counting['verify'] = (path, status, reply) => void verifyReply(path, status, reply, true);
      return showCounts({ gateway, verify: verifyCount, suspended, sendPartly });
    });

    it('models and balance', async () => {
      const { key } = await gateway.account();
      const models = await verify(MODELS, 200, { key });
      expect(models.json.data.map(({ id }: Json) => id)).to.deep.equal(['model-a', 'smart']);
      await verify(MODELS, 401);
      await verify(BALANCE, 401);
      for (let at = 0; at < 5; at += 1) await verify(BALANCE, 200, { key });
      await verify(BALANCE, 429, { key });
      const other = await suspended();
      await verify(MODELS, 403, { key: other.key });
      await verify(BALANCE, 403, { key: other.key });
    });

    itOnSqlite('videos', () => {
      const verifyPartly: Showing['verifyPartly'] = async (status, { account, length, url }) => {
        verifyReply(VIDEOS, status, await sendPartly(VIDEOS, account, length, url), true);
      };
      return showVideos({ verify, verifyPartly });
    });

    it('health and the document itself', async () => {
      for (const path of ['/healthz', '/readyz', '/openapi.json']) await verify(path, 200);
    });

    it('stored media', async () => {
      const media = newMedia({ expiresAt: Date.now() + 60_000 });
      await gateway.store.media.write(media, piecesOf(PNG));
      const path = `/media/${media.id}.png`;
      const operation = 'GET /media/{file}';
      const replies: Readonly<Record<number, SendOptions>> = {
        200: {},
        206: { headers: { range: 'bytes=1-' } },
        304: { headers: { 'if-none-match': '*' } },
        416: { headers: { range: 'bytes=5000-' } },
      };
      for (const [status, options] of Object.entries(replies)) {
        const reply = await send(gateway.url + path, options);
        expect(reply.status).to.equal(Number(status));
        if (status === '416') api.checkReply(operation, reply);
        else if (status !== '304') {
          const documented = api.json.paths['/media/{file}'].get.responses[status];
          expect(documented.content).to.have.property(String(reply.headers['content-type']));
        }
        seen.add(`${operation} ${status}`);
      }
      const unknown = await send(`${gateway.url}${path.replace('.png', '.gif')}`);
      expect(api.checkReply(operation, unknown).status).to.equal(404);
      seen.add(`${operation} 404`);
    });

    itOnSqlite('a gateway without a wallet, and one without its store', async () => {
      const broken = await startGateway({ catalog: chatCatalog(upstream.url) });
      try {
        const lost = await broken.account('0');
        const { key } = await broken.account();
        for (const known of [key, lost.key]) await verify(MODELS, 200, { key: known }, broken.url);
        const database = new DatabaseSync(broken.databaseUrl.slice('sqlite:'.length), { timeout: 5_000 });
        database.exec('PRAGMA foreign_keys = OFF');
        database.prepare('DELETE FROM wallets WHERE id = ?').run(lost.id);
        await Promise.all([
          ...[MODELS, BALANCE].map((path) => verify(path, 500, { key: lost.key }, broken.url)),
          ...TEXT_PATHS.map((path) => verify(path, 500, { key: lost.key, body: ask('hi') }, broken.url)),
        ]);
        database.exec('ALTER TABLE wallets RENAME TO gone; ALTER TABLE media RENAME TO gone_too');
        database.close();
        await Promise.all([MODELS, BALANCE].map((path) => verify(path, 503, { key }, broken.url)));
        const media = await send(`${broken.url}/media/${'a'.repeat(43)}.png`);
        expect(api.checkReply('GET /media/{file}', media).status).to.equal(503);
        seen.add('GET /media/{file} 503');
      } finally {
        await broken.stop();
      }
    });

    it('a gateway without models, and one that is stopped while calls run', async () => {
      const stopping = await startGateway({
        catalog: { models: [] },
        env: { DRAIN_MS: '0', SHUTDOWN_DELAY_MS: '500' },
      });
      await verify('/readyz', 503, {}, stopping.url);
      stopping.writeCatalog(chatCatalog(upstream.url));
      await stopping.gateway.reload();
      const { key } = await stopping.account();
      let begun = 0;
      const running = new Promise<void>((resolve) => {
        upstream.behave(() => {
          begun += 1;
          if (begun === TEXT_PATHS.length) resolve();
        });
      });
      const calls = TEXT_PATHS.map((path) => verify(path, 503, { key, body: ask('hi') }, stopping.url));
      await running;
      const stopped = stopping.stop();
      await until(async () => (await send(`${stopping.url}/healthz`)).status === 503);
      await verify('/healthz', 503, {}, stopping.url);
      await Promise.all([...calls, stopped]);
    });

    it('bodies that are too long or stall', async () => {
      for (const path of TEXT_PATHS) {
        const account = await gateway.account();
        verifyReply(path, 413, await sendPartly(path, account, 48 * 1024 * 1024 + 1));
        verifyReply(path, 408, await sendPartly(path, account, 100));
      }
    });

    itOnSqlite('cover every status in the document', () => {
      // Images have tests of their own.
      const own = api.operations.filter((operation) => !/\/(images|embeddings|manage|account)/.test(operation));
      const documented = own.flatMap((operation) =>
        api.statusesOf(operation).map((status) => `${operation} ${status}`),
      );
      expect([...seen].sort()).to.deep.equal(documented.sort());
    });
  });
});
