// The benchmark's upstream, in its own process: answers chat-style, according to the model name in the request.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const chunk = (text: string) =>
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"finish_reason":null}]}\n\n`;
const usage = (output: number) =>
  `"usage":{"prompt_tokens":12,"completion_tokens":${output},"total_tokens":${12 + output}}`;
const end = (output: number) =>
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n` +
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],${usage(output)}}\n\ndata: [DONE]\n\n`;
const whole = (text: string, output: number) =>
  `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"${text}"},"finish_reason":"stop"}],${usage(output)}}`;

const SSE = { 'content-type': 'text/event-stream' };
const WORD = 'token ';
const PACE_MS = 20;

/**
 * Model names: `call`, `stream-N` (N fragments, one packet per turn), `burst-N` (all at once), `flurry-N` (all at
 * once, each as its own chunk), `paced-N`, `idle`. Without streaming, the same text comes as one JSON body.
 */
function answer(model: string, streams: boolean, response: ServerResponse): void {
  const [kind = '', count = '20'] = model.split('-');
  const total = Number(count);
  if (!streams) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(kind === 'call' ? whole('A short answer of eight words or so.', 9) : whole(WORD.repeat(total), total));
    return;
  }
  response.writeHead(200, SSE);
  switch (kind) {
    case 'call':
      response.end(chunk('A short answer of ') + chunk('eight words or so.') + end(9));
      return;
    case 'burst':
      response.end(chunk(WORD).repeat(total) + end(total));
      return;
    case 'flurry':
      response.cork();
      for (let left = total; left > 0; left -= 1) response.write(chunk(WORD));
      response.end(end(total));
      return;
    case 'idle':
      response.write(chunk(WORD));
      return;
    case 'paced':
      pace(response, total);
      return;
    default:
      step(response, total, total);
  }
}

function step(response: ServerResponse, left: number, total: number): void {
  if (left === 0) {
    response.end(end(total));
    return;
  }
  response.write(chunk(WORD));
  setImmediate(step, response, left - 1, total);
}

function pace(response: ServerResponse, total: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    sent += 1;
    if (sent <= total) response.write(chunk(WORD));
    else {
      clearInterval(timer);
      response.end(end(total));
    }
  }, PACE_MS);
  response.on('close', () => clearInterval(timer));
}

let open = 0;
/** When connections closed, on the clock that all processes of a machine share, in ns. */
let closes: bigint[] = [];
const server = createServer((request, response) => {
  let text = '';
  open += 1;
  response.on('close', () => {
    open -= 1;
    closes.push(process.hrtime.bigint());
  });
  request.on('data', (part) => {
    text += part;
  });
  request.on('end', () => {
    // A plain proxy passes on the look whether it listens.
    if (request.method !== 'POST') return void response.writeHead(404).end();
    const body = JSON.parse(text);
    answer(body.model, body.stream === true, response);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', () => {
  process.send?.({ open, closes: closes.map(String) });
  closes = [];
});
process.on('disconnect', () => process.exit(0));
