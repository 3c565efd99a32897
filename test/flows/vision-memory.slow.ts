// What images weigh while a call runs: themselves until the first fragment, nothing after it.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { ask, CHAT, DIALECTS, open, readHead, send, until } from '../../testkit/client.ts';
import { chatCatalog } from '../../testkit/gateway.ts';
import { type MeasuredGateway, startMeasured } from '../../testkit/measured-gateway.ts';
import { itTimed } from '../../testkit/timed.ts';
import { chatChunk, chatEnd, SSE } from '../../testkit/upstream.ts';
import { png } from '../media/sample-images.ts';

const MIB = 1024 * 1024;
const IMAGE = png({ bytes: 8 * MIB });
const CALLS = 4;
/** Of everything else that a call that streams has. */
const CALL_BYTES_MAX = 256 * 1024;

interface Call {
  readonly response: IncomingMessage;
  readonly upstreamReply: ServerResponse;
}

describe('the memory of calls with images', () => {
  let upstream: Server;
  let images: Server;
  let gateway: MeasuredGateway;
  /** Calls whose body has arrived, by its length. */
  let asked: { readonly bytes: number; readonly response: ServerResponse }[] = [];

  before(async function () {
    this.timeout(30_000);
    upstream = await listen((request, response) => {
      let bytes = 0;
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      request.on('end', () => asked.push({ bytes, response }));
    });
    images = await listen((_, response) => {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': IMAGE.length }).end(IMAGE);
    });
    const catalog = chatCatalog(readOrigin(upstream), { vision: ['model-a'] });
    const env = { IMAGE_TRUSTED_ORIGINS: readOrigin(images), BODY_MEMORY_MB: '96' };
    gateway = await startMeasured({ catalog, env, accounts: 2 });
  });
  afterEach(async () => {
    asked = [];
    await until(async () => (await gateway.checkMoney().catch(() => 'held')) !== 'held');
  });
  after(async () => {
    for (const server of [upstream, images]) {
      server.closeAllConnections();
      server.close();
    }
    await gateway.stop();
  });

  const inline = () => `data:image/png;base64,${IMAGE.toString('base64')}`;
  const linked = () => `${readOrigin(images)}/a.png`;

  /** Opens a stream whose answer the test gives; resolves when the upstream has all of it. */
  async function call(key: number, url: string): Promise<Call> {
    const content = [{ type: 'image_url', image_url: { url } }];
    const body = { ...ask('', { stream: true }), messages: [{ role: 'user', content }] };
    const sent = open(gateway.url + CHAT, { key: gateway.keys[key] as string, body });
    sent.on('error', () => undefined);
    const before = asked.length;
    const response = await readHead(sent);
    response.on('error', () => undefined).resume();
    await until(() => asked.length > before || response.statusCode !== 200, 15_000);
    const { response: upstreamReply } = asked.at(-1) as (typeof asked)[number];
    return { response, upstreamReply };
  }

  const fragment = (response: ServerResponse) => response.writeHead(200, SSE).write(chatChunk('Dots.'));

  for (const [shape, url] of Object.entries({ inline, linked })) {
    it(`is that of the images, ${shape}, until the first fragment, and none after it`, async function () {
      this.timeout(60_000);
      const warm = await call(0, url());
      warm.upstreamReply.writeHead(200, SSE).end(chatChunk('Dots.') + chatEnd());
      await until(() => warm.response.complete);
      const idle = await gateway.usedBytes();

      const calls = [];
      for (let at = 0; at < CALLS; at += 1) calls.push(await call(0, url()));
      expect(asked.every(({ bytes }) => bytes > (IMAGE.length * 4) / 3)).to.equal(true);
      const waiting = ((await gateway.usedBytes()) - idle) / CALLS;
      // That they are there at all shows that it is measured.
      expect(waiting).to.be.within(IMAGE.length / 2, IMAGE.length + CALL_BYTES_MAX);

      for (const { upstreamReply } of calls) fragment(upstreamReply);
      await new Promise((resolve) => setTimeout(resolve, 200));
      const streaming = ((await gateway.usedBytes()) - idle) / CALLS;
      expect(streaming).to.be.below(CALL_BYTES_MAX);
      for (const { upstreamReply } of calls) upstreamReply.end(chatEnd());
    });
  }

  itTimed('is free for others from the first fragment on, and refused while it is not', async function () {
    this.timeout(60_000);
    const streams: Call[] = [];
    // More than all of the budget, one after the other.
    for (let at = 0; at < 12; at += 1) {
      const stream = await call(0, linked());
      fragment(stream.upstreamReply);
      await new Promise((resolve) => stream.response.once('data', resolve));
      streams.push(stream);
    }
    // One key has half of 96 MiB.
    const waiting: Call[] = [];
    for (let at = 0; at < 6; at += 1) waiting.push(await call(0, linked()));
    for (const path of DIALECTS) {
      for (const url of [linked(), inline()]) {
        const content = [{ type: 'image_url', image_url: { url } }];
        const body = { ...ask(''), messages: [{ role: 'user', content }] };
        const startedAt = performance.now();
        const refused = await send(gateway.url + path, { key: gateway.keys[0] as string, body });
        expect(refused.status, refused.text).to.equal(503);
        expect(refused.json.error.type).to.equal('api_error');
        // At once: nobody is waited for.
        expect(performance.now() - startedAt).to.be.below(2000);
      }
    }
    const other = await call(1, linked());
    for (const { upstreamReply } of [...waiting, other])
      upstreamReply.writeHead(200, SSE).end(chatChunk('x') + chatEnd());
    for (const { upstreamReply } of streams) upstreamReply.end(chatEnd());
    await until(() => [...streams, ...waiting, other].every(({ response }) => response.complete), 10_000);
  });
});

async function listen(handler: Parameters<typeof createServer>[1]): Promise<Server> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
}

function readOrigin(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
