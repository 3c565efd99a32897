// The services that the pages use, composed once by the gateway.
import type { Logger } from 'pino';
import type { Accounts } from '../accounts/accounts.ts';
import type { ManagementKeys } from '../accounts/management-keys.ts';
import type { Alerts } from '../alerts/alerts.ts';
import type { TelegramBot } from '../alerts/telegram-bot.ts';
import type { Services } from '../api/services.ts';
import type { UpstreamHealth } from '../calls/upstreams.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogEditor } from '../catalog/editor.ts';
import type { CatalogFailure, CatalogParts } from '../catalog/live.ts';
import type { LiveCalls } from '../http/live-calls.ts';
import type { MemoryQuota } from '../http/memory-quota.ts';
import type { UsageChore } from '../ledger/usage-chore.ts';
import type { Fetcher } from '../media/fetcher.ts';
import type { AutoTopup } from '../payments/auto-topup.ts';
import type { Payments } from '../payments/payments.ts';
import type { Store } from '../store/store.ts';
import type { Devices } from '../users/devices.ts';
import type { Mailer } from '../users/mail.ts';
import type { People } from '../users/people.ts';
import type { Sessions } from '../users/sessions.ts';
import type { SignIn, SignInFactor, SignInOutcome } from '../users/sign-in.ts';
import type { CustomerRanks } from './customer-ranks.ts';
import type { VisitLimit } from './visit-limit.ts';

/** The part of the API's services that the playground needs to run calls like the API. */
export type CallServices = Pick<
  Services,
  | 'holders'
  | 'limiter'
  | 'throttle'
  | 'turns'
  | 'limits'
  | 'text'
  | 'embeddings'
  | 'images'
  | 'videos'
  | 'results'
  | 'clientStallMs'
  | 'bodyLimits'
>;

export interface ConsoleServices extends CallServices {
  readonly store: Store;
  readonly catalog: () => Catalog;
  /** Why the last reload of the catalog changed nothing in this process, if it failed. */
  readonly catalogFailure: () => CatalogFailure | undefined;
  /** What the catalog was made of, and changes of the part from pages. */
  readonly catalogParts: () => CatalogParts;
  readonly catalogEditor: CatalogEditor;
  /** The current state of the upstreams. */
  readonly upstreams: () => readonly UpstreamHealth[];
  readonly accounts: Accounts;
  readonly managementKeys: ManagementKeys;
  readonly people: People;
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  readonly visitLimit: VisitLimit;
  readonly devices: Devices;
  readonly customerRanks: CustomerRanks;
  /** Counts attempts to get in. */
  readonly onSignIn?: ((factor: SignInFactor, result: SignInOutcome) => void) | undefined;
  readonly calls: LiveCalls;
  readonly memoryQuota: MemoryQuota;
  readonly log: Logger;
  /** Base of all links, without a trailing slash; never taken from a request. */
  readonly publicUrl: () => string;
  readonly sandbox: boolean;
  /** Whether everybody may see how reliably models answer. */
  readonly statusPage: boolean;
  /** Who may open an account: nobody, those the operator invites, everybody. */
  readonly registration: 'closed' | 'invite' | 'open';
  /** Undefined without a mail server. */
  readonly mailer: Mailer | undefined;
  readonly alerts: Alerts;
  /** Undefined if no Telegram bot is configured. */
  readonly telegram: TelegramBot | undefined;
  readonly payments: Payments;
  readonly topups: Pick<AutoTopup, 'checkSoon' | 'reportRefusal'>;
  /** Whether models here cost real money: play money pays for none of them. */
  readonly isReal: () => boolean;
  /** Counts usage in the background. */
  readonly usage: Pick<UsageChore, 'foldSoon' | 'foldAll'>;
  /** Posts alerts to owners' webhooks, and knows which addresses are forbidden; not the fetcher of images. */
  readonly fetcher: () => Pick<Fetcher, 'post' | 'findUrlRefusal'>;
  /** The clock of the store, in ms since the epoch. */
  readonly now: () => number;
}
