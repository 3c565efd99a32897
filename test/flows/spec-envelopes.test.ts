// Every error of every endpoint: its status, exactly the keys of its envelope, and the headers that come with each reply.
import { expect } from 'chai';
import { CHAT, MESSAGES, type Reply, type SendOptions, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { EDITS, GENERATIONS, imageCatalog } from '../../testkit/images.ts';
import { PNG } from '../media/sample-images.ts';

const VIDEOS = '/api/v1/videos';
const IMAGE = `data:image/png;base64,${PNG.toString('base64')}`;

/** Status, `error.type`, the chat code, and whether sending it again may help. */
const ERRORS: Readonly<Record<number, readonly [type: string, code: string, retry?: 'false']>> = {
  400: ['invalid_request_error', 'invalid_request', 'false'],
  401: ['authentication_error', 'invalid_api_key', 'false'],
  402: ['billing_error', 'insufficient_balance', 'false'],
  403: ['permission_error', 'account_suspended', 'false'],
  404: ['not_found_error', 'not_found', 'false'],
  405: ['invalid_request_error', 'method_not_allowed', 'false'],
  413: ['invalid_request_error', 'request_too_large', 'false'],
  415: ['invalid_request_error', 'unsupported_media_type', 'false'],
  429: ['rate_limit_error', 'rate_limit_exceeded'],
  502: ['api_error', 'upstream_error'],
  503: ['api_error', 'service_unavailable'],
};

const words = (content: string) => ({ model: 'words', messages: [{ role: 'user', content }] });

interface Endpoint {
  readonly path: string;
  readonly good: object;
  /** The upstream fails before there is anything. */
  readonly failing: object;
  /** What the service cannot do at the moment. */
  readonly off?: object;
}

const GENERATING: readonly Endpoint[] = [
  { path: MESSAGES, good: words('hi'), failing: words('[[fail]]') },
  { path: CHAT, good: words('hi'), failing: words('[[fail]]') },
  { path: GENERATIONS, good: { model: 'draw', prompt: 'x' }, failing: { model: 'sketch', prompt: '[[fail]]' } },
  {
    path: EDITS,
    good: { prompt: 'x', image: IMAGE },
    failing: { model: 'sketch', prompt: '[[fail]]', image: IMAGE },
    off: { model: 'dark', prompt: 'x', image: IMAGE },
  },
  {
    path: VIDEOS,
    good: { model: 'film', prompt: 'x' },
    failing: { model: 'film', prompt: '[[fail-start]]' },
    off: { model: 'film-dark', prompt: 'x' },
  },
];

function expectError(path: string, { status, headers, json, text }: Reply, wanted: number): string {
  expect(status, text).to.equal(wanted);
  const [type, code, retry] = ERRORS[wanted] ?? ['none', 'none'];
  const { message } = json.error;
  const ofChat = { error: { message, type, code } };
  // Clients of every dialect can read that there is no such video.
  const inEvery = path.includes('?id=') && wanted === 404 && { code: 'not_found' };
  expect(json).to.deep.equal(path.startsWith(CHAT) ? ofChat : { type: 'error', error: { type, message, ...inEvery } });
  expect(message).to.match(/^[A-Z].*\.$/s);
  expect(headers['x-should-retry']).to.equal(retry);
  expect(headers['content-type']).to.equal('application/json; charset=utf-8');
  expect(headers['x-request-id']).to.match(/^req_/);
  expect(headers['request-id']).to.equal(headers['x-request-id']);
  expect(headers['access-control-allow-origin']).to.equal('*');
  expect(headers).to.not.have.any.keys('access-control-allow-credentials', 'set-cookie');
  for (const name of ['retry-after', 'x-request-id', 'request-id']) {
    expect(headers['access-control-expose-headers']).to.contain(name);
  }
  return message;
}

describe('envelopes', () => {
  let gateway: TestGateway;
  let account: TestAccount;
  let suspended: TestAccount;

  before(async () => {
    const catalog = imageCatalog('http://127.0.0.1:9') as { models: object[] };
    const off = { id: 'film-dark', type: 'video', provider: 'Test', routes: [], price: { request: '9' } };
    gateway = await startGateway({
      catalog: { ...catalog, models: [...catalog.models, off] },
      env: { RATE_LIMIT_PER_MINUTE: '20', BALANCE_RATE_LIMIT_PER_MINUTE: '5', VIDEO_RATE_LIMIT_PER_MINUTE: '5' },
    });
    suspended = await gateway.account();
    await gateway.store.accounts.setStatus(suspended.id, 'suspended');
  });
  beforeEach(async () => {
    account = await gateway.account();
  });
  afterEach(async () => {
    await gateway.checkMoney();
    expect((await gateway.wallet(account)).avail).to.equal(1_000_000_000n);
  });
  after(() => gateway.stop());

  for (const { path, good, failing, off } of GENERATING) {
    describe(`POST ${path}`, () => {
      const post = (options: SendOptions) => send(gateway.url + path, { method: 'POST', ...options });

      it('refuses in its own envelope', async () => {
        const { key } = account;
        expectError(path, await post({ key, body: '{' }), 400);
        expectError(path, await post({ body: good }), 401);
        expectError(path, await post({ key: `${key}x`, body: good }), 401);
        expectError(path, await post({ key: (await gateway.account('0')).key, body: good }), 402);
        expectError(path, await post({ key: suspended.key, body: good }), 403);
        expectError(path, await send(`${gateway.url}${path}/more`, { key }), 404);
        for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'].filter((name) => path !== VIDEOS || name !== 'GET')) {
          const reply = await send(gateway.url + path, { method, key });
          expectError(path, reply, 405);
          expect(reply.headers.allow).to.equal(path === VIDEOS ? 'POST, GET' : 'POST');
        }
        expectError(path, await post({ key, body: 'x', headers: { 'content-length': String(48 * 2 ** 20 + 1) } }), 413);
        expectError(path, await post({ key, body: 'hi', headers: { 'content-type': 'text/plain' } }), 415);
      });

      it('fails in its own envelope, and says that the charge was refunded', async () => {
        const { key } = account;
        expect(expectError(path, await post({ key, body: failing }), 502)).to.contain('Charge refunded');
        if (off) expect(expectError(path, await post({ key, body: off }), 503)).to.contain('Nothing was charged');
      });

      it('rate-limits in its own envelope', async () => {
        const { key } = account;
        for (let at = 0; at < 20; at += 1) await post({ key, body: '{' });
        const limited = await post({ key, body: good });
        expectError(path, limited, 429);
        expect(Number(limited.headers['retry-after'])).to.be.within(1, 59);
      });

      it('answers preflights of any origin without a key', async () => {
        const headers = { origin: 'https://app.example', 'access-control-request-headers': 'authorization, x-any' };
        const reply = await send(gateway.url + path, { method: 'OPTIONS', headers });
        expect(reply.status).to.equal(204);
        expect(reply.headers).to.include({
          'access-control-allow-origin': '*',
          'access-control-allow-headers': 'authorization, x-any',
        });
      });
    });
  }

  const READING = {
    '/api/v1/models': undefined,
    '/api/v1/balance': 5,
    [`${VIDEOS}?id=vid_${'1'.repeat(32)}`]: 5,
  };
  for (const [path, perMinute] of Object.entries(READING)) {
    it(`are those of messages for GET ${path}`, async () => {
      const { key } = account;
      const isVideo = path.startsWith(VIDEOS);
      expectError(path, await send(gateway.url + path), 401);
      expectError(path, await send(gateway.url + path, { key: suspended.key }), 403);
      expectError(path, await send(gateway.url + path, { key, method: 'DELETE' }), 405);
      for (let at = 0; at < (perMinute ?? 10); at += 1) {
        const reply = await send(gateway.url + path, { key });
        if (isVideo) expectError(path, reply, 404);
        else expect(reply.status).to.equal(200);
      }
      if (perMinute !== undefined) expectError(path, await send(gateway.url + path, { key }), 429);
    });
  }

  it('are those of messages where a video is not named once', async () => {
    for (const query of ['', '?id=', '?id=a&id=b', '?ID=a']) {
      expectError(VIDEOS, await send(gateway.url + VIDEOS + query, { key: account.key }), 400);
    }
  });
});
