// The port of payments: orders, and which process works on them by lease; saved methods, consents, automatic top-ups and
// webhooks of providers. The ledger moves the money in the same transactions.
import type { Micro } from '../../money/money.ts';
import type {
  FreePaymentChange,
  NewPayment,
  Payment,
  PaymentOutcome,
  PaymentPhase,
} from '../../money/payment-rules.ts';
import type { JobClaim, JobRenewal } from './jobs.ts';
import type { WrongMarks } from './wrong-marks.ts';

/** A payment method that its owner allowed us to save. All times in ms since the epoch. */
export interface SavedMethodRow {
  /** Ours: `pm_…`. */
  readonly id: string;
  readonly wallet: string;
  /** The provider's name in the catalog, and its id of the method; unique together. */
  readonly provider: string;
  readonly ref: string;
  readonly kind: string;
  readonly brand: string | null;
  readonly last4: string | null;
  readonly expiry: string | null;
  readonly fingerprint: string | null;
  readonly createdAt: number;
  /** The method is never charged after this time. */
  readonly removedAt: number | null;
}

/** A text that an owner agreed to; append-only. */
export interface Consent {
  /** Ours: `con_…`. */
  readonly id: string;
  readonly wallet: string;
  readonly user: string;
  /** `save_method`, `auto_topup`. */
  readonly kind: string;
  /** The text's version, and the text as shown. */
  readonly textVersion: string;
  readonly text: string;
  readonly at: number;
  readonly address: string;
}

/** The automatic top-up of a wallet: its settings and its current state. */
export interface AutoTopupRow {
  /** The wallet's id. */
  readonly id: string;
  readonly enabled: boolean;
  readonly threshold: Micro;
  readonly amount: Micro;
  /** The maximum charged per month. */
  readonly cap: Micro;
  /** The saved method; null if it was removed. */
  readonly method: string | null;
  readonly consent: string | null;
  /** The order in flight; null if none. There is never a second one. */
  readonly order: string | null;
  /** No order starts before this. */
  readonly nextAt: number;
  /** Consecutive declines. */
  readonly declines: number;
  /** When and why the automatic top-up was paused; null if it is not. */
  readonly pausedAt: number | null;
  readonly reason: string | null;
  /** `2027-01-15` and `2027-01`, with the number and the sum of payments started in them. */
  readonly day: string;
  readonly dayCount: number;
  readonly month: string;
  readonly monthSum: Micro;
  /** Counts changes: a change applies only to the version that was read. 0: not stored yet. */
  readonly version: number;
}

/** A webhook of a payment provider, as received. */
export interface PaymentWebhook {
  /** Ours, increasing with time: `ntc_…`. */
  readonly id: string;
  readonly provider: string;
  readonly at: number;
  readonly address: string;
  /** JSON; empty if only the start of the body was stored. */
  readonly headers: string;
  readonly body: string;
  /**
   * `received` until processed; then `rejected`, `done`, `foreign`, or `failed`, in which case the provider sends it again.
   */
  readonly verdict: string;
  /** The result, for the operator. */
  readonly detail: string;
}

/** Verdicts of webhooks without effect: anyone can send any number of them, so only the newest are kept. */
export const DISCARDED_VERDICTS: readonly string[] = ['rejected', 'foreign'];
export const DISCARDED_WEBHOOKS_MAX = 1000;
/** The limit for all webhooks: a payer may cause any number for their own payment. */
export const WEBHOOKS_MAX = 100_000;
/** The maximum removed at once, so that no other call waits long. */
export const WEBHOOKS_REMOVED_MAX = 100;

/** The rows of this port, by the names a copy uses. All have an `id`. */
export interface PaymentRows {
  readonly payments: Payment;
  readonly methods: SavedMethodRow;
  readonly consents: Consent;
  readonly autoTopups: AutoTopupRow;
  readonly notices: PaymentWebhook;
}

/** The kinds of rows that have a mark. */
export const MARKED_TABLES = ['payments', 'methods', 'consents', 'autoTopups'] as const;
export type MarkedTable = (typeof MARKED_TABLES)[number];

export interface PaymentList {
  /** The last one of the previous page. */
  readonly before?: Pick<Payment, 'createdAt' | 'id'>;
  readonly limit: number;
  /** Absent fields do not filter. */
  readonly wallet?: string;
  readonly provider?: string;
  readonly phases?: readonly PaymentPhase[];
  /** Only those that something is still to be done for by itself, such as to ask a provider for a refund. */
  readonly isOpen?: boolean;
}

export interface PaymentStore {
  /**
   * Creates a payment, and writes the automatic top-up that starts it, if any, as the next version of the one that was
   * read. `stale`: the top-up has changed in the meantime. `exists`: there already is a payment with this id.
   */
  create(payment: NewPayment, auto?: AutoTopupRow): Promise<'created' | 'exists' | 'stale'>;
  get(id: string): Promise<Payment | undefined>;
  /** Finds a payment by the provider's id. */
  find(provider: string, ref: string): Promise<Payment | undefined>;
  /**
   * Whether the provider may have payments of ours whose ids we do not know: orders being started, and orders created since
   * then whose start failed without an answer.
   */
  hasUnknownRefs(provider: string, since: number): Promise<boolean>;
  /** Newest first. */
  list(list: PaymentList): Promise<readonly Payment[]>;
  /** Like `JobStore.claim`. */
  claim(claim: JobClaim): Promise<readonly Payment[]>;
  /** Like `JobStore.renew`. */
  renew(renewal: JobRenewal): Promise<boolean>;
  /** Decides the change by `decidePayment` and writes it only to the version that it was decided on. */
  change(change: FreePaymentChange): Promise<PaymentOutcome>;

  /** Stores a method; if it is stored already, returns the stored one unchanged. */
  saveMethod(method: SavedMethodRow): Promise<SavedMethodRow>;
  method(id: string): Promise<SavedMethodRow | undefined>;
  /** The methods of a wallet, including removed ones, newest first. */
  methods(wallet: string): Promise<readonly SavedMethodRow[]>;
  /**
   * Removes a method and turns off the automatic top-up that charges it, in one transaction; false if there is no such
   * method.
   */
  removeMethod(id: string, at: number): Promise<boolean>;

  addConsent(consent: Consent): Promise<void>;
  /** The consents of a wallet, newest first. */
  consents(wallet: string): Promise<readonly Consent[]>;

  autoTopup(wallet: string): Promise<AutoTopupRow | undefined>;
  /**
   * Writes an automatic top-up as the next version of the one that was read, and copies its settings to the account; false
   * if it has changed in the meantime.
   */
  changeAutoTopup(auto: AutoTopupRow): Promise<boolean>;

  /** Stores a webhook. With a discarded verdict, the oldest such webhooks beyond `DISCARDED_WEBHOOKS_MAX` are removed. */
  addWebhook(webhook: PaymentWebhook): Promise<void>;
  /** Records the verdict; false if there is no such webhook. */
  setWebhookVerdict(id: string, verdict: Pick<PaymentWebhook, 'verdict' | 'detail'>): Promise<boolean>;
  webhook(id: string): Promise<PaymentWebhook | undefined>;
  /** Newest first, ids below `before` if given; without discarded ones if `isDiscarded` is false. */
  webhooks(page: {
    readonly before?: string;
    readonly limit: number;
    readonly isDiscarded?: false;
  }): Promise<readonly PaymentWebhook[]>;
  /** Removes some webhooks received before that time, or beyond the newest `keep`; resolves to how many. */
  removeOldWebhooks(before: number, keep?: number): Promise<number>;

  /** All rows of a kind with ids above `after`, in order of id. */
  page<Sort extends keyof PaymentRows>(
    sort: Sort,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<readonly PaymentRows[Sort][]>;
  /** Checks `limit` rows with ids above `after`, and finds those whose values were changed outside the store. */
  findWrongMarks(sort: MarkedTable, page: { readonly after?: string; readonly limit: number }): Promise<WrongMarks>;
  /** Writes rows as they are in another store, overwriting: for a copy. */
  put<Sort extends keyof PaymentRows>(sort: Sort, rows: readonly PaymentRows[Sort][]): Promise<void>;
}
