// Opens what alerts people: mail, the Telegram bot with its chats, webhooks, and what operators are alerted of.
import { type Alerts, type AlertsOptions, createAlerts } from '../alerts/alerts.ts';
import { createLossAlert } from '../alerts/loss.ts';
import { createServiceWatches, type ServiceWatches, type WatchedUpstream } from '../alerts/service.ts';
import { createTelegramBot, type TelegramBot } from '../alerts/telegram-bot.ts';
import { createTelegramChats } from '../alerts/telegram-chats.ts';
import type { Config } from '../config.ts';
import type { Log } from '../http/log.ts';
import type { Store } from '../store/store.ts';
import { createMailer, type Mailer } from '../users/mail.ts';
import { createPeople } from '../users/people.ts';

interface AlertParts {
  readonly store: Store;
  readonly log: Log;
  readonly publicUrl: () => string;
  readonly fetcher: AlertsOptions['fetcher'];
  readonly everyMs: number | undefined;
}

interface OpenAlerts extends Pick<Alerts, 'start' | 'stop'> {
  readonly alerts: Alerts;
  /** Each undefined if it is not configured. */
  readonly channels: { readonly mailer: Mailer | undefined; readonly telegram: TelegramBot | undefined };
  readonly onLosses: ReturnType<typeof createLossAlert>;
  /** The upstreams that are watched from now on. */
  watchUpstreams(upstreams: () => readonly WatchedUpstream[]): void;
}

export function openAlerts(config: Config, { store, log, publicUrl, fetcher, everyMs }: AlertParts): OpenAlerts {
  const mailer = openMailer(config);
  const telegram = openTelegram(config, log);
  let listServiceWatches: ServiceWatches = async () => [];
  const alerts = createAlerts({
    store,
    log,
    publicUrl,
    mailer,
    telegram,
    fetcher,
    everyMs,
    serviceWatches: () => listServiceWatches(),
  });
  const { ownerId } = config;
  const people = createPeople({ store });
  const chats = telegram && createTelegramChats({ store, people, bot: telegram, publicUrl, ownerId, log });
  return {
    alerts,
    channels: { mailer, telegram },
    onLosses: createLossAlert({ alerts, log }),
    watchUpstreams(upstreams) {
      listServiceWatches = createServiceWatches({ store, config, upstreams });
    },
    start() {
      alerts.start();
      chats?.start();
    },
    async stop() {
      await Promise.all([alerts.stop(), chats?.stop()]);
      mailer?.close();
    },
  };
}

function openMailer({ smtpUrl, publicUrl }: Config): Mailer | undefined {
  if (smtpUrl === undefined) return undefined;
  return createMailer(smtpUrl, `Tollgate <tollgate@${new URL(publicUrl).hostname}>`);
}

function openTelegram({ telegramToken: token, telegramApi: api }: Config, log: Log): TelegramBot | undefined {
  if (token === undefined) return undefined;
  log.addSecrets([token]);
  return createTelegramBot({ token, api });
}
