// The benchmark's difficult clients, in their own process: they stop reading, or all leave at the same moment.
import { connect, type Socket } from 'node:net';

export interface ReadersJob {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly readers: number;
}

/** Replies `{ open }` once each has begun to receive its answer. */
const sockets: Socket[] = [];

/** How many connect at the same time. */
const OPENING_MAX = 50;

async function openAll(job: ReadersJob): Promise<void> {
  let left = job.readers;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      sockets.push(await open(job));
    }
  };
  await Promise.all(Array.from({ length: OPENING_MAX }, worker));
}

/** Resolves with a connection that has received its first fragment and stops reading. */
function open({ url, key, model }: ReadersJob): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Go on.' }] });
  const head = [
    'POST /api/v1/messages HTTP/1.1',
    'host: gateway',
    `x-api-key: ${key}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  const socket = connect({ host: hostname, port: Number(port) });
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('error', reject).on('data', (chunk) => {
      if (text.length < 4096) text += chunk;
      if (!text.startsWith('HTTP/1.1 200')) reject(new Error(`the gateway answered ${text.slice(0, 200)}`));
      if (!text.includes('content_block_delta')) return;
      socket.pause();
      resolve(socket);
    });
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
}

/** The time on the clock that all processes of a machine share, in ns. */
function leave(): string {
  const at = process.hrtime.bigint();
  for (const socket of sockets.splice(0)) socket.destroy();
  return String(at);
}

process.on('message', (job: ReadersJob | 'leave') => {
  if (job === 'leave') process.send?.({ leftAt: leave() });
  else void openAll(job).then(() => process.send?.({ open: sockets.length }));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
