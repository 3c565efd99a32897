import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Connections, connectionsFor, readDescriptorLimit, watchConnections } from '../../lib/http/connections.ts';
import { until } from '../../testkit/client.ts';

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

describe('connections', () => {
  let server: Server;
  let connections: Connections;
  let sockets: Socket[];
  let answer: boolean;

  async function start(limits: { connectionsMax: number; stallMs: number }, headersTimeout = 60_000): Promise<void> {
    sockets = [];
    answer = true;
    server = createServer((_request, response) => {
      if (answer) response.end(Buffer.alloc(64 * 1024, 'x'));
    });
    server.headersTimeout = headersTimeout;
    connections = watchConnections(server, limits);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  }
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  });

  async function open(): Promise<Socket> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    await new Promise((resolve) => socket.once('connect', resolve));
    // Until the server has seen it too.
    await sleep(10);
    return socket;
  }

  /** A new connection that finds no place. */
  async function refused(): Promise<void> {
    const late = await open();
    late.resume();
    await until(() => late.closed);
  }

  async function reply(socket: Socket): Promise<void> {
    socket.write(GET);
    await new Promise((resolve) => socket.once('data', resolve));
    socket.resume();
    await sleep(20);
  }

  it('beyond as many as there may be cost the one its place that is silent for longest', async () => {
    await start({ connectionsMax: 3, stallMs: 10_000 });
    const [first, second, third] = [await open(), await open(), await open()];
    await reply(first);
    await reply(await open());
    await until(() => second.destroyed || second.readableEnded || second.closed);
    expect([first.closed, second.closed, third.closed]).to.deep.equal([false, true, false]);
  });

  it('cost one that never asked for anything its place before any that did', async () => {
    await start({ connectionsMax: 3, stallMs: 10_000 });
    const asked = await open();
    await reply(asked);
    const silent = [await open(), await open()];
    for (const socket of silent) socket.resume();
    await reply(await open());
    await until(() => silent[0]?.closed === true);
    await reply(await open());
    await until(() => silent[1]?.closed === true);
    expect(asked.closed).to.equal(false);
    await reply(await open());
    await until(() => asked.closed);
  });

  it('that wait for an answer are left alone: the new one goes', async () => {
    await start({ connectionsMax: 2, stallMs: 10_000 });
    answer = false;
    const busy = [await open(), await open()];
    for (const socket of busy) socket.write(GET);
    await sleep(50);
    await refused();
    expect(busy.map(({ closed }) => closed)).to.deep.equal([false, false]);
    busy[0]?.destroy();
    await sleep(50);
    answer = true;
    await reply(await open());
  });

  it('that wait for a second answer are left alone too', async () => {
    await start({ connectionsMax: 1, stallMs: 10_000 });
    const busy = await open();
    server.on('request', () => {
      answer = false;
    });
    busy.write(GET + GET);
    await new Promise((resolve) => busy.once('data', resolve));
    busy.resume();
    await sleep(20);
    await refused();
    expect(busy.closed).to.equal(false);
  });

  it('that wait for the answer to a later request are left alone as well', async () => {
    await start({ connectionsMax: 1, stallMs: 10_000 });
    const busy = await open();
    await reply(busy);
    answer = false;
    busy.write(GET);
    await sleep(20);
    await refused();
    expect(busy.closed).to.equal(false);
  });

  it('that asked whether they may go on are left alone while they wait', async () => {
    await start({ connectionsMax: 1, stallMs: 10_000 });
    // As hapi does.
    server.on('checkContinue', (request, response) => {
      response.writeContinue();
      request.resume();
    });
    const busy = await open();
    busy.write('POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 1\r\n\r\n');
    await once(busy, 'data');
    busy.resume();
    await refused();
    expect(busy.closed).to.equal(false);
  });

  it('that left without an answer give their place once only', async () => {
    await start({ connectionsMax: 2, stallMs: 10_000 });
    answer = false;
    for (const socket of [await open(), await open()]) {
      socket.write(GET);
      await sleep(20);
      socket.destroy();
    }
    await until(async () => (await count()) === 0);
    const busy = [await open(), await open()];
    for (const socket of busy) socket.write(GET);
    await sleep(20);
    await refused();
    expect(busy.map(({ closed }) => closed)).to.deep.equal([false, false]);
  });

  it('that have gone have no place to give', async () => {
    await start({ connectionsMax: 1, stallMs: 10_000 });
    for (const asks of [true, false]) {
      const gone = await open();
      if (asks) await reply(gone);
      gone.destroy();
      await until(async () => (await count()) === 0);
      const busy = await open();
      answer = false;
      busy.write(GET);
      await sleep(20);
      await refused();
      expect(busy.closed).to.equal(false);
      busy.destroy();
      await until(async () => (await count()) === 0);
      expect([connections.count(), connections.sockets()]).to.deep.equal([0, []]);
      answer = true;
    }
  });

  it('that became tunnels bring no more requests, in no name', async () => {
    await start({ connectionsMax: 10, stallMs: 10_000 });
    const urls: unknown[] = [];
    server.on('request', ({ url }) => urls.push(url));
    const tunnelled = new Promise((resolve) => {
      server.on('connect', (_request, socket) => resolve(socket.on('error', () => undefined).resume()));
    });
    const tunnel = await open();
    tunnel.write('CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n');
    await tunnelled;
    // It may have got the parser that the tunnel had.
    const next = await open();
    tunnel.write(GET);
    await sleep(20);
    next.write(GET.replace('/', '/own'));
    await until(() => urls.length > 0);
    await sleep(20);
    expect(urls).to.deep.equal(['/own']);
  });

  it('whose readers take nothing are closed, whoever wrote the reply', async () => {
    await start({ connectionsMax: 10, stallMs: 200 });
    // One that has its answer, and one that waits for one.
    const [idle, waiting] = [await open(), await open()];
    await reply(idle);
    answer = false;
    waiting.write(GET);
    await sleep(20);
    answer = true;
    const still = await open();
    still.pause();
    const from = performance.now();
    still.write(GET.repeat(2000));
    const reading = await open();
    reading.resume();
    const asking = setInterval(() => reading.write(GET), 20);
    await until(async () => (await count()) === 3, 5000).finally(() => clearInterval(asking));
    expect(performance.now() - from).to.be.at.least(200);
    expect([idle, waiting, reading].map(({ closed }) => closed)).to.deep.equal([false, false, false]);
  });

  describe('without a byte', () => {
    it('are closed when the time for a head is over, and no others', async () => {
      await start({ connectionsMax: 10, stallMs: 600_000 }, 160);
      const asked = await open();
      await reply(asked);
      const silent = await open();
      silent.resume();
      await sleep(60);
      expect(silent.closed).to.equal(false);
      await until(() => silent.closed, 5000);
      expect(asked.closed).to.equal(false);
    });

    it('are closed by themselves, before their time', async () => {
      await start({ connectionsMax: 10, stallMs: 10_000 });
      const [asked, silent] = [await open(), await open()];
      await reply(asked);
      silent.resume();
      connections.closeNewcomers();
      await until(() => silent.closed);
      expect([asked.closed, connections.count(), connections.sockets().length]).to.deep.equal([false, 1, 1]);
    });

    it('are forgotten when their clients end or reset them', async () => {
      await start({ connectionsMax: 10, stallMs: 10_000 });
      const [ended, reset] = [await open(), await open()];
      expect([connections.count(), connections.sockets().length]).to.deep.equal([2, 0]);
      ended.resume();
      ended.end();
      reset.resetAndDestroy();
      await until(() => connections.count() === 0);
      await until(() => ended.closed);
      await reply(await open());
    });

    it('lose their place by a reset, those that have asked by an end', async () => {
      await start({ connectionsMax: 1, stallMs: 10_000 });
      const silent = await open();
      let code: string | undefined;
      silent.on('error', (error: NodeJS.ErrnoException) => {
        code = error.code;
      });
      silent.resume();
      const asked = await open();
      await until(() => silent.closed);
      await reply(asked);
      let hasFailed = false;
      asked.on('error', () => {
        hasFailed = true;
      });
      await open();
      await until(() => asked.closed);
      expect([code, hasFailed]).to.deep.equal(['ECONNRESET', false]);
    });

    it('are served from the first one on, however little it is', async () => {
      await start({ connectionsMax: 10, stallMs: 10_000 });
      const slow = await open();
      let text = '';
      slow.on('data', (bytes) => {
        text += bytes;
      });
      for (const piece of [GET.slice(0, 1), GET.slice(1, 20), GET.slice(20)]) {
        slow.write(piece);
        await sleep(5);
      }
      await until(() => text.endsWith('x'.repeat(100)));
      expect(text).to.match(/^HTTP\/1\.1 200 /);
    });
  });

  const count = () => new Promise<number>((resolve) => server.getConnections((_error, many) => resolve(many)));

  it('leave descriptors to the upstreams and to the store', () => {
    expect(connectionsFor(400)).to.equal(168);
    expect(connectionsFor(1024)).to.equal(480);
    expect(connectionsFor(50)).to.equal(16);
    expect(connectionsFor(1_048_576)).to.equal(10_000);
    expect(connectionsFor(Number.POSITIVE_INFINITY)).to.equal(10_000);
  });

  it('know the limit of this process', () => {
    expect(readDescriptorLimit()).to.be.within(64, Number.MAX_SAFE_INTEGER);
  });
});
