// What a call does whose upstream has several keys and refuses some: which key it gets, and what it notes.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { AnswerReader, KeyHeaders } from '../../../lib/upstream/contract/provider.ts';
import { isUpstreamFault } from '../../../lib/upstream/host/fault.ts';
import { type ClosableHost, createHost, type HostOptions } from '../../../lib/upstream/host/host.ts';
import { KeyRing } from '../../../lib/upstream/host/key-ring.ts';
import { callPlugin, nameUpstream, type PluginRun } from '../../../lib/upstream/host/plugin-run.ts';

describe('a call with several keys', () => {
  const auth: KeyHeaders = (key) => ({ authorization: `Bearer ${key}` });
  const signal = new AbortController().signal;
  const reader: AnswerReader = {
    take({ text, error, done }, out) {
      if (error) throw host.fault.ofComplaint({ error }, true);
      if (typeof text === 'string') out.text(text);
      if (done) out.finish('stop', 'done');
    },
  };
  let server: Server;
  let origin: string;
  let host: ClosableHost;
  let asked: string[];
  let told: (readonly [level: string, fields: object])[];
  let replies: Record<string, (response: ServerResponse) => void>;

  const reply =
    (status: number, headers: Record<string, string> = {}, body = '') =>
    (response: ServerResponse) =>
      void response.writeHead(status, headers).end(body);
  const well = (response: ServerResponse) => void response.writeHead(200).end('{"text":"Hi"}\n{"done":true}\n');

  before(async () => {
    server = createServer((incoming, response) => {
      const key = String(incoming.headers.authorization).slice('Bearer '.length);
      asked.push(key);
      incoming.resume();
      (replies[key] ?? well)(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    asked = [];
    told = [];
    replies = {};
    host = open();
  });
  afterEach(() => host.close());
  after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });

  function open(more: Partial<HostOptions> = {}): ClosableHost {
    const log = {
      warn: (_message: string, fields: object = {}) => void told.push(['warn', fields]),
      error: (_message: string, fields: object) => void told.push(['error', fields]),
    };
    return createHost({ upstream: 'acme', allowedOrigins: [origin], log, keys: ['key-a', 'key-b'], ...more });
  }

  async function answer(): Promise<string> {
    let text = '';
    for await (const parts of host.answer(origin, { method: 'POST', auth, body: '{}', signal }, reader))
      for (const part of parts) if (part.type === 'block-delta') text += part.text;
    return text;
  }

  const kindThrown = (running: Promise<unknown>) =>
    running.then(
      () => 'nothing',
      (error: unknown) => (isUpstreamFault(error) ? error.kind : String(error)),
    );

  const REFUSALS: readonly (readonly [kind: string, status: number, headers: Record<string, string>, body: string])[] =
    [
      ['rate', 429, { 'retry-after': '20' }, ''],
      ['quota', 429, {}, '{"error":{"code":"insufficient_quota","message":"no money"}}'],
      ['quota', 402, {}, ''],
      ['auth', 401, {}, ''],
      ['auth', 403, {}, ''],
      ['auth', 403, {}, '{"error":{"code":"model_not_found","message":"Your project does not have access to it"}}'],
      ['auth', 400, {}, '{"error":{"message":"API key not valid."}}'],
    ];
  for (const [kind, status, headers, body] of REFUSALS) {
    it(`is answered by the other key where one is refused for ${kind} with ${status}`, async () => {
      replies['key-a'] = reply(status, headers, body);
      expect(await answer()).to.equal('Hi');
      expect(asked).to.deep.equal(['key-a', 'key-b']);
      expect([await answer(), await answer()]).to.deep.equal(['Hi', 'Hi']);
      expect(asked.slice(2)).to.deep.equal(['key-b', 'key-b']);
      const forMs = kind === 'rate' ? 20_000 : 300_000;
      const fields = { upstream: 'acme', key: '1 of 2', kind, status, for_ms: forMs };
      expect(told).to.deep.equal([kind === 'rate' ? ['warn', fields] : ['error', { alert: 'upstream', ...fields }]]);
    });
  }

  it('asks each key once where all are refused, and the one that is back first the next time', async () => {
    replies = { 'key-a': reply(429, { 'retry-after': '30' }), 'key-b': reply(429, { 'retry-after': '10' }) };
    expect(await kindThrown(answer())).to.equal('rate');
    expect(asked).to.deep.equal(['key-a', 'key-b']);
    expect(await kindThrown(answer())).to.equal('rate');
    expect(asked.slice(2)).to.deep.equal(['key-b']);
    replies = {};
    expect(await answer()).to.equal('Hi');
    expect(asked.slice(3)).to.deep.equal(['key-b']);
  });

  it('asks once more for JSON too, but never after a 5xx, which may have done what was asked', async () => {
    const json = () => host.json(origin, { method: 'POST', auth, body: '{}', signal });
    replies['key-a'] = reply(500, {}, '{"error":{"code":"insufficient_user_quota","message":"no money"}}');
    expect(await kindThrown(json())).to.equal('quota');
    expect(asked).to.deep.equal(['key-a']);
    replies = { 'key-b': reply(429), 'key-a': reply(200, {}, '{}') };
    await host.close();
    host = open({ keys: ['key-b', 'key-a'] });
    expect((await json()).status).to.equal(200);
    expect(asked.slice(1)).to.deep.equal(['key-b', 'key-a']);
  });

  it('stays with the key of its job', async () => {
    const { keyId } = await host.request(origin, { method: 'GET', auth, signal });
    replies['key-a'] = reply(429);
    expect(await kindThrown(host.json(origin, { method: 'GET', auth, keyId, signal }))).to.equal('rate');
    expect(asked).to.deep.equal(['key-a', 'key-a']);
  });

  it('is asked once where its reader takes any status, and the key rests all the same', async () => {
    replies['key-a'] = reply(429, { 'retry-after': '20' });
    const { status } = await host.request(origin, { method: 'POST', auth, signal });
    expect([status, asked, host.keyHealth().rate]).to.deep.equal([429, ['key-a'], 1]);
    const fields = { upstream: 'acme', key: '1 of 2', kind: 'rate', status, for_ms: 20_000 };
    expect(told).to.deep.equal([['warn', fields]]);
    expect(await answer()).to.equal('Hi');
    expect(asked).to.deep.equal(['key-a', 'key-b']);
  });

  it('takes the statuses that are about a key for that, where its reader takes any, and no others', async () => {
    const health = { keys: 2, rate: 0, auth: 0, quota: 0 };
    for (const [status, kind] of [
      [401, 'auth'],
      [402, 'quota'],
      [429, 'rate'],
      [403, 'auth'],
      [500, undefined],
    ] as const) {
      await host.close();
      host = open();
      replies['key-a'] = reply(status);
      await host.request(origin, { method: 'POST', auth, signal });
      expect(host.keyHealth(), `${status}`).to.deep.equal({ ...health, ...(kind && { [kind]: 1 }) });
    }
  });

  const MODERATED = '{"error":{"code":"permission_denied","message":"Your input was flagged by moderation"}}';

  it('lets no key rest for content that breaks rules, and asks no other', async () => {
    replies['key-a'] = reply(403, {}, MODERATED);
    expect(await kindThrown(answer())).to.equal('request');
    expect([asked, host.keyHealth().auth, told]).to.deep.equal([['key-a'], 0, []]);
    await host.close();
    host = open();
    const { body, status } = await host.request(origin, { method: 'POST', auth, signal });
    expect([status, await body.text(), host.keyHealth().auth]).to.deep.equal([403, MODERATED, 0]);
    expect(asked).to.deep.equal(['key-a', 'key-a']);
  });

  it('leaves a 403 that breaks off to its reader, as it came', async () => {
    replies['key-a'] = (response) => {
      response.writeHead(403, { 'content-length': '100' }).flushHeaders();
      response.write('half', () => response.destroy());
    };
    const { body, status } = await host.request(origin, { method: 'POST', auth, signal });
    expect([status, host.keyHealth().auth, await kindThrown(body.text())]).to.deep.equal([403, 1, 'network']);
  });

  it('asks every key before the call fails, also one that rests for its rights, and each once', async () => {
    await host.close();
    host = open({ keys: ['key-a', 'key-b', 'key-c'] });
    const forbidden = reply(403, {}, '{"error":{"message":"no access to this model"}}');
    replies = { 'key-a': forbidden, 'key-b': forbidden };
    expect([await answer(), ...asked]).to.deep.equal(['Hi', 'key-a', 'key-b', 'key-c']);
    asked = [];
    replies = { 'key-c': forbidden, 'key-b': forbidden };
    expect(await answer()).to.equal('Hi');
    expect([asked[0], asked.at(-1), asked.length - new Set(asked).size]).to.deep.equal(['key-c', 'key-a', 0]);
    asked = [];
    replies = { 'key-a': forbidden, 'key-b': forbidden, 'key-c': forbidden };
    expect(await kindThrown(answer())).to.equal('auth');
    expect([...asked].sort()).to.deep.equal(['key-a', 'key-b', 'key-c']);
  });

  it('is none where a request has none, whatever comes back', async () => {
    replies[''] = reply(403, {}, '{"error":{"message":"no"}}');
    const { status } = await host.request(origin, { method: 'GET', headers: { authorization: 'Bearer ' }, signal });
    expect([status, host.keyHealth().auth, asked]).to.deep.equal([403, 0, ['']]);
  });

  it('is asked once, also where it is back before one that rests for its rights', async () => {
    replies['key-b'] = reply(403);
    while (!asked.includes('key-b')) expect(await answer()).to.equal('Hi');
    asked = [];
    replies = { 'key-a': reply(429, { 'retry-after': '1' }) };
    expect([await answer(), ...asked]).to.deep.equal(['Hi', 'key-a', 'key-b']);
  });

  it('is the one of its job or conversation where its reader takes any status', async () => {
    const keyId = new KeyRing(['key-b']).take()?.id;
    const init = { method: 'GET', auth, signal } as const;
    for (const _ of [1, 2]) (await host.request(origin, { ...init, keyId })).body.drop();
    expect(asked.splice(0)).to.deep.equal(['key-b', 'key-b']);
    for (const conversation of ['one', 'one', 'two', 'two', 'three', 'three', 'four', 'four'])
      (await host.request(origin, { ...init, conversation })).body.drop();
    replies = { 'key-a': reply(200, {}, '{}'), 'key-b': reply(200, {}, '{}') };
    for (const conversation of ['one', 'one', 'two', 'two', 'three', 'three', 'four', 'four'])
      await host.json(origin, { ...init, conversation });
    expect(asked.splice(8)).to.deep.equal(asked);
    const pairs = [0, 2, 4, 6].map((at) => asked.slice(at, at + 2).join());
    for (const pair of pairs) expect(pair).to.be.oneOf(['key-a,key-a', 'key-b,key-b']);
  });

  it('is noted for the call with the id of each request but polls, and those that were refused', async () => {
    replies['key-a'] = reply(429, { 'x-request-id': 'first' });
    replies['key-b'] = (response) =>
      void response.writeHead(200, { 'x-request-id': response.req.method === 'GET' ? 'poll' : 'second' }).end('{}');
    let noted: PluginRun | undefined;
    const ask = async (inner: AbortSignal) => {
      await host.json(origin, { method: 'POST', auth, body: '{}', signal: inner });
      await host.json(origin, { method: 'GET', auth, signal: inner });
    };
    await callPlugin(nameUpstream('acme'), signal, ask, (run) => {
      noted = run;
    });
    expect(noted).to.include({ requestId: 'second', keyPlace: 2 });
    expect(noted?.refused?.map(({ keyPlace, requestId }) => [keyPlace, requestId])).to.deep.equal([[1, 'first']]);
  });

  it('submits a video with the next key, and looks at it with that one, paused or not', async () => {
    const init = { auth, signal, url: origin, body: '{}' };
    const submission = { ...init, idOf: ({ id }: { id?: unknown }) => id, lookAt: () => `${origin}/job` };
    replies = { 'key-a': reply(403), 'key-b': reply(200, {}, '{"id":"7"}') };
    const ref = await host.video.submit(submission);
    expect([ref.id, ...asked]).to.deep.equal(['7', 'key-a', 'key-b']);
    replies = { 'key-b': reply(403) };
    const look = () => host.video.look(ref, { auth, signal }, ({ status }) => ({ status }));
    expect([await kindThrown(look()), await kindThrown(look())]).to.deep.equal(['auth', 'auth']);
    expect(asked.slice(2)).to.deep.equal(['key-b', 'key-b']);
  });

  it('lets a key rest that is refused within an answer', async () => {
    replies['key-a'] = (response) =>
      void response.writeHead(200).end('{"text":"H"}\n{"error":{"code":"insufficient_quota"}}\n');
    expect(await kindThrown(answer())).to.equal('quota');
    expect([await answer(), await answer(), ...asked]).to.deep.equal(['Hi', 'Hi', 'key-a', 'key-b', 'key-b']);
  });

  it('goes on with another key where one cannot be exchanged for a token', async () => {
    const tokens = host.tokens({
      async exchange(key, forKey) {
        await host.json(origin, { method: 'POST', headers: auth(key, forKey) as Record<string, string>, signal });
        return { value: `token of ${key}`, expiresAt: Date.now() + 600_000 };
      },
      headers: (token) => ({ authorization: `Bearer ${token}` }),
    });
    replies = { 'key-a': reply(401), 'key-b': reply(200, {}, '{}'), 'token of key-b': reply(200, {}, '{}') };
    const { keyId } = await host.json(origin, { method: 'GET', auth: tokens, signal });
    expect(keyId).to.equal(new KeyRing(['key-b']).take()?.id);
    expect(asked).to.deep.equal(['key-a', 'key-b', 'token of key-b']);
    expect(host.keyHealth().auth).to.equal(1);
  });

  it('is not asked again once its client left', async () => {
    const leaving = new AbortController();
    replies['key-a'] = (response) => {
      leaving.abort(new Error('gone'));
      response.writeHead(429).end();
    };
    const request = { method: 'POST', auth, signal: leaving.signal } as const;
    expect(await kindThrown(host.json(origin, request))).to.equal('Error: gone');
    expect(asked).to.deep.equal(['key-a']);
  });
});
