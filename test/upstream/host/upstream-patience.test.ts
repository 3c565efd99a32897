// How long an upstream may think, and pause in an answer: as long as its caller waits. Nothing below it has limits.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { mock } from 'node:test';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createFetcher } from '../../../lib/media/fetcher.ts';
import { createHost } from '../../../lib/upstream/host/host.ts';
import { createAuthority } from '../../../testkit/certificates.ts';
import { MP4 } from '../../media/sample-images.ts';

/** The clock of undici's own timers, which can be moved on. */
const timers: { tick(ms: number): void } = createRequire(import.meta.url)('undici/lib/util/timers.js');
const HALF_AN_HOUR_MS = 1_800_000;

/** It is connected to, and says nothing. */
interface Mute {
  readonly url: string;
  readonly connected: Promise<Socket>;
  readonly proxy?: string;
}

describe('an upstream that takes its time', () => {
  const { signal } = new AbortController();
  let origin: string;
  let responses: ServerResponse[];
  const server = createServer((_, response) => void responses.push(response));

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    responses = [];
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  async function asked(): Promise<ServerResponse> {
    while (responses.length === 0) await new Promise((resolve) => setImmediate(resolve));
    return responses[0] as ServerResponse;
  }
  async function passTime(): Promise<void> {
    for (let time = 0; time < 3; time += 1) {
      timers.tick(HALF_AN_HOUR_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const turns = async () => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  for (const [method, way] of [
    ['GET', ''],
    ['POST', ''],
    ['POST', ' through a proxy'],
  ] as const) {
    it(`may think, and pause in its answer to a ${method}${way}`, async () => {
      const url = way === '' ? origin : 'http://model.invalid';
      const options = { upstream: 'acme', allowedOrigins: [url], log: { warn() {} } };
      const host = createHost(way === '' ? options : { ...options, proxy: origin });
      try {
        const answer = host.json(url, { method, signal });
        const response = await asked();
        await passTime();
        response.write('{"a":');
        await turns();
        await passTime();
        response.end('1}');
        expect((await answer).value).to.deep.equal({ a: 1 });
      } finally {
        await host.close();
      }
    });
  }

  it('is judged by what came within two seconds of a refusal that has no end', async () => {
    const refusals = [
      ['rate', {}, ''],
      ['rate', { 'content-length': 1000 }, '{"error":{"message":"no'],
      ['quota', {}, '{"error":{"code":"insufficient_quota","message":"top up"}}'],
      ['rate', { 'content-encoding': 'gzip' }, gzipSync('{"error":{}}').subarray(0, 12)],
    ] as const;
    const host = createHost({ upstream: 'acme', allowedOrigins: [origin], log: { warn() {} } });
    try {
      const answers = refusals.map(() => host.json(origin, { method: 'POST', signal }).catch(({ kind }) => kind));
      while (responses.length < refusals.length) await turns();
      const closed = responses.map((response) => once(response, 'close'));
      for (const [at, [, head, sent]] of refusals.entries()) {
        responses[at]?.writeHead(429, head).flushHeaders();
        if (sent !== '') responses[at]?.write(sent);
      }
      const kinds = await Promise.all(answers);
      expect(kinds.sort()).to.deep.equal(refusals.map(([kind]) => kind).sort());
      await Promise.all(closed);
    } finally {
      await host.close();
    }
  });

  for (const [scheme, keptMs] of [
    ['http', 4_000],
    ['https', 25_000],
  ] as const) {
    it(`is not kept waiting for: a connection that nobody uses is closed after ${keptMs} ms over ${scheme}`, async () => {
      const authority = createAuthority();
      const listener = (_: unknown, response: ServerResponse) => void responses.push(response);
      const own = scheme === 'http' ? createServer(listener) : createTlsServer(authority.issue('127.0.0.1'), listener);
      // It does not say how long it keeps one itself.
      own.keepAliveTimeout = 0;
      const url = (await listen(own)).replace('http', scheme);
      mock.timers.enable({ apis: ['setTimeout'] });
      const host = createHost({ upstream: 'acme', allowedOrigins: [url], ca: authority.ca, log: { warn() {} } });
      try {
        const answer = host.json(url, { method: 'GET', signal });
        const response = await asked();
        const { socket } = response;
        response.end('{}');
        await answer;
        await turns();
        mock.timers.tick(keptMs - 1);
        await turns();
        expect(socket?.destroyed).to.equal(false);
        const closed = once(socket as NonNullable<typeof socket>, 'close');
        mock.timers.tick(1);
        await closed;
      } finally {
        mock.timers.reset();
        await host.close();
        own.close();
      }
    });
  }

  it('has ten seconds to let itself be connected to', async () => {
    const mute = createTcpServer();
    const connected = once(mute, 'connection').then(([socket]) => socket);
    const url = (await listen(mute)).replace('http', 'https');
    await expectTenSeconds({ url, connected });
    mute.close();
  });

  it('has ten seconds to be connected to by its proxy', async () => {
    const proxy = createServer();
    const connected = once(proxy, 'connect').then(([, socket]) => socket);
    await expectTenSeconds({ url: 'https://model.invalid', connected, proxy: await listen(proxy) });
    proxy.close();
  });

  async function listen(own: Server): Promise<string> {
    own.listen(0, '127.0.0.1');
    await once(own, 'listening');
    return `http://127.0.0.1:${(own.address() as AddressInfo).port}`;
  }

  async function expectTenSeconds({ url, connected, proxy }: Mute): Promise<void> {
    const way = proxy === undefined ? {} : { proxy };
    const host = createHost({ upstream: 'acme', allowedOrigins: [url], log: { warn() {} }, ...way });
    try {
      let ended: unknown;
      const asking = host.json(url, { method: 'GET', signal }).catch((error: unknown) => {
        ended = error;
      });
      const socket = await connected;
      // A timer counts from the next step of its clock.
      timers.tick(0);
      timers.tick(8_500);
      await turns();
      expect(ended).to.equal(undefined);
      timers.tick(2_500);
      await asking;
      expect(ended).to.include({ kind: 'timeout', unsent: true });
      socket.destroy();
    } finally {
      await host.close();
    }
  }

  it('may think, and pause in a result', async () => {
    const request = { kind: 'video', bytesMax: 1e6, upstreamOrigin: origin, signal } as const;
    const fetching = createFetcher().fetchResult(`${origin}/film`, request, async ({ chunks }) => {
      let bytes = 0;
      for await (const chunk of chunks) bytes += chunk.length;
      return bytes;
    });
    const response = await asked();
    await passTime();
    response.write(MP4);
    await turns();
    await passTime();
    response.end();
    expect(await fetching).to.equal(MP4.length);
  });
});
