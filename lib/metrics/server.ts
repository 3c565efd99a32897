// The operator's port, separate from the port of the clients: `/metrics` for scrapes, and `/readyz` with the state of the
// upstreams.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mergeReadiness } from '../calls/readiness.ts';
import { findHeaderProblem } from '../http/headers.ts';
import { cannotListen } from '../http/server.ts';
import { createServer } from '../platform/http-server.ts';
import type { Metrics } from './metrics.ts';

export interface MetricsServer {
  /** Resolves to the URL if the server listens; rejects with an `OperatorError` if the address is not available. */
  start(): Promise<string | undefined>;
  close(): Promise<void>;
}

interface MetricsServerOptions {
  readonly host: string;
  readonly port: number;
  readonly metrics: Pick<Metrics, 'scrape' | 'contentType' | 'readiness'>;
  readonly onError: (error: unknown) => void;
}

const HEADERS_TIMEOUT_MS = 10_000;
const CONNECTIONS_MAX = 64;
const JSON_TYPE = 'application/json; charset=utf-8';

export function createMetricsServer({ host, port, metrics, onError }: MetricsServerOptions): MetricsServer {
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS }, (request, response) => {
    response.setHeader('x-content-type-options', 'nosniff');
    answerRequest(request, response, metrics).catch((error: unknown) => {
      onError(error);
      response.writeHead(500).end();
    });
  });
  server.maxConnections = CONNECTIONS_MAX;
  return {
    start: () => listenAt(server, { host, port }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { scrape, contentType, readiness }: MetricsServerOptions['metrics'],
): Promise<void> {
  const { method, url = '' } = request;
  const [path, query] = url.split('?', 2);
  if (findHeaderProblem(request) !== undefined) {
    response.writeHead(400, { connection: 'close' }).end();
  } else if (path !== '/metrics' && path !== '/readyz') {
    response.writeHead(404).end();
  } else if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
  } else if (path === '/metrics') {
    sendText(response, { status: 200, type: contentType, text: await scrape() });
  } else {
    const { upstreams, ...rest } = (await readiness()) ?? mergeReadiness([]);
    const body = new URLSearchParams(query).has('verbose') ? { ...rest, upstreams } : rest;
    sendText(response, { status: rest.status === 'ok' ? 200 : 503, type: JSON_TYPE, text: JSON.stringify(body) });
  }
}

interface TextResponse {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

function sendText(response: ServerResponse, { status, type, text }: TextResponse): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
}

function listenAt(server: Server, { host, port }: { host: string; port: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    server.on('error', (error) => reject(cannotListen(error, { host, port, variable: 'METRICS_PORT' })));
    server.listen(port, host, () => {
      const { address, family, port: bound } = server.address() as AddressInfo;
      resolve(`http://${family === 'IPv6' ? `[${address}]` : address}:${bound}/metrics`);
    });
  });
}
