// Two faces on one server: what a route names decides how it answers, not its path.
import { expect } from 'chai';
import { faceAt } from '../../lib/api/face.ts';
import { fault } from '../../lib/faults.ts';
import { onPreResponse, onRequest } from '../../lib/http/reply.ts';
import { createHttp, type Http } from '../../lib/http/server.ts';
import { type WebOptions, webPlugin } from '../../lib/web/plugin.ts';
import { send } from '../../testkit/client.ts';

describe('pages beside the API', () => {
  let http: Http;

  before(async () => {
    http = createHttp({ host: '127.0.0.1', port: 0, faceAt });
    http.server.ext('onRequest', onRequest);
    http.server.ext('onPreResponse', onPreResponse);
    const refuse = () => {
      throw fault('invalid_field', { field: '<b>&"name"', hint: "isn't right" });
    };
    const routes: WebOptions['routes'] = [
      { method: 'GET', path: '/page', handler: () => 'here' },
      { method: 'GET', path: '/api/looks-like-one', handler: refuse },
    ];
    await http.server.register({ plugin: webPlugin, options: { routes } });
    http.server.route({ method: 'GET', path: '/other', handler: refuse });
    await http.start();
  });
  after(() => http.close(async () => undefined));

  const ask = (path: string) => send(`http://127.0.0.1:${http.server.info.port}${path}`);

  it('have their own headers, and no CORS', async () => {
    const { status, headers } = await ask('/page');
    expect(status).to.equal(200);
    expect(headers['content-security-policy']).to.match(/^default-src 'none';.*frame-ancestors 'none'$/);
    expect(headers).to.include({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    expect(headers['access-control-allow-origin']).to.equal(undefined);
    expect(headers['x-request-id']).to.match(/^req_/);
  });

  it('show their errors as pages, escaped, whatever their path', async () => {
    const { status, headers, text } = await ask('/api/looks-like-one');
    expect([status, headers['content-type']]).to.deep.equal([400, 'text/html; charset=utf-8']);
    expect(text).to.contain('&lt;b&gt;&amp;&quot;name&quot;').and.to.contain('isn&#39;t right');
    expect(text).not.to.contain('<b>');
  });

  it('leave other routes their face', async () => {
    const { headers, json } = await ask('/other');
    expect(json.type).to.equal('error');
    expect(headers['content-security-policy']).to.equal(undefined);
  });
});
