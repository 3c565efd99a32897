// Each endpoint of the API plugin answers in its own format.
import { expect } from 'chai';
import { apiPlugin } from '../../lib/api/plugin.ts';
import type { Services } from '../../lib/api/services.ts';
import type { ResponseStyle } from '../../lib/http/response-style.ts';
import { send } from '../../testkit/client.ts';
import { openTestHttp, type TestHttp } from '../../testkit/http.ts';

const STRANGE: ResponseStyle = { headers: {}, renderFault: () => ({ type: 'text/plain', body: 'strange' }) };

describe('the plugin of the API', () => {
  let http: TestHttp;

  before(async () => {
    const limit = { name: 'any', perMinute: 100 };
    const services: Partial<Services> = {
      holders: { find: () => undefined } as unknown as Services['holders'],
      limits: { generate: limit, count: limit, balance: limit, videos: limit, management: limit },
      store: {} as Services['store'],
      config: { keyPrefix: 'tg-' } as Services['config'],
      publicUrl: () => 'http://here',
    };
    http = openTestHttp(() => STRANGE);
    await http.server.register({ plugin: apiPlugin, options: services as Services });
    await http.start();
  });
  after(() => http.close(async () => undefined));

  const ask = async (path: string, method = 'POST') => {
    const { status, headers, text } = await send(`http://127.0.0.1:${http.server.info.port}${path}`, {
      method,
      key: 'no',
    });
    return { status, origin: headers['access-control-allow-origin'], policy: headers['content-security-policy'], text };
  };

  it('gives every route a response style', async () => {
    const chat = await ask('/api/v1/chat/completions');
    expect(chat).to.include({ status: 401, origin: '*' });
    expect(JSON.parse(chat.text).error).to.have.property('code');
    for (const path of ['/api/v1/messages', '/api/v1/images/generations']) {
      const { status, origin, text } = await ask(path);
      expect([status, origin, JSON.parse(text).type], path).to.deep.equal([401, '*', 'error']);
    }
    const media = await ask('/media/nothing.png', 'GET');
    expect([media.origin, media.policy]).to.deep.equal(['*', "sandbox; default-src 'none'"]);
  });

  it('has no routes for other paths', async () => {
    expect(await ask('/api/v1/nothing')).to.include({ status: 404, text: 'strange' });
  });
});
