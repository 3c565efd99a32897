// Headers over real sockets: what protects browsers is on every reply, and requests that two parties could read in two
// ways are refused in our words.
import { connect } from 'node:net';
import { expect } from 'chai';
import { makeSecret } from '../../lib/base/base62.ts';
import { HOUR_MS } from '../../lib/base/durations.ts';
import { ask, CHAT, DIALECTS, MESSAGES, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { newMedia, piecesOf } from '../contract/store/media.ts';
import { PNG } from '../media/sample-images.ts';

describe('headers over the network', () => {
  let upstream: TestUpstream;
  let secure: TestGateway;
  let plain: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream(chatAnswer('Hello.'));
    const catalog = chatCatalog(upstream.url);
    secure = await startGateway({ catalog, env: { PUBLIC_URL: 'https://ai.example.com' } });
    plain = await startGateway({ catalog });
    account = await plain.account();
  });
  after(async () => {
    for (const gateway of [secure, plain]) {
      await gateway.checkMoney();
      await gateway.stop();
    }
    await upstream.close();
  });

  /** Writes bytes as they are; resolves to what came until the connection closed. */
  function exchange(gateway: TestGateway, bytes: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
      let text = '';
      socket.setEncoding('latin1').on('data', (part: string) => {
        text += part;
      });
      socket.on('error', () => undefined).once('close', () => resolve(text));
      socket.write(bytes);
    });
  }

  /** The head and the JSON body of the first reply. */
  function parseReply(text: string) {
    const [head = '', body = ''] = text.split('\r\n\r\n', 2);
    const [line = '', ...lines] = head.toLowerCase().split('\r\n');
    const headers = Object.fromEntries(lines.map((each) => each.split(': ', 2)));
    return { status: Number(line.split(' ')[1]), headers, body, replies: text.split('HTTP/1.1 ').length - 1 };
  }

  /** One request of every kind of reply. */
  async function listReplies(gateway: TestGateway): Promise<readonly (readonly [string, Record<string, unknown>])[]> {
    const { key } = await gateway.account();
    const expiresAt = Date.now() + HOUR_MS;
    const { id } = await gateway.store.media.write(newMedia({ id: makeSecret(), expiresAt }), piecesOf(PNG));
    const asked = [
      ...['/healthz', '/readyz', '/openapi.json', '/nowhere', '/api/v1/nowhere', '/favicon.ico', `/media/${id}.png`],
      ...['/media/none', '/login', '/setup', '/account', '/admin', '/account/none', '/static/style.css', '/static/no'],
      ...['/payments/nobody/notice', '/payments/nobody/page/1', '/api/v1/models', '/api/v1/balance'],
    ].map((path) => [path, {}] as const);
    const calls = [
      ...asked,
      ...DIALECTS.flatMap((path) => [
        [path, { key, body: ask('hi') }] as const,
        [path, { key, body: ask('hi', { stream: true }) }] as const,
        [path, { key, body: ask('hi'), headers: { 'idempotency-key': 'one' } }] as const,
        [path, { key, body: ask('hi'), headers: { 'idempotency-key': 'one' } }] as const,
        [path, { key, body: '{' }] as const,
        [path, { body: ask('hi') }] as const,
        [path, { method: 'DELETE' }] as const,
        [path, { method: 'OPTIONS' }] as const,
      ]),
      [`/media/${id}.png`, { headers: { range: 'bytes=0-1' } }] as const,
      [`/media/${id}.png`, { headers: { range: 'bytes=9999-' } }] as const,
      [`/media/${id}.png`, { method: 'HEAD' }] as const,
      ['/api/v1/models', { key }] as const,
      ['/login', { method: 'POST', body: 'email=a', headers: { 'content-type': 'text/plain' } }] as const,
      ['/login', { method: 'TRACE' }] as const,
      [MESSAGES, { headers: { x: 'y'.repeat(33 * 1024) } }] as const,
    ];
    const found: [string, Record<string, unknown>][] = [];
    for (const [path, options] of calls) {
      const { status, headers } = await send(gateway.url + path, options);
      found.push([`${path} ${JSON.stringify(options).slice(0, 60)} ${status}`, headers]);
    }
    for (const bytes of [
      'x\r\n\r\n',
      'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n',
      'GET /login HTTP/1.1\r\n no\r\n\r\n',
    ]) {
      found.push([bytes, parseReply(await exchange(gateway, bytes)).headers]);
    }
    return found;
  }

  it('forbid browsers to guess types and to leave https, on every reply', async () => {
    for (const [name, headers] of await listReplies(secure)) {
      expect(headers, name).to.include({
        'x-content-type-options': 'nosniff',
        'strict-transport-security': 'max-age=31536000',
      });
    }
  });

  it('omit https where the service is reached without it', async () => {
    for (const [name, headers] of await listReplies(plain)) {
      expect(headers, name).to.include({ 'x-content-type-options': 'nosniff' });
      expect(headers, name).not.to.have.property('strict-transport-security');
    }
  });

  it('gives the pages their policy also for what is hardly HTTP', async () => {
    const { status, headers, body } = parseReply(await exchange(plain, 'GET /login HTTP/1.1\r\nhost: x\r\nno\r\n\r\n'));
    expect([status, headers['content-type']]).to.deep.equal([400, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy'])
      .to.contain("default-src 'none'")
      .and.to.contain("frame-ancestors 'none'");
    expect(headers).to.include({ 'referrer-policy': 'same-origin', 'cache-control': 'no-store' });
    expect(body).to.match(/^<!doctype html>/);
  });

  const REPEATED: readonly (readonly [name: string, one: string, other: string])[] = [
    ['host', 'a', 'b'],
    ['host', 'a', 'a'],
    ['x-api-key', 'KEY', 'other'],
    ['x-api-key', 'KEY', 'KEY'],
    ['authorization', 'Bearer KEY', 'Bearer other'],
    ['authorization', 'Bearer KEY', 'Bearer KEY'],
    ['idempotency-key', 'one', 'two'],
    ['content-type', 'application/json', 'text/plain'],
    ['content-encoding', 'identity', 'gzip'],
    ['content-length', '2', '2'],
    ['content-length', '2', '3'],
    ['transfer-encoding', 'chunked', 'chunked'],
    ['transfer-encoding', 'chunked', 'identity'],
    ['origin', 'https://a.example', 'https://b.example'],
    ['sec-fetch-site', 'same-origin', 'cross-site'],
  ];
  for (const path of [...DIALECTS, '/login']) {
    for (const [name, one, other] of REPEATED) {
      it(`refuses ${name} twice, as ${one} and ${other}: ${path}`, async () => {
        const lines = {
          host: 'x',
          'x-api-key': account.key,
          'content-type': 'application/json',
          'content-length': '2',
        };
        const rest = Object.entries(lines).filter(
          ([line]) => line !== name && !(name === 'transfer-encoding' && line === 'content-length'),
        );
        // The case of names and the place between others are no way around.
        const head = [[name, one], ...rest, [name.toUpperCase(), other]]
          .map(([line, value]) => `${line}: ${value?.replace('KEY', account.key)}\r\n`)
          .join('');
        const body = name === 'transfer-encoding' ? '0\r\n\r\n' : '{}';
        const reply = parseReply(
          await exchange(plain, `POST ${path} HTTP/1.1\r\nconnection: close\r\n${head}\r\n${body}`),
        );
        expect(reply.status).to.equal(400);
        expect(reply.replies).to.equal(1);
        if (path === '/login') return expect(reply.body).to.contain('<h1>400</h1>');
        const { error } = JSON.parse(reply.body);
        expect(error).to.include({ type: 'invalid_request_error' });
        expect(error.message).to.match(/^The request is not valid HTTP(: it has two [a-z-]+ headers)?\.$/);
        expect(error.code).to.equal(path === MESSAGES ? undefined : 'invalid_request');
      });
    }
  }

  /** Shapes in which two parties see two requests, or requests of two lengths. */
  const SMUGGLED: Readonly<Record<string, string>> = {
    'a length and chunks': 'content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'chunks and a length': 'transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n',
    'a coding that is not the last': 'transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n',
    'a coding under the chunks': 'transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    'an unknown coding': 'transfer-encoding: xchunked\r\n\r\n0\r\n\r\n',
    'a name with a space before its colon': 'transfer-encoding : chunked\r\n\r\n0\r\n\r\n',
    'a folded header': 'transfer-encoding:\r\n chunked\r\n\r\n0\r\n\r\n',
    'a length with a sign': 'content-length: +2\r\n\r\n{}',
    'a negative length': 'content-length: -2\r\n\r\n{}',
    'a list of lengths': 'content-length: 2, 2\r\n\r\n{}',
    'a length in hexadecimal': 'content-length: 0x2\r\n\r\n{}',
    'a chunk size with a sign': 'transfer-encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n',
    'a zero byte in a header': 'x: a\0b\r\ncontent-length: 2\r\n\r\n{}',
    'a bare CR in a header': 'x: a\rcontent-length: 0\r\ncontent-length: 2\r\n\r\n{}',
  };
  const NEXT = 'GET /api/v1/models HTTP/1.1\r\nhost: x\r\n\r\n';
  for (const path of DIALECTS) {
    for (const [name, rest] of Object.entries(SMUGGLED)) {
      it(`refuses ${name}, and nothing behind it is read: ${path}`, async () => {
        const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${account.key}\r\n`;
        const text = await exchange(plain, head + rest + NEXT);
        const reply = parseReply(text);
        expect([reply.status, reply.replies], text).to.deep.equal([400, 1]);
        expect(reply.headers.connection).to.equal('close');
        expect(JSON.parse(reply.body).error.type).to.equal('invalid_request_error');
      });
    }
  }

  for (const [name, bytes] of Object.entries({
    'chunks in HTTP/1.0': `POST ${CHAT} HTTP/1.0\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    'HTTP/2.0 in the words of HTTP/1.1': `GET ${CHAT} HTTP/2.0\r\nhost: x\r\n\r\n`,
    'HTTP/0.9': `GET ${CHAT}\r\n\r\n`,
    'no host': `GET ${CHAT} HTTP/1.1\r\n\r\n`,
    'no host for another server': `GET http://a.example${CHAT} HTTP/1.1\r\n\r\n`,
    'a host that is none': `GET ${CHAT} HTTP/1.1\r\nhost: a/b\r\n\r\n`,
    'a second host behind thousands of headers': `GET ${CHAT} HTTP/1.1\r\nhost: a\r\n${'a:\r\n'.repeat(3000)}host: b\r\n\r\n`,
  })) {
    it(`refuses ${name}, and nothing behind it is read`, async () => {
      const reply = parseReply(await exchange(plain, bytes + NEXT));
      expect([reply.status, reply.replies, reply.headers.connection]).to.deep.equal([400, 1, 'close']);
      const { error } = JSON.parse(reply.body);
      expect(error.code).to.equal('invalid_request');
      expect(error.message).to.match(/^The request is not valid HTTP: it/);
    });
  }

  it('treats a proxy request as one to itself, and asks nobody else', async () => {
    const seen = upstream.calls.length;
    for (const [target, status] of [
      ['http://ai.example.com/healthz', 200],
      [`${upstream.url}/healthz`, 200],
      [`${upstream.url}/v1/chat/completions`, 404],
      ['https://x/api/v1/models', 401],
      ['http://x:99999/healthz', 400],
      ['http://[/healthz', 400],
      ['*', 400],
    ] as const) {
      const bytes = `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`;
      expect(parseReply(await exchange(plain, bytes)).status, target).to.equal(status);
    }
    expect(upstream.calls.length).to.equal(seen);
  });

  it('echoes no request back, on any path', async () => {
    for (const path of ['/', '/healthz', CHAT, '/login', '/account', '/static/style.css', '/media/x']) {
      for (const method of ['TRACE', 'TRACK', 'DEBUG', 'PROPFIND', 'PURGE']) {
        const bytes = `${method} ${path} HTTP/1.1\r\nhost: x\r\nx-secret: told\r\nconnection: close\r\n\r\n`;
        const { status, body } = parseReply(await exchange(plain, bytes));
        expect(status, `${method} ${path}`).to.be.oneOf([400, 401, 404, 405]);
        expect(body).not.to.contain('told');
      }
    }
  });
});
