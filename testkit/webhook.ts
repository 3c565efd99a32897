// A webhook receiver on loopback, which verifies signatures as the documentation tells receivers to.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Post {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
  readonly json: any;
}

export interface Receiver {
  /** For `WEBHOOK_TRUSTED_ORIGINS`. */
  readonly origin: string;
  readonly posts: readonly Post[];
  /** The status it answers from now on: 200 at first. */
  answer: (response: ServerResponse) => void;
  stop(): Promise<void>;
}

export const answerWith =
  (status: number, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, headers).end();

export async function startReceiver(): Promise<Receiver> {
  const posts: Post[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    posts.push({ path: request.url ?? '', headers: request.headers, body, json: JSON.parse(body || 'null') });
    receiver.answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    answer: answerWith(200),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** Whether a request was signed with this secret, at most this many seconds ago. */
export function isSigned({ headers, body }: Post, secret: string, { now = Date.now(), ageMax = 300 } = {}): boolean {
  const [, time = '', signature = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['tollgate-signature'])) ?? [];
  if (Math.abs(now / 1000 - Number(time)) > ageMax) return false;
  const expected = createHmac('sha256', secret).update(`${time}.${body}`).digest();
  return signature !== '' && timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}
