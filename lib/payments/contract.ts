// The contract between the gateway and a payment plugin: types only, so that a plugin imports nothing at run time.
import type Joi from 'joi';
import type { FaultWords, Host } from '../plugin/contract.ts';

export type * from '../plugin/fault-contract.ts';
export type * from '../plugin/host-contract.ts';
export type * from '../plugin/request-contract.ts';

/**
 * What a folder `payments/<name>` exports by default from its `index`. It is loaded as a provider's folder is, and gets
 * the same host with a `memory`: `host.upstream` is the name of the entry in the catalog's `payments`.
 */
export interface PaymentPlugin<Settings extends object = object> {
  /** Version of this contract; a plugin with another one is refused at start. */
  readonly contract: 1;
  /** Equals the folder's name; the catalog's `payments.*.plugin` refers to it. */
  readonly name: string;
  /**
   * The schema of `payments.*.settings`. Mark secrets with `.meta({ secret: true })`: they are scrubbed from the log, and a
   * live provider with none, or with an empty one, does not start. `host.request` reaches the origins of `baseUrl` and of
   * the other settings whose name ends in `Url`.
   */
  settings(joi: Joi.Root): Joi.ObjectSchema<Settings>;
  /** Codes by which this provider says what went wrong, beside those that the host knows already. */
  readonly faultWords?: FaultWords;
  /** Makes a provider from checked settings. Pure: no I/O, no timers. Called again when the settings change. */
  create(settings: Settings, host: PaymentHost): PaymentProvider;
}

/** What the gateway hands to a payment plugin. */
export interface PaymentHost extends Host {
  readonly memory: HostMemory;
}

/**
 * Values by name that outlive the process and are the same in every one, each provider's own: for a provider that has no
 * memory elsewhere. The last one to be set counts.
 */
export interface HostMemory {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
}

/**
 * One account with one payment provider. Money is `bigint` micro-roubles (1 RUB = 1 000 000); times are ms since the epoch.
 *
 * What the methods throw is made by `host.fault` and never is a payer's decline: a decline is a `PaymentState`.
 * - `request`: the provider refuses this very order or refund, and nothing began. It is not asked again.
 * - `auth`, `quota`, `rate`, `missing`, and every fault with `unsent`: nothing began, through no fault of the payer's. The
 *   same call comes again later, with the same key.
 * - `network`, `timeout`, `server`, `overloaded`, `protocol`, an abort of the signal: nobody knows whether it began. The
 *   same call comes again with the same key while the provider remembers keys; after that `find` decides.
 * `fetch` and `find` change nothing: their faults only mean that nothing was learnt, except `missing` from `fetch`: the
 * provider has no payment of this id.
 */
export interface PaymentProvider {
  /** What payers may pay with, the usual one first; never empty. */
  readonly methods: readonly MethodKind[];
  /** Hosts that `start` may send a payer to (`pay.example.com`; with a port where it is not the scheme's own). */
  readonly redirectHosts: readonly string[];
  /** True where real money moves. Payments of a live provider have `test: false`, those of others `test: true`. */
  readonly live: boolean;
  /** The shop that every payment of these settings has as its `shop`. */
  readonly shop: string;
  /** How long the provider remembers an idempotence key, at most 24 h; none is sent again after that. */
  readonly keysLiveMs: number;
  /** What one payment may be, by method; absent: no limits are known. */
  readonly limits?: Readonly<Partial<Record<MethodKind, AmountLimits>>>;
  /** Begins a payment and says where to send the payer. With the key of an earlier call it tells of the same payment. */
  start(order: Order, signal: AbortSignal): Promise<Started>;
  /**
   * Charges a saved method without its owner; absent where methods cannot be saved. A decline resolves, as `canceled`
   * with its reason. `pending` resolves too: it is fetched until it ends. With the key of an earlier call it tells of the
   * same payment.
   */
  charge?(order: Order, saved: SavedMethod, signal: AbortSignal): Promise<PaymentState>;
  /** The state of a payment with all of its refunds, asked with the operator's secret: the only thing that leads to a credit. */
  fetch(ref: PaymentRef, signal: AbortSignal): Promise<PaymentState>;
  /**
   * The payment whose metadata name our order, for when the answer to `start` or `charge` was lost and the key is too old
   * to be sent again; undefined when there certainly is none. Looks at payments made since `order.createdAt`.
   */
  find(order: Pick<Order, 'id' | 'createdAt'>, signal: AbortSignal): Promise<PaymentState | undefined>;
  /** Gives money back to the instrument it came from; absent where that is not possible. With an earlier key: the same refund. */
  refund?(order: RefundOrder, signal: AbortSignal): Promise<RefundState>;
  /**
   * What a notice asks to be fetched. Pure, and never believed: anybody can send one. Amounts and states in it are not even
   * looked at.
   */
  notice(raw: RawNotice): NoticeVerdict;
  /** A pay page of its own, for one without real money: under `Order.pageUrl`. */
  page?(request: PageRequest, signal: AbortSignal): Promise<PageReply>;
  /** Frees what the provider holds; called once, after its last call ended. */
  close?(): Promise<void>;
}

export type MethodKind = 'card' | 'sbp' | 'wallet' | 'bank';

/** Both ends included. */
export interface AmountLimits {
  readonly min: bigint;
  readonly max: bigint;
}

/** What is to be paid. */
export interface Order {
  /** Ours: `pay_…`. It has to be in the payment's metadata. */
  readonly id: string;
  /** At most 64 characters; the same for every repeat of this order. */
  readonly idempotenceKey: string;
  /** Whole kopecks above zero. */
  readonly amount: bigint;
  readonly currency: 'RUB';
  /** For the payer's statement, at most 128 characters. */
  readonly description: string;
  /** Where the payer comes back to; no credit follows from that. */
  readonly returnUrl: string;
  /** The base of the provider's own pages, without a slash at the end: `<PUBLIC_URL>/payments/<name>/page`. */
  readonly pageUrl: string;
  readonly locale: 'ru' | 'en';
  /** Our id of the payer, the same for each of their orders. */
  readonly customer: string;
  /** Where a receipt goes; absent when unknown. */
  readonly email?: string;
  /** What the payer chose; absent: the provider asks. */
  readonly method?: MethodKind;
  /** The payer agreed to the method being kept for later charges. */
  readonly saveMethod: boolean;
  readonly createdAt: number;
}

/** A payment that waits for its payer. */
export interface Started {
  /** The provider's id of the payment, unique over all of its payments. */
  readonly id: string;
  /**
   * An https URL of one of the `redirectHosts`; without real money also one under `Order.pageUrl`, or http on a loopback
   * host.
   */
  readonly payUrl: string;
  /** When the link stops working. */
  readonly expiresAt: number;
}

/** Names a payment of the provider's. */
export interface PaymentRef {
  readonly id: string;
}

/** What the provider holds of one payment. Everything here is compared with the order before it is credited. */
export interface PaymentState {
  readonly id: string;
  /**
   * `pending` it may still be paid (a hold that is not captured yet too); `succeeded` the money is the shop's, and stays so
   * however much is refunded later; `canceled` it never will be.
   */
  readonly status: 'pending' | 'succeeded' | 'canceled';
  /** What was captured, as the payer paid it, fees not taken off; before that what is asked for. */
  readonly amount: bigint;
  /** ISO 4217, upper case. */
  readonly currency: string;
  /** The shop it was paid to. */
  readonly shop: string;
  readonly test: boolean;
  /** Our order's id as the metadata have it; null when they have none. */
  readonly order: string | null;
  /** The method, when it was saved for later charges; null otherwise. */
  readonly saved: SavedMethod | null;
  /** All of them, those begun elsewhere too. */
  readonly refunds: readonly RefundState[];
  /** Why it is `canceled`; null otherwise. */
  readonly reason: Decline | null;
}

/**
 * `expired` the payer never paid; `soft` another try may succeed (insufficient funds, limits); `hard` this instrument never
 * will again (expired, blocked, permission revoked); `technical` the provider or the bank failed, nobody declined.
 */
export interface Decline {
  readonly kind: 'expired' | 'soft' | 'hard' | 'technical';
  /** The provider's own code: `insufficient_funds`. */
  readonly code: string;
}

/** An instrument that can be charged again. */
export interface SavedMethod {
  /** The provider's id of it. A secret of the owner's in no sense, but never shown. */
  readonly id: string;
  readonly kind: MethodKind;
  /** `Visa`; null where there is none. */
  readonly brand: string | null;
  readonly last4: string | null;
  /** `2027-05`: the last month it works. */
  readonly expiry: string | null;
  /** The same for the same instrument saved twice; null where the provider does not tell. */
  readonly fingerprint: string | null;
}

/** Money to be given back. */
export interface RefundOrder {
  /** Ours: `rfd_…`. In the refund's metadata, where the provider keeps some. */
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
  /** The provider's id, unique over all of its refunds. */
  readonly id: string;
  readonly status: 'pending' | 'succeeded' | 'canceled';
  readonly amount: bigint;
  readonly currency: string;
  /** Our id of the refund; null for one begun elsewhere, or where the provider keeps none. */
  readonly order: string | null;
}

/** A request to `POST /payments/<name>/notice`, as it came. */
export interface RawNotice {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** UTF-8, at most 64 KiB. */
  readonly body: string;
  /** Of the peer: that of a proxy where the service stands behind one. A filter at best, never a proof. */
  readonly address: string;
}

/**
 * The provider's ids of the payments to fetch (of a refund: of its payment), none when there is nothing to learn; or
 * `rejected`: not a notice of this provider's.
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

/** HTML, with the policy of our own pages (no inline scripts or styles; `/static/style.css` is there), or where to go instead. */
export type PageReply = {
  readonly status: number;
  /** Notices that the provider sends now, taken as if they had been POSTed, each before the next. */
  readonly notices?: readonly Pick<RawNotice, 'headers' | 'body'>[];
} & ({ readonly html: string; readonly location?: never } | { readonly location: string; readonly html?: never });
