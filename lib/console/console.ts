// Assembles the services of the pages, and creates the links for the first visit.
import { createAccounts } from '../accounts/accounts.ts';
import { createManagementKeys } from '../accounts/management-keys.ts';
import { DAY_MS, HOUR_MS } from '../base/durations.ts';
import { createDevices } from '../users/devices.ts';
import { createPeople } from '../users/people.ts';
import { createSessions } from '../users/sessions.ts';
import { createSignIn } from '../users/sign-in.ts';
import { createCustomerRanks } from './customer-ranks.ts';
import type { CallServices, ConsoleServices } from './services.ts';
import { createVisitLimit } from './visit-limit.ts';

/** What the pages share with the API. */
type ApiServices = Pick<
  ConsoleServices,
  | 'store'
  | 'catalog'
  | 'upstreams'
  | 'calls'
  | 'memoryQuota'
  | 'log'
  | 'publicUrl'
  | 'isReal'
  | 'now'
  | keyof CallServices
>;

export interface ConsoleOptions
  extends Pick<
    ConsoleServices,
    | 'catalogFailure'
    | 'catalogParts'
    | 'catalogEditor'
    | 'sandbox'
    | 'mailer'
    | 'alerts'
    | 'telegram'
    | 'payments'
    | 'topups'
    | 'usage'
    | 'fetcher'
    | 'onSignIn'
  > {
  readonly api: ApiServices;
  readonly keyPrefix: string;
  /** As configured; without a mail server `open` becomes `invite`. */
  readonly registration: ConsoleServices['registration'];
  readonly statusPage: boolean;
  readonly pageRateLimitPerMinute: number;
}

interface Console {
  readonly services: ConsoleServices;
  /** Secret, and valid once. Empty before `start`. */
  readonly links: FirstLinks;
  /** Creates the links if asked, and removes expired sessions in the background until closed. */
  start(linkOptions: FirstLinkOptions | undefined): Promise<void>;
  close(): void;
}

interface FirstLinkOptions {
  readonly demoAccount: string | undefined;
}

export interface FirstLinks {
  /** Set while there is no operator. */
  readonly setup?: string;
  /** Opens the demo account of the sandbox. */
  readonly demo?: string;
}

const CLEAN_EVERY_MS = HOUR_MS;
/** Sign-in attempts are forgotten after this. */
const ATTEMPTS_KEPT_MS = DAY_MS;

export function createConsole(options: ConsoleOptions): Console {
  const { api, keyPrefix, mailer } = options;
  const { store, log, now } = api;
  const services: ConsoleServices = {
    store,
    catalog: api.catalog,
    catalogFailure: options.catalogFailure,
    catalogParts: options.catalogParts,
    catalogEditor: options.catalogEditor,
    upstreams: api.upstreams,
    calls: api.calls,
    memoryQuota: api.memoryQuota,
    log,
    publicUrl: api.publicUrl,
    sandbox: options.sandbox,
    statusPage: options.statusPage,
    registration: resolveRegistration(options.registration, { mailer, log }),
    mailer,
    alerts: options.alerts,
    telegram: options.telegram,
    payments: options.payments,
    topups: options.topups,
    isReal: api.isReal,
    usage: options.usage,
    fetcher: options.fetcher,
    holders: api.holders,
    limiter: api.limiter,
    throttle: api.throttle,
    turns: api.turns,
    limits: api.limits,
    text: api.text,
    embeddings: api.embeddings,
    images: api.images,
    videos: api.videos,
    results: api.results,
    clientStallMs: api.clientStallMs,
    bodyLimits: api.bodyLimits,
    accounts: createAccounts({ store, keyPrefix }),
    managementKeys: createManagementKeys({ store, keyPrefix }),
    people: createPeople({ store, now }),
    sessions: createSessions({ store, now }),
    signIn: createSignIn({ store, now }),
    visitLimit: createVisitLimit(store.limits, options.pageRateLimitPerMinute),
    devices: createDevices({ store, now }),
    customerRanks: createCustomerRanks(store.usage),
    onSignIn: options.onSignIn,
    now,
  };
  let timer: NodeJS.Timeout | undefined;
  let links: FirstLinks = {};

  return {
    services,
    get links() {
      return links;
    },
    async start(linkOptions) {
      if (linkOptions) links = await makeFirstLinks(services, linkOptions);
      const clean = () =>
        store.sessions
          .clean({ now: now(), since: now() - ATTEMPTS_KEPT_MS })
          .catch((err: unknown) => log.warn({ err }, 'could not remove old sessions'));
      timer = setInterval(() => void clean(), CLEAN_EVERY_MS).unref();
    },
    close: () => clearInterval(timer),
  };
}

/** Without a mail server, accounts are opened by invitation only. */
function resolveRegistration(
  configured: ConsoleServices['registration'],
  { mailer, log }: Pick<ConsoleServices, 'mailer' | 'log'>,
): ConsoleServices['registration'] {
  if (configured !== 'open' || mailer) return configured;
  log.warn('REGISTRATION=open needs SMTP_URL; without it people register by invitation only');
  return 'invite';
}

async function makeFirstLinks(
  { people, publicUrl, store }: ConsoleServices,
  { demoAccount }: FirstLinkOptions,
): Promise<FirstLinks> {
  const link = (token: string) => `${publicUrl()}/setup?token=${token}`;
  const isNew = (await store.users.operators()) === 0;
  return {
    ...(isNew && { setup: link(await people.makeLink({ purpose: 'setup' })) }),
    ...(demoAccount !== undefined && {
      demo: link(await people.makeLink({ purpose: 'demo', account: demoAccount })),
    }),
  };
}
