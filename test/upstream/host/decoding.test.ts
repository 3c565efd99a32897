import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { expect } from 'chai';
import type { AnswerReader, JsonObject, ProviderPart } from '../../../lib/upstream/contract/provider.ts';
import { type ClosableHost, createHost } from '../../../lib/upstream/host/host.ts';

const CODINGS: Readonly<Record<string, () => Transform>> = {
  gzip: () => zlib.createGzip(),
  'X-Gzip': () => zlib.createGzip(),
  deflate: () => zlib.createDeflate(),
  br: () => zlib.createBrotliCompress(),
  zstd: () => zlib.createZstdCompress(),
};

const gzipped = (text: string | Buffer) => ({ head: { 'content-encoding': 'gzip' }, body: zlib.gzipSync(text) });

describe('an answer that comes compressed', () => {
  const never = new AbortController().signal;
  const closers: (() => unknown)[] = [];
  let host: ClosableHost;

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    host = createHost({ upstream: 'acme', allowedOrigins: [origin], log: { warn() {} } });
    closers.push(
      () => server.close(),
      () => server.closeAllConnections(),
      () => host.close(),
    );
    return origin;
  }

  const sendsBytes = ({ head, body }: { head: Record<string, string>; body: Buffer }, status = 200) =>
    serve((_, response) => void response.writeHead(status, head).end(body));
  const get = { method: 'GET', signal: never } as const;
  const kindOf = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail('it did not fail'),
      ({ kind }: { kind: string }) => kind,
    );

  it('is read whole when it hardly gets smaller', async () => {
    const bytes = randomBytes(8 * 1024 * 1024);
    const origin = await sendsBytes(gzipped(bytes));
    const { body } = await host.request(origin, get);
    expect(bytes.equals(await body.bytes(bytes.length))).to.equal(true);
  });

  for (const [name, compress] of Object.entries(CODINGS)) {
    it(`is read as one value when it is ${name}`, async () => {
      const value = { text: 'привет '.repeat(20_000) };
      const origin = await serve((_, response) => {
        const coder = compress();
        coder.pipe(response.setHeader('content-encoding', name));
        coder.end(JSON.stringify(value));
      });
      expect((await host.json(origin, get)).value).to.deep.equal(value);
    });

    it(`is read as it arrives when it is ${name}`, async () => {
      const next: (() => void)[] = [];
      const origin = await serve((_, response) => {
        const coder = compress();
        coder.pipe(response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': name }));
        const words = ['a', 'b', 'c'];
        const say = () => {
          const word = words.shift();
          if (word === undefined) return void coder.end();
          coder.write(`data: ${JSON.stringify({ word })}\n\n`);
          return void (coder as zlib.Gzip).flush();
        };
        next.push(say);
        say();
      });
      const words: string[] = [];
      for await (const parts of host.answer(origin, get, wordReader)) {
        // The next is sent only when this one has arrived.
        words.push(...textsOf(parts));
        next[0]?.();
      }
      expect(words).to.deep.equal(['a', 'b', 'c']);
    });
  }

  it('is decoded when it is a refusal', async () => {
    const origin = await sendsBytes(gzipped('{"error":{"code":"insufficient_quota","message":"top up"}}'), 429);
    expect(await kindOf(host.json(origin, get))).to.equal('quota');
  });

  it('keeps its connection, and the next answer comes as it is', async () => {
    const ports = new Set<number | undefined>();
    const origin = await serve(({ socket }, response) => {
      ports.add(socket.remotePort);
      const { head, body } = gzipped('{"a":1}');
      if (ports.size === 1 && response.req.url === '/1') response.writeHead(200, head).end(body);
      else response.end('{"a":1}');
    });
    for (const path of ['/1', '/2']) expect((await host.json(origin + path, get)).value).to.deep.equal({ a: 1 });
    expect(ports.size).to.equal(1);
  });

  it('is limited by what it stands for, of which little is ever decoded', async () => {
    const head = { 'content-encoding': 'gzip' };
    const bomb = { head, body: zlib.gzipSync(Buffer.alloc(160 * 1024 * 1024), { level: 1 }) };
    const origin = await sendsBytes(bomb);
    const before = process.memoryUsage().rss;
    expect(await kindOf(host.json(origin, get))).to.equal('protocol');
    expect(await kindOf(readAll(origin))).to.equal('protocol');
    expect(process.memoryUsage().rss - before).to.be.below(96 * 1024 * 1024);
  });

  it('waits for a reader that stops', async () => {
    const bytes = 64 * 1024 * 1024;
    const coder = zlib.createGzip({ level: 0 });
    let sent = () => 0;
    const origin = await serve((_, response) => {
      const { socket } = response;
      sent = () => (socket ? socket.bytesWritten - socket.writableLength : 0);
      coder.pipe(response.writeHead(200, { 'content-encoding': 'gzip' }));
      coder.end(Buffer.alloc(bytes));
    });
    const { body } = await host.request(origin, get);
    const chunks = body.chunks()[Symbol.asyncIterator]();
    await chunks.next();
    let [before, now] = [-1, 0];
    while (now > before) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      [before, now] = [now, sent()];
    }
    // What the buffers of the two sockets hold.
    expect(now).to.be.below(bytes / 4);
    await chunks.return?.();
  });

  it('is a protocol fault when it is not what it is said to be', async () => {
    for (const coding of ['gzip', 'br', 'zstd']) {
      const origin = await sendsBytes({ head: { 'content-encoding': coding }, body: Buffer.from('{"a":1}') });
      expect(await kindOf(host.json(origin, get)), coding).to.equal('protocol');
    }
  });

  it('is a network fault when it breaks off, after what came before', async () => {
    const origin = await serve((_, response) => {
      const coder = zlib.createGzip();
      coder.pipe(response.writeHead(200, { 'content-encoding': 'gzip' }));
      coder.write(`data: ${JSON.stringify({ word: 'a' })}\n\n`);
      coder.flush(() => setTimeout(() => response.socket?.resetAndDestroy(), 20));
    });
    const words: string[] = [];
    const reading = (async () => {
      for await (const parts of host.answer(origin, get, wordReader)) words.push(...textsOf(parts));
    })();
    expect(await kindOf(reading)).to.equal('network');
    expect(words).to.deep.equal(['a']);
  });

  it('closes its connection at an abort', async () => {
    const closed = Promise.withResolvers<void>();
    const origin = await serve((_, response) => {
      response.socket?.once('close', closed.resolve);
      response.writeHead(200, { 'content-encoding': 'gzip' }).write(zlib.gzipSync('{').subarray(0, 12));
    });
    const controller = new AbortController();
    const { body } = await host.request(origin, { method: 'GET', signal: controller.signal });
    const reading = body.text().catch((reason: unknown) => reason);
    setTimeout(() => controller.abort('enough'), 20);
    expect(await reading).to.equal('enough');
    await closed.promise;
  });

  it('is left as it is in a coding that nobody knows', async () => {
    const origin = await sendsBytes({ head: { 'content-encoding': 'identity' }, body: Buffer.from('{"a":1}') });
    expect((await host.json(origin, get)).value).to.deep.equal({ a: 1 });
    const other = await sendsBytes({ head: { 'content-encoding': 'compress' }, body: Buffer.from('{"a":1}') });
    expect((await host.json(other, get)).value).to.deep.equal({ a: 1 });
  });

  async function readAll(origin: string): Promise<void> {
    for await (const _ of host.answer(origin, get, wordReader));
  }

  const wordReader: AnswerReader = {
    take: ({ word }: JsonObject, out) => out.text(String(word)),
    end: (out) => out.done('end'),
  };

  const textsOf = (parts: readonly ProviderPart[]): readonly string[] =>
    parts.flatMap((part) => (part.type === 'block-delta' ? [part.text] : []));
});
