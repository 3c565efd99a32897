// What an upstream lets go of: every connection when it is closed, and an answer that refused a token.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type ClosableHost, createHost } from '../../../lib/upstream/host/host.ts';

describe('connections to an upstream', () => {
  const { signal } = new AbortController();
  let server: Server;
  let origin: string;
  let host: ClosableHost;

  async function serve(listener: RequestListener, isProxy = false): Promise<void> {
    server = createServer(listener);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const proxy = isProxy && { proxy: origin };
    host = createHost({ upstream: 'acme', allowedOrigins: [origin], keys: ['k'], log: { warn() {} }, ...proxy });
  }
  afterEach(async () => {
    await host.close();
    server.closeAllConnections();
    server.close();
  });

  it('are let go of with the upstream, also those of requests that are never sent twice', async () => {
    const closed: Promise<unknown>[] = [];
    await serve(({ socket }) => void closed.push(once(socket, 'close')));
    const asking = [
      host.request(origin, { method: 'POST', body: '{}', signal }),
      host.json(origin, { method: 'GET', signal }),
      host.json(origin, { method: 'POST', body: '{}', signal }),
    ].map((running) => running.catch(({ kind }: { readonly kind: string }) => kind));
    while (closed.length < 3) await new Promise((resolve) => setImmediate(resolve));
    await host.close();
    expect(await Promise.all(asking)).to.deep.equal(['network', 'network', 'network']);
    await Promise.all(closed);
  });

  it('are let go of with an answer that refused a token, before another one is tried', async () => {
    const refused = Promise.withResolvers<void>();
    await serve(({ socket, headers }, response) => {
      if (headers.authorization === 'Bearer token-2') return void response.end('{"a":1}');
      socket.once('close', () => refused.resolve());
      response.writeHead(401).write('there is more');
    });
    let tokens = 0;
    const exchange = async () => {
      tokens += 1;
      return { value: `token-${tokens}`, expiresAt: Date.now() + 3_600_000 };
    };
    const { value } = await host.json(origin, { method: 'GET', auth: host.tokens({ exchange }), signal });
    expect(value).to.deep.equal({ a: 1 });
    await refused.promise;
  });

  it('are let go of with a proxy that wants a password and goes on', async () => {
    const closed = Promise.withResolvers<void>();
    await serve(({ socket }, response) => {
      socket.once('close', () => closed.resolve());
      response.writeHead(407).write('there is more');
    }, true);
    const failed = await host
      .json(origin, { method: 'GET', signal })
      .catch(({ kind }: { readonly kind: string }) => kind);
    expect(failed).to.equal('network');
    await closed.promise;
  });
});
