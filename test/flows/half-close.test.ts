// Clients that close their sending side behind a whole request: they get their whole answer, and pay for it.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ask, DIALECTS, joinText, parseEvents, sayFor, until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import {
  type Behaviour,
  chatChunk,
  chatEnd,
  chatStall,
  SSE,
  startUpstream,
  type TestUpstream,
} from '../../testkit/upstream.ts';

const PAUSE_MS = 100;
const ROUNDS = 20;
const MINIMUM = 500_000n;

describe('a client that closes its side', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalog: chatCatalog(upstream.url) });
  });
  beforeEach(() => {
    upstream.calls.length = 0;
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const slow: Behaviour = async ({ response }) => {
    response.writeHead(200, SSE);
    for (const text of ['Hello ', 'there.', chatEnd({ input: 1000, output: 400 })]) {
      await sleep(PAUSE_MS);
      response.write(text.startsWith('data:') ? text : chatChunk(text));
    }
    response.end();
  };

  const requestOf = (path: string, key: string, body: object) => {
    const json = JSON.stringify(sayFor(path, body));
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n`;
    return `${head}content-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
  };

  /** The reply to a client that closes its side so long after its request; undefined: in the same packet. */
  async function exchange(request: string, waitMs: number | undefined): Promise<string> {
    const socket = connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    if (waitMs === undefined) socket.end(request);
    else {
      socket.write(request);
      await sleep(waitMs);
      socket.end();
    }
    await once(socket, 'end');
    socket.destroy();
    return text;
  }

  for (const path of DIALECTS) {
    for (const stream of [true, false]) {
      it(`gets its whole answer and pays for it: ${path}, stream: ${stream}`, async () => {
        upstream.behave(slow);
        const moments = [undefined, 0, 20, 250];
        const answers = moments.map(async (waitMs) => {
          const account = await gateway.account();
          const text = await exchange(requestOf(path, account.key, ask('hi', { stream })), waitMs);
          expect(text).to.match(/^HTTP\/1\.1 200 OK\r\n/);
          if (stream) {
            const body = text.slice(text.indexOf('\r\n\r\n') + 2).replaceAll(/\r\n[0-9a-f]+\r\n|\r\n$/g, '');
            expect(joinText(parseEvents(body))).to.equal('Hello there.');
            expect(text).to.match(/\r\n0\r\n\r\n$/);
          } else {
            expect(text.slice(text.indexOf('\r\n\r\n'))).to.contain('Hello there.');
          }
          expect((await gateway.wallet(account)).charged).to.equal(3_000_000n);
        });
        await Promise.all(answers);
        expect(upstream.calls).to.have.length(moments.length);
      });
    }
  }

  it('gets a refusal like any other', async () => {
    const text = await exchange(requestOf(DIALECTS[0], 'tg-nothing', ask('hi')), undefined);
    expect(text).to.match(/^HTTP\/1\.1 401 Unauthorized\r\n/);
  });

  it('and leaves as soon as its request is sent keeps no upstream, and pays the minimum at most', async () => {
    upstream.behave(chatStall(['first ']));
    const account = await gateway.account();
    for (let round = 0; round < ROUNDS; round += 1) {
      const socket = connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1' });
      const request = requestOf(DIALECTS[0], account.key, ask('hi', { stream: round % 2 === 0 }));
      socket.write(request, () => socket.destroy());
      await once(socket, 'close');
    }
    await sleep(200);
    await until(() => upstream.calls.every(({ response }) => response.closed));
    await until(async () => (await gateway.wallet(account)).held === 0n);
    const { charged } = await gateway.wallet(account);
    expect(charged % MINIMUM).to.equal(0n);
    expect(Number(charged / MINIMUM)).to.be.at.most(ROUNDS);
  });
});
