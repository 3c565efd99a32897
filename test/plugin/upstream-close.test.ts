// Closing an upstream: its connections end, those of requests that are never sent twice too.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createHost } from '../../lib/plugin/host.ts';

describe('an upstream that is closed', () => {
  it('lets go of every request under way', async () => {
    const closed: Promise<unknown>[] = [];
    const server = createServer(({ socket }) => void closed.push(once(socket, 'close')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const host = createHost({ upstream: 'acme', allowedOrigins: [origin], log: { warn() {} } });
    const { signal } = new AbortController();
    try {
      const asking = [
        host.request(origin, { method: 'POST', body: '{}', signal }),
        host.json(origin, { method: 'GET', signal }),
        host.json(origin, { method: 'POST', body: '{}', signal }),
      ].map((running) => running.catch(({ kind }: { readonly kind: string }) => kind));
      while (closed.length < 3) await new Promise((resolve) => setImmediate(resolve));
      await host.close();
      expect(await Promise.all(asking)).to.deep.equal(['network', 'network', 'network']);
      await Promise.all(closed);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
