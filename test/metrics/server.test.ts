// The port for scrapes by itself: scrapes that fail, a port that is taken, and an end that waits for nobody.
import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import type { FullReadiness } from '../../lib/calls/readiness.ts';
import { createMetricsServer, type MetricsServer } from '../../lib/metrics/server.ts';
import { open, send } from '../../testkit/client.ts';

describe('the port for scrapes', () => {
  const host = '127.0.0.1';
  let server: MetricsServer;
  let readiness: FullReadiness | undefined;
  let request: ClientRequest | undefined;
  afterEach(async () => {
    request?.destroy();
    await server.close();
  });

  function serverOf(scrape: () => Promise<string>, errors: unknown[] = [], port = 0): MetricsServer {
    server = createMetricsServer({
      host,
      port,
      metrics: { scrape, readiness: async () => readiness, contentType: 'text/plain' },
      onError: (error) => void errors.push(error),
    });
    return server;
  }

  it('answers 500 to a failed scrape, logs the error, and continues', async () => {
    const errors: unknown[] = [];
    const failure = new Error('no numbers');
    const scrapes = [() => Promise.reject(failure), async () => 'метрика 1\n'];
    const url = (await serverOf(async () => scrapes.shift()?.() ?? '', errors).start()) ?? '';
    expect((await send(url)).status).to.equal(500);
    expect(errors).to.deep.equal([failure]);
    const { status, headers, text } = await send(url);
    expect([status, headers['content-type'], headers['content-length'], text]).to.deep.equal([
      ...[200, 'text/plain', '17', 'метрика 1\n'],
    ]);
  });

  it('reports the readiness of the watched service, and 503 without one', async () => {
    const root = ((await serverOf(async () => '').start()) ?? '').replace('/metrics', '');
    const none = { status: 'unavailable', store: false, models: 0 };
    readiness = undefined;
    const first = await send(`${root}/readyz?verbose`);
    expect([first.status, first.json]).to.deep.equal([503, { ...none, upstreams: {} }]);
    const upstreams = { up: { routes: 3, routes_open: 1, keys: 9, keys_resting: 7 } };
    readiness = { status: 'ok', store: true, models: 3, upstreams };
    for (const [path, status, body] of [
      ['/readyz', 200, { status: 'ok', store: true, models: 3 }],
      ['/readyz?a=b&verbose', 200, readiness],
      ['/readyz/', 404, undefined],
    ] as const) {
      const reply = await send(root + path);
      expect([reply.status, reply.json], path).to.deep.equal([status, body]);
    }
    expect((await send(`${root}/readyz`, { method: 'POST' })).status).to.equal(405);
  });

  it('forbids content sniffing', async () => {
    const url = (await serverOf(() => Promise.reject(new Error('no numbers'))).start()) ?? '';
    for (const path of ['/metrics', '/readyz', '/nothing']) {
      const { headers } = await send(url.replace('/metrics', path));
      expect(headers['x-content-type-options'], path).to.equal('nosniff');
      expect(headers['strict-transport-security'], path).to.equal(undefined);
    }
  });

  it('rejects ambiguous headers', async () => {
    const { port } = new URL((await serverOf(async () => '').start()) ?? '');
    for (const lines of ['host: a\r\nhost: b', 'x: y', 'host: a/b']) {
      const socket = connect(Number(port), host);
      let text = '';
      socket.setEncoding('latin1').on('data', (part: string) => {
        text += part;
      });
      socket.write(`GET /metrics HTTP/1.1\r\n${lines}\r\n\r\n`);
      await once(socket, 'close');
      expect(text, lines).to.match(/^HTTP\/1\.1 400 /);
    }
  });

  it('names the setting to check if its port is taken', async () => {
    const taken = createServer().listen(0, host);
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const error: unknown = await serverOf(async () => '', [], port)
      .start()
      .catch((thrown: unknown) => thrown);
    taken.close();
    expect(error).to.be.instanceOf(OperatorError);
    expect((error as Error).message).to.equal(`Cannot listen on ${host}:${port} (METRICS_PORT): the port is in use`);
  });

  it('closes at once, even during a scrape', async () => {
    const scraping = Promise.withResolvers<void>();
    const url = await serverOf(() => {
      scraping.resolve();
      return new Promise(() => undefined);
    }).start();
    request = open(url ?? '', { method: 'GET' });
    const failed = once(request, 'error');
    await scraping.promise;
    await server.close();
    await failed;
  });
});
