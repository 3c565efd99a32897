// Mail goes through TLS to any server that is not on this machine: passwords and one-time links are in it.
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { createMailer } from '../../lib/users/mail.ts';
import { createAuthority } from '../../testkit/certificates.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';

/** Leads to this machine, but is not an address that is only ever on it. */
const REMOTE = '0.0.0.0';

describe('mail', () => {
  const authority = createAuthority();
  const trusted = getCACertificates('default');
  const servers: MailServer[] = [];
  before(() => setDefaultCACertificates([...trusted, authority.ca]));
  after(() => setDefaultCACertificates(trusted));
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

  async function start(tls?: Parameters<typeof startMailServer>[0]): Promise<MailServer> {
    const server = await startMailServer(tls);
    servers.push(server);
    return server;
  }

  /** What became of a mail: how it arrived, or the error. */
  async function sent({ port, letters }: MailServer, host: string, query = ''): Promise<string> {
    const mailer = createMailer(`smtp://gate:p%40ss@${host}:${port}${query}`, 'gate@example.com');
    try {
      await mailer.send({ to: 'ann@example.com', subject: 'A link', text: 'https://example.com/setup?token=secret' });
      return letters.at(-1)?.isSecure ? 'through TLS' : 'plain';
    } catch (error) {
      expect(letters).to.deep.equal([]);
      return String((error as { code?: unknown }).code);
    } finally {
      mailer.close();
    }
  }

  it('is sent through STARTTLS with a verified certificate', async () => {
    const good = await start({ tls: authority.issue(REMOTE, 'localhost', '127.0.0.1') });
    expect(await sent(good, REMOTE)).to.equal('through TLS');
    expect(await sent(good, 'localhost')).to.equal('through TLS');
    const stranger = await start({ tls: createAuthority().issue(REMOTE) });
    expect(await sent(stranger, REMOTE)).to.equal('ESOCKET');
  });

  it('is not sent to a server without STARTTLS, unless the server is on this machine or the URL has tls=off', async () => {
    const plain = await start();
    const asked = [];
    for (const [host, query] of [
      [REMOTE, ''],
      [REMOTE, '?tls='],
      [REMOTE, '?from=a%40example.com'],
    ] as const)
      asked.push(await sent(plain, host, query));
    expect(asked).to.deep.equal(['ETLS', 'ETLS', 'ETLS']);
    expect(await sent(plain, '127.0.0.1')).to.equal('plain');
    expect(await sent(plain, 'localhost')).to.equal('plain');
    expect(await sent(plain, REMOTE, '?tls=off')).to.equal('plain');
    const able = await start({ tls: createAuthority().issue(REMOTE) });
    expect(await sent(able, REMOTE, '?tls=off'), 'nobody to check the certificate').to.equal('plain');
  });

  it('is sent as the user of the URL, if it has one, and by the sender that it names', async () => {
    const { port, letters } = await start();
    const send = async (user: string, query = '') => {
      const mailer = createMailer(`smtp://${user}127.0.0.1:${port}${query}`, 'gate@example.com');
      try {
        await mailer.send({ to: 'ann@example.com', subject: 'Hello', text: 'Hello' });
        return [letters.at(-1)?.user, /^From: (.*)$/m.exec(letters.at(-1)?.head ?? '')?.[1]?.trim()];
      } catch (error) {
        return String((error as { code?: unknown }).code);
      } finally {
        mailer.close();
      }
    };
    expect(await send('gate:p%40ss@')).to.deep.equal(['gate', 'gate@example.com']);
    expect(await send('', '?from=Gate%20%3Cother@example.com%3E')).to.deep.equal([
      undefined,
      'Gate <other@example.com>',
    ]);
    expect(await send('gate:wrong@')).to.equal('EAUTH');
  });

  it('goes nowhere if its address is a list', async () => {
    const { url, letters } = await start();
    const mailer = createMailer(url, 'gate@example.com');
    const to = 'ann@example.com, eve@example.com';
    await mailer.send({ to, subject: 'A link', text: 'secret' }).catch(() => undefined);
    mailer.close();
    expect(letters).to.deep.equal([]);
  });

  it('rejects other values of `tls`, a percent sign that is not encoded, and senders without an address, without showing the password', () => {
    for (const [url, words] of [
      ['smtp://gate:p%40ss@mail.example.com?tls=on', 'tls may only be off'],
      ['smtp://gate:p%40ss@mail.example.com?tls=none', 'tls may only be off'],
      ['smtps://gate:p%40ss@mail.example.com?tls=off', 'smtps:// is TLS'],
      ['smtp://gate:p%40ss%@mail.example.com', '% has to be written as %25'],
      ['smtp://gate:p%40ss@mail.example.com?from=Gate', 'from must be an address'],
      ['smtp://gate:p%40ss@mail.example.com?from=Gate%20gate@example.com', 'from must be an address'],
    ] as const) {
      const make = () => createMailer(url, 'gate@example.com');
      expect(make).to.throw(OperatorError, words);
      expect(make).to.not.throw('p%40ss');
    }
  });
});
