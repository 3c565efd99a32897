// Assembles the services of the pages, and makes the links that let their first visitors in.
import { createAccounts } from '../accounts/accounts.ts';
import { createAlerts } from '../alerts/alerts.ts';
import type { Config } from '../config.ts';
import { createDevices } from '../users/devices.ts';
import { createMailer } from '../users/mail.ts';
import { createPeople } from '../users/people.ts';
import { createSessions } from '../users/sessions.ts';
import { createSignIn } from '../users/sign-in.ts';
import type { CallServices, WebServices } from './services.ts';
import { createVisitLimit } from './visit-limit.ts';

export type WebOptions = Pick<
  WebServices,
  | 'store'
  | 'catalog'
  | 'catalogFailure'
  | 'upstreams'
  | 'calls'
  | 'budget'
  | 'log'
  | 'publicUrl'
  | 'sandbox'
  | 'payments'
  | 'topups'
  | 'isReal'
  | 'usage'
  | keyof CallServices
> & {
  /** For alerts. */
  readonly webhooks: WebServices['fetcher'];
  readonly config: Pick<Config, 'keyPrefix' | 'publicUrl' | 'registration' | 'smtpUrl' | 'pageRateLimitPerMinute'>;
  readonly metrics?: { readonly onSignIn: NonNullable<WebServices['onSignIn']> } | undefined;
  /** Average pause between two rounds of alerts. */
  readonly alertsEveryMs?: number | undefined;
};

export interface Web {
  readonly services: WebServices;
  /** For the operator's eyes only: each works once. None before the start. */
  readonly links: FirstLinks;
  /** Makes the links, if asked; until closed, removes expired sessions and delivers alerts in the background. */
  start(first: FirstVisit | undefined): Promise<void>;
  close(): Promise<void>;
}

export interface FirstVisit {
  readonly demoAccount: string | undefined;
}

export interface FirstLinks {
  /** Set while there is no operator. */
  readonly setup?: string;
  /** Opens the demo account of the sandbox. */
  readonly demo?: string;
}

const CLEAN_EVERY_MS = 3_600_000;
/** Sign-in attempts are forgotten after this. */
const ATTEMPTS_KEPT_MS = 24 * 3_600_000;

export function openWeb({ config, metrics, alertsEveryMs, webhooks: fetcher, ...options }: WebOptions): Web {
  const { keyPrefix, registration, smtpUrl } = config;
  const { store, log } = options;
  const now = Date.now;
  const mailer = smtpUrl === undefined ? undefined : createMailer(smtpUrl, senderOf(config.publicUrl));
  const alerts = createAlerts({
    ...options,
    fetcher,
    mailer,
    ...(alertsEveryMs !== undefined && { everyMs: alertsEveryMs }),
  });
  const services: WebServices = {
    ...options,
    fetcher,
    registration: registrationOf(registration, { mailer, log }),
    mailer,
    alerts,
    accounts: createAccounts({ store, keyPrefix }),
    people: createPeople({ store }),
    sessions: createSessions({ store }),
    signIn: createSignIn({ store }),
    visitLimit: createVisitLimit(store.limits, config.pageRateLimitPerMinute),
    devices: createDevices({ store }),
    onSignIn: metrics?.onSignIn,
    now,
  };
  let timer: NodeJS.Timeout | undefined;
  let links: FirstLinks = {};

  return {
    services,
    get links() {
      return links;
    },
    async start(first) {
      if (first) links = await makeLinks(services, first);
      const clean = () =>
        store.sessions
          .clean({ now: now(), since: now() - ATTEMPTS_KEPT_MS })
          .catch((err: unknown) => log.warn({ err }, 'could not remove old sessions'));
      timer = setInterval(() => void clean(), CLEAN_EVERY_MS).unref();
      alerts.start();
    },
    async close() {
      clearInterval(timer);
      await alerts.stop();
      mailer?.close();
    },
  };
}

/** Who cannot be mailed to can only be invited. */
function registrationOf(
  wanted: WebServices['registration'],
  { mailer, log }: Pick<WebServices, 'mailer' | 'log'>,
): WebServices['registration'] {
  if (wanted !== 'open' || mailer) return wanted;
  log.warn('REGISTRATION=open needs SMTP_URL; without it people register by invitation only');
  return 'invite';
}

async function makeLinks({ people, publicUrl, store }: WebServices, { demoAccount }: FirstVisit): Promise<FirstLinks> {
  const link = (token: string) => `${publicUrl()}/setup?token=${token}`;
  const isNew = (await store.users.operators()) === 0;
  return {
    ...(isNew && { setup: link(await people.makeLink({ purpose: 'setup' })) }),
    ...(demoAccount !== undefined && {
      demo: link(await people.makeLink({ purpose: 'demo', account: demoAccount })),
    }),
  };
}

function senderOf(publicUrl: string): string {
  return `Tollgate <tollgate@${new URL(publicUrl).hostname}>`;
}
