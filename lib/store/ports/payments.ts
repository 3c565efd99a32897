// The port of payments: orders of money in and who works on which, by lease; saved methods, consents, automatic top-ups,
// and notices as they came. Their money moves in the ledger, in the same transactions.
import type { Micro } from '../../money/money.ts';
import type { FreePaymentChange, NewPayment, Payment, PaymentOutcome, PaymentPhase } from '../../payments/decide.ts';
import type { JobClaim, JobRenewal } from './jobs.ts';

/** An instrument that its owner let us keep. All times in ms since the epoch. */
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
  /** Never charged from then on. */
  readonly removedAt: number | null;
}

/** What an owner agreed to, append-only. */
export interface Consent {
  /** Ours: `con_…`. */
  readonly id: string;
  readonly wallet: string;
  readonly user: string;
  /** `save_method`, `auto_topup`. */
  readonly kind: string;
  /** The text's version, and the text as it was shown. */
  readonly textVersion: string;
  readonly text: string;
  readonly at: number;
  readonly address: string;
}

/** The automatic top-up of a wallet: what its owner wants, and how far trying has come. */
export interface AutoTopupRow {
  /** The wallet's. */
  readonly id: string;
  readonly enabled: boolean;
  readonly threshold: Micro;
  readonly amount: Micro;
  /** Most that may be charged in a month. */
  readonly cap: Micro;
  /** The saved method; null when it was removed. */
  readonly method: string | null;
  readonly consent: string | null;
  /** The order in flight; null for none: there never are two. */
  readonly order: string | null;
  /** No order is begun before: neither an answer nor a decline makes it earlier. */
  readonly nextAt: number;
  /** Declines in a row. */
  readonly declines: number;
  /** Since when and why nothing is tried any more; null while it is. */
  readonly pausedAt: number | null;
  readonly reason: string | null;
  /** `2027-01-15` and `2027-01`, and what was begun in them. */
  readonly day: string;
  readonly dayCount: number;
  readonly month: string;
  readonly monthSum: Micro;
  /** The number of changes: a change applies to the version that was read, or not at all. 0: it is not stored yet. */
  readonly version: number;
}

/** A notice as it came. */
export interface Notice {
  /** Ours, increasing with time: `ntc_…`. */
  readonly id: string;
  readonly provider: string;
  readonly at: number;
  readonly address: string;
  /** JSON. */
  readonly headers: string;
  readonly body: string;
  /** `received` until it was dealt with; then `rejected`, `done`, `foreign`, or `failed`: the provider sends it again. */
  readonly verdict: string;
  /** What came of it, for the operator. */
  readonly detail: string;
}

/** The rows of this port, by what a copy calls them. All have an `id`. */
export interface PaymentRows {
  readonly payments: Payment;
  readonly methods: SavedMethodRow;
  readonly consents: Consent;
  readonly autoTopups: AutoTopupRow;
  readonly notices: Notice;
}

export interface PaymentList {
  /** The last one of the page before. */
  readonly before?: Pick<Payment, 'createdAt' | 'id'>;
  readonly limit: number;
  /** Absent fields do not filter. */
  readonly wallet?: string;
  readonly provider?: string;
  readonly phases?: readonly PaymentPhase[];
}

export interface PaymentStore {
  /**
   * Makes a payment; with the automatic top-up that begins it, in one transaction, which is then the next version of the
   * one that was read. `stale`: that has changed meanwhile. `exists`: there is one of this id.
   */
  create(payment: NewPayment, auto?: AutoTopupRow): Promise<'created' | 'exists' | 'stale'>;
  get(id: string): Promise<Payment | undefined>;
  /** By the provider's id of it. */
  find(provider: string, ref: string): Promise<Payment | undefined>;
  /** Newest first. */
  list(list: PaymentList): Promise<readonly Payment[]>;
  /** As `JobStore.claim`. */
  claim(claim: JobClaim): Promise<readonly Payment[]>;
  /** As `JobStore.renew`. */
  renew(renewal: JobRenewal): Promise<boolean>;
  /** Decides the change by `decidePayment` and writes it, to the version it was decided on or not at all. */
  change(change: FreePaymentChange): Promise<PaymentOutcome>;

  /** Keeps a method; one that the provider has told of before stays as it is, and is what is returned. */
  saveMethod(method: SavedMethodRow): Promise<SavedMethodRow>;
  method(id: string): Promise<SavedMethodRow | undefined>;
  /** Of a wallet, removed ones too, newest first. */
  methods(wallet: string): Promise<readonly SavedMethodRow[]>;
  /** Removes a method and ends the automatic top-up that charges it, in one transaction; false when there is none. */
  removeMethod(id: string, at: number): Promise<boolean>;

  addConsent(consent: Consent): Promise<void>;
  /** Of a wallet, newest first. */
  consents(wallet: string): Promise<readonly Consent[]>;

  autoTopup(wallet: string): Promise<AutoTopupRow | undefined>;
  /**
   * Writes it as the next version of the one that was read, and what the account shows of it; false when it has changed
   * meanwhile.
   */
  changeAutoTopup(auto: AutoTopupRow): Promise<boolean>;

  addNotice(notice: Notice): Promise<void>;
  /** Writes the verdict; false when there is no such notice. */
  judgeNotice(id: string, verdict: Pick<Notice, 'verdict' | 'detail'>): Promise<boolean>;
  notice(id: string): Promise<Notice | undefined>;
  /** Newest first, ids below `before` if given. */
  notices(page: { readonly before?: string; readonly limit: number }): Promise<readonly Notice[]>;
  /** Removes notices from before then. */
  cleanNotices(before: number): Promise<void>;

  /** All rows of a sort with ids above `after`, in order of id. */
  page<Sort extends keyof PaymentRows>(
    sort: Sort,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<readonly PaymentRows[Sort][]>;
  /** Writes rows as they are in another store, whatever was there: for a copy. */
  put<Sort extends keyof PaymentRows>(sort: Sort, rows: readonly PaymentRows[Sort][]): Promise<void>;
}
