// That Node makes a connection's socket in a callback that may be called later.
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { type Arrival, delaySockets, type Newcomer } from '../../lib/platform/late-socket.ts';
import { stopListening } from '../../lib/platform/stop-listening.ts';
import { until } from '../../testkit/client.ts';

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

describe('delaySockets', () => {
  let server: Server;
  let clients: Socket[];
  let newcomers: Newcomer[];
  let arrived: Buffer[];
  let served: Socket[];
  let gone: number;
  let hasRoom: boolean;

  beforeEach(async () => {
    [clients, newcomers, arrived, served, gone, hasRoom] = [[], [], [], [], 0, true];
    const arrival: Arrival = {
      onBytes: (bytes) => void arrived.push(bytes),
      onGone: () => {
        gone += 1;
      },
    };
    server = createServer({ noDelay: true }, (_request, response) => response.end('hello'));
    delaySockets(server, (newcomer) => {
      newcomers.push(newcomer);
      return hasRoom ? arrival : undefined;
    });
    server.on('connection', (socket) => served.push(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    for (const socket of [...clients, ...served]) socket.destroy();
    server.close();
  });

  async function open(): Promise<Socket> {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    clients.push(client);
    const before = newcomers.length;
    await until(() => newcomers.length > before);
    return client;
  }

  const count = () => new Promise((resolve) => server.getConnections((_error, many) => resolve(many)));

  it('makes no socket before the first byte, which comes by itself, and what follows by the socket', async () => {
    const client = await open();
    let answers = '';
    client.on('data', (bytes) => {
      answers += bytes;
    });
    client.write(GET.slice(0, 5));
    await until(() => arrived.length === 1);
    client.write(GET.slice(5) + GET);
    expect([`${arrived}`, served, await count()]).to.deep.equal([GET.slice(0, 5), [], 1]);
    newcomers[0]?.serve();
    expect([served.length, await count()]).to.deep.equal([1, 1]);
    served[0]?.unshift(arrived[0] as Buffer);
    await until(() => answers.split('hello').length === 3);
    expect([arrived.length, gone]).to.deep.equal([1, 0]);
  });

  it('hands over what was sent and nothing besides, however long', async () => {
    for (const length of [1, 1000, 20_000, 33_000, 40_000]) {
      const sent = Buffer.alloc(length, 'abc');
      arrived = [];
      (await open()).write(sent);
      await until(() => arrived.length === 1);
      expect(sent.subarray(0, arrived[0]?.length)).to.deep.equal(arrived[0]);
      expect(arrived[0]?.length).to.be.above(0);
    }
  });

  it('tells when a client ends or resets its connection', async () => {
    const [ended, reset] = [await open(), await open()];
    expect(await count()).to.equal(2);
    ended.resume().end();
    await until(() => gone === 1 && ended.closed);
    reset.resetAndDestroy();
    await until(() => gone === 2);
    expect([served, arrived, await count()]).to.deep.equal([[], [], 0]);
  });

  it('resets one at a word, which does not go by itself as well', async () => {
    const client = await open();
    let code: string | undefined;
    client.on('error', (error: NodeJS.ErrnoException) => {
      code = error.code;
    });
    newcomers[0]?.reset();
    await until(() => client.closed);
    expect([code, gone, await count()]).to.deep.equal(['ECONNRESET', 0, 0]);
  });

  it('closes one that is not accepted', async () => {
    hasRoom = false;
    const client = (await open()).resume();
    await until(() => client.closed);
    expect([gone, served, await count()]).to.deep.equal([0, [], 0]);
  });

  it('leaves a listener that closes waiting for them, and serves them still', async () => {
    const [client, silent] = [await open(), await open()];
    let isClosed = false;
    const closed = stopListening(server).then(() => {
      isClosed = true;
    });
    client.write(GET);
    await until(() => arrived.length === 1);
    newcomers[0]?.serve();
    served[0]?.unshift(arrived[0] as Buffer);
    await new Promise((resolve) => client.once('data', resolve));
    client.destroy();
    await until(() => served[0]?.closed === true);
    expect(isClosed).to.equal(false);
    silent.destroy();
    await closed;
    expect(gone).to.equal(1);
  });
});
