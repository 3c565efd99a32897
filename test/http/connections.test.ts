import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Connections, SERVED_PER_TURN, watchConnections } from '../../lib/http/connections.ts';
import { until } from '../../testkit/client.ts';

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

describe('connections', () => {
  let server: Server;
  let connections: Connections;
  let sockets: Socket[];
  let answer: boolean;

  async function start(limits: Parameters<typeof watchConnections>[1], headersTimeout = 60_000): Promise<void> {
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

  function dial(): Socket {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    return socket;
  }

  async function open(): Promise<Socket> {
    const socket = dial();
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
    await start({ placesMax: 5, stallMs: 10_000 });
    const [first, second, third] = [await open(), await open(), await open()];
    await reply(first);
    await reply(await open());
    await until(() => second.destroyed || second.readableEnded || second.closed);
    expect([first.closed, second.closed, third.closed]).to.deep.equal([false, true, false]);
  });

  it('cost one that never asked for anything its place before any that did', async () => {
    await start({ placesMax: 6, stallMs: 10_000 });
    const asked = await open();
    await reply(asked);
    const silent = [await open(), await open()];
    for (const socket of silent) socket.resume();
    await reply(await open());
    expect(silent.map(({ closed }) => closed)).to.deep.equal([false, false]);
    const next = await open();
    await until(() => silent[0]?.closed === true);
    expect(silent[1]?.closed).to.equal(false);
    await reply(next);
    await until(() => silent[1]?.closed === true);
    expect(asked.closed).to.equal(false);
    await reply(await open());
    await until(() => asked.closed);
  });

  it('that wait for an answer are left alone: the new one goes', async () => {
    await start({ placesMax: 4, stallMs: 10_000 });
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

  it('take a second place with their first byte, for which an idle one goes', async () => {
    await start({ placesMax: 3, stallMs: 10_000 });
    const asked = await open();
    await reply(asked);
    const next = await open();
    await sleep(20);
    expect(asked.closed).to.equal(false);
    await reply(next);
    await until(() => asked.closed);
    expect([next.closed, connections.count()]).to.deep.equal([false, 1]);
  });

  it('find no second place where all others are in use: they are closed', async () => {
    await start({ placesMax: 3, stallMs: 10_000 });
    answer = false;
    const busy = await open();
    busy.write(GET);
    await sleep(20);
    const next = await open();
    next.resume();
    expect(connections.count()).to.equal(2);
    next.write(GET);
    await until(() => next.closed);
    expect([busy.closed, connections.count()]).to.deep.equal([false, 1]);
  });

  it('leave the places of their upstreams taken for a while', async () => {
    await start({ placesMax: 6, stallMs: 10_000 });
    for (let time = 0; time < 2; time += 1) {
      const socket = await open();
      await reply(socket);
      socket.destroy();
      await until(() => connections.count() === 0);
    }
    // One at a time was served.
    const silent = Array.from({ length: 5 }, () => dial().resume());
    await sleep(50);
    expect(silent.filter(({ closed }) => closed)).to.deep.equal([]);
    await open();
    await until(() => silent.some(({ closed }) => closed));
    expect(connections.count()).to.equal(5);
  });

  it('leave them taken also if nothing had changed for long before they went', async () => {
    const upstreamsKeptMs = 100;
    await start({ placesMax: 6, stallMs: 10_000, upstreamsKeptMs });
    const served = [await open(), await open()];
    for (const socket of served) await reply(socket);
    await sleep(3 * upstreamsKeptMs);
    for (const socket of served) socket.destroy();
    await until(() => connections.count() === 0);
    const port = (server.address() as AddressInfo).port;
    for (let at = 0; at < 5; at += 1)
      sockets.push(
        connect(port, '127.0.0.1')
          .on('error', () => undefined)
          .resume(),
      );
    await until(() => sockets.some(({ closed }, at) => at >= served.length && closed));
    expect(connections.count()).to.equal(4);
    await sleep(3 * upstreamsKeptMs);
    for (let at = 0; at < 2; at += 1) await open();
    expect(connections.count()).to.equal(6);
  });

  it('that wait for a second answer are left alone too', async () => {
    await start({ placesMax: 2, stallMs: 10_000 });
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
    await start({ placesMax: 2, stallMs: 10_000 });
    const busy = await open();
    await reply(busy);
    answer = false;
    busy.write(GET);
    await sleep(20);
    await refused();
    expect(busy.closed).to.equal(false);
  });

  it('that asked whether they may go on are left alone while they wait', async () => {
    await start({ placesMax: 2, stallMs: 10_000 });
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
    await start({ placesMax: 4, stallMs: 10_000 });
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
    await start({ placesMax: 2, stallMs: 10_000 });
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
    await start({ placesMax: 20, stallMs: 10_000 });
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
    await start({ placesMax: 20, stallMs: 200 });
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
      await start({ placesMax: 20, stallMs: 600_000 }, 160);
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
      await start({ placesMax: 20, stallMs: 10_000 });
      const [asked, silent] = [await open(), await open()];
      await reply(asked);
      silent.resume();
      connections.closeNewcomers();
      await until(() => silent.closed);
      expect([asked.closed, connections.count(), connections.sockets().length]).to.deep.equal([false, 1, 1]);
    });

    it('are forgotten when their clients end or reset them', async () => {
      await start({ placesMax: 20, stallMs: 10_000 });
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
      await start({ placesMax: 2, stallMs: 10_000 });
      const silent = await open();
      let code: string | undefined;
      silent.on('error', (error: NodeJS.ErrnoException) => {
        code = error.code;
      });
      silent.resume();
      const asked = await open();
      await reply(asked);
      await until(() => silent.closed);
      let hasFailed = false;
      asked.on('error', () => {
        hasFailed = true;
      });
      await open();
      await until(() => asked.closed);
      expect([code, hasFailed]).to.deep.equal(['ECONNRESET', false]);
    });

    it('are served from the first one on, however little it is', async () => {
      await start({ placesMax: 20, stallMs: 10_000 });
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

  describe('whose first bytes come at once', () => {
    const COUNT = 4 * SERVED_PER_TURN + 4;
    let served: number;

    async function openAll(placesMax: number): Promise<void> {
      await start({ placesMax, stallMs: 10_000 });
      answer = false;
      served = 0;
      server.on('connection', () => {
        served += 1;
      });
      await Promise.all(Array.from({ length: COUNT }, open));
      for (const socket of sockets) socket.resume().write(GET);
    }

    it('are served a few per turn of the loop', async () => {
      await openAll(3 * COUNT);
      const perTurn: number[] = [];
      while (perTurn.reduce((sum, each) => sum + each, 0) < COUNT) {
        const before = served;
        await new Promise((resolve) => setImmediate(resolve));
        perTurn.push(served - before);
      }
      // What is read before the turn ends, and what waits for the next.
      expect(Math.max(...perTurn)).to.be.within(1, 2 * SERVED_PER_TURN);
      expect(perTurn.filter((each) => each > 0).length).to.be.at.least(2);
    });

    it('are not silent while they wait for their turn', async () => {
      await openAll(3 * COUNT);
      server.once('connection', () => setImmediate(() => connections.closeNewcomers()));
      await until(() => served === COUNT);
      expect(connections.count()).to.equal(COUNT);
    });

    it('are not served once they have lost their place', async () => {
      await openAll(COUNT + SERVED_PER_TURN);
      await until(() => sockets.filter(({ closed }) => closed).length + served === COUNT);
      await sleep(20);
      expect(served).to.be.within(SERVED_PER_TURN, (COUNT + SERVED_PER_TURN) / 2);
      expect([connections.count(), connections.sockets().length]).to.deep.equal([served, served]);
    });
  });

  const count = () => new Promise<number>((resolve) => server.getConnections((_error, many) => resolve(many)));
});
