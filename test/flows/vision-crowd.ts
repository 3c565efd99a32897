// The crowd of a test of pressure, in a process of its own and of the lowest priority: two hundred callers with large
// images, the server that has them, and the upstream that looks at them. What is beside it keeps its processor time.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setPriority } from 'node:os';
import { ask, CHAT, MESSAGES, send } from '../../testkit/client.ts';
import { answerStatus, chatChunk, chatEnd, SSE, type UpstreamCall } from '../../testkit/upstream.ts';
import { png } from '../media/sample-images.ts';

export interface Crowd {
  /** Of the images, and of the upstream that looks at them. */
  readonly origin: string;
}

export interface CrowdJob {
  readonly url: string;
  /** Shared by the callers. */
  readonly keys: readonly string[];
  readonly callers: number;
  readonly seconds: number;
}

export interface CrowdResult {
  /** How often each status was seen, and each model that answered; 0 is a connection that was closed. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly answeredBy: Readonly<Record<string, number>>;
}

const LOWEST = 19;
const AGAIN_MS = 300;
const IMAGE = png({ width: 600, height: 400, bytes: 8 * 1024 * 1024 });

setPriority(LOWEST);
const server = await listen(serve);
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
let seen = 0;

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('error', () => undefined);
  if (request.method === 'GET') {
    const length = request.url === '/known.png' ? { 'content-length': IMAGE.length } : {};
    response.writeHead(200, { 'content-type': 'image/png', ...length }).end(IMAGE);
    return;
  }
  for await (const _ of request);
  // Every other image is left to the next model.
  seen += 1;
  if (seen % 2 === 0) void answerStatus(503)({ response } as UpstreamCall);
  else response.writeHead(200, SSE).end(chatChunk('Seen.') + chatEnd({ input: 1500 }));
}

const base64 = IMAGE.toString('base64');
const bodies = [
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } },
  { type: 'image', source: { type: 'url', url: `${origin}/known.png` } },
  { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } },
  { type: 'image_url', image_url: { url: `${origin}/unknown.png` } },
].map((shape) => Buffer.from(JSON.stringify({ ...ask(''), messages: [{ role: 'user', content: [shape] }] })));

async function run({ url, keys, callers, seconds }: CrowdJob): Promise<CrowdResult> {
  const statuses: Record<number, number> = {};
  const answeredBy: Record<string, number> = {};
  const end = performance.now() + seconds * 1000;
  const caller = async (_: unknown, at: number) => {
    for (let turn = at; performance.now() < end; turn += 1) {
      const key = keys[at % keys.length] as string;
      const path = turn % 2 === 0 ? MESSAGES : CHAT;
      const { status, json } = await send(url + path, { key, body: bodies[turn % bodies.length] }).catch(
        // Refused before it was read: the connection may be closed while the rest is still written.
        () => ({ status: 0, json: undefined }),
      );
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 200) answeredBy[json.model] = (answeredBy[json.model] ?? 0) + 1;
      else await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { statuses, answeredBy };
}

async function listen(handler: Parameters<typeof createServer>[1]): Promise<Server> {
  const listening = createServer(handler).listen(0, '127.0.0.1');
  await new Promise((resolve) => listening.once('listening', resolve));
  return listening;
}

process.on('message', (job: CrowdJob) => void run(job).then((result) => process.send?.(result)));
process.on('disconnect', () => process.exit(0));
process.send?.({ origin } satisfies Crowd);
