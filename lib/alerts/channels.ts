// The channels of an alert: an email and a Telegram message to each owner, and a signed POST to the account's webhook.
import type { Logger } from 'pino';
import { rejectOnAbort } from '../base/abort.ts';
import { withDeadline } from '../media/deadline.ts';
import { FetchFailure } from '../media/failure.ts';
import type { Fetcher } from '../media/fetcher.ts';
import type { AlertSettings } from '../store/ports/alerts.ts';
import type { TelegramChat, User } from '../store/ports/users.ts';
import type { Store } from '../store/store.ts';
import type { Mail, Mailer } from '../users/mail.ts';
import { listOwners } from '../users/owners.ts';
import { buildAlertChat, buildAlertMail } from './alert-messages.ts';
import type { AlertRecipient } from './alert-words.ts';
import type { AlertEvent, Arrival, Delivery } from './delivery.ts';
import { isActiveOperator, listOperators, OPERATORS } from './operators.ts';
import { SIGNATURE_HEADER, sign } from './signature.ts';
import { type TelegramBot, TelegramFailure } from './telegram-bot.ts';
import { changeChat } from './telegram-chats.ts';
import { TELEGRAM_WORDS } from './telegram-words.ts';

export interface ChannelOptions {
  readonly store: Pick<Store, 'accounts' | 'users'>;
  /** Undefined if no mail server is configured. */
  readonly mailer: Pick<Mailer, 'send'> | undefined;
  /** Undefined if no Telegram bot is configured. */
  readonly telegram?: TelegramBot | undefined;
  readonly fetcher: () => Pick<Fetcher, 'post'>;
  readonly publicUrl: () => string;
  readonly log: Pick<Logger, 'warn'>;
  readonly now: () => number;
}

interface Channels {
  /** The names of the channels that an alert of this account would use. */
  listNames(settings: AlertSettings): Promise<readonly string[]>;
  /** Tries every due channel; resolves to the state of all channels. Rejects only with the signal's reason. */
  send(settings: AlertSettings, delivery: Delivery, signal: AbortSignal): Promise<Delivery['arrivals']>;
}

const WEBHOOK = 'webhook';
const MAIL = 'mail:';
const TELEGRAM = 'telegram:';
const MAIL_TIMEOUT_MS = 30_000;

export function createChannels({ store, mailer, telegram, fetcher, publicUrl, log, now }: ChannelOptions): Channels {
  async function tryChannel(settings: AlertSettings, name: string, event: AlertEvent, signal: AbortSignal) {
    try {
      return await sendBy(settings, name, event, signal);
    } catch (err) {
      signal.throwIfAborted();
      log.warn({ err, account: event.account, alert: event.id, channel: name }, 'an alert was not delivered');
      return describeFailure(err, now());
    }
  }

  async function sendBy(settings: AlertSettings, name: string, event: AlertEvent, signal: AbortSignal) {
    if (name === WEBHOOK) return postWebhook(settings, event, signal);
    const [prefix, send] = name.startsWith(TELEGRAM) ? [TELEGRAM, sendChat] : [MAIL, sendMail];
    const to = await findRecipient(name.slice(prefix.length), event);
    return to ? send(event, to, signal) : REMOVED;
  }

  async function postWebhook({ webhook }: AlertSettings, event: AlertEvent, signal: AbortSignal): Promise<Arrival> {
    if (!webhook) return REMOVED;
    const { id, type, account, at, data } = event;
    const body = JSON.stringify({ id, type, created_at: new Date(at).toISOString(), account, data });
    const signature = sign(body, { secret: webhook.secret, now: now() });
    const headers = { 'content-type': 'application/json', [SIGNATURE_HEADER]: signature };
    await fetcher().post(webhook.url, { headers, body, signal });
    return { state: 'sent' };
  }

  /** A user who has left the account since, or is no operator any more, gets no alert. */
  async function findRecipient(id: string, event: AlertEvent): Promise<AlertRecipient | undefined> {
    const user = await store.users.get(id);
    if (event.account === OPERATORS)
      return user && isActiveOperator(user) ? { user, accountName: '', publicUrl: publicUrl() } : undefined;
    const [account, owners] = await Promise.all([
      store.accounts.get(event.account),
      listOwners(store.users, event.account),
    ]);
    const isOwner = user?.status === 'active' && owners.some((owner) => owner.user === id);
    return account && isOwner ? { user, accountName: account.name, publicUrl: publicUrl() } : undefined;
  }

  async function sendMail(event: AlertEvent, to: AlertRecipient, signal: AbortSignal): Promise<Arrival> {
    if (!mailer) return REMOVED;
    await mail(mailer, buildAlertMail(event, to), signal);
    return { state: 'sent' };
  }

  async function sendChat(event: AlertEvent, to: AlertRecipient, signal: AbortSignal): Promise<Arrival> {
    const { user } = to;
    if (!telegram || !user.telegram) return REMOVED;
    try {
      await telegram.send(user.telegram.id, buildAlertChat(event, to), signal);
      return { state: 'sent' };
    } catch (error) {
      if (!(error instanceof TelegramFailure) || !error.isChatClosed) throw error;
      await endChat(user, user.telegram, signal);
      return { state: 'failed', why: 'blocked' };
    }
  }

  /** The person is told first: if that fails, the next attempt finds the chat as closed as this one, and tells again. */
  async function endChat(user: User, { name }: TelegramChat, signal: AbortSignal): Promise<void> {
    const { endedSubject, ended } = TELEGRAM_WORDS[user.language];
    const url = `${publicUrl()}${user.operator ? '/admin/alerts' : '/account/settings/alerts'}`;
    if (mailer) await mail(mailer, { to: user.email, subject: endedSubject, text: ended(name, url) }, signal);
    await changeChat(store.users, user.id, undefined);
  }

  /** Who would get an alert of this account. */
  async function listRecipients(account: string): Promise<readonly User[]> {
    if (account === OPERATORS) return listOperators(store);
    const owners = await listOwners(store.users, account);
    const users = await Promise.all(owners.map(({ user }) => store.users.get(user)));
    return users.filter((user) => user !== undefined);
  }

  return {
    async listNames({ account, webhook }) {
      const people = mailer || telegram ? await listRecipients(account) : [];
      const names = people.flatMap(({ id, telegram: chat }) => [
        ...(mailer ? [`${MAIL}${id}`] : []),
        ...(telegram && chat ? [`${TELEGRAM}${id}`] : []),
      ]);
      return [...names, ...(webhook ? [WEBHOOK] : [])];
    },
    async send(settings, { event, arrivals }, signal) {
      const rows = Object.entries(arrivals).map(async ([name, arrival]) => {
        const isDue = arrival.state === 'due' && (arrival.notBefore ?? 0) <= now();
        const made = isDue ? await tryChannel(settings, name, event, signal) : arrival;
        return [name, made] as const;
      });
      return Object.fromEntries(await Promise.all(rows));
    },
  };
}

const REMOVED: Arrival = { state: 'failed', why: 'removed' };

async function mail(mailer: Pick<Mailer, 'send'>, letter: Mail, signal: AbortSignal): Promise<void> {
  await withDeadline(MAIL_TIMEOUT_MS, signal, (ending) => rejectOnAbort(mailer.send(letter), ending));
}

/** Owners see this, so it does not reveal why a host was unreachable. */
function describeFailure(error: unknown, now: number): Arrival {
  if (error instanceof TelegramFailure) {
    const { status, retryAfterMs } = error;
    const why = status === undefined ? 'unreachable' : `status ${status}`;
    return { state: 'due', why, ...(retryAfterMs !== undefined && { notBefore: now + retryAfterMs }) };
  }
  if (!(error instanceof FetchFailure)) return { state: 'due', why: 'mail' };
  return { state: 'due', why: error.reason === 'status' ? `status ${error.status}` : 'unreachable' };
}
