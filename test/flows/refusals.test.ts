// Every refusal before anything is charged: status, envelope, words, headers, in both dialects.
import { expect } from 'chai';
import { ask, CHAT, DIALECTS, MESSAGES, RESPONSES, type Reply, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const CHAT_CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'invalid_api_key',
  402: 'insufficient_balance',
  403: 'account_suspended',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'request_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limit_exceeded',
};

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  408: 'invalid_request_error',
  413: 'invalid_request_error',
  415: 'invalid_request_error',
  429: 'rate_limit_error',
};

/** The envelope of the path with exactly its keys; returns the message. */
function expectRefusal(reply: Reply, path: string, status: number): string {
  expect(reply.status, reply.text).to.equal(status);
  expect(reply.headers['content-type']).to.match(/^application\/json/);
  expect(reply.headers['x-request-id']).to.match(/^req_/);
  expect(reply.headers['request-id']).to.equal(reply.headers['x-request-id']);
  const { message } = reply.json.error;
  if (path === CHAT || path === RESPONSES) {
    expect(reply.json).to.deep.equal({ error: { message, type: TYPES[status], code: CHAT_CODES[status] } });
  } else expect(reply.json).to.deep.equal({ type: 'error', error: { type: TYPES[status], message } });
  return message;
}

/** Fields of the responses dialect by the names that the others have. */
function nameAlike(message: string): string {
  return message.replace('`input', '`messages').replace('`max_output_tokens', '`max_tokens');
}

describe('refusals', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalog: chatCatalog(upstream.url) });
    account = await gateway.account();
  });
  afterEach(async () => {
    await gateway.checkMoney();
    expect((await gateway.wallet(account)).avail).to.equal(1_000_000_000n);
    expect(upstream.calls).to.have.length(0);
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });

  for (const path of DIALECTS) {
    const post = (body: unknown, headers = {}) => send(gateway.url + path, { key: account.key, body, headers });

    describe(path, () => {
      const bad: readonly [string, unknown, RegExp][] = [
        ['an empty body', '', /empty/],
        ['no JSON', '{"model":', /not valid JSON/],
        ['an array', '[]', /object/],
        ['null', 'null', /object/],
        ['a string', '"x"', /object/],
        ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), /UTF-8/],
        ['depth', `${'['.repeat(70)}${']'.repeat(70)}`, /64 levels/],
        ['many values', `[${'0,'.repeat(200_001)}0]`, /200000 values/],
        ['no model', ask('hi', { model: undefined }), /`model`/],
        ['a model of a wrong type', ask('hi', { model: 7 }), /`model`/],
        ['an empty model', ask('hi', { model: '' }), /`model`/],
        ['an unknown model', ask('hi', { model: 'nope' }), /Unknown model `nope`/],
        ['a name of the language', ask('hi', { model: '__proto__' }), /Unknown model/],
        ['another name of the language', ask('hi', { model: 'constructor' }), /Unknown model/],
        ['a retired model', ask('hi', { model: 'old-a' }), /retired.*`model-a`/],
        ['an image model', ask('hi', { model: 'image-a' }), /POST \/api\/v1\/images\/generations/],
        ['a video model', ask('hi', { model: 'film-a' }), /POST \/api\/v1\/videos/],
        ['no messages', ask('hi', { messages: undefined }), /`messages`/],
        ['messages null', ask('hi', { messages: null }), /`messages`/],
        ['messages that are no array', ask('hi', { messages: 5 }), /`messages`/],
        ['no message', ask('hi', { messages: [] }), /`messages`/],
        ['a message that is no object', ask('hi', { messages: ['hi'] }), /`messages\[0\]`/],
        ['an unknown role', ask('', { messages: [{ role: 'robot', content: 'x' }] }), /`messages\[0\]\.role`/],
        ['no content', ask('', { messages: [{ role: 'user' }] }), /`messages\[0\]\.content`/],
        ['content null', ask('', user(null)), /`messages\[0\]\.content`/],
        ['content of a wrong type', ask('', user(5)), /`messages\[0\]\.content`/],
        ['a block that is no object', ask('', user(['hi'])), /`messages\[0\]\.content\[0\]`/],
        ['a block without type', ask('', user([{ text: 'x' }])), /`messages\[0\]\.content\[0\]\.type`/],
        ['a text block without text', ask('', user([{ type: 'text' }])), /`messages\[0\]\.content\[0\]\.text`/],
        ['an empty prompt', ask(''), /text or an image/],
        ['only dropped blocks', ask('', user([{ type: 'tool_use', input: {} }])), /text or an image/],
        ['no user message', ask('', { messages: [{ role: 'assistant', content: 'x' }] }), /role user/],
        ['only a system message', ask('', { messages: [{ role: 'system', content: 'x' }] }), /role user/],
        ['stream as a string', ask('hi', { stream: 'true' }), /`stream`/],
        ['stream as a number', ask('hi', { stream: 1 }), /`stream`/],
        ['max_tokens 0', ask('hi', { max_tokens: 0 }), /`max_tokens`/],
        ['max_tokens below 0', ask('hi', { max_tokens: -5 }), /`max_tokens`/],
        ['max_tokens fractional', ask('hi', { max_tokens: 1.5 }), /`max_tokens`/],
        ['max_tokens as a string', ask('hi', { max_tokens: '100' }), /`max_tokens`/],
        ['max_tokens true', ask('hi', { max_tokens: true }), /`max_tokens`/],
      ];
      for (const [name, body, words] of bad) {
        it(`400 for ${name}`, async () => {
          const reply = await post(body);
          expect(nameAlike(expectRefusal(reply, path, 400))).to.match(words);
          expect(reply.headers['x-should-retry']).to.equal('false');
        });
        if (typeof body === 'object' && !Buffer.isBuffer(body) && !/stream/.test(name)) {
          it(`400 as plain JSON for ${name} with stream`, async () => {
            expectRefusal(await post({ ...body, stream: true }), path, 400);
          });
        }
      }

      it('401 without a key, with a malformed one, with an unknown one', async () => {
        const body = ask('hi');
        expectRefusal(await send(gateway.url + path, { body }), path, 401);
        expectRefusal(await send(gateway.url + path, { body, key: 'nonsense' }), path, 401);
        const last = account.key.at(-1) === 'a' ? 'b' : 'a';
        const reply = await send(gateway.url + path, { body, key: account.key.slice(0, -1) + last });
        expectRefusal(reply, path, 401);
        expect(reply.headers['x-should-retry']).to.equal('false');
        const other = { authorization: `Basic ${account.key}` };
        expectRefusal(await send(gateway.url + path, { body, headers: other }), path, 401);
      });

      it('402 naming the minimum first top-up when the wallet was never topped up', async () => {
        const poor = await gateway.account('0');
        const message = expectRefusal(await send(gateway.url + path, { key: poor.key, body: ask('hi') }), path, 402);
        expect(message).to.contain('1000.00 RUB').and.to.contain(`${gateway.url}/account/wallet?account=${poor.id}.`);
      });

      it('402 quoting reserve and balance', async () => {
        const poor = await gateway.account('1000');
        const body = ask('word'.padEnd(5).repeat(800_000), { max_tokens: 1 });
        const message = expectRefusal(await send(gateway.url + path, { key: poor.key, body }), path, 402);
        // A million tokens and 4 of the message at 1000 RUB, 512 of output at 5000 RUB, per million.
        expect(message).to.contain('1002.564 RUB').and.to.contain('1000.00 RUB');
        expect(message).to.contain(
          `Top up the wallet at ${gateway.url}/account/wallet?account=${poor.id} or lower \`max_tokens\`.`,
        );
      });

      it('403 for a suspended account, and within a second', async () => {
        const other = await gateway.account();
        await send(`${gateway.url}/api/v1/models`, { key: other.key });
        await gateway.store.accounts.setStatus(other.id, 'suspended');
        await new Promise((resolve) => setTimeout(resolve, 1000));
        expectRefusal(await send(gateway.url + path, { key: other.key, body: ask('hi') }), path, 403);
      });

      it('401 for a revoked key, within a second', async () => {
        const other = await gateway.account();
        await send(`${gateway.url}/api/v1/models`, { key: other.key });
        await gateway.store.keys.revoke(other.keyId, Date.now());
        await new Promise((resolve) => setTimeout(resolve, 1000));
        expectRefusal(await send(gateway.url + path, { key: other.key, body: ask('hi') }), path, 401);
      });

      it('405 for another method, with the right one', async () => {
        const reply = await send(gateway.url + path, { key: account.key, method: 'GET' });
        expectRefusal(reply, path, 405);
        expect(reply.headers.allow).to.equal('POST');
      });

      it('415 for another content type or an encoding', async () => {
        const text = JSON.stringify(ask('hi'));
        expectRefusal(await post(text, { 'content-type': 'text/plain' }), path, 415);
        expectRefusal(await post(text, { 'content-type': 'multipart/form-data; boundary=x' }), path, 415);
        expectRefusal(await post(text, { 'content-encoding': 'gzip' }), path, 415);
      });
    });
  }

  it('takes the key from either header; x-api-key decides', async () => {
    const url = `${gateway.url}/api/v1/models`;
    const { key } = account;
    expect((await send(url, { headers: { authorization: `Bearer ${key}` } })).status).to.equal(200);
    expect((await send(url, { headers: { authorization: `bEARER ${key}` } })).status).to.equal(200);
    expect((await send(url, { key, headers: { authorization: 'Bearer wrong' } })).status).to.equal(200);
    expect((await send(url, { key: 'wrong', headers: { authorization: `Bearer ${key}` } })).status).to.equal(401);
  });

  it('404 for an unknown path, with or without a key', async () => {
    for (const path of ['/', '/api/v1/nothing', '/api/v2/messages', '/%zz']) {
      const reply = await send(gateway.url + path, { key: account.key });
      expect(reply.status).to.be.oneOf([404, 400]);
      expect(reply.json.type).to.equal('error');
    }
    const { status, json } = await send(`${gateway.url}/api/v1/nothing`);
    expect([status, json.error.type, json.error.code]).to.deep.equal([404, 'not_found_error', 'not_found']);
  });

  it('ignores unknown fields, null options and query strings', async () => {
    const body = ask('hi', { model: 'nope', foo: { bar: [1] }, max_tokens: null, stream: null, system: null });
    const reply = await send(`${gateway.url}${MESSAGES}?beta=true`, { key: account.key, body });
    expect(expectRefusal(reply, MESSAGES, 400)).to.match(/Unknown model/);
  });
});
