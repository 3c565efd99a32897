import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createFetcher } from '../../lib/media/fetcher.ts';
import { createDnsResolve, type Resolve, resolveAddresses } from '../../lib/media/resolve.ts';
import { readUrl, type Target } from '../../lib/media/url.ts';
import { itTimed } from '../../testkit/timed.ts';
import { PNG } from './sample-images.ts';

const A = 1;
const AAAA = 28;

type Records = Partial<Record<number, readonly (readonly number[])[] | 'silence' | 'unknown'>>;

/** A name server that knows one name. */
async function createNameServer(records: Records): Promise<{ servers: string[]; questions: string[]; socket: Socket }> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12);
    const type = query.readUInt16BE(end + 1);
    questions.push(`${type} ${query.subarray(13, end).toString('latin1')}`);
    const found = records[type] ?? [];
    if (found === 'silence') return;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(found === 'unknown' ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(found === 'unknown' ? 0 : found.length, 6);
    // Additional records of the question are not repeated.
    head.writeUInt32BE(0, 8);
    const answers = found === 'unknown' ? [] : found.map((data) => record(type, data));
    socket.send(Buffer.concat([head, query.subarray(12, end + 5), ...answers]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { servers: [`127.0.0.1:${socket.address().port}`], questions, socket };
}

function record(type: number, data: readonly number[]): Buffer {
  return Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data]);
}

const V6 = [0x26, 0x06, 0x47, 0, ...Array<number>(11).fill(0), 1];
const TARGET = readUrl('https://images.net/x') as Target;
const never = new AbortController().signal;

describe('media resolve', () => {
  const sockets: Socket[] = [];
  after(() => {
    for (const socket of sockets) socket.close();
  });

  async function resolver(records: Records): Promise<{ resolve: Resolve; questions: string[] }> {
    const { servers, questions, socket } = await createNameServer(records);
    sockets.push(socket);
    return { resolve: createDnsResolve(servers), questions };
  }

  async function addresses(records: Records): Promise<readonly string[]> {
    const { resolve } = await resolver(records);
    return resolveAddresses(TARGET, { publicNames: resolve, trustedNames: resolve }, never);
  }

  const reasonOf = (records: Records) => addresses(records).catch((error) => error.reason);

  it('queries both address families and returns all addresses', async () => {
    const { resolve, questions } = await resolver({
      [A]: [
        [8, 8, 8, 8],
        [8, 8, 4, 4],
      ],
      [AAAA]: [V6],
    });
    expect(await resolve('images.net', never)).to.have.members(['8.8.8.8', '8.8.4.4', '2606:4700::1']);
    expect(questions.map((question) => question.split(' ')[0])).to.have.members(['1', '28']);
  });

  it('accepts one family if the other does not answer', async () => {
    expect(await addresses({ [A]: [[8, 8, 8, 8]] })).to.deep.equal(['8.8.8.8']);
    expect(await addresses({ [AAAA]: [V6] })).to.deep.equal(['2606:4700::1']);
    expect(await addresses({ [A]: [[8, 8, 8, 8]], [AAAA]: 'silence' })).to.deep.equal(['8.8.8.8']);
  });

  it('refuses a name with an internal address', async () => {
    expect(
      await reasonOf({
        [A]: [
          [8, 8, 8, 8],
          [10, 0, 0, 1],
        ],
      }),
    ).to.equal('not-public');
    expect(await reasonOf({ [A]: [[8, 8, 8, 8]], [AAAA]: [[...Array<number>(15).fill(0), 1]] })).to.equal('not-public');
  });

  it('fails for names without addresses, unknown names and silent servers', async () => {
    expect(await reasonOf({})).to.equal('unknown-host');
    expect(await reasonOf({ [A]: 'unknown', [AAAA]: 'unknown' })).to.equal('unknown-host');
    expect(await reasonOf({ [A]: 'silence', [AAAA]: 'silence' })).to.be.oneOf(['slow', 'unknown-host']);
  });

  itTimed('stops when the call ends', async () => {
    const { resolve } = await resolver({ [A]: 'silence', [AAAA]: 'silence' });
    const call = new AbortController();
    setTimeout(() => call.abort(), 20);
    const startedAt = performance.now();
    await resolve('images.net', call.signal).then(
      () => expect.fail('resolved'),
      () => {},
    );
    expect(performance.now() - startedAt).to.be.below(1_400);
  });

  it('resolves trusted origins by the system, which knows local names', async () => {
    const server = createServer((_request, response) => response.end(PNG)).listen(0, 'localhost');
    await once(server, 'listening');
    const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
    try {
      const fetcher = createFetcher({ trustedOrigins: new Set([origin]) });
      const image = await fetcher.fetchImage(`${origin}/x.png`, { field: 'FIELD', signal: never });
      expect(image.bytes.equals(PNG)).to.equal(true);
    } finally {
      server.close();
    }
  });
});
