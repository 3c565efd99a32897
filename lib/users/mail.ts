// Mail to people, by the SMTP server of the operator: one-time links and nothing that a reply is needed for.
import type { Transporter } from 'nodemailer';
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
  const options = {
    ...{ host: url.hostname, port: Number(url.port) || (secure ? 465 : 587), secure },
    ...(user && pass !== undefined && { auth: { user, pass } }),
    ...{ connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS },
    // Templates of ours name no files and no URLs: nobody else's do either.
    ...{ disableFileAccess: true, disableUrlAccess: true },
  };
  let transport: Promise<Transporter> | undefined;
  return {
    async send({ to, subject, text }) {
      // Loaded with the first letter: it would be a tenth of every start.
      transport ??= import('nodemailer').then(({ createTransport }) => createTransport(options));
      // As an object: a comma in an address is not a second one.
      await (await transport).sendMail({ from, to: { name: '', address: to }, subject, text });
    },
    close: () => void transport?.then((open) => open.close()),
  };
}
