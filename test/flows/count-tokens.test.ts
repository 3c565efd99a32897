// Counting tokens and single models as a client has them: free, by the estimate of the hold, refused like a call.
import { expect } from 'chai';
import { ask, CHAT, COUNTS, MESSAGES, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';

const HISTORY = [
  { role: 'user', content: 'one' },
  { role: 'assistant', content: 'two' },
  { role: 'user', content: 'hi' },
];
const [COUNT] = COUNTS;

describe('counting tokens', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream();
    const smart = { lite: 'model-a', standard: 'model-a', heavy: 'model-a' };
    gateway = await startGateway({
      catalog: chatCatalog(upstream.url, { smart }),
      env: { RATE_LIMIT_PER_MINUTE: '2', COUNT_RATE_LIMIT_PER_MINUTE: '4' },
    });
  });
  beforeEach(() => upstream.behave(chatAnswer('Hello.', { input: 7, output: 400 })));
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') } };
  const linked = { type: 'image', source: { type: 'url', url: 'https://images.example/one.png' } };
  const blocks = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
  const hi = { type: 'text', text: 'hi' };

  const bodies: readonly (readonly [what: string, body: object, tokens: number])[] = [
    ['a text', ask('hi'), 1 + 4],
    ['blocks', { ...ask(''), ...blocks(hi, hi) }, 1 + 4],
    ['a system prompt', { ...ask('hi'), system: 'Be brief, please.' }, 5 + 4],
    ['a system prompt in blocks', { ...ask('hi'), system: [{ type: 'text', text: 'Be brief, please.' }] }, 5 + 4],
    ['a history', { ...ask(''), messages: HISTORY }, 2 + 12],
    ['an image', { ...ask(''), ...blocks(hi, image) }, 1 + 4 + 1000],
    ['an image that is linked', { ...ask(''), ...blocks(linked) }, 4 + 1000],
    ['smart', ask('hi', { model: 'auto' }), 1 + 4],
    ['an alias', ask('hi', { model: 'a' }), 1 + 4],
  ];
  for (const [what, body, tokens] of bodies) {
    it(`counts ${what} as the hold does`, async () => {
      const account = await gateway.account();
      const reply = await send(`${gateway.url}${COUNT}?beta=true`, { key: account.key, body });
      expect([reply.status, reply.json]).to.deep.equal([200, { input_tokens: tokens }]);
      expect((await gateway.wallet(account)).avail).to.equal(1_000_000_000n);
    });
  }

  it('counts for clients of responses, in their words', async () => {
    const { key } = await gateway.account('0');
    const [, path] = COUNTS;
    const counted = { object: 'response.input_tokens', input_tokens: 5 + 4 };
    const body = { model: 'model-a', instructions: 'Be brief, please.', input: 'hi' };
    expect((await send(gateway.url + path, { key, body })).json).to.deep.equal(counted);
    const { status, json } = await send(gateway.url + path, { key, body: { ...body, model: 'model-b' } });
    expect([status, json.error.type]).to.deep.equal([400, 'invalid_request_error']);
    expect(json).not.to.have.property('type');
  });

  it('counts a long text, which another thread parses, as the hold does', async () => {
    const account = await gateway.account();
    const body = ask('жизнь '.repeat(60_000), { max_tokens: 512 });
    const { json } = await send(gateway.url + COUNT, { key: account.key, body });
    const { json: answer } = await send(gateway.url + CHAT, { key: account.key, body });
    const reserved = answer.billing.reserved_rub;
    expect(reserved).to.be.closeTo((json.input_tokens * 1000 + 512 * 5000) / 1e6, 1e-9);
  });

  it('needs no money, and asks no upstream', async () => {
    const asked = upstream.calls.length;
    const { key } = await gateway.account('0');
    expect((await send(gateway.url + COUNT, { key, body: ask('hi') })).status).to.equal(200);
    expect(upstream.calls.length).to.equal(asked);
  });

  it('ignores an idempotency key, even one that a call has used', async () => {
    const { key } = await gateway.account();
    const headers = { 'idempotency-key': 'the same' };
    expect((await send(gateway.url + MESSAGES, { key, headers, body: ask('hi') })).status).to.equal(200);
    for (const [text, tokens] of [
      ['hi', 1 + 4],
      ['Be brief, please.', 5 + 4],
    ] as const) {
      const { status, json } = await send(gateway.url + COUNT, { key, headers, body: ask(text) });
      expect([status, json]).to.deep.equal([200, { input_tokens: tokens }]);
    }
  });

  it('has a rate of its own, which leaves that of calls alone', async () => {
    const { key } = await gateway.account();
    for (let at = 0; at < 4; at += 1) {
      expect((await send(gateway.url + COUNT, { key, body: ask('hi') })).status).to.equal(200);
    }
    for (let at = 0; at < 2; at += 1) {
      expect((await send(gateway.url + MESSAGES, { key, body: ask('hi') })).status).to.equal(200);
    }
    const limited = await send(gateway.url + COUNT, { key, body: ask('hi') });
    expect([limited.status, limited.json.error.type]).to.deep.equal([429, 'rate_limit_error']);
  });

  it('refuses what a call refuses, in the message envelope', async () => {
    const refused = async (body: object | string, key?: string) => {
      const reply = await send(gateway.url + COUNT, { body, ...(key !== undefined && { key }) });
      expect(reply.json.type).to.equal('error');
      return [reply.status, reply.json.error.type];
    };
    expect(await refused(ask('hi'))).to.deep.equal([401, 'authentication_error']);
    const { key } = await gateway.account();
    for (const body of [
      '{',
      ask('hi', { model: 'model-b' }),
      { ...ask('hi'), messages: [] },
      ask('hi', { model: 'old-a' }),
    ]) {
      expect(await refused(body, key)).to.deep.equal([400, 'invalid_request_error']);
    }
    const limited = await gateway.account();
    const limits = { budget: null, reset: 'none', zone: 'UTC', expiresAt: null, models: ['model-z'] } as const;
    await gateway.store.keys.limit(limited.keyId, limits, 0);
    expect(await refused(ask('hi'), limited.key)).to.deep.equal([403, 'permission_error']);
  });
});

describe('one model', () => {
  let gateway: TestGateway;

  before(async () => {
    const smart = { lite: 'model-a', standard: 'model-a', heavy: 'model-a' };
    gateway = await startGateway({ catalog: chatCatalog('http://127.0.0.1:9', { smart }) });
  });
  after(() => gateway.stop());

  it('is the entry of the list, by id and by alias', async () => {
    const { key } = await gateway.account('0');
    const { json } = await send(`${gateway.url}/api/v1/models`, { key });
    const [text, smart] = json.data;
    for (const [name, entry] of [
      ['model-a', text],
      ['a', text],
      ['smart', smart],
      ['auto', smart],
    ] as const) {
      const reply = await send(`${gateway.url}/api/v1/models/${name}?beta=true`, { key });
      expect([reply.status, reply.json]).to.deep.equal([200, entry]);
    }
  });

  it('answers 404 with similar names if unknown, and 400 with its successor if retired', async () => {
    const { key } = await gateway.account();
    const read = async (name: string) => {
      const { status, headers, json } = await send(`${gateway.url}/api/v1/models/${name}`, { key });
      return [status, headers['x-should-retry'], json.type, json.error.type, json.error.message];
    };
    const missing = [404, 'false', 'error', 'not_found_error'];
    const list = 'See GET /api/v1/models for the list.';
    expect(await read('model-b')).to.deep.equal([
      ...missing,
      `Unknown model \`model-b\`. Did you mean \`model-a\`? ${list}`,
    ]);
    expect(await read('constructor')).to.deep.equal([...missing, `Unknown model \`constructor\`. ${list}`]);
    // It exists, and has no route.
    expect((await read('image-a')).slice(0, 4)).to.deep.equal(missing);
    expect(await read('xyz%2Fqrs')).to.deep.equal([...missing, `Unknown model \`xyz/qrs\`. ${list}`]);
    const retired = [400, 'false', 'error', 'invalid_request_error'];
    expect(await read('old-a')).to.deep.equal([...retired, 'Model `old-a` is retired. Use `model-a` instead.']);
  });

  it('needs a key that may use it', async () => {
    const path = `${gateway.url}/api/v1/models/model-a`;
    expect((await send(path)).status).to.equal(401);
    const { key, keyId } = await gateway.account();
    const limits = { budget: null, reset: 'none', zone: 'UTC', expiresAt: null, models: ['model-z'] } as const;
    await gateway.store.keys.limit(keyId, limits, 0);
    expect((await send(path, { key })).status).to.equal(403);
    expect((await send(`${gateway.url}/api/v1/models/smart`, { key })).status).to.equal(403);
  });
});
