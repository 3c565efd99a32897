// The parser fed by us must see exactly the requests that it would see by itself.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { watchConnections } from '../../lib/http/connections.ts';
import { createFeed, type Feed, LONG_READ_BYTES, UNANSWERED_MAX } from '../../lib/http/feed.ts';
import { BYTES_PER_TURN, REQUESTS_PER_TURN, type Turns } from '../../lib/http/turns.ts';
import { until } from '../../testkit/client.ts';

interface Seen {
  readonly url: string;
  readonly body: string;
}

const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

const QUIET_MS = 150;

describe('feed', () => {
  const servers: Server[] = [];

  /** A server that answers each request with its body, fed by us or by itself. */
  async function start(fed: boolean): Promise<{ port: number; seen: Seen[]; server: Server }> {
    const seen: Seen[] = [];
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('error', () => undefined);
      request.on('end', () => {
        seen.push({ url: String(request.url), body });
        response.end(body);
      });
    };
    const server = createServer(answer).on('checkContinue', (request, response) => {
      response.writeContinue();
      answer(request, response);
    });
    // Later than the replies to what came before it.
    server.on('clientError', (_error, socket) => {
      setTimeout(() => socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n'), 60);
    });
    if (fed) watchConnections(server, { placesMax: 200, stallMs: 10_000 });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { port: (server.address() as AddressInfo).port, seen, server };
  }

  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** Writes pieces, one read each as far as that can be had, and reads until the connection closes or falls silent. */
  async function exchange(port: number, pieces: readonly Buffer[], quietMs: number): Promise<string> {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    let text = '';
    let lastAt = performance.now();
    socket.on('error', () => undefined);
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      lastAt = performance.now();
    });
    for (const piece of pieces) {
      socket.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    lastAt = performance.now();
    await until(() => socket.closed || performance.now() - lastAt > quietMs, 10_000);
    socket.destroy();
    return text.replace(/date: [^\r]+\r\n/gi, '');
  }

  function cut(text: string, random: () => number): readonly Buffer[] {
    const bytes = Buffer.from(text);
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const size = 1 + Math.floor(random() ** 3 * 400);
      pieces.push(bytes.subarray(at, at + size));
      at += size;
    }
    return pieces;
  }

  /** The same numbers for the same seed. */
  function numbers(seed: number): () => number {
    let state = seed;
    return () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
  }

  const tricky = '{"a":"\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n5\r\n"}';
  const requests: readonly ((random: () => number) => string)[] = [
    () => 'GET /none HTTP/1.1\r\nhost: x\r\n\r\n',
    () => '\r\nGET /lines HTTP/1.1\r\nhost: x\r\n\r\n',
    () => `POST /length HTTP/1.1\r\nhost: x\r\ncontent-length: ${tricky.length}\r\n\r\n${tricky}`,
    () => 'POST /empty HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n',
    () => `POST /continue HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\nbody`,
    (random) => {
      const texts = Array.from({ length: 1 + Math.floor(random() * 40) }, () =>
        'x\r\n'.repeat(1 + Math.floor(random() ** 8 * 700)),
      );
      const trailer = random() < 0.3 ? 'x-trailer: y\r\n' : '';
      return `POST /chunks HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${texts.map(chunk).join('')}0\r\n${trailer}\r\n`;
    },
    () =>
      `POST /extension HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2;a=b\r\nab\r\n${chunk(tricky)}0\r\n\r\n`,
    () =>
      `POST /bytes HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${[...tricky].map(chunk).join('')}0\r\n\r\n`,
  ];
  const broken: readonly string[] = [
    '',
    'NONSENSE\r\n\r\n',
    'POST /bad HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n',
    'POST /bad HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n',
    'POST /bad HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nbad trailer\r\n\r\n',
    'POST /bad HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
    'GET /bad HTTP/1.1\nhost: x\n\nGET /second HTTP/1.1\r\nhost: x\r\n\r\n',
  ];

  it('shows the parser the same requests, cut anywhere', async function () {
    this.timeout(60_000);
    const fed = await start(true);
    const plain = await start(false);
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = numbers(seed);
      const count = 1 + Math.floor(random() * 12);
      let text = '';
      for (let at = 0; at < count; at += 1) text += requests[Math.floor(random() * requests.length)]?.(random);
      text += broken[seed % broken.length];
      const pieces = cut(text, random);
      const look = async (quietMs: number) => {
        const servers = [fed, plain];
        const texts = await Promise.all(servers.map(({ port }) => exchange(port, pieces, quietMs)));
        return servers.map(({ seen }, at) => ({ text: texts[at], seen: seen.splice(0) }));
      };
      let [one, other] = await look(QUIET_MS);
      // A busy machine may have been silent for that long.
      if (one?.text !== other?.text) [one, other] = await look(10 * QUIET_MS);
      expect(one, `seed ${seed}`).to.deep.equal(other);
    }
  });

  describe('of a server that answers when it is told to', () => {
    let answers: (() => void)[];
    let socket: Socket;
    let replies: number;

    beforeEach(async () => {
      answers = [];
      const server = createServer((request, response) => {
        request.resume();
        answers.push(() => response.end('ok'));
      });
      watchConnections(server, { placesMax: 200, stallMs: 10_000 });
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      replies = 0;
      socket.setEncoding('utf8').on('data', (text: string) => {
        replies += text.split('HTTP/1.1 200').length - 1;
      });
    });
    afterEach(() => socket.destroy());

    const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

    it('lets so many requests through as may wait for an answer', async () => {
      socket.write(GET.repeat(1000));
      await until(() => answers.length === UNANSWERED_MAX);
      await sleep(50);
      expect(answers).to.have.length(UNANSWERED_MAX);
      answers.shift()?.();
      await until(() => answers.length === UNANSWERED_MAX);
      await sleep(50);
      expect(answers).to.have.length(UNANSWERED_MAX);
      expect(replies).to.equal(1);
    });

    it('lets no more through behind bodies and empty lines', async () => {
      socket.write(`POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${chunk('ok')}0\r\n\r\n`);
      const announced = `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9999\r\n\r\n${'x'.repeat(9999)}\r\n\r\n`;
      socket.write(
        `POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${chunk('ok')}0\r\n\r\n${announced}${GET.repeat(99)}`,
      );
      await until(() => answers.length === UNANSWERED_MAX);
      await sleep(50);
      expect(answers).to.have.length(UNANSWERED_MAX);
    });

    it('answers all of them in the end', async () => {
      socket.write(GET.repeat(600) + 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nok'.repeat(400));
      const answering = setInterval(() => answers.splice(0).map((answer) => answer()), 1);
      await until(() => replies === 1000, 20_000).finally(() => clearInterval(answering));
    });

    it('reads no further meanwhile', async () => {
      const sent = () => socket.bytesWritten - socket.writableLength;
      const block = GET.repeat(2000);
      for (let at = 0; at < 400; at += 1) socket.write(block);
      await until(() => answers.length === UNANSWERED_MAX);
      await sleep(200);
      const before = sent();
      await sleep(100);
      expect(sent()).to.equal(before);
      expect(socket.writableLength).to.be.above(0);
    });
  });

  it('gives the parser nothing more of a connection on which it has failed', async () => {
    const { port, server } = await start(true);
    let failures = 0;
    server.on('clientError', () => {
      failures += 1;
    });
    const pieces = ['NONSENSE\r\n\r\n', 'NONSENSE\r\n\r\n', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'].map((text) =>
      Buffer.from(text),
    );
    expect(await exchange(port, pieces, QUIET_MS)).to.match(/^HTTP\/1.1 400 /);
    expect(failures).to.equal(1);
  });

  /** Listens with a handler and opens connections to it. */
  async function connectTo(handler: Parameters<typeof createServer>[1], count: number): Promise<readonly Socket[]> {
    const server = createServer(handler);
    watchConnections(server, { placesMax: 200, stallMs: 10_000 });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const open = async () => {
      const socket = connect(port, '127.0.0.1');
      await new Promise((resolve) => socket.once('connect', resolve));
      return socket.resume();
    };
    return Promise.all(Array.from({ length: count }, open));
  }

  /** Counts things by the turn of the loop, which ends at different moments for this test and for the listener. */
  function countByTurn(): { add(count: number): void; most(): number; sum(): number; stop(): void } {
    let [turn, most, sum, stopped] = [0, 0, 0, false];
    const watch = () => {
      turn = 0;
      if (!stopped) setImmediate(watch);
    };
    watch();
    return {
      add(count) {
        turn += count;
        sum += count;
        most = Math.max(most, turn);
      },
      most: () => most,
      sum: () => sum,
      stop: () => {
        stopped = true;
      },
    };
  }

  it('begins a few requests of all connections in one turn of the loop, and all of them in the end', async () => {
    const begun = countByTurn();
    const sockets = await connectTo((_request, response) => {
      begun.add(1);
      response.end('ok');
    }, 50);
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(40));
    await until(() => begun.sum() === 50 * 40, 10_000).finally(() => {
      begun.stop();
      for (const socket of sockets) socket.destroy();
    });
    expect(begun.most()).to.be.at.most(2 * REQUESTS_PER_TURN);
  });

  it('asks for a turn as a waiting caller does only where nothing of its connection was sent too early', async () => {
    const alone: boolean[] = [];
    const turns: Turns = {
      // What was sent too early is told to wait once: it asks again when the one before has been answered.
      begin: (_goOn, isAlone) => alone.push(isAlone) !== 4,
      read: () => true,
    };
    let feed: Feed | undefined;
    const server = createServer((request, response) => {
      feed?.begin(request);
      response.on('finish', () => feed?.answered());
      response.end('ok');
    });
    server.on('connection', (socket: Socket) => {
      feed = createFeed(socket, turns);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let replies = 0;
    socket.setEncoding('utf8').on('data', (text: string) => {
      replies += text.split('HTTP/1.1 200').length - 1;
    });
    for (const [count, all] of [
      [1, 1],
      [1, 2],
      [2, 4],
      [1, 5],
    ] as const) {
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(count));
      await until(() => replies === all);
    }
    socket.destroy();
    expect(alone).to.deep.equal([true, true, true, false, false, true]);
  });

  it('reads a part of long bodies in one turn of the loop, and all of them in the end', async () => {
    const [count, bytes, readBytes] = [8, 8 * 1024 * 1024, 64 * 1024];
    const read = countByTurn();
    const sockets = await connectTo((request, response) => {
      request.on('data', ({ length }: Buffer) => read.add(length)).on('end', () => response.end('ok'));
    }, count);
    const body = Buffer.alloc(bytes);
    for (const socket of sockets) socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`);
    for (const socket of sockets) socket.write(body);
    await until(() => read.sum() === count * bytes, 20_000).finally(() => {
      read.stop();
      for (const socket of sockets) socket.destroy();
    });
    // Each reads once at least, in both of two turns that the test takes for one.
    expect(read.most()).to.be.at.most(2 * (BYTES_PER_TURN + count * readBytes));
  });

  it('reads less where bodies are chunked, since each chunk is work', async () => {
    const [count, bytes, readBytes] = [2, 500_000, 64 * 1024];
    const perByte = chunk('x').length;
    const read = countByTurn();
    const sockets = await connectTo((request, response) => {
      request.on('data', ({ length }: Buffer) => read.add(length * perByte)).on('end', () => response.end('ok'));
    }, count);
    for (const socket of sockets) socket.write('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    for (const socket of sockets) socket.write(`${chunk('x').repeat(bytes)}0\r\n\r\n`);
    await until(() => read.sum() === count * bytes * perByte, 20_000).finally(() => {
      read.stop();
      for (const socket of sockets) socket.destroy();
    });
    // A read may end within a chunk.
    expect(read.most()).to.be.at.most(2 * (BYTES_PER_TURN / 4 + count * (readBytes + perByte)));
  });

  it('frees short reads of a body too, which is what a slow network brings', async () => {
    const reads: ArrayBufferLike[] = [];
    let sum = -1;
    const [socket] = await connectTo((request, response) => {
      sum = 0;
      request.socket.prependListener('data', ({ buffer, length }: Buffer) => {
        if (length === buffer.byteLength) reads.push(buffer);
      });
      request.on('data', ({ length }: Buffer) => {
        sum += length;
      });
      request.on('end', () => response.end('ok'));
    }, 1);
    socket?.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4000\r\n\r\n');
    for (let written = 0; written < 4000; written += 1000) {
      await until(() => sum === written);
      socket?.write(Buffer.alloc(1000));
    }
    await until(() => sum === 4000);
    socket?.destroy();
    expect(reads).to.have.length(4);
    expect(reads.filter(({ byteLength }) => byteLength > 0)).to.deep.equal([]);
  });

  it('leaves no garbage of what it reads: collecting it would stop everybody', async () => {
    const bytes = 1_000_000;
    const whole: ArrayBufferLike[] = [];
    let sum = 0;
    const [socket] = await connectTo((request, response) => {
      // Before the feed has it. A shorter read is not freed, and neither is one that does not fill its memory.
      request.socket.prependListener('data', ({ buffer, length }: Buffer) => {
        if (length >= LONG_READ_BYTES && length === buffer.byteLength) whole.push(buffer);
      });
      request.on('data', ({ length }: Buffer) => {
        sum += length;
      });
      request.on('end', () => response.end('ok'));
    }, 1);
    socket?.write('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    socket?.write(`${chunk('x').repeat(bytes)}0\r\n\r\n`);
    await until(() => sum === bytes, 20_000).finally(() => socket?.destroy());
    // Referred to here, none of it is collected: what is empty was freed.
    expect(whole).not.to.have.length(0);
    expect(whole.filter(({ byteLength }) => byteLength > 0)).to.deep.equal([]);
  });
});
