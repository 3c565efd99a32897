// An upstream on loopback for one test, asked as a provider asks: over an agent of its own.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Agent } from 'undici';
import { exchange } from '../lib/upstream/host/exchange.ts';

export interface Exchanges {
  /** What the upstream does with a request. */
  answer: (response: ServerResponse, socket: Socket) => void;
  /** The requests that have arrived. */
  readonly asked: readonly IncomingMessage[];
  /** How many connections it has had. */
  connections(): number;
  ask(signal?: AbortSignal): ReturnType<typeof exchange>;
  close(): Promise<void>;
}

export async function openExchanges(): Promise<Exchanges> {
  const asked: IncomingMessage[] = [];
  let connections = 0;
  const agent = new Agent({ connections: null, pipelining: 1 });
  const server = createServer((request, response) => {
    asked.push(request);
    exchanges.answer(response, request.socket);
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const target = { origin: `http://127.0.0.1:${port}`, path: '/', method: 'GET', bodyTimeout: 0 } as const;
  const exchanges: Exchanges = {
    answer: (response) => void response.end(),
    asked,
    connections: () => connections,
    ask: (signal = new AbortController().signal) => exchange(agent, target, signal),
    async close() {
      await agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return exchanges;
}
