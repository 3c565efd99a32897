// The API document of images matches a running gateway, in every documented status.
import { request as openRequest } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { parseEdit, parseGeneration } from '../../lib/api/image-request.ts';
import { type Reply, readHead, send } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { EDITS, GENERATIONS, imageAnswer, imageCatalog } from '../../testkit/images.ts';
import { forgetReplies } from '../../testkit/repeats.ts';
import { itOnSqlite } from '../../testkit/test-store.ts';
import { answerStatus, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';
import { type ApiDocument, readDocument } from './document.ts';

const IMAGE = `data:image/png;base64,${PNG.toString('base64')}`;

describe('the API document of images', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let api: ApiDocument;
  const seen = new Set<string>();

  before(async () => {
    upstream = await startUpstream();
    const env = { RATE_LIMIT_PER_MINUTE: '3' };
    const timings = { bodyLimits: { idleMs: 500 } };
    gateway = await startGateway({ catalog: imageCatalog(upstream.url), env, timings });
    api = readDocument((await send(`${gateway.url}/openapi.json`)).json);
  });
  beforeEach(() => upstream.behave(imageAnswer(PNG)));
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  function check(path: string, status: number, reply: Reply): Reply {
    expect(reply.status, reply.text).to.equal(status);
    seen.add(`POST ${path} ${status}`);
    return api.checkReply(`POST ${path}`, reply);
  }
  const ask = (more: object = {}) => ({ model: 'draw', prompt: 'a hill', image: IMAGE, ...more });

  it('accepts and rejects requests like the gateway', () => {
    const good = [{}, { size: '1024x1792' }, { aspect: '4:3', n: 1, foo: 1 }, { model: null, size: null, n: null }];
    const wrong = [
      ...[{ prompt: '' }, { prompt: ' ' }, { prompt: null }, { prompt: 5 }, { model: 5 }, { model: '' }],
      ...[{ size: '512x512' }, { size: 1024 }, { aspect: '2:1' }, { aspect: [] }, { n: 2 }, { n: 0 }, { n: '1' }],
    ];
    const images = [{ image: 5 }, { images: IMAGE }, { images: [5] }, { image: null }, { image: null, images: [] }];
    const open = readDocument(api.json, { open: true });
    for (const [parse, schema, more] of [
      [parseGeneration, 'ImageRequest', []],
      [parseEdit, 'ImageEditRequest', [...images, { images: Array(5).fill(IMAGE) }]],
    ] as const) {
      const pointer = `/components/schemas/${schema}`;
      for (const fields of [...good, { images: [IMAGE, IMAGE, IMAGE] }]) {
        expect(() => parse(ask(fields)), JSON.stringify(fields)).not.to.throw();
        open.check(pointer, ask(fields));
      }
      for (const fields of [...wrong, ...more]) {
        expect(() => parse(ask(fields)), JSON.stringify(fields)).to.throw();
        expect(() => open.check(pointer, ask(fields)), JSON.stringify(fields)).to.throw();
      }
    }
  });

  it('lists the models with their prices', async () => {
    const { key } = await gateway.account();
    const { json } = api.checkReply('GET /api/v1/models', await send(`${gateway.url}/api/v1/models`, { key }));
    const images = json.data.filter(({ type }: { type: string }) => type === 'image');
    expect(images.map(({ id }: { id: string }) => id)).to.deep.equal(['draw', 'sketch', 'plain']);
    expect(images[0]).to.include({ unit: 'request', price_rub: 10, endpoint: '/v1/images/generations' });
  });

  /** Announces a body and sends only its first byte. */
  async function sendPartly(path: string, key: string, length: number): Promise<Reply> {
    const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-length': length };
    const sent = openRequest(gateway.url + path, { method: 'POST', agent: false, headers });
    sent.on('error', () => undefined);
    sent.write('{');
    const response = await readHead(sent);
    let text = '';
    for await (const chunk of response) text += chunk;
    sent.destroy();
    return { status: response.statusCode ?? 0, headers: response.headers, text, json: JSON.parse(text) };
  }

  for (const path of [GENERATIONS, EDITS]) {
    describe(path, () => {
      const call = (key: string, more: object = {}) => send(gateway.url + path, { key, body: ask(more) });

      it('matches replies and refusals', async () => {
        const { key } = await gateway.account();
        check(path, 200, await call(key));
        check(path, 400, await call(key, { model: 'words' }));
        upstream.behave(answerStatus(500));
        check(path, 502, await call(key));
        check(path, 429, await call(key));
        check(path, 401, await call('wrong'));
        const poor = await gateway.account('5');
        check(path, 402, await call(poor.key));
        const headers = { 'content-type': 'text/plain' };
        check(path, 415, await send(gateway.url + path, { key: poor.key, headers, body: 'hi' }));
        const gone = await gateway.account();
        await gateway.store.accounts.setStatus(gone.id, 'suspended');
        check(path, 403, await call(gone.key));
        const other = await gateway.account();
        check(path, 413, await sendPartly(path, other.key, 48 * 1024 * 1024 + 1));
        check(path, 408, await sendPartly(path, other.key, 100));
      });

      it('matches repeats', async () => {
        const { key } = await gateway.account();
        const headers = { 'idempotency-key': 'order-1' };
        const repeat = (more: object = {}) => send(gateway.url + path, { key, headers, body: ask(more) });
        check(path, 200, await repeat());
        check(path, 422, await repeat({ prompt: 'a lake' }));
        await forgetReplies(gateway.store);
        check(path, 409, await repeat());
      });

      itOnSqlite('matches replies of an unavailable service', async () => {
        const broken = await startGateway({ catalog: imageCatalog(upstream.url, { defaults: {} }) });
        try {
          const { key, id } = await broken.account();
          const { model: _, ...body } = ask() as ReturnType<typeof ask> & { model: string };
          check(path, 503, await send(broken.url + path, { key, body }));
          const database = new DatabaseSync(broken.databaseUrl.slice('sqlite:'.length), { timeout: 5_000 });
          database.exec('PRAGMA foreign_keys = OFF');
          database.prepare('DELETE FROM wallets WHERE id = ?').run(id);
          database.close();
          check(path, 500, await send(broken.url + path, { key, body: ask() }));
        } finally {
          await broken.stop();
        }
      });

      itOnSqlite('covers every status in the document', () => {
        const documented = api.statusesOf(`POST ${path}`).map((status) => `POST ${path} ${status}`);
        expect([...seen].filter((name) => name.includes(`${path} `)).sort()).to.deep.equal(documented.sort());
      });
    });
  }
});
