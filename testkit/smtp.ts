// A real mail server on loopback that keeps the mail it receives.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import type { Certificate } from './certificates.ts';
import { until } from './client.ts';

interface Letter {
  readonly to: string;
  /** It came through TLS. */
  readonly isSecure: boolean;
  /** Who signed in to send it; undefined: nobody. */
  readonly user: string | undefined;
  /** The subject as sent, and the decoded body. */
  readonly head: string;
  readonly text: string;
}

export interface MailServer {
  readonly port: number;
  /** An `SMTP_URL` with the correct password. */
  readonly url: string;
  readonly letters: readonly Letter[];
  /** The last mail to an address; waits for the first. */
  letterTo(address: string): Promise<Letter>;
  /** Refuses mail to these addresses from now on. */
  refuse(...addresses: readonly string[]): void;
  stop(): Promise<void>;
}

/** With a certificate it offers STARTTLS. */
export async function startMailServer({ tls }: { readonly tls?: Certificate } = {}): Promise<MailServer> {
  const letters: Letter[] = [];
  let refused: readonly string[] = [];
  const server = new SMTPServer({
    ...(tls ?? { disabledCommands: ['STARTTLS'] }),
    allowInsecureAuth: true,
    authOptional: true,
    onAuth: ({ username, password }, _session, done) =>
      done(password === 'p@ss' ? null : new Error('wrong password'), { user: username }),
    onRcptTo: ({ address }, _session, done) => done(refused.includes(address) ? new Error('no such mailbox') : null),
    onData: (stream, { envelope, secure, user }, done) => {
      let message = '';
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        message += chunk;
      });
      stream.on('end', () => {
        const [head = ''] = message.split('\r\n\r\n');
        letters.push({
          isSecure: secure,
          user,
          to: envelope.rcptTo.map(({ address }) => address).join(),
          head,
          text: decoded(message),
        });
        done();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    url: `smtp://gate:p%40ss@127.0.0.1:${port}?from=Gate%20%3Cgate@example.com%3E`,
    letters,
    async letterTo(address) {
      await until(() => letters.some(({ to }) => to === address));
      return letters.findLast(({ to }) => to === address) as Letter;
    },
    refuse(...addresses) {
      refused = addresses;
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Quoted-printable or base64, as used for mail with non-ASCII characters or long lines. */
function decoded(message: string): string {
  const [, body = ''] = message.split(/\r\n\r\n([\s\S]*)/);
  if (/content-transfer-encoding: base64/i.test(message)) return Buffer.from(body, 'base64').toString();
  const bytes = body
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
