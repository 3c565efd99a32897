// Paths as clients make them that were given a wrong base address: the answer names the right one, in the right envelope.
import { expect } from 'chai';
import { CHAT, DIALECTS, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';

describe('a path that is not there', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ catalog: chatCatalog('http://127.0.0.1:9') });
  });
  after(() => gateway.stop());

  const wrong: Readonly<Record<string, string>> = {
    '/v1/messages': '/api',
    '/messages': '/api',
    '/api/messages': '/api',
    '/api/v1/v1/messages': '/api',
    '/v1/messages/count_tokens': '/api',
    '/v1/chat/completions': '/api/v1',
    '/chat/completions': '/api/v1',
    '/api/chat/completions': '/api/v1',
    '/api/v1/v1/chat/completions': '/api/v1',
    '/v1/models': '/api/v1',
    '/api/models/model-a': '/api/v1',
    '/api/v1/v1/images/generations': '/api/v1',
    '/v1/videos': '/api/v1',
    '/v1/v1/messages': '/api',
    '/v1/v1/chat/completions': '/api/v1',
    '/v1/v1/models': '/api/v1',
    '/balance': '/api/v1',
    '/api/v1/v1/balance': '/api/v1',
    '/api/images/edits': '/api/v1',
  };
  for (const [path, base] of Object.entries(wrong)) {
    it(`${path} is told the base ${base}`, async () => {
      const reply = await send(`${gateway.url}${path}?beta=true`, { body: {} });
      expect(reply.status).to.equal(404);
      expect(reply.json.error.message).to.match(
        new RegExp(
          `^There is nothing at this path\\. ${path} was called: set the base URL .* to http://[^/]+${base}\\.$`,
        ),
      );
    });
  }

  it('is told the start of a long path', async () => {
    const path = `/v1/models/${'m'.repeat(100)}`;
    const { status, json } = await send(gateway.url + path);
    expect(status).to.equal(404);
    expect(json.error.message).to.contain(`path. ${path.slice(0, 100)} was called: `);
  });

  it('is told nothing where no base is likely', async () => {
    for (const path of [
      '/',
      '/v1/models/a/b',
      '/v1/images',
      '/api',
      '/api/v1',
      '/api/v2/messages',
      '/api/v1/message',
      '/x/v1/messages',
    ]) {
      const { status, json } = await send(gateway.url + path, { body: {} });
      expect([status, json.type, json.error.type]).to.deep.equal([404, 'error', 'not_found_error']);
      expect(json.error.message).to.equal('There is nothing at this path. See GET /openapi.json for the endpoints.');
    }
  });

  it('answers below the chat endpoint in its envelope, with the headers of the API', async () => {
    const { headers, json } = await send(`${gateway.url}${CHAT}/more`, { body: {} });
    expect(json.error).to.include({ type: 'not_found_error', code: 'not_found' });
    expect(headers['access-control-allow-origin']).to.equal('*');
  });

  it('names every method of a path that it refuses another one', async () => {
    for (const [path, allowed] of [
      ['/api/v1/videos', ['GET', 'POST']],
      ['/api/v1/models', ['GET']],
      [CHAT, ['POST']],
    ] as const) {
      const { status, headers } = await send(gateway.url + path, { method: 'DELETE' });
      expect([status, headers.allow?.split(', ').sort()], path).to.deep.equal([405, allowed]);
    }
  });

  it('answers a preflight for every path of the API, and for no other', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
    for (const path of [...DIALECTS, '/api/nowhere']) {
      expect((await send(gateway.url + path, { method: 'OPTIONS', headers })).status).to.equal(204);
    }
    expect((await send(`${gateway.url}/healthz`, { method: 'OPTIONS', headers })).status).to.equal(405);
  });
});
