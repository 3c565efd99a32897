// Clients that close their sending side, and wait for the answer or leave, over real sockets.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, ResponseToolkit } from '@hapi/hapi';
import { expect } from 'chai';
import { SseReply } from '../../lib/http/sse-reply.ts';
import { until } from '../../testkit/client.ts';
import { openTestHttp, type TestHttp } from '../../testkit/http.ts';
import { itTimed } from '../../testkit/timed.ts';

const NOTICED_MS_MAX = 100;
const ROUNDS = 10;
const BODY = 'x'.repeat(1000);

describe('a client that closes its side', () => {
  let http: TestHttp;
  let proxy: Server;
  /** Of the latest request. */
  let response: ServerResponse;
  let requests = 0;

  before(async () => {
    http = openTestHttp();
    const arrived = (request: Request) => {
      response = request.raw.res;
      requests += 1;
      return Number(request.query.ms ?? 0);
    };
    const answer = async (request: Request, h: ResponseToolkit) => {
      await sleep(arrived(request));
      return request.query.as === 'bytes' ? h.response(Buffer.from(BODY)) : BODY;
    };
    const stream = async (request: Request, h: ResponseToolkit) => {
      const ms = arrived(request);
      const reply = new SseReply(request.raw.res, { headers: {}, stallMs: 60_000 });
      if (request.query.late) await sleep(ms);
      reply.open();
      for (const word of ['one', 'two']) {
        await sleep(ms);
        void reply.write(`data: ${word}\n\n`);
      }
      reply.close();
      return h.abandon;
    };
    http.server.route({ method: 'GET', path: '/whole', handler: answer });
    http.server.route({ method: 'GET', path: '/events', handler: stream });
    await http.start();
    proxy = createServer({ allowHalfOpen: true }, (client) => {
      const upstream = connect({ port: Number(http.server.info.port), host: '127.0.0.1', allowHalfOpen: true });
      client.on('error', () => upstream.destroy()).pipe(upstream);
      upstream.on('error', () => client.destroy()).pipe(client);
      client.on('close', () => upstream.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    proxy.close();
    await http.close(async () => undefined);
  });

  const ports = {
    directly: () => Number(http.server.info.port),
    'through a proxy of connections': () => (proxy.address() as { port: number }).port,
  };

  function dial(port: number): Socket & { text: string } {
    const socket = Object.assign(connect({ port, host: '127.0.0.1', allowHalfOpen: true }), { text: '' });
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        socket.text += chunk;
      });
    return socket;
  }
  const head = (path: string, version = '1.1') => `GET ${path} HTTP/${version}\r\nhost: x\r\n\r\n`;
  const plain = (text: string) =>
    text
      .replaceAll(/(date|x-request-id|request-id|connection|keep-alive): .*\r\n/gi, '')
      .replaceAll('e\r\n: keep-alive\n\n\r\n', '')
      .replaceAll(': keep-alive\n\n', '');

  /** The answer to a client that keeps its side open, and closes it then. */
  async function wholeAnswer(port: number, path: string, version?: string): Promise<string> {
    const socket = dial(port);
    socket.write(head(path, version));
    await until(() => socket.text.endsWith(BODY) || /two\n\n(\r\n0\r\n\r\n)?$/.test(socket.text));
    socket.destroy();
    return socket.text;
  }

  const PATHS = ['/whole?ms=150', '/whole?ms=150&as=bytes', '/events?ms=100', '/events?ms=100&late=1'];

  for (const [way, port] of Object.entries(ports)) {
    for (const path of PATHS) {
      for (const version of ['1.1', '1.0']) {
        it(`gets its whole answer, and nothing else: ${path}, HTTP/${version}, ${way}`, async () => {
          const expected = plain(await wholeAnswer(port(), path, version));
          expect(expected).to.match(/^HTTP\/1\.1 200 OK\r\n/);
          const answers = [0, 1, 20, 90].map(async (waitMs) => {
            const socket = dial(port());
            if (waitMs === 0) socket.end(head(path, version));
            else {
              socket.write(head(path, version));
              await sleep(waitMs);
              socket.end();
            }
            await once(socket, 'end');
            expect(plain(socket.text), `${waitMs} ms`).to.equal(expected);
            socket.destroy();
          });
          await Promise.all(answers);
        });
      }
    }

    for (const path of ['/whole?ms=3000', '/events?ms=3000', '/events?ms=3000&late=1']) {
      itTimed(`is noticed when it leaves: ${path}, ${way}`, async () => {
        const times: number[] = [];
        for (let round = 0; round < ROUNDS; round += 1) {
          const before = requests;
          const socket = dial(port());
          socket.write(head(path));
          await until(() => requests > before);
          await sleep(20);
          const gone = once(response, 'close');
          const leftAt = performance.now();
          socket.destroy();
          await gone;
          times.push(performance.now() - leftAt);
        }
        times.sort((a, b) => a - b);
        expect(times[ROUNDS / 2]).to.be.below(NOTICED_MS_MAX);
      });
    }
  }

  itTimed('is noticed when it leaves with the request itself', async () => {
    for (const path of ['/whole?ms=3000', '/events?ms=3000']) {
      const before = requests;
      const socket = dial(ports.directly());
      socket.write(head(path), () => socket.destroy());
      await until(() => requests > before);
      const gone = once(response, 'close');
      const from = performance.now();
      if (!response.closed) await gone;
      expect(performance.now() - from).to.be.below(NOTICED_MS_MAX);
    }
  });

  itTimed('is noticed when it leaves later, by the next probe', async () => {
    for (const path of ['/whole?ms=5000', '/events?ms=5000']) {
      const before = requests;
      const socket = dial(ports.directly());
      socket.end(head(path));
      await until(() => requests > before);
      await sleep(400);
      expect(response.closed).to.equal(false);
      const gone = once(response, 'close');
      const leftAt = performance.now();
      socket.destroy();
      await gone;
      expect(performance.now() - leftAt).to.be.below(1500);
    }
  });

  it('is not kept when it waits for nothing', async () => {
    const idle = dial(ports.directly());
    idle.write(head('/whole'));
    await until(() => idle.text.endsWith(BODY));
    idle.end();
    await once(idle, 'end');
    const silent = dial(ports.directly());
    silent.end();
    await once(silent, 'end');
    expect(silent.text).to.equal('');
  });

  it('gets a refusal when its request is not whole', async () => {
    for (const part of [
      'GET /whole HTTP/1.1\r\nho',
      'POST /whole HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc',
    ]) {
      const socket = dial(ports.directly());
      socket.end(part);
      await once(socket, 'end');
      expect(socket.text).to.match(/^HTTP\/1\.1 4\d\d /);
      expect(socket.text.match(/HTTP\/1\.1 /g)).to.have.length(1);
    }
  });
});
