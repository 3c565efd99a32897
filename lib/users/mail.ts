// Sends email through the operator's SMTP server: one-time links and alerts, never anything that needs a reply.
import type { Transporter } from 'nodemailer';
import { readCredentials } from '../base/credentials.ts';
import { OperatorError } from '../base/operator-error.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

export interface Mailer {
  /** Rejects when the server does not accept it. */
  send(mail: Mail): Promise<void>;
  /** Rejects with what the server says to a connection, to TLS, and to our user and password, after a few seconds at most. */
  check(): Promise<void>;
  close(): void;
}

const TIMEOUT_MS = 10_000;
/** Somebody waits for the page that says whether mail works. */
const CHECK_TIMEOUT_MS = 3_000;

/** A server on this machine needs no TLS. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

/** An address, with or without a name before it. */
const SENDER = /^(?:[^<>@]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/;

interface MailSettings {
  readonly from: string;
  readonly options: object;
}

/**
 * Takes `smtp://user:password@host:587` or `smtps://…`; `?from=` sets the sender. With `smtp:`, STARTTLS is required
 * unless the server is on this machine or the URL has `?tls=off`. Throws an `OperatorError` for anything else, without
 * quoting the URL: it may contain a password.
 */
function readMailSettings(smtpUrl: string, fromByDefault: string): MailSettings {
  const url = URL.parse(smtpUrl);
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') {
    throw new OperatorError('SMTP_URL must be an smtp:// or smtps:// URL with a host');
  }
  const tls = url.searchParams.get('tls') ?? '';
  if (!['', 'off'].includes(tls)) throw new OperatorError('SMTP_URL: tls may only be off');
  if (tls === 'off' && url.protocol === 'smtps:')
    throw new OperatorError('SMTP_URL: smtps:// is TLS, so tls cannot be off');
  const asked = url.searchParams.get('from');
  if (asked !== null && !SENDER.test(asked))
    throw new OperatorError('SMTP_URL: from must be an address such as gate@example.com or Gate <gate@example.com>');
  const from = asked ?? fromByDefault;
  const secure = url.protocol === 'smtps:';
  const auth = readCredentials(url, 'SMTP_URL');
  const options = {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    ...(auth.user !== '' && { auth }),
    ...(tls === 'off' ? { ignoreTLS: true } : { requireTLS: !secure && !LOOPBACK.test(url.hostname) }),
    ...timeouts(TIMEOUT_MS),
    // Our mails need neither files nor URLs; an injected one must not read any.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  return { from, options };
}

function timeouts(ms: number): object {
  return { dnsTimeout: ms, connectionTimeout: ms, greetingTimeout: ms, socketTimeout: ms };
}

/** Rejects with what the server says to a connection, to TLS, and to our user and password. */
export async function checkMailServer(smtpUrl: string): Promise<void> {
  await verify(readMailSettings(smtpUrl, '').options);
}

async function verify(options: object): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport(options);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

/** Throws as `readMailSettings` does. */
export function createMailer(smtpUrl: string, fromByDefault: string): Mailer {
  const { from, options } = readMailSettings(smtpUrl, fromByDefault);
  let transport: Promise<Transporter> | undefined;
  return {
    async send({ to, subject, text }) {
      // Loaded lazily: nodemailer adds about 10 % to the start.
      transport ??= import('nodemailer').then(({ createTransport }) => createTransport(options));
      // As an object, so that a comma in an address does not add a second recipient.
      await (await transport).sendMail({ from, to: { name: '', address: to }, subject, text });
    },
    check: () => verify({ ...options, ...timeouts(CHECK_TIMEOUT_MS) }),
    close: () => void transport?.then((open) => open.close()),
  };
}
