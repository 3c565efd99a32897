// The files that every token of a streamed chat answer passes, measured: an upstream sends one token at a time to a
// gateway, and a file counts if a function of it ran for each of them.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { Session } from 'node:inspector/promises';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const TOKENS = 40;
/** Before them: what is compiled or learned at first is no step of a token. */
const FIRST_TOKENS = 20;
const FIRST = 'Hello';

/** In the order of their names; of any checkout. */
export async function findTokenFiles(folder: string): Promise<readonly string[]> {
  const base = `${pathToFileURL(resolve(folder)).href}/`;
  const { chatCatalog, startGateway } = await import(`${base}testkit/gateway.ts`);
  const upstream = await startUpstream();
  const gateway = await startGateway({ catalog: chatCatalog(upstream.url) });
  const { key } = await gateway.account('1000');
  const reply = await fetch(new URL('/api/v1/chat/completions', gateway.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'model-a', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
  await readUntil(reader, FIRST);
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const seen = new Map<string, number>();
  for (let token = 0; token < FIRST_TOKENS + TOKENS; token += 1) {
    upstream.send(` word${token}`);
    await readUntil(reader, `word${token}"`);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    if (token < FIRST_TOKENS) continue;
    for (const { url, functions } of result) {
      const hasRun = functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
      const path = url.startsWith(base) ? url.slice(base.length) : '';
      if (hasRun && /^(lib|providers)\//.test(path)) seen.set(path, (seen.get(path) ?? 0) + 1);
    }
  }
  session.disconnect();
  await reader.cancel();
  await gateway.stop();
  upstream.close();
  return [...seen].flatMap(([path, tokens]) => (tokens === TOKENS ? [path] : [])).sort();
}

async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, words: string): Promise<void> {
  for (let text = ''; !text.includes(words); ) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the stream ended before ${words}: ${text}`);
    text += new TextDecoder().decode(value);
  }
}

async function startUpstream() {
  let open: ServerResponse | undefined;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    open = response;
    send(FIRST);
  });
  const send = (content: string) => {
    const chunk = { id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choose(content)] };
    open?.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, send, close: () => server.close() };
}

const choose = (content: string) => ({ index: 0, delta: { content }, finish_reason: null });
