// The port for scrapes: `/metrics` and nothing else, separate from the clients' port.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cannotListen } from '../http/server.ts';
import type { Metrics } from './metrics.ts';

export interface MetricsServer {
  /** Resolves to where it listens, if it does; rejects with an `OperatorError` if the address is not available. */
  start(): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface MetricsServerOptions {
  readonly host: string;
  readonly port: number;
  readonly metrics: Pick<Metrics, 'scrape' | 'contentType'>;
  readonly onError: (error: unknown) => void;
}

const HEADERS_TIMEOUT_MS = 10_000;
const CONNECTIONS_MAX = 64;

export function createMetricsServer({ host, port, metrics, onError }: MetricsServerOptions): MetricsServer {
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS }, (request, response) => {
    answer(request, response, metrics).catch((error: unknown) => {
      onError(error);
      response.writeHead(500).end();
    });
  });
  server.maxConnections = CONNECTIONS_MAX;
  return {
    start: () => listen(server, { host, port }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
  { scrape, contentType }: MetricsServerOptions['metrics'],
): Promise<void> {
  if (url.split('?', 1)[0] !== '/metrics') {
    response.writeHead(404).end();
  } else if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
  } else {
    const text = await scrape();
    response.writeHead(200, { 'content-type': contentType, 'content-length': Buffer.byteLength(text) }).end(text);
  }
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    server.on('error', (error) => reject(cannotListen(error, { host, port, variable: 'METRICS_PORT' })));
    server.listen(port, host, () => {
      const { address, family, port: bound } = server.address() as AddressInfo;
      resolve(`http://${family === 'IPv6' ? `[${address}]` : address}:${bound}/metrics`);
    });
  });
}
