// Mail to people, by the SMTP server of the operator: one-time links and nothing that a reply is needed for.
import { createTransport } from 'nodemailer';
import { OperatorError } from '../operator-error.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

export interface Mailer {
  /** Rejects when the server does not take it. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

const TIMEOUT_MS = 10_000;

/**
 * `smtp://user:password@host:587` or `smtps://…`; `?from=` says whom mail is from. Throws an `OperatorError` for anything
 * else, without the URL: it may hold a password.
 */
export function createMailer(smtpUrl: string, fromByDefault: string): Mailer {
  const url = URL.parse(smtpUrl);
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') {
    throw new OperatorError('SMTP_URL is not a URL of smtp or smtps with a host');
  }
  const from = url.searchParams.get('from') ?? fromByDefault;
  const secure = url.protocol === 'smtps:';
  const [user, pass] = [url.username, url.password].map(decodeURIComponent);
  const transport = createTransport({
    ...{ host: url.hostname, port: Number(url.port) || (secure ? 465 : 587), secure },
    ...(user && pass !== undefined && { auth: { user, pass } }),
    ...{ connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS },
    // Templates of ours name no files and no URLs: nobody else's do either.
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  return {
    async send({ to, subject, text }) {
      // As an object: a comma in an address is not a second one.
      await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
    },
    close: () => transport.close(),
  };
}
