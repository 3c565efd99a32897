// How undici uses the options and the connector of a dispatcher.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Agent, Client, type buildConnector as Undici } from 'undici';
import { buildConnector, connectOnce, trackErrors, withSmallBuffers } from '../../lib/platform/undici.ts';

describe('connections of undici', () => {
  let server: Server;
  let sockets: Socket[];

  before((next) => {
    server = createServer((_request, response) => response.end(Buffer.alloc(100_000, 'x')));
    server.listen(0, '127.0.0.1', next);
  });
  beforeEach(() => {
    sockets = [];
  });
  after((next) => {
    server.closeAllConnections();
    server.close(() => next());
  });

  it('pass through a proxy in a process that has not loaded its index', async () => {
    const asked: string[] = [];
    const proxy = createServer().on('connect', ({ url }, client: Socket) => {
      asked.push(String(url));
      const reached = connect(portOf(), '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
      client
        .on('error', () => undefined)
        .pipe(reached.on('error', () => undefined))
        .pipe(client);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const { port } = proxy.address() as AddressInfo;
    const [platform, host] = ['platform/undici', 'upstream/host/exchange'].map(
      (name) => new URL(`../../lib/${name}.ts`, import.meta.url).href,
    );
    const code = `const { ProxyAgent } = await import('${platform}');
      const { exchange } = await import('${host}');
      const agent = new ProxyAgent({ uri: 'http://127.0.0.1:${port}', proxyTunnel: true });
      const asked = { origin: '${originOf()}', path: '/', method: 'GET' };
      process.exit((await exchange(agent, asked, AbortSignal.timeout(20_000))).status === 200 ? 0 : 1);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: 'inherit' });
    const [status] = await once(child, 'exit');
    proxy.closeAllConnections();
    proxy.close();
    expect([status, asked]).to.deep.equal([0, [`127.0.0.1:${portOf()}`]]);
  });

  const portOf = () => (server.address() as AddressInfo).port;
  const originOf = () => `http://127.0.0.1:${portOf()}`;

  async function openSocket(): Promise<Socket> {
    const socket = connect(portOf(), '127.0.0.1');
    sockets.push(socket);
    await new Promise((resolve) => socket.once('connect', resolve));
    return socket;
  }

  it('pass unknown options on to the socket', async () => {
    const agent = new Agent({
      connect: (options, callback) =>
        buildSmall(options, (...done) => {
          if (done[1]) sockets.push(done[1]);
          callback(...done);
        }),
    });
    const buildSmall = trackErrors(buildConnector(withSmallBuffers({})));
    const { body } = await agent.request({ origin: originOf(), path: '/', method: 'GET' });
    await body.dump();
    await agent.close();
    expect(sockets.map(({ readableHighWaterMark }) => readableHighWaterMark)).to.deep.equal([16 * 1024]);
  });

  it('keep no more memory than the bytes that were read', async () => {
    const memories = new Map<ArrayBufferLike, number>();
    const agent = new Agent({ connect: withSmallBuffers({}) });
    const { body } = await agent.request({ origin: originOf(), path: '/', method: 'GET' });
    for await (const { buffer, length } of body as AsyncIterable<Buffer>)
      memories.set(buffer, (memories.get(buffer) ?? 0) + length);
    await agent.close();
    expect(memories.size).to.be.above(1);
    // The head of the answer was in the first.
    for (const [{ byteLength }, length] of memories) expect(byteLength).to.be.at.most(length + 1024);
  });

  async function statusBy(connector: Undici.connector): Promise<number | 'nothing'> {
    const client = new Client(originOf(), { connect: connector });
    const ended = client.request({ path: '/', method: 'GET' }).then(
      ({ statusCode }) => statusCode,
      () => 'nothing' as const,
    );
    const status = await Promise.race([ended, sleep(300, 'nothing' as const)]);
    await client.destroy();
    return status;
  }

  it('are used if they are returned in a later tick, but not in the same one', async () => {
    expect(await statusBy(connectOnce(await openSocket()))).to.equal(200);
    const socket = await openSocket();
    expect(await statusBy((_options, callback) => callback(null, socket))).to.equal('nothing');
    socket.destroy();
  });

  it('are returned once', async () => {
    const socket = await openSocket();
    const connector = connectOnce(socket);
    const hand = () => new Promise((resolve) => connector({} as Undici.Options, (error, got) => resolve(error ?? got)));
    expect(await hand()).to.equal(socket);
    expect(await hand()).to.be.instanceOf(Error);
    socket.destroy();
  });
});
