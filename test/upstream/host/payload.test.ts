import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import type { HostRequest } from '../../../lib/upstream/contract/provider.ts';
import { type ClosableHost, createHost } from '../../../lib/upstream/host/host.ts';
import { encodePayload } from '../../../lib/upstream/host/payload.ts';

const MIB = 1024 * 1024;
/** An image with memory of its own, as those of calls have. */
const image = (bytes: number) => Buffer.allocUnsafeSlow(bytes).fill(randomBytes(1021));
const free = ({ buffer }: Buffer) => void (buffer as ArrayBuffer).transfer(0);

describe('a payload', () => {
  const never = new AbortController().signal;
  let host: ClosableHost;
  const closes: (() => unknown)[] = [];

  afterEach(async () => {
    for (const close of closes.splice(0)) await close();
  });

  async function serve(server: Server): Promise<string> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    host = createHost({ upstream: 'acme', allowedOrigins: [origin], keys: ['k'], log: { warn() {} } });
    closes.push(host.close, () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return origin;
  }

  /** What arrives of a body. */
  async function received(body: HostRequest['body']): Promise<{ incoming: IncomingMessage; bytes: Buffer }> {
    let arrived: { incoming: IncomingMessage; bytes: Buffer } | undefined;
    const onRequest = async (incoming: IncomingMessage, response: ServerResponse) => {
      arrived = { incoming, bytes: Buffer.concat(await incoming.toArray()) };
      response.end();
    };
    const origin = await serve(createServer(onRequest));
    const reply = await host.request(`${origin}/`, { method: 'POST', signal: never, ...(body && { body }) });
    reply.body.drop();
    return arrived as NonNullable<typeof arrived>;
  }

  const lengths = [0, 1, 2, 3, 48 * 1024 - 1, 48 * 1024, 48 * 1024 + 1, 2 * MIB];
  for (const length of lengths) {
    it(`puts an image of ${length} bytes into its JSON, and tells the length before`, async () => {
      const one = image(length);
      const other = image(5);
      const text = 'before 🙂'.repeat(20_000);
      const json = (base64: (bytes: Buffer) => string) => ({
        text,
        url: `data:image/png;base64,${base64(one)}`,
        data: [base64(other), { again: base64(one) }],
        after: 'a:0;',
      });
      const { incoming, bytes } = await received(json as HostRequest['body']);
      const expected = JSON.stringify(json((image) => image.toString('base64')));
      expect(incoming.headers).to.include({ 'content-length': String(Buffer.byteLength(expected)) });
      expect(bytes.equals(Buffer.from(expected))).to.equal(true);
    });
  }

  it('is short: one text, or one piece of bytes, as undici likes it best', () => {
    expect(encodePayload(() => ({ a: 'ю' }))).to.deep.equal({ body: '{"a":"ю"}', type: 'application/json' });
    expect(encodePayload('x'.repeat(16 * 1024))?.body).to.be.a('string');
    expect(encodePayload('x'.repeat(16 * 1024 + 1))?.body).to.have.property(Symbol.asyncIterator as never);
    const withImage = encodePayload((base64) => ({ a: base64(Buffer.from([1, 2])) }));
    expect(Buffer.from(withImage?.body as Uint8Array).toString()).to.equal('{"a":"AQI="}');
  });

  it('is a long text of any characters', async () => {
    const text = `${'x'.repeat(48 * 1024 - 1)}🙂${'ю'.repeat(100_000)}`;
    const { bytes } = await received(text);
    expect(bytes.equals(Buffer.from(text))).to.equal(true);
  });

  it('is long bytes, or a form with a long file', async () => {
    const file = image(MIB + 1);
    const { bytes } = await received(file);
    expect(bytes.equals(file)).to.equal(true);
    const form = {
      fields: { a: 'ю' },
      files: [{ field: 'f', fileName: 'x.png', mediaType: 'image/png', bytes: file }],
    };
    const { incoming, bytes: sent } = await received(form);
    const parts = await new Response(new Uint8Array(sent), {
      headers: { 'content-type': incoming.headers['content-type'] ?? '' },
    }).formData();
    expect(parts.get('a')).to.equal('ю');
    expect(Buffer.from(await (parts.get('f') as File).arrayBuffer()).equals(file)).to.equal(true);
    expect(incoming.headers['content-length']).to.equal(String(sent.length));
  });

  it('is made anew when a refused token sends it again', async () => {
    const bodies: number[] = [];
    const onRequest = async (incoming: IncomingMessage, response: ServerResponse) => {
      bodies.push(Buffer.concat(await incoming.toArray()).length);
      response.writeHead(bodies.length === 1 ? 401 : 200).end();
    };
    const origin = await serve(createServer(onRequest));
    let tokens = 0;
    const auth = host.tokens({
      exchange: async () => ({ value: `t${++tokens}`, expiresAt: Date.now() + 1e6 }),
      headers: (token) => ({ authorization: token }),
    });
    const bytes = image(MIB);
    const body = (base64: (bytes: Buffer) => string) => ({ a: base64(bytes) });
    const { status } = await host.request(`${origin}/`, { method: 'POST', auth, body: body as never, signal: never });
    expect(status).to.equal(200);
    expect(bodies[0]).to.be.above((MIB * 4) / 3);
    expect(bodies).to.deep.equal([bodies[0], bodies[0]]);
  });

  it('is not read further once its image is let go of, and the reply that came early stands', async () => {
    const origin = await serve(
      createTcpServer((socket) => {
        // Head and a little of the body; the rest is never read.
        socket.once('data', () => {
          socket.pause();
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nea');
          setTimeout(() => socket.write('rly'), 100);
        });
      }),
    );
    const bytes = image(32 * MIB);
    const reply = await host.request(`${origin}/`, {
      method: 'POST',
      body: (base64) => ({ a: base64(bytes) }),
      signal: never,
    });
    free(bytes);
    expect(await reply.body.text()).to.equal('early');
  });

  it('hands out copies: what they are made of may be let go of while they are sent', async () => {
    const bytes = image(200_000);
    const whole = Buffer.from(bytes);
    const files = [{ field: 'file', fileName: 'a.png', mediaType: 'image/png', bytes }];
    for (const body of [bytes, { fields: {}, files }]) {
      const sent = encodePayload(body)?.body as AsyncIterable<Uint8Array>;
      const chunks: Uint8Array[] = [];
      for await (const chunk of sent) chunks.push(chunk);
      expect(chunks.some(({ buffer }) => buffer === bytes.buffer)).to.equal(false);
      expect(Buffer.concat(chunks).includes(whole)).to.equal(true);
    }
  });

  it('marks the place of an image by what nobody can guess', () => {
    const marks = new Set<string>();
    for (let time = 0; time < 20; time += 1) {
      encodePayload((base64) => {
        const mark = base64(image(5));
        expect(mark).to.match(/^[\da-f-]{36}:0;$/);
        marks.add(mark);
        return { a: mark };
      });
    }
    expect(marks.size).to.equal(20);
  });

  it('lets other work have a turn between two chunks', async () => {
    const { body } = encodePayload((base64) => ({ a: base64(image(MIB)) })) ?? {};
    let [turns, chunks] = [0, 0];
    const count = () => {
      turns += 1;
      pending = setImmediate(count);
    };
    let pending = setImmediate(count);
    for await (const _ of body as AsyncIterable<Uint8Array>) chunks += 1;
    clearImmediate(pending);
    expect(chunks).to.be.above(20);
    expect(turns).to.be.at.least(chunks - 1);
  });

  it('waits for its end once any of its images is let go of, also one that is not sent yet', async () => {
    const one = image(MIB);
    const two = image(MIB);
    const { body } = encodePayload((base64) => ({ a: base64(one), b: base64(two) })) ?? {};
    if (typeof body !== 'object' || !(Symbol.asyncIterator in body)) return expect.fail('it is sent in one go');
    const pieces = body[Symbol.asyncIterator]();
    for (let taken = 0; taken < 3; taken += 1) expect((await pieces.next()).done).to.equal(false);
    free(two);
    let isTold = false;
    void pieces.next().then(() => {
      isTold = true;
    });
    for (let turns = 0; turns < 50; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(isTold).to.equal(false);
  });

  it('ends with the call that aborts, at any time', async () => {
    const origin = await serve(createTcpServer((socket) => void socket.pause()));
    for (const afterMs of [0, 20]) {
      const call = new AbortController();
      const bytes = image(32 * MIB);
      const sent = host.request(`${origin}/`, {
        method: 'POST',
        body: (base64) => ({ a: base64(bytes) }),
        signal: call.signal,
      });
      const failed = sent.catch((error: unknown) => error);
      setTimeout(() => call.abort('gone'), afterMs);
      expect(await failed).to.equal('gone');
      free(bytes);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });

  it('is a fault of the network when the upstream closes in the middle of it', async () => {
    const origin = await serve(createTcpServer((socket) => socket.once('data', () => socket.destroy())));
    const bytes = image(8 * MIB);
    const request = { method: 'POST', body: (base64: (of: Buffer) => string) => ({ a: base64(bytes) }) } as const;
    const failed = await host
      .request(`${origin}/`, { ...request, body: request.body as never, signal: never })
      .catch((error: { kind?: string }) => error);
    expect(failed).to.include({ kind: 'network' });
  });
});
