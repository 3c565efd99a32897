import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { HostResponse, UpstreamFault } from '../../../lib/upstream/contract/provider.ts';
import { isUpstreamFault } from '../../../lib/upstream/host/fault.ts';
import { type ClosableHost, createHost, type HostOptions } from '../../../lib/upstream/host/host.ts';
import { itTimed } from '../../../testkit/timed.ts';

type Handler = (incoming: IncomingMessage, response: ServerResponse) => void;

describe('host of a plugin', () => {
  const never = new AbortController().signal;
  let closers: (() => Promise<unknown>)[];

  beforeEach(() => {
    closers = [];
  });
  afterEach(async () => {
    for (const close of closers.reverse()) await close();
  });

  async function listen(server: Server): Promise<string> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => sockets.add(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const serve = (handler: Handler) => listen(createServer(handler));

  function host(origin: string, more: Partial<HostOptions> = {}): ClosableHost {
    const made = createHost({ upstream: 'acme', allowedOrigins: [origin], log: { warn() {} }, ...more });
    closers.push(() => made.close());
    return made;
  }

  async function failure(promise: Promise<unknown>): Promise<UpstreamFault> {
    const error: unknown = await promise.then(
      () => expect.fail('it did not fail'),
      (thrown: unknown) => thrown,
    );
    expect(isUpstreamFault(error), String(error)).to.equal(true);
    return error as UpstreamFault;
  }

  const get = (from: ClosableHost, url: string, signal = never) => from.request(url, { method: 'GET', signal });

  describe('request', () => {
    it('sends method, headers and body, and nothing that asks for compression', async () => {
      const origin = await serve(async (incoming, response) => {
        const body = (await incoming.toArray()).join('');
        response.writeHead(201, { 'x-one': 'a', 'set-cookie': ['b=1', 'c=2'] });
        response.end(JSON.stringify({ method: incoming.method, url: incoming.url, headers: incoming.headers, body }));
      });
      const response = await host(origin).request(`${origin}/v1/x?y=1`, {
        method: 'POST',
        headers: { Authorization: 'Bearer k', 'Accept-Encoding': 'gzip' },
        body: '{"ю":1}',
        signal: never,
      });
      expect(response.status).to.equal(201);
      expect(response.headers).to.deep.include({ 'x-one': 'a', 'set-cookie': ['b=1', 'c=2'] });
      const seen = (await response.body.json()) as { headers: Record<string, string> };
      expect(seen).to.deep.include({ method: 'POST', url: '/v1/x?y=1', body: '{"ю":1}' });
      expect(seen.headers).to.include({
        authorization: 'Bearer k',
        'accept-encoding': 'identity',
        'user-agent': 'tollgate',
        'content-length': '8',
      });
    });

    it('never follows a redirect', async () => {
      const paths: (string | undefined)[] = [];
      const origin = await serve((incoming, response) => {
        paths.push(incoming.url);
        response.writeHead(307, { location: '/elsewhere' }).end();
      });
      const response = await get(host(origin), `${origin}/here`);
      response.body.drop();
      expect(response.status).to.equal(307);
      expect(paths).to.deep.equal(['/here']);
    });

    it('refuses every origin that is not allowed, without a connection', async () => {
      let connections = 0;
      const server = createServer((_, response) => void response.end());
      server.on('connection', () => {
        connections += 1;
      });
      const origin = await listen(server);
      const elsewhere = host('https://api.example.com');
      for (const url of [`${origin}/`, 'http://api.example.com/', 'https://api.example.com:444/', '/v1', 'file:///x']) {
        expect((await failure(get(elsewhere, url))).kind).to.equal('protocol');
      }
      expect((await failure(get(elsewhere, 'https://api.example.com@127.0.0.1/'))).detail).to.include('127.0.0.1');
      expect(connections).to.equal(0);
    });

    it('keeps a connection for the next call', async () => {
      const ports = new Set<number | undefined>();
      const origin = await serve((incoming, response) => {
        ports.add(incoming.socket.remotePort);
        response.end('{}');
      });
      const one = host(origin);
      for (let call = 0; call < 3; call++) {
        await (await get(one, origin)).body.json();
        await sleep(5);
      }
      expect(ports.size).to.equal(1);
    });

    it('opens as many connections as there are calls', async () => {
      const waiting: ServerResponse[] = [];
      const origin = await serve((_, response) => {
        waiting.push(response);
        if (waiting.length === 50) for (const each of waiting) each.end('done');
      });
      const one = host(origin);
      const texts = await Promise.all(Array.from({ length: 50 }, async () => (await get(one, origin)).body.text()));
      expect(texts).to.deep.equal(Array.from({ length: 50 }, () => 'done'));
    });
  });

  describe('abort', () => {
    itTimed('closes the connection at once while the headers are awaited', async () => {
      const closed = Promise.withResolvers<void>();
      const arrived = Promise.withResolvers<void>();
      const origin = await serve((incoming) => {
        incoming.socket.on('close', closed.resolve);
        arrived.resolve();
      });
      const controller = new AbortController();
      const pending = get(host(origin), origin, controller.signal).catch((error: unknown) => error);
      await arrived.promise;
      const aborted = performance.now();
      const reason = Symbol('a reason need not be an error');
      controller.abort(reason);
      expect(await pending).to.equal(reason);
      await closed.promise;
      expect(performance.now() - aborted).to.be.below(100);
    });

    for (const reading of ['chunks', 'bytes', 'text'] as const) {
      itTimed(`closes the connection at once while ${reading} are read`, async () => {
        const closed = Promise.withResolvers<void>();
        const origin = await serve((incoming, response) => {
          incoming.socket.on('close', closed.resolve);
          response.write('data: 1\n\n');
        });
        const controller = new AbortController();
        const one = host(origin);
        const { body } = await get(one, origin, controller.signal);
        const pending = read(body, reading).catch((error: unknown) => error);
        await sleep(30);
        const aborted = performance.now();
        const reason = Symbol('a reason need not be an error');
        controller.abort(reason);
        expect(await pending).to.equal(reason);
        await closed.promise;
        expect(performance.now() - aborted).to.be.below(100);
      });
    }

    async function read(body: HostResponse['body'], how: 'chunks' | 'bytes' | 'text') {
      if (how !== 'chunks') return body[how]();
      for await (const chunks of body.chunks()) expect(chunks).not.to.have.length(0);
      return 'it ended';
    }

    it('does not even connect when it came first', async () => {
      const origin = await serve((_, response) => void response.end());
      const thrown = await get(host(origin), origin, AbortSignal.abort('early')).catch((error: unknown) => error);
      expect(thrown).to.equal('early');
    });
  });

  describe('failures', () => {
    it('calls a refused connection a network fault', async () => {
      const server = createServer();
      const origin = await listen(server);
      await new Promise((resolve) => server.close(resolve));
      const thrown = await failure(get(host(origin), origin));
      expect(thrown.kind).to.equal('network');
      expect(thrown.detail).to.include(origin).and.include('ECONNREFUSED');
    });

    it('calls a connection closed before the headers, or reset within the body, a network fault', async () => {
      const origin = await serve(async (incoming, response) => {
        if (incoming.url === '/headers') return incoming.socket.destroy();
        response.write('data: 1\n\n');
        await sleep(30);
        return incoming.socket.resetAndDestroy();
      });
      const one = host(origin);
      expect((await failure(get(one, `${origin}/headers`))).kind).to.equal('network');
      const { body } = await get(one, `${origin}/body`);
      const seen: unknown[] = [];
      const reading = (async () => {
        for await (const chunks of body.chunks()) seen.push(...chunks);
      })();
      expect((await failure(reading)).kind).to.equal('network');
      expect(seen.map((bytes) => Buffer.from(bytes as Uint8Array).toString())).to.deep.equal(['data: 1\n\n']);
    });

    it('calls an answer that is not HTTP a protocol fault', async () => {
      const origin = await listen(createTcpServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n')));
      expect((await failure(get(host(origin), origin))).kind).to.equal('protocol');
    });

    it('gives up on a connection that is not established in time', async () => {
      const origin = (await listen(createTcpServer(() => {}))).replace('http:', 'https:');
      const thrown = await failure(get(host(origin, { connectTimeoutMs: 50 }), origin));
      expect(thrown.kind).to.equal('timeout');
    });

    it('keeps secrets out of every detail', () => {
      const one = host('http://127.0.0.1:1', { secrets: ['sk-very-secret'] });
      const thrown = one.fault.make('auth', 'Incorrect API key provided: sk-very-secret.', { status: 401 });
      expect(thrown.detail).to.equal('Incorrect API key provided: [secret].');
      expect(thrown.message).not.to.include('very');
    });

    it('survives a body that fails while nobody reads it', async () => {
      const origin = await serve(async (incoming, response) => {
        response.write('x');
        await sleep(10);
        incoming.socket.resetAndDestroy();
      });
      const { body } = await get(host(origin), origin);
      await sleep(50);
      expect((await failure(body.text())).kind).to.equal('network');
    });
  });

  describe('body', () => {
    const bodyOf = async (text: string | Uint8Array): Promise<HostResponse['body']> => {
      const origin = await serve((_, response) => void response.end(text));
      return (await get(host(origin), origin)).body;
    };

    it('reads bytes, with the same limit', async () => {
      const bytes = Uint8Array.of(0, 255, 128);
      expect([...(await (await bodyOf(bytes)).bytes())]).to.deep.equal([0, 255, 128]);
      expect((await failure((await bodyOf(bytes)).bytes(2))).kind).to.equal('protocol');
    });

    it('reads text and JSON', async () => {
      expect(await (await bodyOf('\uFEFFпривет')).text()).to.equal('привет');
      expect(await (await bodyOf('{"a":[1]}')).json()).to.deep.equal({ a: [1] });
      expect(await (await bodyOf('')).text()).to.equal('');
    });

    it('refuses JSON that is none, and says what came instead', async () => {
      const thrown = await failure((await bodyOf('<html>Bad gateway</html>')).json());
      expect(thrown).to.include({ kind: 'protocol', detail: 'the answer is not JSON: <html>Bad gateway</html>' });
    });

    it('quotes no secret of what came instead, not even the beginning of one', async () => {
      const origin = await serve((_, response) => void response.end(`${'x, '.repeat(65)}sk-very-secret`));
      const { body } = await get(host(origin, { secrets: ['sk-very-secret'] }), origin);
      expect((await failure(body.json())).detail)
        .to.match(/x, \[secr/)
        .and.not.to.contain('sk-');
    });

    it('refuses more than the limit, and takes exactly the limit', async () => {
      expect(await (await bodyOf('x'.repeat(100))).text(100)).to.have.length(100);
      expect((await failure((await bodyOf('x'.repeat(101))).text(100))).kind).to.equal('protocol');
      expect((await failure((await bodyOf('x'.repeat(1024 * 1024 + 1))).text())).kind).to.equal('protocol');
      expect(await (await bodyOf('x'.repeat(1024 * 1024))).text()).to.have.length(1024 * 1024);
      expect((await failure((await bodyOf(`"${'x'.repeat(99)}"`)).json(100))).kind).to.equal('protocol');
    });

    it('closes the connection when it is more than the limit', async () => {
      const closed = Promise.withResolvers<void>();
      const origin = await serve((incoming, response) => {
        incoming.socket.on('close', closed.resolve);
        response.write('x'.repeat(101));
      });
      expect((await failure((await get(host(origin), origin)).body.text(100))).kind).to.equal('protocol');
      await closed.promise;
    });

    it('is read once', async () => {
      const body = await bodyOf('x');
      await body.text();
      expect(await body.text().catch((error: Error) => error.message)).to.equal('the body of a reply is read once');
    });

    it('closes the connection when it is dropped', async () => {
      const closed = Promise.withResolvers<void>();
      const origin = await serve((incoming, response) => {
        incoming.socket.on('close', closed.resolve);
        response.write('x');
      });
      (await get(host(origin), origin)).body.drop();
      await closed.promise;
    });
  });

  describe('proxy', () => {
    it('is used when the settings name one, with its password, which no fault shows', async () => {
      const seen: (string | undefined)[] = [];
      const proxy = await serve((incoming, response) => {
        seen.push(incoming.url, incoming.headers['proxy-authorization']);
        if (seen.length > 2) response.writeHead(407).end();
        else response.end('from the proxy');
      });
      const target = 'http://upstream.invalid';
      const withPassword = proxy.replace('//', '//user:pass-word@');
      const one = host(target, { proxy: withPassword, secrets: ['pass-word'] });
      expect(await (await get(one, `${target}/v1/x`)).body.text()).to.equal('from the proxy');
      expect(seen).to.deep.equal([`${target}/v1/x`, `Basic ${btoa('user:pass-word')}`]);
      const thrown = await failure(get(one, `${target}/v1/x`));
      expect(thrown.kind).to.equal('network');
      expect(thrown.detail).to.include('407').and.not.include('pass-word');
    });

    it('is a tunnel for https, and a proxy that refuses one is a network fault', async () => {
      const asked: (string | undefined)[] = [];
      const server = createServer();
      server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
        asked.push(incoming.url);
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      });
      const proxy = await listen(server);
      const thrown = await failure(get(host('https://upstream.invalid', { proxy }), 'https://upstream.invalid/v1'));
      expect(thrown.kind).to.equal('network');
      expect(asked).to.deep.equal(['upstream.invalid:443']);
    });

    it('is never taken from the environment', async () => {
      const origin = await serve((_, response) => void response.end('straight'));
      const dead = 'http://127.0.0.1:9';
      const script = `
        import { createHost } from ${JSON.stringify(new URL('../../../lib/upstream/host/host.ts', import.meta.url).href)};
        const host = createHost({ upstream: 'acme', allowedOrigins: ['${origin}'], log: { warn() {} } });
        const signal = new AbortController().signal;
        const { body } = await host.request('${origin}/', { method: 'GET', signal });
        process.stdout.write(await body.text());
        await host.close();`;
      const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
      const env = { ...process.env, ...Object.fromEntries(names.map((name) => [name, dead])), NODE_USE_ENV_PROXY: '1' };
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...env, NO_PROXY: '', no_proxy: '' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      expect((await child.stdout.toArray()).join('')).to.equal('straight');
    });
  });

  describe('clock and log', () => {
    const one = createHost({ upstream: 'acme', allowedOrigins: [], log: { warn() {} } });

    itTimed('sleeps, and wakes at once on abort', async () => {
      const controller = new AbortController();
      const started = performance.now();
      await one.clock.sleep(20, controller.signal);
      expect(performance.now() - started).to.be.within(15, 5000);
      const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
      const before = timers();
      const pending = one.clock.sleep(60_000, controller.signal).catch((error: unknown) => error);
      expect(timers()).to.equal(before + 1);
      controller.abort('stop');
      expect(await pending).to.equal('stop');
      expect(timers()).to.equal(before);
      expect(await one.clock.sleep(1, controller.signal).catch((error: unknown) => error)).to.equal('stop');
      expect(one.clock.now()).to.be.closeTo(Date.now(), 50);
      const lasting = new AbortController().signal;
      await one.clock.sleep(1, lasting);
      expect(getEventListeners(lasting, 'abort')).to.deep.equal([]);
    });

    it('logs with the name of the upstream', () => {
      const lines: unknown[] = [];
      const log = { warn: (message: string, fields?: object) => void lines.push([message, fields]) };
      createHost({ upstream: 'acme', allowedOrigins: [], log }).log.warn('odd', { at: 3 });
      expect(lines).to.deep.equal([['odd', { at: 3, upstream: 'acme' }]]);
    });
  });
});
