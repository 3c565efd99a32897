// Paths of clients with a wrong base URL: the reply names the right one, in the right envelope.
import { expect } from 'chai';
import { CHAT, DIALECTS, RESPONSES, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { itTimed } from '../../testkit/timed.ts';

describe('an unknown path', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ catalog: chatCatalog('http://127.0.0.1:9') });
  });
  after(() => gateway.stop());

  const ENDPOINTS = [
    '/messages',
    '/messages/count_tokens',
    CHAT.slice('/api/v1'.length),
    '/models',
    '/models/model-a',
    '/responses',
  ].concat(['/balance', '/videos', '/images/generations', '/images/edits']);
  /** What a client appends to its base besides the endpoint, and the base that it needs. */
  const RIGHT = { '': '/api/v1', '/v1': '/api', '/api/v1': '' } as const;
  const BASES = [
    '',
    '/api',
    '/v1',
    '/api/v1',
    '/api/api',
    '/api/api/v1',
    '/api/v1/chat/completions',
    '/api/v1/messages',
    '/api/v1/responses',
  ]
    .concat(['/v1/messages', '/chat/completions', '/api/v1/models', '/api/v1/images/generations'])
    .flatMap((base) => [base, `${base}/`]);

  /** The base that is named for a client that appends this. */
  function readAdvice(message: string, appended: string): string | undefined {
    const named = [...message.matchAll(/http:\/\/[^/]+?:\d+(\S*?)(?: if it adds ([^,]+))?(?=,|\. Settings)/g)];
    const meant = named.find(([, , adds]) => adds === appended) ?? named.at(-1);
    return meant?.[1];
  }

  itTimed('is matched quickly, however often it repeats an endpoint', async () => {
    const startedAt = performance.now();
    for (const endpoint of [...ENDPOINTS, '/api', '/v1', '//api', '//v1']) {
      for (const end of ['', '-', '/messages-', '/videos/x/y']) {
        const path = `${endpoint.repeat(28)}${end}`;
        expect((await send(`${gateway.url}${path}`)).status, path).to.be.oneOf([401, 404]);
      }
    }
    expect(performance.now() - startedAt).to.be.below(2000);
  });

  for (const [adds, right] of Object.entries(RIGHT)) {
    it(`gets the right base for a client that appends ${adds || 'nothing'} and an endpoint`, async () => {
      // Each endpoint below every third base, and below each base every third endpoint.
      for (const [at, endpoint] of ENDPOINTS.entries()) {
        expect((await send(`${gateway.url}${right}${adds}${endpoint}`, { body: {} })).status).to.not.equal(404);
        for (const base of BASES.filter((each, index) => each !== right && (index + at) % 3 === 0)) {
          const path = `${base}${adds}${endpoint}`;
          const reply = await send(`${gateway.url}${path}?beta=true`, { body: {} });
          // A base may be wrong and the address right, as where "/v1" is in both.
          if (reply.status !== 404 || reply.json.error.message.includes('model')) continue;
          expect(readAdvice(reply.json.error.message, `${adds}${endpoint}`), path).to.equal(right);
        }
      }
    });
  }

  const wrong: Readonly<Record<string, string>> = {
    '/v1/messages': '/api/v1 if it adds /messages, else to ORIGIN/api',
    '/messages': '/api/v1',
    '/api/messages': '/api/v1',
    '/api/v1/v1/messages': '/api',
    '/v1/messages/count_tokens': '/api/v1 if it adds /messages/count_tokens, else to ORIGIN/api',
    '/v1/chat/completions': '/api if it adds /v1/chat/completions, else to ORIGIN/api/v1',
    '/chat/completions': '/api/v1',
    '/api/chat/completions': '/api/v1',
    '/api/v1/v1/chat/completions': '/api',
    '/api/v1/v1/models': '/api',
    '/api/v1/v1/images/generations': '/api',
    '/v1/v1/models': '/api',
    '/balance': '/api/v1',
    '/api/v1/chat/completions/chat/completions': '/api/v1',
    '/api/v1/chat/completions/v1/chat/completions': '/api',
    '/api/v1/messages/v1/messages': '/api',
    '/api/v1/responses/responses': '/api/v1',
    '/api/v1/responses/models': '/api/v1',
    '/api/v1/responses/v1/chat/completions': '/api',
    '/api/v1/chat/completions/models': '/api/v1',
    '/api/v1//chat/completions': '/api/v1',
    '//v1/messages': '/api',
    '/api/v1/api/v1/chat/completions': '',
    '/api/api/v1/models': ' if it adds /api/v1/models, ORIGIN/api if it adds /v1/models, else to ORIGIN/api/v1',
  };
  for (const [path, base] of Object.entries(wrong)) {
    it(`${path} gets the base ${base}`, async () => {
      const { status, json } = await send(`${gateway.url}${path}?beta=true`, { body: {} });
      const advice = `${path} was called: set the base URL of your client to ORIGIN${base}. Settings for each client: ORIGIN/account/connect.`;
      expect([status, json.error.message]).to.deep.equal([
        404,
        `There is nothing at this path. ${advice.replaceAll('ORIGIN', gateway.url)}`,
      ]);
    });
  }

  it('is served if only a trailing slash was added', async () => {
    for (const path of [...DIALECTS, '/api/v1/models', '/api/v1/balance', '/login']) {
      expect((await send(`${gateway.url}${path}/`, { body: {} })).status, path).to.not.equal(404);
    }
  });

  it('quotes only the start of a long path', async () => {
    const path = `/v1/models/${'m'.repeat(100)}`;
    const { status, json } = await send(gateway.url + path);
    expect(status).to.equal(404);
    expect(json.error.message).to.contain(`path. ${path.slice(0, 100)} was called: `);
  });

  it('gets no base if none is likely', async () => {
    for (const path of [
      '/',
      '/v1/models/a/b',
      '/v1/images',
      '/api',
      '/api/v1',
      '/api/v2/messages',
      '/api/v1/message',
      '/x/v1/messages',
      '/api/v1/v1/audio',
      `/${'/v1'.repeat(400)}/messages`,
    ]) {
      const { status, json } = await send(gateway.url + path, { body: {} });
      expect([status, json.type, json.error.type, json.error.code]).to.deep.equal([
        404,
        'error',
        'not_found_error',
        'not_found',
      ]);
      expect(json.error.message).to.equal('There is nothing at this path. See GET /openapi.json for the endpoints.');
    }
  });

  const ALL = ['error', 'not_found'];

  it('gets the endpoint to use instead where other services have one', async () => {
    for (const [path, hint] of [
      ['/v1/completions', /use POST \/api\/v1\/chat\/completions\.$/],
      ['/api/v1/completions', /Prompts without messages are not served/],
      ['/v1/complete', /chat\/completions\.$/],
      ['/openai/deployments/a/chat/completions?api-version=1', /path\. Use POST \/api\/v1\/chat\/completions\.$/],
      ['/api/v1/models/maker/a', /as %2F\.$/],
      ['/api/v1/files/f_1/content', /within a message\.$/],
      ['/openai/responses/input_tokens', /Use POST \/api\/v1\/responses\/input_tokens\.$/],
      ['/api/v1/messages/batches', /no batches: send each message to POST \/api\/v1\/messages/],
      ['/api/v1/messages/batches/b_1/results', /no batches/],
      ['/api/chat', /Use POST \/api\/v1\/chat\/completions\.$/],
      ['/api/tags', /Use GET \/api\/v1\/models\.$/],
      ['/api/v1beta/models/x:generateContent', /Use POST/],
      ['/api/v1/images/variations', /images\/edits\.$/],
      ['/api/v1/videos/vid_1', /videos\?id=/],
      ['/api/v1/credits', /balance\.$/],
    ] as const) {
      const { status, json } = await send(gateway.url + path, { body: {} });
      expect([status, json.error.type], path).to.deep.equal([404, 'not_found_error']);
      // Below an endpoint in its own envelope, elsewhere in that of all.
      if (!/\/(?:messages|models|responses|videos)\//.test(path))
        expect([json.type, json.error.code]).to.deep.equal(ALL);
      expect(json.error.message, path).to.match(hint);
    }
  });

  it('is answered in the chat envelope below the chat endpoint, with the headers of the API', async () => {
    const { headers, json } = await send(`${gateway.url}${CHAT}/more`, { body: {} });
    expect(json.error).to.include({ type: 'not_found_error', code: 'not_found' });
    expect(headers['access-control-allow-origin']).to.equal('*');
  });

  it('has no stored response, whatever the method', async () => {
    for (const method of ['GET', 'DELETE', 'POST']) {
      const path = `${RESPONSES}/resp_1${method === 'POST' ? '/cancel' : ''}`;
      const { status, headers, json } = await send(gateway.url + path, { method });
      expect([status, json.error.code]).to.deep.equal([404, 'not_found']);
      expect(json.error.message).to.contain('No response is stored: POST /api/v1/responses answers with all of it.');
      expect(headers['access-control-allow-origin']).to.equal('*');
    }
  });

  it('refuses a WebSocket and names what to send instead', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const { status, json, headers: answered } = await send(gateway.url + RESPONSES, { headers });
    expect([status, json.error.code, answered['x-should-retry']]).to.deep.equal([426, 'no_websockets', 'false']);
    expect(json.error.message).to.equal(
      'WebSockets are not supported. Send POST /api/v1/responses with `stream: true`.',
    );
  });

  it('names all methods of a path when another is refused', async () => {
    for (const [path, allowed] of [
      ['/api/v1/videos', ['GET', 'POST']],
      ['/api/v1/models', ['GET']],
      [CHAT, ['POST']],
    ] as const) {
      const { status, headers } = await send(gateway.url + path, { method: 'DELETE' });
      expect([status, headers.allow?.split(', ').sort()], path).to.deep.equal([405, allowed]);
    }
  });

  it('answers preflights on all paths of the API, and on no others', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
    for (const path of [...DIALECTS, '/api/nowhere']) {
      expect((await send(gateway.url + path, { method: 'OPTIONS', headers })).status).to.equal(204);
    }
    expect((await send(`${gateway.url}/healthz`, { method: 'OPTIONS', headers })).status).to.equal(405);
  });
});
