import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { SseReply } from '../../lib/http/sse-reply.ts';
import { until } from '../../testkit/client.ts';
import { itTimed } from '../../testkit/timed.ts';

/** More than the buffers of a connection on this machine take. */
const MUCH_BYTES = 16 * 1024 * 1024;

describe('SSE reply', () => {
  let server: Server;
  let client: Socket;
  let response: ServerResponse;
  let received: number;
  let text: string;

  before((next) => {
    server = createServer();
    server.listen(0, '127.0.0.1', next);
  });
  afterEach(() => client.destroy());
  after((next) => {
    server.closeAllConnections();
    server.close(() => next());
  });

  /** A reply to a client that keeps the first megabyte of what it reads. */
  async function open(stallMs = 60_000, version = '1.1'): Promise<SseReply> {
    const answered = new Promise<ServerResponse>((resolve) => {
      server.removeAllListeners('request').once('request', (_request, made) => resolve(made));
    });
    [received, text] = [0, ''];
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined);
    const decoder = new TextDecoder();
    client.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (text.length < 1_000_000) text += decoder.decode(chunk, { stream: true });
    });
    client.write(`GET / HTTP/${version}\r\nhost: x\r\n\r\n`);
    response = await answered;
    return new SseReply(response, { headers: { 'x-request-id': 'req_1' }, stallMs });
  }

  /** The body of a reply in chunks, each as long as it says. */
  function joinChunks(): string {
    let rest = Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4));
    for (let body = ''; ; ) {
      const start = rest.indexOf('\r\n') + 2;
      const end = start + Number.parseInt(rest.toString('latin1', 0, start), 16);
      expect(rest.toString('latin1', end, end + 2)).to.equal('\r\n');
      if (end === start) return body;
      body += rest.subarray(start, end);
      rest = rest.subarray(end + 2);
    }
  }

  it('sends status and headers at once, then each text as it is written', async () => {
    const reply = await open();
    reply.open();
    await until(() => text.includes('\r\n\r\n'));
    expect(text).to.match(/^HTTP\/1\.1 200 OK\r\n/);
    for (const header of [
      'content-type: text/event-stream; charset=utf-8',
      'cache-control: no-cache',
      'x-accel-buffering: no',
      'x-request-id: req_1',
    ]) {
      expect(text).to.contain(`\r\n${header}\r\n`);
    }
    expect(reply.write('data: 1\n\n')).to.equal(undefined);
    await until(() => text.includes('data: 1\n\n'));
    reply.keepAlive();
    await until(() => text.includes(': keep-alive\n\n'));
    expect(reply.write('')).to.equal(undefined);
    reply.close();
    await until(() => text.endsWith('0\r\n\r\n'));
  });

  for (const [kind, words] of [
    ['short', 'Ж'],
    ['long', 'Ж'.repeat(2000)],
  ] as const) {
    for (const version of ['1.0', '1.1']) {
      it(`escapes what some clients take for the end of a line in a ${kind} text over HTTP ${version}`, async () => {
        const data = [`a\u0085b ${words}`, `c\u2028d ${words}`, `e\u2029f ${words}`];
        const reply = await open(60_000, version);
        reply.open();
        for (const each of data) void reply.write(`data: ${JSON.stringify(each)}\n\n`);
        reply.close();
        await until(() => text.includes('f Ж') && text.trimEnd().endsWith(version === '1.0' ? '"' : '0'));
        expect(text).not.to.match(/[\u0085\u2028\u2029]/);
        const body = version === '1.0' ? text : joinChunks();
        expect(body.match(/(?<=data: ).*/g)?.map((each) => JSON.parse(each))).to.deep.equal(data);
      });
    }
  }

  it('shows that it is alive where nothing was written since the last time', async () => {
    const reply = await open();
    reply.open();
    reply.heartbeat();
    void reply.write('data: 1\n\n');
    reply.heartbeat();
    void reply.write('data: 2\n\n');
    reply.heartbeat();
    reply.heartbeat();
    reply.close();
    await until(() => text.endsWith('0\r\n\r\n'));
    const alive = ': keep-alive\n\n';
    expect(joinChunks()).to.equal(`${alive}data: 1\n\ndata: 2\n\n${alive}`);
  });

  it('writes no comments for a client that is slow', async () => {
    const reply = await open();
    client.pause();
    reply.open();
    expect(reply.write('x'.repeat(MUCH_BYTES))).to.be.instanceOf(Promise);
    await sleep(50);
    reply.heartbeat();
    const waiting = response.socket?.writableLength;
    reply.heartbeat();
    expect(response.socket?.writableLength).to.equal(waiting);
  });

  it('sends plain texts to a client without chunked encoding', async () => {
    const reply = await open(60_000, '1.0');
    reply.open();
    const short = 'data: Ж\n\n';
    const long = `data: ${'Жук 😀 '.repeat(3000)}\n\n`;
    void reply.write(short);
    reply.keepAlive();
    void reply.write(long);
    reply.close();
    await once(client, 'end');
    const [head, ...rest] = text.split('\r\n\r\n');
    expect(head)
      .to.match(/^HTTP\/1\.1 200 OK\r\n/)
      .and.not.match(/transfer-encoding/i);
    expect(rest).to.deep.equal([`${short}: keep-alive\n\n${long}`]);
  });

  it('sends long texts whole, with any characters', async () => {
    const reply = await open();
    reply.open();
    const long = 'Жук 😀 '.repeat(3000);
    void reply.write(long);
    void reply.write('short Ж');
    reply.close();
    await until(() => text.endsWith('0\r\n\r\n'));
    expect(joinChunks()).to.equal(`${long}short Ж`);
  });

  itTimed('reports when the client is slow, and when it has caught up', async () => {
    const reply = await open();
    client.pause();
    reply.open();
    const [pressure] = reply.push(['x'.repeat(MUCH_BYTES)]);
    expect(pressure).to.be.instanceOf(Promise);
    let isTaken = false;
    void pressure?.then(() => {
      isTaken = true;
    });
    await sleep(50);
    expect(isTaken).to.equal(false);
    client.resume();
    await pressure;
    expect(reply.push(['data: ', '1\n\n'])).to.deep.equal([]);
    expect(reply.write('data: 2\n\n')).to.equal(undefined);
    reply.close();
    await until(() => received > MUCH_BYTES);
  });

  it('does not report a client as slow while the system takes long texts', async () => {
    const reply = await open();
    reply.open();
    for (let at = 0; at < 10; at += 1) {
      expect(reply.write('x'.repeat(2 * response.writableHighWaterMark))).to.equal(undefined);
      await until(() => received > (at + 1) * 2 * response.writableHighWaterMark);
    }
  });

  it('never overwrites a long text that waits for a slow client', async () => {
    const reply = await open();
    reply.open();
    await until(() => text.includes('\r\n\r\n'));
    const chunks: Buffer[] = [];
    client.on('data', (chunk: Buffer) => chunks.push(chunk));
    client.pause();
    response.socket?.setMaxListeners(0);
    // Of a length for which memory is used again.
    const texts = Array.from({ length: 400 }, (_, at) => `${at} `.repeat(40_000 / `${at} `.length));
    for (const long of texts.slice(0, -1)) void reply.write(long);
    expect(response.socket?.writableLength).to.be.above(1_000_000);
    client.resume();
    await until(() => response.socket?.writableLength === 0);
    void reply.write(texts.at(-1) as string);
    reply.close();
    await until(() => chunks.at(-1)?.subarray(-5).toString() === '0\r\n\r\n');
    const body = Buffer.concat(chunks).toString();
    const framed = texts.map((long) => `${long.length.toString(16)}\r\n${long}\r\n`);
    expect(body === `${framed.join('')}0\r\n\r\n`).to.equal(true);
  });

  it('counts a long text that waits by its bytes', async () => {
    const reply = await open();
    client.pause();
    reply.open();
    void reply.write('x'.repeat(MUCH_BYTES));
    const waiting = () => response.socket?.writableLength ?? 0;
    const before = waiting();
    expect(before).to.be.above(0);
    void reply.write('Ж'.repeat(2000));
    expect(waiting() - before).to.equal('fa0\r\n'.length + 4000 + '\r\n'.length);
  });

  it('keeps the order of long and short texts', async () => {
    const reply = await open();
    reply.open();
    const long = 'x'.repeat(50_000);
    for (const letter of ['a', 'b']) {
      void reply.write(`<${letter}>`);
      void reply.write(`${letter}${long}`);
    }
    reply.close();
    await until(() => text.endsWith('0\r\n\r\n'));
    const body = text.slice(text.indexOf('\r\n\r\n') + 4).replace(/(?:^|\r\n)[0-9a-f]+\r\n/g, '');
    expect(body.replaceAll(long, '…')).to.equal('<a>a…<b>b…\r\n');
  });

  it('leaves no listeners behind, however often the client is slow', async () => {
    const reply = await open();
    reply.open();
    const names = ['drain', 'close', 'timeout', 'error'];
    const counts = () =>
      [response, response.socket].map((emitter) => names.map((name) => emitter?.listenerCount(name)));
    let after: ReturnType<typeof counts> | undefined;
    for (let at = 0; at < 12; at += 1) {
      client.pause();
      const pressure = reply.write('x'.repeat(MUCH_BYTES / 2));
      expect(pressure).to.be.instanceOf(Promise);
      client.resume();
      await pressure;
      after ??= counts();
      expect(counts()).to.deep.equal(after);
    }
  });

  itTimed('disconnects a client that reads nothing for the stall time', async () => {
    const reply = await open(400);
    client.pause();
    reply.open();
    const startedAt = performance.now();
    let isTaken = false;
    void reply.write('x'.repeat(MUCH_BYTES))?.then(() => {
      isTaken = true;
    });
    await until(() => response.destroyed);
    expect(performance.now() - startedAt).to.be.within(395, 2000);
    await sleep(20);
    expect(isTaken).to.equal(false);
  });

  itTimed('does not disconnect a client that is slow but keeps reading', async function () {
    this.timeout(30_000);
    const reply = await open(200);
    reply.open();
    const startedAt = performance.now();
    let pausing: NodeJS.Timeout | undefined;
    const reading = setInterval(() => {
      client.resume();
      pausing = setTimeout(() => client.pause(), 1);
    }, 40);
    try {
      await reply.write('x'.repeat(3 * MUCH_BYTES));
    } finally {
      clearInterval(reading);
      clearTimeout(pausing);
    }
    client.resume();
    expect(performance.now() - startedAt).to.be.above(400);
    expect(response.destroyed).to.equal(false);
    reply.close();
    await until(() => received > 3 * MUCH_BYTES);
  });

  itTimed('disconnects a client a stall time after it stops reading', async () => {
    const reply = await open(400);
    reply.open();
    client.pause();
    void reply.write('x'.repeat(4 * MUCH_BYTES));
    const reading = setInterval(() => {
      client.resume();
      setTimeout(() => client.pause(), 1);
    }, 50);
    try {
      await sleep(500);
      expect(response.destroyed).to.equal(false);
    } finally {
      clearInterval(reading);
    }
    client.pause();
    const stoppedAt = performance.now();
    await until(() => response.destroyed);
    expect(performance.now() - stoppedAt).to.be.within(250, 2000);
  });

  itTimed('disconnects a client that stops reading before the end, even if nothing more is written', async () => {
    const reply = await open(200);
    client.pause();
    reply.open();
    const startedAt = performance.now();
    void reply.write('x'.repeat(MUCH_BYTES));
    void reply.write('data: last\n\n');
    reply.close();
    await until(() => response.destroyed);
    expect(performance.now() - startedAt).to.be.within(195, 2000);
  });

  itTimed('does not disconnect a client while there is nothing to read', async () => {
    const reply = await open(50);
    reply.open();
    await reply.write('x'.repeat(MUCH_BYTES));
    await sleep(200);
    expect(response.destroyed).to.equal(false);
    void reply.write('data: late\n\n');
    reply.close();
    await until(() => received > MUCH_BYTES);
  });

  it('does nothing for a client that left', async () => {
    const reply = await open();
    client.destroy();
    await until(() => response.destroyed);
    reply.open();
    expect(reply.write('data: 1\n\n')).to.equal(undefined);
    reply.keepAlive();
    reply.close();
    expect(response.headersSent).to.equal(false);
  });
});
