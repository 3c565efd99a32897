// The baseline of the benchmark: a bare pipe of node:http and undici, without keys, limits, checks or billing.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Agent, request as ask } from 'undici';
import { heldMemory } from './held.ts';

const upstream = process.argv[2] as string;
const dispatcher = new Agent({ connections: null, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });

const server = createServer((request, response) => {
  const controller = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  ask(`${upstream}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: request,
    dispatcher,
    signal: controller.signal,
  }).then(
    ({ statusCode, headers, body }) => {
      response.writeHead(statusCode, { 'content-type': headers['content-type'] as string });
      body.on('error', () => response.destroy());
      body.pipe(response);
    },
    () => response.destroy(),
  );
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
// It is idle beside a gateway under load: its delay shows what the machine itself adds.
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const answers: Readonly<Record<string, () => unknown>> = {
  delay() {
    const figures = { p99Ms: delay.percentile(99) / 1e6, mostMs: delay.max / 1e6 };
    delay.reset();
    return figures;
  },
  memory: heldMemory,
};
process.on('message', async (what: string) => process.send?.(await answers[what]?.()));
process.on('disconnect', () => process.exit(0));
