// The port of payments: orders of money in and who works on which, by lease; saved methods, consents, automatic top-ups
// and notices. Their money moves in the ledger, in the same transactions.
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

/** An instrument that its owner allowed us to save. All times in ms since the epoch. */
export interface SavedMethodRow {
  /** Ours: `pm_…`. */
  readonly id: string;
  readonly wallet: string;
  /** The provider's name in the catalog, and its id of the method: unique together. */
  readonly provider: string;
  readonly ref: string;
  readonly kind: string;
  readonly brand: string | null;
  readonly last4: string | null;
  readonly expiry: string | null;
  readonly fingerprint: string | null;
  readonly createdAt: number;
  /** Never charged after this. */
  readonly removedAt: number | null;
}

/** What an owner agreed to; append-only. */
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

/** The automatic top-up of a wallet: what its owner wants, and its current state. */
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
  /** The order in flight; null if none. There are never two. */
  readonly order: string | null;
  /** No order starts before this. */
  readonly nextAt: number;
  /** Consecutive declines. */
  readonly declines: number;
  /** When and why it was paused; null if it is not. */
  readonly pausedAt: number | null;
  readonly reason: string | null;
  /** `2027-01-15` and `2027-01`, and what was started in them. */
  readonly day: string;
  readonly dayCount: number;
  readonly month: string;
  readonly monthSum: Micro;
  /** Counts changes: a change applies only to the version that was read. 0: not stored yet. */
  readonly version: number;
}

/** A notice as received. */
export interface PaymentWebhook {
  /** Ours, increasing with time: `ntc_…`. */
  readonly id: string;
  readonly provider: string;
  readonly at: number;
  readonly address: string;
  /** JSON; empty if only the beginning of the body was stored. */
  readonly headers: string;
  readonly body: string;
  /**
   * `received` until it was processed; then `rejected`, `done`, `foreign`, or `failed`: the provider sends it again.
   */
  readonly verdict: string;
  /** The result, for the operator. */
  readonly detail: string;
}

/** Verdicts of notices that nothing came of: anybody can send any number, so only the newest of them are kept. */
export const DISCARDED_VERDICTS: readonly string[] = ['rejected', 'foreign'];
export const DISCARDED_WEBHOOKS_MAX = 1000;
/** Of all notices: a payer may send any number about a payment of their own. */
export const WEBHOOKS_MAX = 100_000;
/** Removed at once, so that nothing waits long for it. */
export const WEBHOOKS_REMOVED_MAX = 100;

/** The rows of this port, by the names a copy uses. All have an `id`. */
export interface PaymentRows {
  readonly payments: Payment;
  readonly methods: SavedMethodRow;
  readonly consents: Consent;
  readonly autoTopups: AutoTopupRow;
  readonly notices: PaymentWebhook;
}

/** Those whose rows have a mark. */
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
}

export interface PaymentStore {
  /**
   * Creates a payment, together with the automatic top-up that starts it if there is one, as the next version of the
   * one that was read. `stale`: that has changed in the meantime. `exists`: there already is a payment with this id.
   */
  create(payment: NewPayment, auto?: AutoTopupRow): Promise<'created' | 'exists' | 'stale'>;
  get(id: string): Promise<Payment | undefined>;
  /** By the provider's id. */
  find(provider: string, ref: string): Promise<Payment | undefined>;
  /**
   * Whether the provider may have payments of ours whose ids it never told us: of orders that it was asked to start, and
   * of those made since then that were given up without knowing.
   */
  hasUnknownRefs(provider: string, since: number): Promise<boolean>;
  /** Newest first. */
  list(list: PaymentList): Promise<readonly Payment[]>;
  /** Like `JobStore.claim`. */
  claim(claim: JobClaim): Promise<readonly Payment[]>;
  /** Like `JobStore.renew`. */
  renew(renewal: JobRenewal): Promise<boolean>;
  /** Decides the change by `decidePayment` and writes it, to the version it was decided on or not at all. */
  change(change: FreePaymentChange): Promise<PaymentOutcome>;

  /** Stores a method; one that is already stored stays unchanged and is returned. */
  saveMethod(method: SavedMethodRow): Promise<SavedMethodRow>;
  method(id: string): Promise<SavedMethodRow | undefined>;
  /** Of a wallet, including removed ones, newest first. */
  methods(wallet: string): Promise<readonly SavedMethodRow[]>;
  /**
   * Removes a method and turns off the automatic top-up that charges it, in one transaction; false if there is none.
   */
  removeMethod(id: string, at: number): Promise<boolean>;

  addConsent(consent: Consent): Promise<void>;
  /** Of a wallet, newest first. */
  consents(wallet: string): Promise<readonly Consent[]>;

  autoTopup(wallet: string): Promise<AutoTopupRow | undefined>;
  /**
   * Writes it as the next version of the one that was read, and what the account shows of it; false if it has changed
   * in the meantime.
   */
  changeAutoTopup(auto: AutoTopupRow): Promise<boolean>;

  /** Stores it. One with a vain verdict removes the oldest of those beyond `VAIN_NOTICES_MAX`. */
  addWebhook(notice: PaymentWebhook): Promise<void>;
  /** Records the verdict; false if there is no such notice. */
  setWebhookVerdict(id: string, verdict: Pick<PaymentWebhook, 'verdict' | 'detail'>): Promise<boolean>;
  webhook(id: string): Promise<PaymentWebhook | undefined>;
  /** Newest first, ids below `before` if given; without those with a vain verdict if `isVain` is false. */
  webhooks(page: {
    readonly before?: string;
    readonly limit: number;
    readonly isDiscarded?: false;
  }): Promise<readonly PaymentWebhook[]>;
  /** Removes some of those received before then, or beyond the newest `keep`; resolves with how many. */
  removeOldWebhooks(before: number, keep?: number): Promise<number>;

  /** All rows of a kind with ids above `after`, in order of id. */
  page<Sort extends keyof PaymentRows>(
    sort: Sort,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<readonly PaymentRows[Sort][]>;
  /** Of the `limit` rows with ids above `after`, those whose values were changed behind the store's back. */
  findWrongMarks(sort: MarkedTable, page: { readonly after?: string; readonly limit: number }): Promise<WrongMarks>;
  /** Writes rows as they are in another store, overwriting: for a copy. */
  put<Sort extends keyof PaymentRows>(sort: Sort, rows: readonly PaymentRows[Sort][]): Promise<void>;
}
