// How undici uses the options and the connector of a dispatcher.
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Agent, type buildConnector, Client } from 'undici';
import { connectOnce, withSmallBuffers } from '../../lib/platform/undici.ts';

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

  const portOf = () => (server.address() as AddressInfo).port;
  const originOf = () => `http://127.0.0.1:${portOf()}`;

  async function openSocket(): Promise<Socket> {
    const socket = connect(portOf(), '127.0.0.1');
    sockets.push(socket);
    await new Promise((resolve) => socket.once('connect', resolve));
    return socket;
  }

  it('pass unknown options on: reads are short, and each is a copy', async () => {
    const lengths: number[] = [];
    const memories = new Set<ArrayBufferLike>();
    const agent = new Agent({ connect: withSmallBuffers({}) });
    const { body } = await agent.request({ origin: originOf(), path: '/', method: 'GET' });
    for await (const chunk of body as AsyncIterable<Buffer>) {
      lengths.push(chunk.length);
      memories.add(chunk.buffer);
      expect(chunk.every((byte) => byte === 0x78)).to.equal(true);
    }
    await agent.close();
    expect(lengths.reduce((sum, length) => sum + length, 0)).to.equal(100_000);
    expect(Math.max(...lengths)).to.be.at.most(32 * 1024);
    expect(memories.size).to.be.above(1);
    for (const { byteLength } of memories) expect(byteLength).to.be.at.most(32 * 1024);
  });

  it('have longer reads without these options', async () => {
    const agent = new Agent();
    const { body } = await agent.request({ origin: originOf(), path: '/', method: 'GET' });
    let longest = 0;
    for await (const { length } of body as AsyncIterable<Buffer>) longest = Math.max(longest, length);
    await agent.close();
    expect(longest).to.be.above(32 * 1024);
  });

  async function statusBy(connector: buildConnector.connector): Promise<number | 'nothing'> {
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
    const hand = () =>
      new Promise((resolve) => connector({} as buildConnector.Options, (error, got) => resolve(error ?? got)));
    expect(await hand()).to.equal(socket);
    expect(await hand()).to.be.instanceOf(Error);
    socket.destroy();
  });
});
