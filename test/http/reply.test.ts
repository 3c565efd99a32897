import { Boom, badGateway, badImplementation, forbidden } from '@hapi/boom';
import { expect } from 'chai';
import { preflights } from '../../lib/api/fallback-routes.ts';
import { fault } from '../../lib/base/faults.ts';
import { StoreError } from '../../lib/store/store.ts';
import { CHAT, MESSAGES, type Reply, type SendOptions, send } from '../../testkit/client.ts';
import { openTestHttp, type TestHttp } from '../../testkit/http.ts';

const PREFLIGHT = { origin: 'https://app.example', 'access-control-request-method': 'POST' };

describe('reply', () => {
  let http: TestHttp;
  let failure: () => unknown;

  before(async () => {
    http = openTestHttp();
    for (const path of [MESSAGES, CHAT, '/api/v1/models', '/healthz']) {
      http.server.route({ method: ['GET', 'POST'], path, handler: () => failure() as object });
    }
    http.server.route(preflights.map((route) => ({ ...route, options: {} })));
    await http.start();
  });
  beforeEach(() => {
    failure = () => ({ fine: true });
  });
  after(() => http.close(async () => undefined));

  const ask = (path: string, options: SendOptions = {}): Promise<Reply> =>
    send(`http://127.0.0.1:${http.server.info.port}${path}`, options);
  const failing = (path: string, thrown: unknown): Promise<Reply> => {
    failure = () => {
      throw thrown;
    };
    return ask(path);
  };

  describe('headers', () => {
    it('carry the same id twice, and a new one for each request', async () => {
      const ids = new Set<unknown>();
      for (const path of ['/healthz', MESSAGES, '/nowhere', '/api/nowhere']) {
        const { headers } = await ask(path);
        expect(headers['x-request-id']).to.match(/^req_/);
        expect(headers['request-id']).to.equal(headers['x-request-id']);
        ids.add(headers['request-id']);
      }
      expect(ids.size).to.equal(4);
    });

    it('allow any origin below /api/, also on errors, but not elsewhere', async () => {
      for (const path of [MESSAGES, CHAT, '/api/nowhere']) {
        const { headers } = await ask(path, { headers: { origin: 'https://app.example' } });
        expect(headers['access-control-allow-origin']).to.equal('*');
        expect(headers['access-control-allow-credentials']).to.equal(undefined);
        expect(headers['access-control-expose-headers']).to.equal(
          'retry-after, x-request-id, request-id, x-should-retry',
        );
      }
      for (const path of ['/healthz', '/nowhere', '/apiary']) {
        const { headers } = await ask(path, { headers: { origin: 'https://app.example' } });
        expect(headers['access-control-allow-origin']).to.equal(undefined);
      }
    });
  });

  describe('to a preflight', () => {
    it('is 204 on any path below /api/, and allows the requested headers', async () => {
      for (const path of [MESSAGES, '/api/nowhere']) {
        const headers = { ...PREFLIGHT, 'access-control-request-headers': 'x-api-key, x-stainless-os' };
        const reply = await ask(path, { method: 'OPTIONS', headers });
        expect([reply.status, reply.text]).to.deep.equal([204, '']);
        expect(reply.headers).to.include({
          'access-control-allow-origin': '*',
          'access-control-allow-methods': 'GET, POST, OPTIONS',
          'access-control-allow-headers': 'x-api-key, x-stainless-os',
          'access-control-max-age': '600',
          vary: 'access-control-request-headers',
        });
      }
    });

    it('allows any header if none is named', async () => {
      const { headers } = await ask(MESSAGES, { method: 'OPTIONS', headers: PREFLIGHT });
      expect(headers['access-control-allow-headers']).to.equal('*');
    });

    it('does not repeat characters that are invalid in headers', async () => {
      const headers = { ...PREFLIGHT, 'access-control-request-headers': 'x-é\u00ff\tkey' };
      const reply = await ask(MESSAGES, { method: 'OPTIONS', headers });
      expect([reply.status, reply.headers['access-control-allow-headers']]).to.deep.equal([204, 'x-key']);
    });

    it('is not found elsewhere', async () => {
      expect((await ask('/nowhere', { method: 'OPTIONS', headers: PREFLIGHT })).status).to.equal(404);
    });
  });

  describe('to a failure', () => {
    it('has the envelope of its path', async () => {
      const message = 'The account of this key is suspended.';
      for (const path of [MESSAGES, '/api/v1/models', '/healthz']) {
        const { status, json } = await failing(path, fault('account_suspended'));
        expect(status).to.equal(403);
        expect(json).to.deep.equal({ type: 'error', error: { type: 'permission_error', message } });
      }
      const { status, json } = await failing(CHAT, fault('account_suspended'));
      expect(status).to.equal(403);
      expect(json).to.deep.equal({ error: { message, type: 'permission_error', code: 'account_suspended' } });
    });

    it('says whether a retry can help, and after how long', async () => {
      expect((await failing(MESSAGES, fault('unknown_model', { model: 'x' }))).headers['x-should-retry']).to.equal(
        'false',
      );
      expect((await failing(MESSAGES, fault('upstream_refused'))).headers['x-should-retry']).to.equal('false');
      for (const reason of [fault('upstream_failed'), fault('store_unavailable'), fault('internal')]) {
        expect((await failing(MESSAGES, reason)).headers['x-should-retry']).to.equal(undefined);
      }
      const limited = await failing(MESSAGES, fault('rate_limited', { hint: '30 per minute', retryAfterS: 17 }));
      expect(limited.headers['retry-after']).to.equal('17');
    });

    it('names the methods of the path', async () => {
      const { status, headers } = await failing(MESSAGES, fault('method_not_allowed', { hint: 'POST' }));
      expect([status, headers.allow]).to.deep.equal([405, 'POST']);
    });

    it('names the size of a file that a range lies behind, and of nothing else', async () => {
      const { status, headers } = await failing(MESSAGES, fault('range_not_satisfiable', { bytes: 17 }));
      expect([status, headers['content-range']]).to.deep.equal([416, 'bytes */17']);
      expect((await failing(MESSAGES, fault('internal'))).headers).not.to.have.property('content-range');
    });

    it('is 404 for an unknown path', async () => {
      const { status, json } = await ask('/api/v1/nothing');
      expect(status).to.equal(404);
      expect(json.error.type).to.equal('not_found_error');
    });

    const foreign: Readonly<Record<string, unknown>> = {
      'an error': new Error('secret words'),
      'an error with a status': Object.assign(new Error('secret words'), { statusCode: 403, output: {} }),
      'a failure of another maker': badImplementation('secret words', { secret: true }),
      'a bad gateway of another maker': badGateway('secret words'),
      'one that looks like a fault': new Boom('secret words', { statusCode: 500, data: { code: 'secret words' } }),
    };
    for (const [name, thrown] of Object.entries(foreign)) {
      it(`is an internal error with our own message: ${name}`, async () => {
        const { status, json, text } = await failing(MESSAGES, thrown);
        expect([status, json.error.type]).to.deep.equal([500, 'api_error']);
        expect(text).not.to.contain('secret');
        expect(http.notes().fault).to.equal('internal');
        expect(http.notes().err).to.be.instanceOf(Error);
      });
    }

    it('says that the service is unavailable if the store fails, and is internal if only some rows cannot be read', async () => {
      const unread = new StoreError('secret words', 'no');
      const lost = new StoreError('secret words', 'unknown');
      const damaged = new StoreError('secret words', 'no', undefined, 'batch');
      const replies = [];
      for (const thrown of [unread, lost, damaged]) {
        const { status, json, text } = await failing(MESSAGES, thrown);
        expect(text).not.to.contain('secret');
        expect(http.notes().err).to.equal(thrown);
        replies.push([status, http.notes().fault, json.error.message]);
      }
      expect(replies.slice(0, 2)).to.deep.equal([
        [503, 'store_unavailable', 'The service is temporarily unavailable. Nothing was charged.'],
        [
          503,
          'store_unavailable',
          'The service is temporarily unavailable. Anything reserved for this call will be returned automatically.',
        ],
      ]);
      expect(replies[2]?.slice(0, 2)).to.deep.equal([500, 'internal']);
    });

    it('is a bad request if hapi refuses it', async () => {
      const { status, text } = await failing(MESSAGES, forbidden('secret words'));
      expect(status).to.equal(400);
      expect(text).not.to.contain('secret');
    });

    it("is logged without the upstream's message, which may quote a prompt", async () => {
      await failing(MESSAGES, fault('upstream_failed', {}, new Error('why')));
      expect(http.notes()).to.deep.equal({ fault: 'upstream_failed' });
    });

    it('is logged with its cause, or itself if it is internal and has none', async () => {
      const cause = new Error('why');
      await failing(MESSAGES, fault('store_unavailable', {}, cause));
      expect(http.notes()).to.deep.equal({ fault: 'store_unavailable', err: cause });
      const ours = fault('internal');
      await failing(MESSAGES, ours);
      expect(http.notes()).to.deep.equal({ fault: 'internal', err: ours });
      await failing(MESSAGES, fault('missing_key'));
      expect(http.notes()).to.deep.equal({ fault: 'missing_key' });
      // What a client got wrong is no failure of ours, whatever found it.
      await failing(MESSAGES, fault('image_unreachable', { field: 'messages' }, new Error('no such host')));
      expect(http.notes()).to.deep.equal({ fault: 'image_unreachable', field: 'messages' });
    });

    it('is logged with its field and model', async () => {
      await failing(MESSAGES, fault('invalid_field', { field: 'max_tokens' }));
      expect(http.notes()).to.deep.equal({ fault: 'invalid_field', field: 'max_tokens' });
      await failing(MESSAGES, fault('unknown_model', { model: 'nope' }));
      expect(http.notes()).to.deep.equal({ fault: 'unknown_model', asked: 'nope' });
    });
  });

  it('closes the connection if an early reply leaves the body unread', async () => {
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    failure = () => {
      throw fault('missing_key');
    };
    const refused = await ask(MESSAGES, { method: 'POST', headers, body: 'x'.repeat(30_000_000) });
    expect([refused.status, refused.headers.connection]).to.deep.equal([401, 'close']);
  });
});
