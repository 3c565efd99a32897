// A hostile upstream in its own process: floods as the model name in the request says, as fast as it is read.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const event = (text: string) => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`;

/** The data sent over and over. */
const PIECES: Readonly<Record<string, Buffer>> = {
  'tiny-events': Buffer.from(event('a').repeat(2000)),
  'big-events': Buffer.from(event('x'.repeat(60_000))),
  'endless-line': Buffer.from(`${'x'.repeat(100_000)}`),
  comments: Buffer.from(': keep-alive\n\n'.repeat(5000)),
  'empty-deltas': Buffer.from(event('').repeat(2000)),
};

let written = 0;

function flood(response: ServerResponse, piece: Buffer): void {
  while (!response.destroyed) {
    written += piece.length;
    if (!response.write(piece)) {
      response.once('drain', () => flood(response, piece));
      return;
    }
  }
}

const server = createServer((request, response) => {
  let text = '';
  response.on('error', () => undefined);
  request.on('data', (part) => {
    text += part;
  });
  request.on('end', () => {
    const { model } = JSON.parse(text);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (model === 'endless-line') response.write('data: {"choices":[{"index":0,"delta":{"content":"');
    flood(response, PIECES[model] as Buffer);
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', () => process.send?.({ written }));
process.on('disconnect', () => process.exit(0));
