// Recorded answers of upstreams: reads them from a plugin's `fixtures/` and serves them over real sockets.
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import Joi from 'joi';
import type { FinishReason, TextCall, UpstreamFaultKind } from '../../lib/plugin/contract.ts';

/** One recorded answer and what a provider has to make of it; `docs/providers.md` explains every field. */
export interface Recording {
  readonly name: string;
  /** Where the format or the quirk is documented. */
  readonly source: string;
  readonly about?: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly call: Omit<TextCall, 'options'>;
  readonly reply: Reply;
  readonly expect: Expectation;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer;
  /** Without it the body ends as HTTP has it; `close`: by closing the connection; `reset`: the connection breaks. */
  readonly end?: 'close' | 'reset';
}

export interface Expectation {
  readonly text?: string;
  readonly finish?: FinishReason;
  readonly usage?: { readonly input: number | null; readonly output: number | null };
  readonly fault?: UpstreamFaultKind | 'truncated' | 'empty';
  /** What the JSON of the request must contain. */
  readonly request?: unknown;
}

const KINDS = ['request', 'auth', 'quota', 'rate', 'overloaded', 'server', 'network', 'timeout', 'protocol'];

const DEFAULT_CALL: Recording['call'] = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  maxTokens: 100,
};

const content = Joi.object({ type: Joi.valid('text').required(), text: Joi.string().allow('').required() });

const schema = Joi.object({
  name: Joi.string().required(),
  source: Joi.string().required(),
  about: Joi.string(),
  settings: Joi.object().default({}),
  options: Joi.object().default({}),
  call: Joi.object({
    model: Joi.string().default(DEFAULT_CALL.model),
    system: Joi.string(),
    messages: Joi.array()
      .items(
        Joi.object({ role: Joi.valid('user', 'assistant').required(), content: Joi.array().items(content).min(1) }),
      )
      .min(1)
      .default(DEFAULT_CALL.messages),
    maxTokens: Joi.number().integer().min(1).max(32_768).default(DEFAULT_CALL.maxTokens),
  }).default(DEFAULT_CALL),
  reply: Joi.object({
    status: Joi.number().integer().min(200).max(599).default(200),
    headers: Joi.object()
      .pattern(Joi.string(), Joi.alternatives(Joi.string(), Joi.array().items(Joi.string())))
      .default({}),
    body: Joi.string().allow(''),
    bodyBase64: Joi.string().base64(),
    end: Joi.valid('close', 'reset'),
  })
    .oxor('body', 'bodyBase64')
    .required(),
  expect: Joi.object({
    text: Joi.string().allow(''),
    finish: Joi.valid('stop', 'length', 'filter', 'tool', 'other'),
    usage: Joi.object({ input: count().required(), output: count().required() }),
    fault: Joi.valid(...KINDS, 'truncated', 'empty'),
    request: Joi.any(),
  })
    .xor('finish', 'fault')
    .required(),
});

function count(): Joi.Schema {
  return Joi.number().integer().min(0).allow(null);
}

/** All recordings of a plugin, in order of file and place; a wrong one throws with its file's name. */
export function loadRecordings(folder: string): readonly Recording[] {
  const fixtures = join(folder, 'fixtures');
  if (!existsSync(fixtures)) return [];
  const files = readdirSync(fixtures).filter((name) => name.endsWith('.json'));
  return files.sort().flatMap((name) => readRecordings(join(fixtures, name)));
}

/** The recordings of one file: one object, or a list of them. */
export function readRecordings(file: string): readonly Recording[] {
  const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return (Array.isArray(parsed) ? parsed : [parsed]).map((entry: unknown) => parseRecording(entry, file));
}

/** Checks one recording and fills in what it leaves out; `where` it is from goes into the error. */
export function parseRecording(entry: unknown, where: string): Recording {
  const { value, error } = schema.validate(entry, { convert: false, abortEarly: false });
  if (error) throw new Error(`${where}: ${error.message}`);
  const { body, bodyBase64, ...reply } = value.reply;
  const bytes = bodyBase64 === undefined ? Buffer.from(body ?? '') : Buffer.from(bodyBase64, 'base64');
  return { ...value, reply: { ...reply, body: bytes } };
}

/** How a reply goes out. */
export interface Pacing {
  /** Offsets where the body is cut into chunks. */
  readonly cuts?: readonly number[];
  /** True sends all chunks in one write instead of each in a turn of its own. */
  readonly together?: boolean;
  /** The body is over after so many bytes. */
  readonly length?: number;
  /** Where the upstream falls silent for good: before the headers, or where the body is over. */
  readonly hold?: 'headers' | 'end';
}

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Resolves with `performance.now()` when the connection of the request is closed. */
  readonly closed: Promise<number>;
}

/** A server on 127.0.0.1 that plays one reply to every request. */
export interface Replay {
  readonly origin: string;
  readonly requests: readonly ReceivedRequest[];
  /** Says how every request from now on is answered. */
  play(reply: Reply, pacing?: Pacing): void;
  close(): Promise<void>;
}

export async function startReplay(): Promise<Replay> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let playing: { readonly reply: Reply; readonly pacing: Pacing } | undefined;
  const server = createServer(async (incoming, response) => {
    const current = playing;
    requests.push(await receive(incoming));
    if (!current) throw new Error('a request came before there was a reply to play');
    await perform(response, current.reply, current.pacing);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    play(reply, pacing = {}) {
      playing = { reply, pacing };
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function receive(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const { method = '', url = '', headers, socket } = incoming;
  const body = (await incoming.toArray().catch(() => [])).join('');
  return { method, path: url, headers, body, closed: closing(socket) };
}

/** One listener a connection, however many requests come on it. */
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

/** The time a client has to read what was sent before the connection breaks: a reset throws away what it has not. */
const BEFORE_RESET_MS = 20;

async function perform(response: ServerResponse, reply: Reply, pacing: Pacing): Promise<void> {
  response.on('error', () => {});
  if (pacing.hold === 'headers') return;
  if (reply.end === 'close') response.useChunkedEncodingByDefault = false;
  for (const [name, value] of Object.entries(reply.headers)) {
    if (!CONNECTION_HEADERS.includes(name.toLowerCase())) response.setHeader(name, value);
  }
  response.writeHead(reply.status);
  response.flushHeaders();
  for (const piece of cutBody(reply.body.subarray(0, pacing.length), pacing.cuts ?? [])) {
    if (response.destroyed) return;
    response.write(piece);
    if (!pacing.together) await turn();
  }
  if (pacing.hold === 'end') return;
  if (reply.end !== 'reset') return void response.end();
  await sleep(BEFORE_RESET_MS);
  response.socket?.resetAndDestroy();
}

function cutBody(body: Buffer, cuts: readonly number[]): Buffer[] {
  const inside = cuts.filter((place) => place > 0 && place < body.length);
  return [0, ...inside]
    .map((start, at) => body.subarray(start, inside[at] ?? body.length))
    .filter((piece) => piece.length > 0);
}
