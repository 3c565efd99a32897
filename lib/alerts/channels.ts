// The channels of an alert: an email to each owner and a signed POST to the account's webhook.
import type { Logger } from 'pino';
import { rejectOnAbort, withDeadline } from '../media/deadline.ts';
import { FetchFailure } from '../media/failure.ts';
import type { Fetcher } from '../media/fetcher.ts';
import type { AlertSettings } from '../store/ports/alerts.ts';
import type { User } from '../store/ports/users.ts';
import type { Store } from '../store/store.ts';
import type { Mailer } from '../users/mail.ts';
import { listOwners } from '../users/owners.ts';
import { buildAlertMail } from './alert-mail.ts';
import type { AlertEvent, Arrival, Delivery } from './delivery.ts';
import { isActiveOperator, listOperators, OPERATORS } from './operators.ts';
import { SIGNATURE_HEADER, sign } from './signature.ts';

export interface ChannelOptions {
  readonly store: Pick<Store, 'accounts' | 'users'>;
  /** Undefined if no mail server is configured. */
  readonly mailer: Mailer | undefined;
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
const MAIL_TIMEOUT_MS = 30_000;

export function createChannels({ store, mailer, fetcher, publicUrl, log, now }: ChannelOptions): Channels {
  async function tryChannel(settings: AlertSettings, name: string, event: AlertEvent, signal: AbortSignal) {
    try {
      return await (name === WEBHOOK
        ? postWebhook(settings, event, signal)
        : sendMail(name.slice(MAIL.length), event, signal));
    } catch (err) {
      signal.throwIfAborted();
      log.warn({ err, account: event.account, alert: event.id, channel: name }, 'an alert was not delivered');
      return { state: 'due', why: describeFailure(err) } satisfies Arrival;
    }
  }

  async function postWebhook({ webhook }: AlertSettings, event: AlertEvent, signal: AbortSignal): Promise<Arrival> {
    if (!webhook) return { state: 'failed', why: 'removed' };
    const { id, type, account, at, data } = event;
    const body = JSON.stringify({ id, type, created_at: new Date(at).toISOString(), account, data });
    const signature = sign(body, { secret: webhook.secret, now: now() });
    const headers = { 'content-type': 'application/json', [SIGNATURE_HEADER]: signature };
    await fetcher().post(webhook.url, { headers, body, signal });
    return { state: 'sent' };
  }

  async function sendMail(userId: string, event: AlertEvent, signal: AbortSignal): Promise<Arrival> {
    const { users, accounts } = store;
    if (event.account === OPERATORS) return sendToOperator(userId, event, signal);
    const [user, account, owners] = await Promise.all([
      users.get(userId),
      accounts.get(event.account),
      listOwners(users, event.account),
    ]);
    // A user who has left the account since gets no alert.
    const isOwner = user?.status === 'active' && owners.some((owner) => owner.user === userId);
    if (!account || !isOwner) return { state: 'failed', why: 'removed' };
    return send(event, { user, accountName: account.name }, signal);
  }

  async function sendToOperator(userId: string, event: AlertEvent, signal: AbortSignal): Promise<Arrival> {
    const user = await store.users.get(userId);
    if (!user || !isActiveOperator(user)) return { state: 'failed', why: 'removed' };
    return send(event, { user, accountName: '' }, signal);
  }

  async function send(
    event: AlertEvent,
    to: { readonly user: User; readonly accountName: string },
    signal: AbortSignal,
  ): Promise<Arrival> {
    if (!mailer) return { state: 'failed', why: 'removed' };
    const letter = buildAlertMail(event, { ...to, publicUrl: publicUrl() });
    await withDeadline(MAIL_TIMEOUT_MS, signal, (ending) => rejectOnAbort(mailer.send(letter), ending));
    return { state: 'sent' };
  }

  return {
    async listNames({ account, webhook }) {
      if (account === OPERATORS) return mailer ? (await listOperators(store)).map(({ id }) => `${MAIL}${id}`) : [];
      const owners = mailer ? await listOwners(store.users, account) : [];
      return [...owners.map(({ user }) => `${MAIL}${user}`), ...(webhook ? [WEBHOOK] : [])];
    },
    async send(settings, { event, arrivals }, signal) {
      const rows = Object.entries(arrivals).map(async ([name, arrival]) => {
        const made = arrival.state === 'due' ? await tryChannel(settings, name, event, signal) : arrival;
        return [name, made] as const;
      });
      return Object.fromEntries(await Promise.all(rows));
    },
  };
}

/** Owners see this, so it does not reveal why a host was unreachable. */
function describeFailure(error: unknown): string {
  if (!(error instanceof FetchFailure)) return 'mail';
  return error.reason === 'status' ? `status ${error.status}` : 'unreachable';
}
