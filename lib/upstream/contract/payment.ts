// The contract between the gateway and a payment plugin: types only, so that a plugin imports nothing at run time.
import type Joi from 'joi';
import type { FaultWords, Host } from './provider.ts';

export type * from './fault.ts';
export type * from './host.ts';
export type * from './request.ts';

/**
 * The default export of a folder's `payments/<name>/index`. It is loaded like a provider's folder and gets the same
 * host plus a `memory`; `host.upstream` is the name of the entry in the catalog's `payments`.
 */
export interface PaymentPlugin<Settings extends object = object> {
  /** Version of this contract; a plugin with another one is refused at start. */
  readonly contract: 1;
  /** Equals the folder's name; the catalog's `payments.*.plugin` refers to it. */
  readonly name: string;
  /**
   * The schema of `payments.*.settings`. Mark secrets with `.meta({ secret: true })`: they are scrubbed from the log,
   * and a live provider without one, or with an empty one, does not start. `host.request` reaches the origins of
   * `baseUrl` and of the other settings whose names end in `Url`.
   */
  settings(joi: Joi.Root): Joi.ObjectSchema<Settings>;
  /** Error codes of this provider, beyond those the host already knows. */
  readonly faultWords?: FaultWords;
  /** Makes a provider from checked settings. Pure: no I/O, no timers. Called again when the settings change. */
  create(settings: Settings, host: PaymentHost): PaymentProvider;
}

/** What the gateway hands to a payment plugin. */
export interface PaymentHost extends Host {
  readonly memory: HostMemory;
}

/**
 * Named values that outlive the process and are shared by all processes, separate for each provider: for a provider
 * with no other memory. The last write wins.
 */
export interface HostMemory {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
}

/**
 * One account with one payment provider. Money is `bigint` micro-roubles (1 RUB = 1 000 000); times are ms since the epoch.
 *
 * Methods throw faults made by `host.fault`. A fault never means a decline: that is a `PaymentState`.
 * - `request`: the provider refuses this order or refund, and nothing was started. It is not retried.
 * - `auth`, `quota`, and `missing` from `start`: the provider refuses whatever we send until the operator mends it, and
 *   nothing was started. The order ends, and is never sent again; a refund is retried later with the same key.
 * - `rate`, `missing`, and every other fault with `unsent`: nothing was started, and it is not the payer's fault. The same
 *   call is retried later with the same key.
 * - `network`, `timeout`, `server`, `overloaded`, `protocol`, an aborted signal: it is unknown whether anything was
 *   started. The same call is retried with the same key while the provider remembers keys; after that `find` decides.
 * `fetch` and `find` change nothing: their faults only mean that nothing was learnt, except `missing` from `fetch`: the
 * provider has no payment with this id.
 */
export interface PaymentProvider {
  /** The payment methods offered, the usual one first; never empty. */
  readonly methods: readonly MethodKind[];
  /** Hosts that `start` may send a payer to (`pay.example.com`; with a port unless it is the scheme's default). */
  readonly redirectHosts: readonly string[];
  /** True if real money moves. Payments of a live provider have `test: false`, those of others `test: true`. */
  readonly live: boolean;
  /** The shop that every payment made with these settings has as its `shop`. */
  readonly shop: string;
  /**
   * How long the provider remembers an idempotency key, at most 24 h. A key is not sent in the last ten minutes of it, so
   * nothing is ever started with ten minutes or less.
   */
  readonly keysLiveMs: number;
  /** Limits of a single payment, by method; absent if none are known. */
  readonly limits?: Readonly<Partial<Record<MethodKind, AmountLimits>>>;
  /** Starts a payment and says where to send the payer. With the key of an earlier call it returns the same payment. */
  start(order: Order, signal: AbortSignal): Promise<Started>;
  /**
   * Charges a saved method without its owner present; absent if methods cannot be saved. A decline resolves as
   * `canceled` with its reason. `pending` resolves too: it is fetched until it ends. With the key of an earlier call it
   * returns the same payment.
   */
  charge?(order: Order, saved: SavedMethod, signal: AbortSignal): Promise<PaymentState>;
  /**
   * The state of a payment with all of its refunds, asked with the operator's secret: the only thing that leads to a
   * credit.
   */
  fetch(ref: PaymentRef, signal: AbortSignal): Promise<PaymentState>;
  /**
   * The payment whose metadata name our order, for when the answer to `start` or `charge` was lost and the key is too
   * old to be sent again; undefined if there certainly is none. Searches payments made since `order.createdAt`.
   */
  find(order: Pick<Order, 'id' | 'createdAt'>, signal: AbortSignal): Promise<PaymentState | undefined>;
  /** Refunds to the instrument the money came from; absent if not possible. With an earlier key: the same refund. */
  refund?(order: RefundOrder, signal: AbortSignal): Promise<RefundState>;
  /**
   * Which payments a webhook asks to fetch. Pure. Webhooks are never trusted, because anybody can send one: amounts and
   * states in them are not even read.
   */
  notice(raw: RawNotice): NoticeVerdict;
  /**
   * The body of our answer to a webhook that was processed, for a vendor that sends it again after any other (T-Bank:
   * `OK`); `ok` if absent. The status is 200, 400 for a rejected one, and 503 for one that has to be sent again.
   */
  readonly noticeReply?: string;
  /** Whether an address is one of the provider's own, as it publishes them; its webhooks are served before others. */
  isSender?(address: string): boolean;
  /** Its own pay page, for a provider without real money: below `Order.pageUrl`. */
  page?(request: PageRequest, signal: AbortSignal): Promise<PageReply>;
  /** Frees what the provider holds; called once, after its last call has ended. */
  close?(): Promise<void>;
}

export type MethodKind = 'card' | 'sbp' | 'wallet' | 'bank';

/** Inclusive. */
export interface AmountLimits {
  readonly min: bigint;
  readonly max: bigint;
}

/** What is to be paid. */
export interface Order {
  /** Ours: `pay_…`. It must be in the payment's metadata. */
  readonly id: string;
  /** At most 64 characters; the same for every repeat of this order. */
  readonly idempotenceKey: string;
  /** Whole kopecks above zero. */
  readonly amount: bigint;
  readonly currency: 'RUB';
  /** For the payer's statement, at most 128 characters. */
  readonly description: string;
  /** Where the payer returns to; a return never leads to a credit. */
  readonly returnUrl: string;
  /** The base of the provider's own pages, without a trailing slash: `<PUBLIC_URL>/payments/<name>/page`. */
  readonly pageUrl: string;
  readonly locale: 'ru' | 'en';
  /** Our id of the payer, the same for each of their orders. */
  readonly customer: string;
  /** Where a receipt goes; absent when unknown. */
  readonly email?: string;
  /** The payer's choice; absent: the provider asks. */
  readonly method?: MethodKind;
  /** The payer agreed to saving the method for later charges. */
  readonly saveMethod: boolean;
  readonly createdAt: number;
}

/** A payment that waits for its payer. */
export interface Started {
  /** The provider's id of the payment, unique among all of its payments. */
  readonly id: string;
  /**
   * An https URL on one of the `redirectHosts`; without real money also one below `Order.pageUrl`, or http on a
   * loopback host.
   */
  readonly payUrl: string;
  /** When the link stops working. */
  readonly expiresAt: number;
}

/** Identifies a payment at the provider. */
export interface PaymentRef {
  readonly id: string;
}

/** What the provider says about one payment. All of it is compared with the order before the payment is credited. */
export interface PaymentState {
  readonly id: string;
  /**
   * `pending`: it may still be paid (includes an authorisation not captured yet); `succeeded`: the shop has the money,
   * whatever is refunded later; `canceled`: it never will be paid.
   */
  readonly status: 'pending' | 'succeeded' | 'canceled';
  /** The captured amount as the payer paid it, before fees; until then the requested amount. */
  readonly amount: bigint;
  /** ISO 4217, upper case. */
  readonly currency: string;
  /** The shop it was paid to. */
  readonly shop: string;
  readonly test: boolean;
  /** Our order's id from the metadata; null if they have none. */
  readonly order: string | null;
  /** The method, if it was saved for later charges; null otherwise. */
  readonly saved: SavedMethod | null;
  /** All refunds, including those started elsewhere. */
  readonly refunds: readonly RefundState[];
  /** Why it is `canceled`; null otherwise. */
  readonly reason: Decline | null;
}

/**
 * `expired`: the payer never paid; `soft`: a retry may succeed (insufficient funds, limits); `hard`: this instrument
 * never will again (expired, blocked, permission revoked); `technical`: the provider or the bank failed, nobody
 * declined.
 */
export interface Decline {
  readonly kind: 'expired' | 'soft' | 'hard' | 'technical';
  /** The provider's own code: `insufficient_funds`. */
  readonly code: string;
}

/** An instrument that can be charged again. */
export interface SavedMethod {
  /** The provider's id of the method. Not a secret of its owner, but never shown. */
  readonly id: string;
  readonly kind: MethodKind;
  /** `Visa`; null if there is none. */
  readonly brand: string | null;
  readonly last4: string | null;
  /** `2027-05`: the last month in which it works. */
  readonly expiry: string | null;
  /** The same for the same instrument saved twice; null if the provider does not tell. */
  readonly fingerprint: string | null;
}

/** A refund to make. */
export interface RefundOrder {
  /** Ours: `rfd_…`. Stored in the refund's metadata, if the provider has any. */
  readonly id: string;
  readonly idempotenceKey: string;
  /** The provider's id of the payment. */
  readonly payment: string;
  /** Whole kopecks above zero; at most what is left of the payment. */
  readonly amount: bigint;
  readonly currency: 'RUB';
  readonly reason: string;
  /** Where a receipt goes; absent when unknown. */
  readonly email?: string;
  readonly createdAt: number;
}

export interface RefundState {
  /** The provider's id, unique among all of its refunds. */
  readonly id: string;
  readonly status: 'pending' | 'succeeded' | 'canceled';
  readonly amount: bigint;
  readonly currency: string;
  /** Our id of the refund; null for one started elsewhere, or if the provider stores none. */
  readonly order: string | null;
}

/** A request to `POST /payments/<name>/notice`, as received. */
export interface RawNotice {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** UTF-8, at most 8 KiB. */
  readonly body: string;
  /** The sender's network address; that of a proxy which is not trusted. At best a filter, never proof. */
  readonly address: string;
}

/**
 * The provider's ids of the payments to fetch (for a refund, its payment's), empty when there is nothing to learn; or
 * `rejected`: not a webhook of this provider.
 */
export type NoticeVerdict = { readonly fetch: readonly string[] } | 'rejected';

/** A visit to a provider's own page. */
export interface PageRequest {
  readonly method: 'GET' | 'POST';
  /** What follows `Order.pageUrl`: `/2f1c…`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The fields of a POSTed form. */
  readonly form: Readonly<Record<string, string>>;
}

/**
 * HTML, under the content policy of our pages (no inline scripts or styles; `/static/style.css` exists), or a redirect.
 */
export type PageReply = {
  readonly status: number;
  /** Webhooks to process as if they had just been POSTed, in order. */
  readonly notices?: readonly Pick<RawNotice, 'headers' | 'body'>[];
} & ({ readonly html: string; readonly location?: never } | { readonly location: string; readonly html?: never });
