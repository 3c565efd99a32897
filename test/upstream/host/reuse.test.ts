// Connections that are used again: the upstream may be closing one just when the next request is sent on it.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import type { HostRequest, ProviderPart } from '../../../lib/upstream/contract/provider.ts';
import { type ClosableHost, createHost } from '../../../lib/upstream/host/host.ts';
import { createAuthority } from '../../../testkit/certificates.ts';

const BODY = 'data: {"choices":[{"delta":{"content":"yes"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** What happens to a request that is not the first of its connection. */
type Closing = (socket: Socket) => void | Promise<void>;

const WAYS: Readonly<Record<string, Closing>> = {
  // Under TLS the socket has no handle that could be reset.
  reset: (socket) => void (socket instanceof TLSSocket ? socket.destroy() : socket.resetAndDestroy()),
  'closed in good order': (socket) => void socket.destroy(),
};

describe('a connection that is used again', () => {
  const signal = new AbortController().signal;
  const authority = createAuthority();
  const closers: (() => unknown)[] = [];
  let host: ClosableHost;
  let origin: string;
  /** The bodies of all requests, by connection. */
  let asked: string[][];

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function serve(closing: Closing, { scheme = 'http', answered = 1, proxy = '' } = {}): Promise<void> {
    asked = [];
    const bySocket = new Map<Socket, string[]>();
    const listener: RequestListener = async (request, response) => {
      const { socket } = request;
      const bodies = bySocket.get(socket) ?? [];
      if (bodies.length === 0) asked.push(bodies);
      bySocket.set(socket, bodies);
      bodies.push((await request.toArray()).join(''));
      if (bodies.length > 1 || asked.length > answered) await closing(socket);
      else response.end(request.url === '/json' ? '{"a":1}' : BODY);
    };
    const server = scheme === 'http' ? createServer(listener) : createTlsServer(authority.issue('127.0.0.1'), listener);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const way = proxy === '' ? {} : { proxy };
    host = createHost({ upstream: 'acme', allowedOrigins: [origin], ca: authority.ca, log: { warn() {} }, ...way });
    closers.push(
      () => server.close(),
      () => server.closeAllConnections(),
      () => host.close(),
    );
  }

  async function answer(body: HostRequest['body'] = '{}'): Promise<string> {
    const parts: ProviderPart[] = [];
    const request = { method: 'POST', body, signal } as const;
    for await (const some of host.answer(origin, request, host.chat.reader())) parts.push(...some);
    await idle();
    return parts.map((part) => (part.type === 'block-delta' ? part.text : '')).join('');
  }

  const post = (body = '{}') => host.json(`${origin}/json`, { method: 'POST', body, signal });
  const get = () => host.json(`${origin}/json`, { method: 'GET', signal }).finally(idle);
  /** The connection may be used again only once its answer has ended. */
  const idle = () => sleep(30);
  const kindOf = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail('it did not fail'),
      ({ kind }: { kind: string }) => kind,
    );
  const counts = () => asked.map(({ length }) => length);

  for (const scheme of ['http', 'https']) {
    for (const [way, closing] of Object.entries(WAYS)) {
      it(`is no failure of an answer when it is ${way} over ${scheme}`, async () => {
        await serve(closing, { scheme, answered: 2 });
        expect(await answer('1')).to.equal('yes');
        expect(await answer('2')).to.equal('yes');
        expect(asked).to.deep.equal([['1', '2'], ['2']]);
      });
    }

    it(`is told from a first one, on which a lost answer is lost, over ${scheme}`, async () => {
      await serve(WAYS.reset as Closing, { scheme, answered: 0 });
      expect(await kindOf(answer())).to.equal('network');
      expect(await kindOf(get())).to.equal('network');
      expect(counts()).to.deep.equal([1, 1]);
    });
  }

  for (const [what, begun] of Object.entries({
    'breaks off in its head': 'HTTP/1.1 200 OK\r\ncontent-ty',
    'is no HTTP': 'HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n',
    'is only announced': 'HTTP/1.1 103 Early Hints\r\n\r\n',
  })) {
    it(`is not replaced when the reply has begun, but ${what}`, async () => {
      const closing: Closing = async (socket) => {
        socket.write(begun);
        await sleep(30);
        socket.destroy();
      };
      for (const answered of [0, 1]) {
        await serve(closing, { answered });
        for (let at = 0; at < answered; at += 1) await answer();
        await kindOf(answer());
        expect(counts()).to.deep.equal([answered + 1]);
      }
    });
  }

  it('is no failure of an answer when the proxy that it goes through resets it', async () => {
    const clients: Socket[] = [];
    const proxy = createServer().on('connect', ({ url = '' }, client: Socket) => {
      clients.push(client);
      const reached = connect(Number(url.split(':')[1]), '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
      for (const socket of [client, reached]) socket.on('error', () => undefined);
      client.pipe(reached).pipe(client);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    closers.push(() => proxy.close());
    const reset = () => void clients[0]?.resetAndDestroy();
    const { port } = proxy.address() as AddressInfo;
    await serve(reset, { scheme: 'https', answered: 2, proxy: `http://127.0.0.1:${port}` });
    expect(await answer('1')).to.equal('yes');
    expect(await answer('2')).to.equal('yes');
    expect(asked).to.deep.equal([['1', '2'], ['2']]);
  });

  it('is replaced with the whole of a long body', async () => {
    await serve(WAYS.reset as Closing, { answered: 2 });
    const bytes = new Uint8Array(200_000).fill(7);
    const body: HostRequest['body'] = (base64) => ({ image: base64(bytes) });
    expect([await answer(), await answer(body)]).to.deep.equal(['yes', 'yes']);
    const image = Buffer.from(bytes).toString('base64');
    expect(asked.at(-1)).to.deep.equal([JSON.stringify({ image })]);
  });

  it('is replaced for a look', async () => {
    await serve(WAYS.reset as Closing, { answered: 2 });
    await get();
    expect((await get()).value).to.deep.equal({ a: 1 });
    expect(counts()).to.deep.equal([2, 1]);
  });

  it('is replaced for a look whose status is read by its caller, but for nothing else of that kind', async () => {
    await serve(WAYS.reset as Closing, { answered: 2 });
    const request = async (method: 'GET' | 'POST') => {
      const { body } = await host.request(`${origin}/json`, { method, signal });
      return body.json();
    };
    await request('GET').finally(idle);
    expect(await request('GET').finally(idle)).to.deep.equal({ a: 1 });
    expect(counts()).to.deep.equal([2, 1]);
    await serve(WAYS.reset as Closing, { answered: 2 });
    await request('GET').finally(idle);
    expect(await kindOf(request('POST'))).to.equal('network');
    expect(counts()).to.deep.equal([2]);
  });

  it('is replaced once', async () => {
    await serve(WAYS.reset as Closing);
    await answer();
    expect(await kindOf(answer())).to.equal('network');
    expect(counts()).to.deep.equal([2, 1]);
  });

  it('is not replaced when the upstream has had time to begin', async () => {
    await serve(async (socket) => {
      await sleep(1_100);
      socket.resetAndDestroy();
    });
    await answer();
    expect(await kindOf(answer())).to.equal('network');
    expect(counts()).to.deep.equal([2]);
  });

  it('is none when a request must not be sent twice', async () => {
    await serve(WAYS.reset as Closing, { answered: 3 });
    await answer();
    for (const body of ['1', '2']) expect((await post(body)).value).to.deep.equal({ a: 1 });
    expect(asked).to.deep.equal([['{}'], ['1'], ['2']]);
    expect(await kindOf(post())).to.equal('network');
    expect(counts()).to.deep.equal([1, 1, 1, 1]);
  });
});
