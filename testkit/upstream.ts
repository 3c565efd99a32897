// A real upstream on a loopback socket whose answers a test writes, chunk by chunk.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface UpstreamCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The JSON body of the request; empty if it is not JSON. */
  readonly body: Record<string, unknown>;
  readonly bytes: Buffer;
  /** Resolves with the time (performance.now) at which the gateway closed the connection. */
  readonly closed: Promise<number>;
}

export type Behaviour = (call: UpstreamCall) => void | Promise<void>;

export interface TestUpstream {
  readonly url: string;
  readonly calls: UpstreamCall[];
  /** What the next calls do. */
  behave(behaviour: Behaviour): void;
  /** Resolves with the next call that arrives. */
  nextCall(): Promise<UpstreamCall>;
  /** Sockets that are open now. */
  openSockets(): number;
  close(): Promise<void>;
}

export async function startUpstream(first: Behaviour = chatAnswer('Hello there.')): Promise<TestUpstream> {
  let behaviour = first;
  const calls: UpstreamCall[] = [];
  const waiting: ((call: UpstreamCall) => void)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const closed = new Promise<number>((resolve) => response.once('close', () => resolve(performance.now())));
    const bytes = Buffer.concat(chunks);
    const isJson = bytes.length > 0 && request.headers['content-type']?.startsWith('application/json');
    const call = { request, response, closed, bytes, body: isJson ? JSON.parse(bytes.toString()) : {} };
    calls.push(call);
    waiting.shift()?.(call);
    await behaviour(call);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    behave: (next) => {
      behaviour = next;
    },
    nextCall: () => new Promise((resolve) => waiting.push(resolve)),
    openSockets: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const SSE = { 'content-type': 'text/event-stream' };

/** One chunk of a chat-style stream. */
export function chatChunk(text: string): string {
  return `data: ${JSON.stringify({ id: 'up_1', model: 'up-model', choices: [{ index: 0, delta: { content: text } }] })}\n\n`;
}

/** The end of a chat-style stream with its usage. */
export function chatEnd({ input = 7, output = 3, reason = 'stop' } = {}): string {
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const finish = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
  return `data: ${finish}\n\ndata: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`;
}

/** Answers at once with a complete stream. */
export function chatAnswer(text: string, usage: { input?: number; output?: number; reason?: string } = {}): Behaviour {
  return ({ response }) => {
    response.writeHead(200, SSE);
    for (const word of text.split(/(?<= )/)) response.write(chatChunk(word));
    response.end(chatEnd(usage));
  };
}

/** Answers with a status and a JSON body. */
export function answerStatus(status: number, body: unknown = { error: { message: 'no' } }): Behaviour {
  return ({ response }) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
}

/** Sends some words and then nothing, until the gateway disconnects. */
export function chatStall(words: readonly string[] = []): Behaviour {
  return ({ response }) => {
    response.writeHead(200, SSE);
    response.flushHeaders();
    for (const word of words) response.write(chatChunk(word));
  };
}

/** An answer that pauses between its first and its last words until `finish` is called. */
export function chatHeld(usage: object = { input: 7, output: 400 }): { readonly behaviour: Behaviour; finish(): void } {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const behaviour: Behaviour = async ({ response }) => {
    response.writeHead(200, SSE);
    response.write(chatChunk('first '));
    await finished;
    response.end(chatChunk('last.') + chatEnd(usage));
  };
  return { behaviour, finish };
}
