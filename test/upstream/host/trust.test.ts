import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect } from 'chai';
import type { Host, UpstreamFault } from '../../../lib/upstream/contract/provider.ts';
import { createProvider, type OpenProvider } from '../../../lib/upstream/host/settings.ts';
import { createAuthority } from '../../../testkit/certificates.ts';

describe('authorities of an upstream', () => {
  const authority = createAuthority();
  let folder: string;
  let origin: string;
  let opened: OpenProvider[];
  let closeServer: () => Promise<unknown>;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'trust-'));
    writeFileSync(join(folder, 'ca.pem'), `A comment.\n${authority.issue('else').cert}${authority.ca}`);
    writeFileSync(join(folder, 'other.pem'), createAuthority().ca);
    writeFileSync(join(folder, 'empty.pem'), 'nothing\n');
    writeFileSync(join(folder, 'broken.pem'), '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
    const server = createServer(authority.issue('127.0.0.1'), (_, response) => response.end('{"ok":true}'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    closeServer = () => new Promise((resolve) => server.close(resolve));
  });
  after(async () => {
    await closeServer();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    opened = [];
  });
  afterEach(async () => {
    for (const { close } of opened) await close();
  });

  function open(settings: object): Host {
    let given: Host | undefined;
    opened.push(
      createProvider({
        plugin: {
          contract: 1,
          name: 'acme',
          settings: (joi) => joi.object({ baseUrl: joi.string(), ca: joi.string() }),
          create(_, host) {
            given = host;
            return {};
          },
        },
        upstream: 'acme',
        settings: { baseUrl: origin, ...settings },
        log: { warn() {} },
      }),
    );
    return given as Host;
  }

  const ask = (host: Host) => host.json(origin, { method: 'GET', signal: new AbortController().signal });

  it('are those of `ca`, of every certificate in the file', async () => {
    expect(await ask(open({ ca: join(folder, 'ca.pem') }))).to.deep.include({ value: { ok: true } });
  });

  it('are the usual ones too', async () => {
    const usual = getCACertificates('default');
    setDefaultCACertificates([...usual, authority.ca]);
    try {
      expect(await ask(open({ ca: join(folder, 'other.pem') }))).to.deep.include({ value: { ok: true } });
    } finally {
      setDefaultCACertificates(usual);
    }
  });

  for (const [name, settings] of [
    ['only the usual ones without it', () => ({})],
    ['no others', () => ({ ca: join(folder, 'other.pem') })],
  ] as const) {
    it(`are ${name}`, async () => {
      const error = await ask(open(settings())).then(
        () => expect.fail('it was trusted'),
        (thrown: UpstreamFault) => thrown,
      );
      expect(error.kind).to.equal('network');
      expect(error.detail).to.match(/CERT|SIGNATURE|ISSUER/);
    });
  }

  for (const [name, says] of [
    ['missing.pem', 'cannot be read (ENOENT)'],
    ['empty.pem', 'has no PEM certificate'],
    ['broken.pem', 'has a certificate that cannot be read'],
  ] as const) {
    it(`stop the start when the file ${says}`, () => {
      const ca = join(folder, name);
      expect(() => open({ ca })).to.throw(`Upstream \`acme\`: \`ca\`: ${ca} ${says}`);
    });
  }
});
