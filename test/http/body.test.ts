import { getEventListeners } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type FaultCode, isFault } from '../../lib/base/faults.ts';
import { GONE } from '../../lib/calls/context.ts';
import { BODY_BYTES_MAX, type BodyLimits, readAnnouncedBytes, readBody, readPieces } from '../../lib/http/body.ts';
import { createMemoryQuota, type MemoryQuota } from '../../lib/http/memory-quota.ts';
import { itLong } from '../../testkit/long.ts';
import { itTimed } from '../../testkit/timed.ts';

interface Read {
  readonly bytes: Buffer | undefined;
  readonly code: FaultCode | undefined;
  readonly error: unknown;
  readonly ms: number;
}

describe('body', () => {
  let server: Server;
  let limits: BodyLimits;
  let controller: AbortController;
  let done: Promise<Read>;
  let arrived: Promise<IncomingMessage>;
  let sockets: Socket[];
  let budget: MemoryQuota;
  let take: (...args: Parameters<typeof readBody>) => Promise<Buffer | undefined>;

  before((next) => {
    server = createServer({ keepAliveTimeout: 1 });
    server.listen(0, '127.0.0.1', next);
  });
  beforeEach(() => {
    [limits, controller, sockets, take] = [{}, new AbortController(), [], readBody];
    budget = createMemoryQuota({ bytesMax: 2 * BODY_BYTES_MAX, ownerBytesMax: BODY_BYTES_MAX });
    let arrive: (request: IncomingMessage) => void = () => undefined;
    arrived = new Promise((resolve) => {
      arrive = resolve;
    });
    done = new Promise((resolve) => {
      server.removeAllListeners('request').on('request', (request: IncomingMessage, response) => {
        arrive(request);
        void read(request).then((result) => {
          response.shouldKeepAlive = false;
          response.end();
          resolve(result);
        });
      });
    });
  });
  afterEach(async () => {
    const request = await arrived;
    expect(getEventListeners(controller.signal, 'abort')).to.have.length(0);
    expect(request.listenerCount('data')).to.equal(0);
    for (const socket of sockets) socket.destroy();
  });
  after((next) => {
    server.closeAllConnections();
    server.close(() => next());
  });

  async function read(request: IncomingMessage): Promise<Read> {
    const startedAt = performance.now();
    const ms = () => performance.now() - startedAt;
    try {
      const bytes = await take(request, { signal: controller.signal, reservation: budget.reserve('key'), limits });
      return { bytes, code: undefined, error: undefined, ms: ms() };
    } catch (error) {
      return { bytes: undefined, code: isFault(error) ? error.data?.code : undefined, error, ms: ms() };
    }
  }

  /** A connection that has sent the head of a request. */
  function open(headers: string): Socket {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.setNoDelay(true);
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`);
    sockets.push(socket);
    return socket;
  }
  const announced = (bytes: number) => open(`content-length: ${bytes}`);
  const chunked = () => open('transfer-encoding: chunked');
  const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
  const LAST = '0\r\n\r\n';

  it('is read as one buffer', async () => {
    announced(5).write('hello');
    expect((await done).bytes?.toString()).to.equal('hello');
  });

  it('is freed chunk by chunk as it arrives, and complete', async () => {
    const arrived: Buffer[] = [];
    const body = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
    take = (request, options) => {
      const reading = readBody(request, options);
      request.prependListener('data', (chunk: Buffer) => arrived.push(chunk));
      return reading.finally(() => request.removeAllListeners('data'));
    };
    announced(body.length).write(body);
    expect((await done).bytes?.equals(body)).to.equal(true);
    expect(new Set(arrived.map(({ length }) => length))).to.deep.equal(new Set([0]));
  });

  for (const framed of [
    'content-length: 5\r\n\r\nhello',
    'transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n',
  ])
    it(`is returned at once, and whole, if it came with its headers: ${JSON.stringify(framed)}`, async () => {
      take = async (request, options) => {
        while (!request.complete) await sleep(1);
        const reading = readBody(request, options);
        expect(request.listenerCount('data')).to.equal(0);
        return reading;
      };
      open(framed);
      expect((await done).bytes?.toString()).to.equal('hello');
    });

  for (const { name, send, ends, framed } of [
    { name: 'that remains if it was announced', send: () => announced(6), ends: [4, 0], framed: String },
    { name: 'unknown if it was not', send: chunked, ends: [undefined, undefined], framed: chunk },
  ]) {
    it(`is passed on in chunks, with the length ${name}`, async () => {
      const pieces: (string | number | undefined)[][] = [];
      const onChunk = (piece: Buffer, left: number | undefined) => {
        pieces.push([piece.toString(), left]);
        if (pieces.length === 1) socket.write(framed('llo!') + (framed === chunk ? LAST : ''));
      };
      take = async (request, options) => {
        await readPieces(request, { ...options, onChunk });
        return undefined;
      };
      const socket = send();
      socket.write(framed('he'));
      await done;
      expect(pieces).to.deep.equal([
        ['he', ends[0]],
        ['llo!', ends[1]],
      ]);
    });
  }

  it('is empty if there is none', async () => {
    open('x: y');
    expect((await done).bytes).to.have.length(0);
    expect(readAnnouncedBytes({ headers: {} } as IncomingMessage)).to.equal(0);
  });

  it('is empty if its only chunk is the last', async () => {
    chunked().write(LAST);
    expect((await done).bytes).to.have.length(0);
  });

  itTimed('is read when it arrives byte by byte', async () => {
    const body = Buffer.from('привет 👋');
    const socket = announced(body.length);
    for (const byte of body) {
      socket.write(Buffer.of(byte));
      await sleep(1);
    }
    expect((await done).bytes).to.deep.equal(body);
  });

  it('is the same in any chunks', async () => {
    const pieces = Array.from({ length: 300 }, (_, at) => `${at}`.repeat(at % 50 === 0 ? 3000 : at + 1));
    const socket = chunked();
    for (const piece of pieces) socket.write(chunk(piece));
    socket.write(LAST);
    expect((await done).bytes?.toString()).to.equal(pieces.join(''));
  });

  itLong('takes little more memory than its size, also if every byte is a chunk', async function () {
    this.timeout(30_000);
    this.retries(3);
    const socket = chunked();
    const before = process.memoryUsage().rss;
    let most = 0;
    const watching = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss - before);
    }, 20);
    const thousand = '1\r\nx\r\n'.repeat(1000);
    for (let at = 0; at < 500; at += 1) if (!socket.write(thousand)) await sleep(1);
    socket.write(LAST);
    const { bytes } = await done;
    clearInterval(watching);
    expect(bytes).to.have.length(500_000);
    // Kept as they came they are more than 200 MiB.
    expect(most / 1024 / 1024).to.be.below(100);
  });

  it('is accepted at the limit', async () => {
    limits = { bytesMax: 1000 };
    announced(1000).write('x'.repeat(1000));
    expect((await done).bytes).to.have.length(1000);
  });

  itTimed('is refused by its announced length before it is read', async () => {
    limits = { bytesMax: 1000 };
    announced(1001);
    const { code, ms } = await done;
    expect(code).to.equal('body_too_large');
    expect(ms).to.be.below(100);
  });

  itTimed('is refused when it exceeds the limit', async () => {
    limits = { bytesMax: 1000 };
    const socket = chunked();
    socket.write(chunk('x'.repeat(1000)));
    await sleep(20);
    socket.write(chunk('x'));
    expect((await done).code).to.equal('body_too_large');
  });

  itTimed('is refused if a body above the limit has arrived with its headers', async () => {
    limits = { bytesMax: 1000 };
    take = async (request, options) => {
      while (!request.complete) await sleep(1);
      return readBody(request, options);
    };
    chunked().write(chunk('x'.repeat(1001)) + LAST);
    expect((await done).code).to.equal('body_too_large');
  });

  it('names the limit in MiB', async () => {
    announced(BODY_BYTES_MAX + 1);
    const { error } = await done;
    expect((error as Error).message).to.equal('The request body is larger than 48 MiB.');
  });

  for (const encoding of ['gzip', 'br', 'GZIP', 'identity, gzip', 'x']) {
    it(`is refused in the encoding ${encoding}`, async () => {
      open(`content-length: 0\r\ncontent-encoding: ${encoding}`);
      expect((await done).code).to.equal('unsupported_media_type');
    });
  }

  it('is accepted with the encoding identity', async () => {
    open('content-length: 2\r\ncontent-encoding: Identity').write('ok');
    expect((await done).bytes?.toString()).to.equal('ok');
  });

  describe('and its time limits', () => {
    itTimed('is refused if it does not start', async () => {
      limits = { idleMs: 50 };
      announced(5);
      const { code, ms } = await done;
      expect(code).to.equal('body_timeout');
      expect(ms).to.be.within(45, 300);
    });

    itTimed('is refused when it stalls', async () => {
      limits = { idleMs: 60 };
      const socket = announced(5);
      await sleep(30);
      socket.write('ab');
      const { code, ms } = await done;
      expect(code).to.equal('body_timeout');
      expect(ms).to.be.within(70, 350);
    });

    itTimed('is accepted if it is slow but not idle', async () => {
      limits = { idleMs: 150 };
      const socket = announced(8);
      for (const letter of 'patience') {
        await sleep(40);
        socket.write(letter);
      }
      const { bytes, ms } = await done;
      expect(bytes?.toString()).to.equal('patience');
      expect(ms).to.be.above(250);
    });

    itTimed('is refused if it trickles for too long', async () => {
      limits = { idleMs: 1000, graceMs: 100, windowMs: 50, rateMinBytesPerS: 100 };
      const socket = announced(1000);
      const drip = setInterval(() => socket.write('x'), 20);
      const { code, ms } = await done;
      clearInterval(drip);
      expect(code).to.equal('body_timeout');
      expect(ms).to.be.within(100, 400);
    });

    itTimed('is refused if it trickles after a fast start', async () => {
      limits = { idleMs: 1000, graceMs: 100, windowMs: 100, rateMinBytesPerS: 1000 };
      const socket = announced(1_000_000);
      socket.write('x'.repeat(900_000));
      const drip = setInterval(() => socket.write('y'), 20);
      const { code, ms } = await done;
      clearInterval(drip);
      expect(code).to.equal('body_timeout');
      expect(ms).to.be.within(100, 1000);
    });

    itTimed('may take long if it is fast enough in every window', async () => {
      limits = { idleMs: 1000, graceMs: 50, windowMs: 100, rateMinBytesPerS: 50 };
      const socket = announced(1000);
      for (let at = 0; at < 20; at += 1) {
        await sleep(20);
        socket.write('y'.repeat(50));
      }
      expect((await done).bytes).to.have.length(1000);
    });

    itTimed('is refused after its deadline, however fast it is', async () => {
      limits = { idleMs: 1000, deadlineMs: 150 };
      const socket = announced(10_000_000);
      const pour = setInterval(() => socket.write('x'.repeat(1000)), 10);
      const { code, ms } = await done;
      clearInterval(pour);
      expect(code).to.equal('body_timeout');
      expect(ms).to.be.within(150, 600);
    });

    itTimed('may be slow during the grace period', async () => {
      limits = { idleMs: 1000, graceMs: 300, windowMs: 10, rateMinBytesPerS: 1_000_000 };
      const socket = announced(3);
      for (const letter of 'abc') {
        await sleep(20);
        socket.write(letter);
      }
      expect((await done).bytes?.toString()).to.equal('abc');
    });
  });

  describe('and its memory reservation', () => {
    const room = (bytesMax: number) => {
      [budget, limits] = [createMemoryQuota({ bytesMax: 2 * bytesMax, ownerBytesMax: bytesMax }), { roomMs: 100 }];
    };

    it('reserves the announced length before it arrives', async () => {
      room(1_000_000);
      const socket = announced(700_000);
      await arrived;
      expect(budget.used()).to.equal(700_000);
      socket.write('x'.repeat(700_000));
      expect((await done).bytes).to.have.length(700_000);
      expect(budget.used()).to.equal(700_000);
    });

    itTimed('is refused by its announced length if there is no room in time', async () => {
      room(1_000_000);
      budget.reserve('key').take(400_000);
      announced(700_000);
      const { code, ms } = await done;
      expect(code).to.equal('no_room');
      expect(ms).to.be.within(90, 500);
      expect(budget.used()).to.equal(400_000);
    });

    it('is refused when it grows beyond the available memory', async () => {
      room(1_000_000);
      const socket = chunked();
      for (let at = 0; at < 30; at += 1) socket.write(chunk('x'.repeat(50_000)));
      expect((await done).code).to.equal('no_room');
      expect(budget.used()).to.be.within(100_000, 1_000_000);
    });
  });

  describe('that breaks off', () => {
    itTimed('rejects with GONE at once if the client leaves', async () => {
      const socket = announced(5);
      socket.write('ab');
      await arrived;
      await sleep(10);
      socket.destroy();
      const { error, ms } = await done;
      expect(error).to.equal(GONE);
      expect(ms).to.be.below(500);
    });

    it('rejects with GONE if the connection ends', async () => {
      const socket = announced(5);
      await arrived;
      socket.end('ab');
      expect((await done).error).to.equal(GONE);
    });

    it('rejects with GONE after an invalid chunk, which the server answers', async () => {
      const socket = chunked();
      await arrived;
      socket.write('zz\r\nnonsense');
      expect((await done).error).to.equal(GONE);
    });

    it('rejects with the reason of the signal', async () => {
      announced(5).write('ab');
      await arrived;
      controller.abort('gone');
      expect((await done).error).to.equal('gone');
    });

    it('is not read if the signal has already aborted', async () => {
      controller.abort('gone');
      announced(5).write('hello');
      expect((await done).error).to.equal('gone');
    });
  });
});
