// Long bodies in chunks of any length, of several connections at once: each is read to its end, whole and in order,
// whoever reads it how, although connections wait for their turn in between.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { watchConnections } from '../../lib/http/connections.ts';
import { longer } from '../../testkit/long.ts';

interface Exchange {
  readonly input: Buffer;
  readonly hashes: readonly string[];
}

const CONNECTIONS = 6;
const BYTES_MAX = 300_000;
const CHUNK_BYTES = [2, 3, 20, 300, 511, 513, 4000, 65_536, 200_000];
/** How the server reads: at once, with pauses, only when asked, or later. */
const READERS = ['flowing', 'pausing', 'asking', 'late'] as const;
const PAUSES_MAX = 50;
const ANSWER = /^[0-9a-f]{32}$/gm;

const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');

describe('feed of long bodies', () => {
  let server: Server;
  let port: number;

  before(async () => {
    server = createServer((request, response) => {
      hashOf(request).then(
        (hash) => response.end(`${hash}\n`),
        () => undefined,
      );
    });
    watchConnections(server, { placesMax: 200, stallMs: 30_000 });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });

  after(() => {
    server.closeAllConnections();
    server.close();
  });

  for (let seed = 1; seed <= longer(2, 20); seed += 1) {
    it(`reads each to its end, seed ${seed}`, async () => {
      const random = randomFrom(seed);
      const exchanges = Array.from({ length: CONNECTIONS }, () => exchangeOf(random));
      const answers = await Promise.all(exchanges.map(({ input, hashes }) => send(port, input, hashes.length, random)));
      expect(answers).to.deep.equal(exchanges.map(({ hashes }) => hashes));
    });
  }
});

/** Reads a body as its request says. */
function hashOf(request: IncomingMessage): Promise<string> {
  const reader = request.headers['x-reader'];
  const hash = createHash('md5');
  let pauses = 0;
  return new Promise((resolve, reject) => {
    const take = (bytes: Buffer) => {
      hash.update(bytes);
      if (reader !== 'pausing' || pauses >= PAUSES_MAX) return;
      pauses += 1;
      request.pause();
      setTimeout(() => request.resume(), 1);
    };
    const read = () => {
      for (let bytes = request.read(); bytes !== null; bytes = request.read()) take(bytes);
    };
    const start = () => {
      if (reader === 'asking') request.on('readable', read);
      else request.on('data', take);
      request.on('end', () => resolve(hash.digest('hex')));
    };
    request.on('error', reject);
    if (reader === 'late') setTimeout(start, 5);
    else start();
  });
}

/** One to four requests, one after the other. */
function exchangeOf(random: (below: number) => number): Exchange {
  const pieces: (Buffer | string)[] = [];
  const hashes: string[] = [];
  for (let left = 1 + random(4); left > 0; left -= 1) {
    const body = Buffer.alloc(random(BYTES_MAX));
    for (let at = 0; at < body.length; at += 1) body[at] = 97 + (at % 26);
    hashes.push(md5(body));
    const reader = READERS[random(READERS.length)];
    const isChunked = random(4) > 0;
    const coding = isChunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`;
    pieces.push(`POST / HTTP/1.1\r\nhost: x\r\nx-reader: ${reader}\r\n${coding}\r\n\r\n`);
    if (isChunked) for (const piece of inChunks(body, random)) pieces.push(piece);
    else pieces.push(body);
  }
  return { input: Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))), hashes };
}

function* inChunks(body: Buffer, random: (below: number) => number): Generator<Buffer | string> {
  const longest = CHUNK_BYTES[random(CHUNK_BYTES.length)] as number;
  for (let at = 0; at < body.length; ) {
    const chunk = body.subarray(at, at + 1 + random(longest));
    yield `${chunk.length.toString(16)}\r\n`;
    yield chunk;
    yield '\r\n';
    at += chunk.length;
  }
  yield random(8) === 0 ? '0\r\nx-trailer: 1\r\n\r\n' : '0\r\n\r\n';
}

/** Sends it all at once or in pieces, and resolves to that many lines. */
function send(port: number, input: Buffer, count: number, random: (below: number) => number): Promise<string[]> {
  const pieceBytes = random(2) === 0 ? input.length : 1 + random(40_000);
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('error', reject).on('data', (bytes: Buffer) => {
      text += bytes;
      const answers = text.match(ANSWER) ?? [];
      if (answers.length < count) return;
      socket.destroy();
      resolve(answers);
    });
    let sent = 0;
    const write = () => {
      if (sent >= input.length || socket.destroyed) return;
      const goesOn = socket.write(input.subarray(sent, sent + pieceBytes));
      sent += pieceBytes;
      if (goesOn) setImmediate(write);
      else socket.once('drain', write);
    };
    write();
  });
}

/** A small generator: the same numbers for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}
