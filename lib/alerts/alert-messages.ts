// Builds the email and the Telegram message of an alert.
import type { Mail } from '../users/mail.ts';
import { type AlertRecipient, writeAlert } from './alert-words.ts';
import type { AlertEvent } from './delivery.ts';
import { escapeTelegram, MESSAGE_LENGTH_MAX } from './telegram-bot.ts';

export function buildAlertMail(event: AlertEvent, to: AlertRecipient): Mail {
  const { subject, text, links } = writeAlert(event, to);
  const paragraphs = [text, ...links.map(([name, url]) => `${name} ${url}`)];
  return { to: to.user.email, subject, text: `${paragraphs.join('\n\n')}\n` };
}

/** In Telegram's HTML. Names that people have chosen are in it, so everything is escaped. */
export function buildAlertChat(event: AlertEvent, to: AlertRecipient): string {
  const { subject, text, links } = writeAlert(event, to);
  const short = text.length > MESSAGE_LENGTH_MAX ? `${text.slice(0, MESSAGE_LENGTH_MAX - 1).toWellFormed()}…` : text;
  const paragraphs = [short, ...links.map(([name, url]) => `${name} ${url}`)].map(escapeTelegram);
  return [`<b>${escapeTelegram(subject)}</b>`, ...paragraphs].join('\n\n');
}
