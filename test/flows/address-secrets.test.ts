// A key that an operator has written into an upstream's address, and a vendor that repeats it: nobody else reads it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ask, CHAT, send, until } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOperator, type Visitor } from '../../testkit/pages.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const KEY = 'vendor/very+secret=1';
const WRITTEN = encodeURIComponent(KEY);
const PAGE = '/admin/upstreams/up';

describe('a key in the address of an upstream', () => {
  let upstream: TestUpstream;
  let test: TestGateway;
  let operator: Visitor;
  let asked: string[];

  before(async () => {
    asked = [];
    upstream = await startUpstream(({ request, response }) => {
      const url = request.url ?? '';
      asked.push(url);
      const message = `no such key: ${url}, ${new URL(url, 'http://vendor').searchParams.get('key')}`;
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
    });
    const settings = { baseUrl: `${upstream.url}/v1?key=${WRITTEN}&version=2026` };
    const routes = [{ upstream: 'up', model: 'm' }];
    const price = { input: '1', output: '1' };
    const catalog = {
      upstreams: { up: { plugin: 'openai-compatible', settings } },
      models: [{ id: 'model-a', type: 'text', provider: 'Test', routes, price }],
    };
    test = await startGateway({ catalog, env: { LOG_LEVEL: 'debug' } });
    operator = await setUpOperator(test);
  });
  after(async () => {
    await test.stop();
    await upstream.close();
  });

  it('reaches the vendor, and no answer, page or line of the log', async () => {
    const { key } = await test.account();
    const reply = await send(test.url + CHAT, { key, body: ask('Hi') });
    expect(reply.status).to.be.within(500, 599);
    expect(asked).to.deep.equal([`/v1/chat/completions?key=${WRITTEN}&version=2026`]);
    const tried = await operator.submit(PAGE, { change: 'test' });
    const log = () => readFileSync(join(test.folder, 'log'), 'utf8');
    await until(() => log().includes('no such key'));
    const paths = [PAGE, '/admin/upstreams', '/admin/catalog', '/admin/calls', '/admin'];
    const pages = await Promise.all(paths.map((path) => operator.get(path)));
    for (const text of [reply.text, tried.text, ...pages.map((page) => page.text), log()])
      for (const secret of [KEY, WRITTEN]) expect(text).to.not.contain(secret);
  });
});
