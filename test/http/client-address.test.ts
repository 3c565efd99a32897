// Where requests come from, with and without a proxy that names their clients, and the warning of one that is not trusted.
import { server as createServer, type Request } from '@hapi/hapi';
import { expect } from 'chai';
import { readProxies } from '../../lib/base/network.ts';
import { findClientAddress, warnOfProxyOnce } from '../../lib/http/client-address.ts';

/** What a server sees of requests of some peers, and what it warns of. */
async function see(
  trusted: string | undefined,
  ...sent: readonly (readonly [peer: string, forwarded?: string])[]
): Promise<readonly [addresses: readonly string[], warnings: readonly unknown[]]> {
  const warnings: unknown[] = [];
  const warn = warnOfProxyOnce({ warn: (fields: unknown) => void warnings.push(fields) });
  const server = createServer();
  server.settings.app = { trustedProxies: trusted === undefined ? undefined : readProxies(trusted) };
  const handler = (request: Request) => {
    warn(request);
    return findClientAddress(request);
  };
  server.route({ method: 'GET', path: '/', handler });
  const addresses: string[] = [];
  for (const [remoteAddress, forwarded] of sent) {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    addresses.push((await server.inject({ url: '/', remoteAddress, headers })).payload);
  }
  return [addresses, warnings];
}

describe('the address of a client', () => {
  const NAMED = ['192.0.2.9', '203.0.113.1'] as const;

  it('is the peer unless a trusted proxy names another', async () => {
    expect((await see(undefined, ['::ffff:192.0.2.9'], NAMED))[0]).to.deep.equal(['192.0.2.9', '192.0.2.9']);
    expect((await see('192.0.2.9', NAMED, ['192.0.2.8', '203.0.113.1']))[0]).to.deep.equal([
      '203.0.113.1',
      '192.0.2.8',
    ]);
    expect((await see('1', NAMED))[0]).to.deep.equal(['203.0.113.1']);
  });

  it('is warned of once if a proxy that is not trusted names one', async () => {
    const warned = [{ proxy: '192.0.2.9' }];
    expect((await see(undefined, ['192.0.2.9'], NAMED, NAMED))[1]).to.deep.equal(warned);
    expect((await see('192.0.2.8', NAMED))[1]).to.deep.equal(warned);
    for (const trusted of ['192.0.2.9', '1']) expect((await see(trusted, NAMED))[1], trusted).to.deep.equal([]);
  });
});
