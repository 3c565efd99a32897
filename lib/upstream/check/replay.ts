// Serves replies over real local sockets, cut and paced as a check wants them.
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep, setImmediate as waitOneTick } from 'node:timers/promises';
import type { Reply } from './recording.ts';

/** How a reply goes out. */
export interface Pacing {
  /** Offsets where the body is cut into chunks. */
  readonly cuts?: readonly number[];
  /** True sends all chunks in one write instead of each in a tick of its own. */
  readonly together?: boolean;
  /** The body ends after this many bytes. */
  readonly length?: number;
  /** Where the upstream falls silent for good: before the headers, or where the body ends. */
  readonly hold?: 'headers' | 'end';
  /** Where the connection ends: before the headers, or before as many bytes have come as the headers say. */
  readonly breaks?: 'headers' | 'length';
}

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** What it was answered. */
  readonly reply: Reply;
  /** Resolves with `performance.now()` when the connection of the request is closed. */
  readonly closed: Promise<number>;
}

/** What the server answers: each of `before` once, in order and only on its own path if it names one, then `reply`. */
interface Play {
  readonly before?: readonly Reply[];
  readonly reply: Reply;
  /** Of `reply`. */
  readonly pacing?: Pacing;
}

/** A server on 127.0.0.1 that plays recorded replies. */
export interface Replay {
  readonly origin: string;
  /** Since the last `play`. */
  readonly requests: readonly ReceivedRequest[];
  /** Sets how requests are answered from now on. */
  play(play: Play): void;
  /** How many connections are open. */
  connections(): number;
  close(): Promise<void>;
}

export async function startReplay(): Promise<Replay> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let playing: Play | undefined;
  let waiting: Reply[] = [];

  function choose(path: string): Reply {
    if (!playing) throw new Error('a request came before there was a reply to play');
    const at = waiting.findIndex(({ asked }) => asked?.path === undefined || asked.path === path);
    return (at < 0 ? undefined : waiting.splice(at, 1)[0]) ?? playing.reply;
  }

  const server = createServer(async (incoming, response) => {
    const { reply, pacing = {} } = playing ?? {};
    const chosen = choose(incoming.url ?? '');
    requests.push(await receive(incoming, chosen));
    await perform(response, chosen, chosen === reply ? pacing : {});
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    requests,
    play(play) {
      playing = play;
      waiting = [...(play.before ?? [])];
      requests.length = 0;
    },
    connections: () => sockets.size,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function receive(incoming: IncomingMessage, reply: Reply): Promise<ReceivedRequest> {
  const { method = '', url = '', headers, socket } = incoming;
  const body = Buffer.concat(await incoming.toArray().catch(() => []));
  return { method, path: url, headers, body, reply, closed: closing(socket) };
}

/** One listener per connection, however many requests arrive on it. */
const closings = new WeakMap<Socket, Promise<number>>();

function closing(socket: Socket): Promise<number> {
  const known = closings.get(socket);
  if (known) return known;
  const closed = new Promise<number>((resolve) => {
    if (socket.destroyed) resolve(performance.now());
    else socket.once('close', () => resolve(performance.now()));
  });
  closings.set(socket, closed);
  return closed;
}

/** Headers that belong to a connection, or that the server writes itself. */
const CONNECTION_HEADERS = ['connection', 'content-length', 'keep-alive', 'transfer-encoding'];

/** The time a client has to read what was sent before the connection breaks: a reset discards unread data. */
const BEFORE_RESET_MS = 20;

async function perform(response: ServerResponse, reply: Reply, pacing: Pacing): Promise<void> {
  response.on('error', () => {});
  if (pacing.hold === 'headers') return;
  if (pacing.breaks === 'headers') return void response.socket?.destroy();
  if (reply.end === 'close') response.useChunkedEncodingByDefault = false;
  for (const [name, value] of Object.entries(reply.headers)) {
    if (!CONNECTION_HEADERS.includes(name.toLowerCase())) response.setHeader(name, value);
  }
  if (pacing.breaks === 'length') response.setHeader('content-length', reply.body.length + 1);
  response.writeHead(reply.status);
  response.flushHeaders();
  for (const piece of cutBody(reply.body.subarray(0, pacing.length), pacing.cuts ?? [])) {
    if (response.destroyed) return;
    response.write(piece);
    if (!pacing.together) await waitOneTick();
  }
  if (pacing.hold === 'end') return;
  if (pacing.breaks !== 'length' && reply.end !== 'reset') return void response.end();
  await sleep(BEFORE_RESET_MS);
  response.socket?.resetAndDestroy();
}

function cutBody(body: Buffer, cuts: readonly number[]): Buffer[] {
  const inside = cuts.filter((place) => place > 0 && place < body.length);
  return [0, ...inside]
    .map((start, at) => body.subarray(start, inside[at] ?? body.length))
    .filter((piece) => piece.length > 0);
}
