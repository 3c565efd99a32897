// Requests that are hardly HTTP, or more than one: every one gets an answer in our words, and a running call is left alone.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { ask, CHAT, DIALECTS, findBilling, MESSAGES, parseEvents, sayFor, send, until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import {
  chatAnswer,
  chatChunk,
  chatEnd,
  chatStall,
  SSE,
  startUpstream,
  type TestUpstream,
} from '../../testkit/upstream.ts';

describe('hostile http', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalog: chatCatalog(upstream.url) });
  });
  beforeEach(async () => {
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  /** Writes bytes as they are; resolves to what came until the connection closed or `isEnough`. */
  function exchange(bytes: string, isEnough: (text: string) => boolean = () => false): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
      let text = '';
      const timer = setTimeout(() => {
        socket.destroy();
        reject(new Error(`no end of the answer: ${text}`));
      }, 5000);
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (isEnough(text)) socket.destroy();
      });
      socket.on('error', () => undefined);
      socket.once('close', () => {
        clearTimeout(timer);
        resolve(text);
      });
      socket.write(bytes);
    });
  }

  const post = (path: string, body: object) => {
    const json = JSON.stringify(sayFor(path, body));
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${account.key}\r\ncontent-type: application/json\r\n`;
    return `${head}content-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
  };

  /** The one reply in a text: status, headers in lower case and the JSON body. */
  function parseReply(text: string) {
    const [head = '', ...rest] = text.split('\r\n\r\n');
    const [line = '', ...lines] = head.split('\r\n');
    const headers = new Map(lines.map((header) => [header.split(':', 1)[0]?.toLowerCase(), header.split(': ')[1]]));
    return { status: Number(line.split(' ')[1]), headers, json: JSON.parse(rest.join('\r\n\r\n')) };
  }

  const malformed: Readonly<Record<string, [bytes: string, status: number]>> = {
    'another protocol': ['\x16\x03\x01\x00\xa5\x01\x00', 400],
    'the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    'a line that is no header': ['GET /api/v1/models HTTP/1.1\r\nhost: x\r\nno header\r\n\r\n', 400],
    'two lengths': [`POST ${MESSAGES} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}`, 400],
    'a length and chunks': [
      `POST ${CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    'a length beyond all': [
      `POST ${MESSAGES} HTTP/1.1\r\nhost: x\r\nx-api-key: $KEY\r\ncontent-length: 9007199254740993\r\n\r\n{}`,
      400,
    ],
    'a header without end': [`GET /api/v1/models HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`, 431],
  };
  for (const [name, [bytes, status]] of Object.entries(malformed)) {
    it(`answers ${name} with an id, an envelope and no advice to retry`, async () => {
      const reply = parseReply(await exchange(bytes.replace('$KEY', account.key)));
      expect(reply.status).to.equal(status);
      expect(reply.headers.get('x-request-id')).to.match(/^req_[0-9a-f]{32}$/);
      expect(reply.headers.get('request-id')).to.equal(reply.headers.get('x-request-id'));
      expect(reply.headers.get('x-should-retry')).to.equal('false');
      expect(reply.headers.get('connection')).to.equal('close');
      expect(reply.json).to.have.nested.property('error.type', 'invalid_request_error');
    });
  }

  it('uses the chat envelope for broken requests whose path is visible', async () => {
    const head = `POST ${CHAT}?a=b HTTP/1.1\r\nhost: x\r\n`;
    const seen = [
      `${head}no header\r\n\r\n`,
      `${head}x-api-key: ${account.key}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`,
    ];
    const codes = [];
    for (const bytes of seen) codes.push(parseReply(await exchange(bytes)).json.error.code);
    expect(codes).to.deep.equal(['invalid_request', 'invalid_request']);
    for (const bytes of [head.replace(CHAT, MESSAGES), `x ${head}`, '\xff']) {
      const { json } = parseReply(await exchange(`${bytes}no header\r\n\r\n`));
      expect(json).to.have.property('type', 'error');
    }
  });

  // hapi reads the content type, too, and would wait for the rest of the body before any of our limits.
  for (const path of [...DIALECTS, '/api/v1/images/edits', '/api/v1/videos', '/login', '/payments/x/notice', '/none']) {
    it(`does not wait for a body behind a content type that is none: ${path}`, async () => {
      for (const type of ['nonsense', '/', 'multipart/form-data']) {
        const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${account.key}\r\ncontent-type: ${type}\r\n`;
        const text = await exchange(`${head}content-length: 50000\r\n\r\n{`, (reply) => reply.includes('\r\n\r\n'));
        expect([type, text]).to.satisfy(([, reply]: string[]) => /^HTTP\/1\.1 (?:400|404|415) /.test(reply ?? ''));
      }
    });
  }

  it('refuses CONNECT with 405, and reads nothing after it', async () => {
    for (const target of ['example.org:443', CHAT, '127.0.0.1:22']) {
      const bytes = `CONNECT ${target} HTTP/1.1\r\nhost: x\r\nx-api-key: ${account.key}\r\n\r\n${post(CHAT, ask('hi'))}`;
      const reply = parseReply(await exchange(bytes));
      expect([reply.status, reply.headers.get('allow')]).to.deep.equal([405, 'GET, POST, OPTIONS']);
      expect(reply.headers.get('x-request-id')).to.match(/^req_/);
      expect(reply.json.error.message).to.equal('Method not allowed. Use GET or POST.');
    }
    expect(await gateway.wallet(account)).to.include({ held: 0n, charged: 0n });
  });

  it('survives a tunnel that is reset', async () => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').on('error', () => undefined);
    socket.write('CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.resetAndDestroy();
    expect((await send(`${gateway.url}/healthz`)).status).to.equal(200);
  });

  it('delivers a paid answer although a tunnel is requested behind it', async () => {
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      response.write(chatChunk('Hello '));
      setTimeout(() => response.end(chatChunk('there.') + chatEnd({ input: 7, output: 400 })), 200);
    });
    const text = await exchange(`${post(CHAT, ask('hi'))}CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n`);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
    expect(statuses).to.deep.equal(['200', '405']);
    expect(await gateway.wallet(account)).to.include({ held: 0n, charged: 2_007_000n });
  });

  it('ends a call whose client leaves after requesting a tunnel', async () => {
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      response.write(chatChunk('first '));
    });
    const called = upstream.nextCall();
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
      .on('error', () => undefined)
      .resume();
    socket.write(`${post(CHAT, ask('hi'))}CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n`);
    const { closed } = await called;
    socket.end('what it has to say there');
    await closed;
    await until(async () => (await gateway.wallet(account)).held === 0n);
  });

  it('answers a protocol upgrade in HTTP/1.1', async () => {
    const upgrade = 'connection: Upgrade, close\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIG5vbmNl\r\n';
    const head = (path: string, protocol: string) =>
      `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${account.key}\r\nupgrade: ${protocol}\r\n${upgrade}\r\n`;
    for (const protocol of ['websocket', 'h2c', 'TLS/1.0']) {
      for (const [path, status] of [
        ['/api/v1/models', 200],
        [CHAT, protocol === 'websocket' ? 426 : 405],
        ['/none', 404],
        ['/healthz', 200],
      ] as const) {
        const reply = parseReply(await exchange(head(path, protocol)));
        expect([path, protocol, reply.status]).to.deep.equal([path, protocol, status]);
      }
    }
    upstream.behave(chatAnswer('Hello.'));
    const paid = post(CHAT, ask('hi')).replace('host: x', 'host: x\r\nupgrade: h2c\r\nconnection: Upgrade, close');
    expect(parseReply(await exchange(paid)).json.choices[0].message.content).to.equal('Hello.');
  });

  it('refuses a request without a host in our words, and ignores an unknown expectation', async () => {
    const noHost = `POST ${CHAT} HTTP/1.1\r\nx-api-key: ${account.key}\r\nconnection: close\r\n\r\n`;
    const first = parseReply(await exchange(noHost));
    expect([first.status, first.json.error.code]).to.deep.equal([400, 'invalid_request']);
    expect(first.headers.get('x-request-id')).to.match(/^req_/);
    const old = await exchange(`GET /api/v1/models HTTP/1.0\r\nx-api-key: ${account.key}\r\n\r\n`);
    expect(old).to.match(/^HTTP\/1\.1 200 /);
    const expecting = post(MESSAGES, ask('hi')).replace('host: x', 'host: x\r\nexpect: wonders\r\nconnection: close');
    const second = await exchange(expecting);
    expect(second)
      .to.match(/^HTTP\/1\.1 200 /)
      .and.to.contain('"stop_reason":"end_turn"');
  });

  for (const path of DIALECTS) {
    it(`delivers a paid answer whatever follows its request: ${path}`, async () => {
      upstream.behave(({ response }) => {
        response.writeHead(200, SSE);
        response.write(chatChunk('Hello '));
        setTimeout(() => response.end(chatChunk('there.') + chatEnd({ input: 7, output: 400 })), 200);
      });
      const text = await exchange(`${post(path, ask('hi', { stream: true }))}JUNK JUNK\r\n\r\n`);
      const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s);
      expect(head).to.match(/^HTTP\/1\.1 200 /);
      const [stream = '', refusal = ''] = body.split('\r\n0\r\n\r\n');
      const events = parseEvents(stream.replace(/(?:^|\r\n)[0-9a-f]+\r\n/g, ''));
      expect(findBilling(events).charged_rub).to.equal(2.007);
      expect(refusal).to.match(/^HTTP\/1\.1 400 /);
      expect(await gateway.wallet(account)).to.include({ held: 0n, charged: 2_007_000n });
    });
  }

  it('never charges a call that it answers 400', async () => {
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      setTimeout(() => response.end(chatChunk('Hello.') + chatEnd()), 150);
    });
    const text = await exchange(`${post(MESSAGES, ask('hi'))}JUNK JUNK\r\n\r\n`);
    const { charged } = await gateway.wallet(account);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
    expect([statuses, charged]).to.deep.equal([['200', '400'], 500_000n]);
  });

  it('refuses a body that breaks HTTP at once, and charges nothing', async () => {
    const head = post(CHAT, ask('hi')).split('content-length')[0];
    const reply = parseReply(await exchange(`${head}transfer-encoding: chunked\r\n\r\n5\r\n{"mod\r\nzz\r\n`));
    expect(reply.status).to.equal(400);
    expect(await gateway.wallet(account)).to.include({ held: 0n, charged: 0n });
  });

  it('answers only the first of pipelined calls, charges only that one, and closes the connection', async () => {
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      response.write(chatChunk('first '));
      setTimeout(() => response.end(chatEnd()), 100);
    });
    const before = upstream.calls.length;
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    let text = '';
    socket
      .on('error', () => undefined)
      .on('data', (part) => {
        text += part;
      });
    socket.write(post(MESSAGES, ask('one', { stream: true })));
    await until(() => text.includes('first '));
    const closed = once(socket, 'close');
    socket.write(post(CHAT, ask('two')) + post(CHAT, ask('three')));
    await closed;
    expect(text).to.contain('event: billing');
    await until(async () => (await gateway.wallet(account)).held === 0n);
    expect(upstream.calls.length).to.equal(before + 1);
    expect((await gateway.wallet(account)).charged).to.equal(500_000n);
  });

  for (const [name, bytes] of [
    ['in part', 150_000],
    ['whole', 400_000],
    ['without end', 4_000_000],
  ] as const) {
    it(`notices that a client has left behind a pipelined body that has arrived ${name}`, async () => {
      upstream.behave(chatStall(['first ']));
      const called = upstream.nextCall();
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
        .on('error', () => undefined)
        .resume();
      socket.write(post(CHAT, ask('one')));
      const { closed } = await called;
      socket.write(
        post(CHAT, ask('x'.repeat(300_000)))
          .slice(0, bytes)
          .padEnd(bytes, ' '),
      );
      setTimeout(() => socket.destroy(), 100);
      await closed;
      await until(async () => (await gateway.wallet(account)).held === 0n);
    });
  }

  it('uses the chat envelope for everything below the chat path', async () => {
    for (const path of [`${CHAT}/chatcmpl_1`, `${CHAT}/%2e/x`, `${CHAT}//?a=b`]) {
      const { status, json } = await send(gateway.url + path, { key: account.key });
      expect([path, status, json]).to.deep.equal([
        path,
        404,
        {
          error: {
            message: 'There is nothing at this path. See GET /openapi.json for the endpoints.',
            type: 'not_found_error',
            code: 'not_found',
          },
        },
      ]);
    }
    const other = await send(`${gateway.url}/api/v1/chat`, { key: account.key });
    expect(other.json).to.have.property('type', 'error');
  });
});
