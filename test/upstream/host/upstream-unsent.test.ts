// Whether a request that failed had been sent: only what never had a connection may go elsewhere without a second bill.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { isUpstreamFault } from '../../../lib/upstream/host/fault.ts';
import { createHost } from '../../../lib/upstream/host/host.ts';
import { createAuthority } from '../../../testkit/certificates.ts';

describe('a request that failed', () => {
  const authority = createAuthority();
  const closers: (() => unknown)[] = [];

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function listen(server: Server, scheme = 'http'): Promise<string> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => sockets.add(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Its kind, and whether it says that nothing was sent. */
  async function failureOf(url: string, allowed = url, more: object = {}) {
    const host = createHost({ upstream: 'acme', allowedOrigins: [allowed], log: { warn() {} }, ...more });
    closers.push(() => host.close());
    const asked = host.json(url, { method: 'POST', body: '{}', signal: new AbortController().signal });
    const thrown: unknown = await asked.catch((error: unknown) => error);
    if (!isUpstreamFault(thrown)) return expect.fail(`no fault: ${thrown}`);
    expect(thrown.detail).not.to.include('sk-secret');
    return [thrown.kind, thrown.unsent];
  }

  it('was not sent to an origin that is not allowed', async () => {
    expect(await failureOf('https://other.example', 'https://api.example')).to.deep.equal(['protocol', true]);
  });

  it('was not sent where nobody listens, or nobody has the name', async () => {
    const server = createServer();
    const closed = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await failureOf(closed)).to.deep.equal(['network', true]);
    const named = 'http://sk-secret.invalid';
    expect(await failureOf(named, named, { secrets: ['sk-secret'] })).to.deep.equal(['network', true]);
  });

  it('was not sent where no connection is made in time, or to a certificate that nobody vouches for', async () => {
    const mute = await listen(createTcpServer(), 'https');
    expect(await failureOf(mute, mute, { connectTimeoutMs: 50 })).to.deep.equal(['timeout', true]);
    const stranger = await listen(createTlsServer(authority.issue('127.0.0.1')), 'https');
    expect(await failureOf(stranger)).to.deep.equal(['network', true]);
    const other = await listen(createTlsServer(authority.issue('other.example')), 'https');
    expect(await failureOf(other, other, { ca: authority.ca })).to.deep.equal(['network', true]);
  });

  it('was not sent where a proxy makes no tunnel, or the tunnel leads to a stranger', async () => {
    const secure = 'https://model.invalid';
    const through = async (makeTunnel: (socket: Socket) => void, more: object = {}) => {
      const server = createServer().on('connect', (_, socket: Socket) => makeTunnel(socket.on('error', () => {})));
      return failureOf(secure, secure, { proxy: await listen(server), ...more });
    };
    for (const refusal of ['403 Forbidden', '407 Proxy Authentication Required', '502 Bad Gateway'])
      expect(await through((socket) => socket.end(`HTTP/1.1 ${refusal}\r\n\r\n`))).to.deep.equal(['network', true]);
    expect(await through((socket) => void socket.destroy())).to.deep.equal(['network', true]);
    expect(await through((socket) => void socket.resetAndDestroy())).to.deep.equal(['network', true]);
    expect(await through(() => {}, { connectTimeoutMs: 50 })).to.deep.equal(['timeout', true]);
    const open = (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n');
    expect(await through(open, { connectTimeoutMs: 50 })).to.deep.equal(['timeout', true]);
    const stranger = await listen(createTlsServer(authority.issue('127.0.0.1')), 'https');
    const toStranger = (socket: Socket) => {
      const reached = connect(Number(new URL(stranger).port), '127.0.0.1', () => open(socket));
      socket.pipe(reached).pipe(socket);
    };
    expect(await through(toStranger)).to.deep.equal(['network', true]);
    const server = createServer();
    const closed = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    for (const url of [secure, 'http://model.invalid'])
      expect(await failureOf(url, url, { proxy: closed })).to.deep.equal(['network', true]);
  });

  it('may have been sent where the connection closed, or what came is not HTTP', async () => {
    const closing = await listen(createServer(({ socket }) => void socket.destroy()));
    expect(await failureOf(closing)).to.deep.equal(['network', undefined]);
    const resetting = await listen(createServer(({ socket }) => void socket.resetAndDestroy()));
    expect(await failureOf(resetting)).to.deep.equal(['network', undefined]);
    const odd = await listen(createTcpServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n')));
    expect(await failureOf(odd)).to.deep.equal(['protocol', undefined]);
    const headers = `HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(100_000)}\r\n\r\n`;
    const long = await listen(createTcpServer((socket) => void socket.on('error', () => {}).end(headers)));
    expect(await failureOf(long)).to.deep.equal(['protocol', undefined]);
  });

  it('was sent where it was refused', async () => {
    const refusing = await listen(createServer((_, response) => void response.writeHead(503).end()));
    expect(await failureOf(refusing)).to.deep.equal(['overloaded', undefined]);
  });
});
