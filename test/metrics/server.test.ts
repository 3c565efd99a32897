// The port for scrapes by itself: scrapes that fail, a port that is taken, and an end that waits for nobody.
import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { createMetricsServer, type MetricsServer } from '../../lib/metrics/server.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { open, send } from '../../testkit/client.ts';

describe('the port for scrapes', () => {
  const host = '127.0.0.1';
  let server: MetricsServer;
  let request: ClientRequest | undefined;
  afterEach(async () => {
    request?.destroy();
    await server.close();
  });

  function serverOf(scrape: () => Promise<string>, errors: unknown[] = [], port = 0): MetricsServer {
    server = createMetricsServer({
      ...{ host, port, metrics: { scrape, contentType: 'text/plain' } },
      onError: (error) => void errors.push(error),
    });
    return server;
  }

  it('answers 500 to a scrape that fails, says why, and goes on', async () => {
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

  it('says which setting to check when its port is taken', async () => {
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

  it('ends at once, with a scrape that waits', async () => {
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
