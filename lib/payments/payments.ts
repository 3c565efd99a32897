// The payments service behind the pages, the webhook route and automatic top-ups. An owner's payment starts with `order`
// and continues with `poll`; an automatic top-up uses `charge`. Operators' actions are in `operator.ts`.
import { DAY_MS, HOUR_MS } from '../base/durations.ts';
import { fault } from '../base/faults.ts';
import type { OpenPayment } from '../catalog/payments.ts';
import { createLeaseLoop, type LoopClock } from '../ledger/lease-loop.ts';
import { FIRST_TOPUP_MINIMUM, needsFirstPayment } from '../money/decide.ts';
import { formatRub, KOPECK, type Micro } from '../money/money.ts';
import { type NewPayment, PAYMENT_PHASES, type Payment } from '../money/payment-rules.ts';
import type { AutoTopupRow, SavedMethodRow } from '../store/ports/payments.ts';
import type { Store } from '../store/store.ts';
import type { UpstreamFault } from '../upstream/contract/fault.ts';
import type { MethodKind, Order, RawNotice } from '../upstream/contract/payment.ts';
import { createPaymentFollower, type PaymentLog } from './follower.ts';
import { newId } from './ids.ts';
import { getOrderBounds, MINIMUM_ORDER } from './order-bounds.ts';
import type { OrderFacts } from './order-facts.ts';
import { createWebhookHandler, type WebhookOutcome } from './webhooks.ts';
import { createWork } from './work.ts';

interface PaymentsOptions {
  readonly store: Pick<Store, 'payments' | 'ledger' | 'settings'>;
  /** The providers that are enabled now. */
  readonly providers: () => ReadonlyMap<string, OpenPayment>;
  readonly publicUrl: () => string;
  readonly ownerId: string;
  readonly leaseMs: number;
  /** The store's clock. */
  readonly clock: LoopClock;
  readonly log: PaymentLog;
  /** Called when this process has saved a card or another payment method. */
  readonly onSaved?: (method: SavedMethodRow) => void;
  readonly counts?: PaymentCounts | undefined;
}

/** Receives this process's events for metrics. */
export interface PaymentCounts {
  onOrder(provider: string, origin: Payment['origin']): void;
  onCredit(provider: string): void;
  onWebhook(provider: string, end: WebhookOutcome): void;
  /** A request to a provider failed or was refused. */
  onFailure(provider: string, kind: UpstreamFault['kind']): void;
}

/** What an owner wants to pay. */
interface OrderRequest {
  readonly wallet: string;
  /** The provider's name in the catalog. */
  readonly provider: string;
  readonly amount: Micro;
  readonly locale: Order['locale'];
  readonly email?: string;
  readonly method?: MethodKind;
  /** The owner agreed to save the method. The caller stores the consent first. */
  readonly saveMethod: boolean;
}

interface ChargeRequest extends Pick<OrderRequest, 'wallet' | 'amount' | 'locale' | 'email'> {
  /** The id of one of the wallet's saved methods. */
  readonly method: string;
}

export interface Payments {
  /** Registers what is called after every stored change of a payment's phase or money made by this process. */
  onChange(report: (payment: Payment) => void): void;
  /** The enabled providers, for the pages that offer them. */
  providers(): readonly OpenPayment[];
  /** The wallet's current minimum order: the first payment has a higher one. */
  minimumOrder(wallet: string): Promise<Micro>;
  /**
   * Creates an order and asks its provider to start it. The payment has its `payUrl`, or is still `created` if the
   * provider did not answer; the start is then retried, and the page shows the link once it exists. Rejects with
   * `invalid_field` faults or `StoreError`; after a `StoreError` the order is either listed or was never created.
   */
  order(request: OrderRequest): Promise<Payment>;
  /**
   * Charges a saved method without its owner present. `claim` gets the new order's id and returns the next version of
   * the automatic top-up that starts it; both are stored in one transaction. Undefined if the automatic top-up has
   * changed in the meantime; then nothing was started. The payment may still be pending: `onChange`, in any process, or
   * `store.payments.get` reports how it ends. Rejects like `order`, naming the `provider` if it is not enabled.
   */
  charge(request: ChargeRequest, claim: (orderId: string) => AutoTopupRow): Promise<Payment | undefined>;
  /** Polls the provider now, for the page a payer returns to and for an operator. Undefined for an unknown id. */
  poll(id: string): Promise<Payment | undefined>;
  /** Processes a webhook; undefined if the provider is not enabled. */
  handleWebhook(provider: string, raw: RawNotice): Promise<WebhookOutcome | undefined>;
  start(): void;
  stop(): Promise<void>;
}

/** Unpaid orders of one wallet. */
const OPEN_MAX = 10;
const GAP_MS = 1000;
/** How long webhooks are kept as evidence. */
const WEBHOOK_RETENTION_MS = 180 * DAY_MS;
const CLEAN_EVERY_MS = 6 * HOUR_MS;
const EXCHANGE_TIMEOUT_MS = 30_000;

export function createPayments(options: PaymentsOptions): Payments {
  const { store, providers, publicUrl, ownerId, leaseMs, clock, log, counts } = options;
  const now = clock.now;
  const follow = createPaymentFollower({ store, now, log, onChange: noteChange, onSaved: options.onSaved });
  const webhooks = createWebhookHandler({ store, follow, now, log });
  const work = createWork({ store, follow, providers, now, log, onFailure: counts?.onFailure });
  const life = new AbortController();
  let report: (payment: Payment) => void = () => undefined;
  let cleaning: NodeJS.Timeout | undefined;
  const loop = createLeaseLoop<Payment>({
    store: store.payments,
    ownerId,
    leaseMs,
    gapMs: GAP_MS,
    clock,
    work: async (payment, signal) => expectDue(await work(payment, AbortSignal.any([signal, createExchangeSignal()]))),
    onClaimError: (err) => log.warn({ err }, 'could not claim the payments that are due'),
    onWorkError: (err, payment) => log.warn({ err, payment: payment.id }, 'could not process a payment'),
  });

  function noteChange(payment: Payment): void {
    // A refused refund also changes a payment and leaves it `credited`; that is no new credit.
    if (payment.phase === 'credited' && payment.refunds === '[]') counts?.onCredit(payment.provider);
    report(payment);
  }

  function createExchangeSignal(): AbortSignal {
    return AbortSignal.any([life.signal, AbortSignal.timeout(EXCHANGE_TIMEOUT_MS)]);
  }

  function expectDue({ id, dueAt }: Payment): void {
    if (dueAt !== null) loop.expectDue(id, dueAt);
  }

  async function removeOldWebhooks(): Promise<void> {
    try {
      while ((await store.payments.removeOldWebhooks(now() - WEBHOOK_RETENTION_MS)) > 0 && !life.signal.aborted);
    } catch (err) {
      log.warn({ err }, 'could not remove old webhooks');
    }
  }

  async function minimumOrder(wallet: string): Promise<Micro> {
    const found = await store.ledger.wallet(wallet);
    return found && needsFirstPayment(found) ? FIRST_TOPUP_MINIMUM : MINIMUM_ORDER;
  }

  function getProvider(name: string): OpenPayment {
    const open = providers().get(name);
    if (!open) throw fault('invalid_field', { field: 'provider', hint: 'must be one that is switched on' });
    return open;
  }

  async function order(request: OrderRequest): Promise<Payment> {
    const { wallet, provider, amount, method, saveMethod, locale, email } = request;
    const open = getProvider(provider);
    await checkAmount(request, open);
    const waiting = await store.payments.list({ wallet, phases: ['created', 'pending'], limit: OPEN_MAX });
    if (waiting.length === OPEN_MAX)
      throw fault('invalid_field', { field: 'amount', hint: 'too many orders wait to be paid' });
    const id = newId('pay', now());
    const facts = buildOrderFacts({ id, provider, amount, locale, saveMethod }, { email, method });
    return createAndStart(buildNewPayment({ id, wallet, amount, origin: 'manual' }, open, facts), undefined);
  }

  async function charge(
    request: ChargeRequest,
    claim: (orderId: string) => AutoTopupRow,
  ): Promise<Payment | undefined> {
    const { wallet, amount, locale, email, method: charges } = request;
    const method = await store.payments.method(charges);
    const open = method && getProvider(method.provider);
    if (!open?.provider.charge || method?.wallet !== wallet || method.removedAt !== null) {
      throw fault('invalid_field', { field: 'method', hint: 'must be a saved method that can be charged' });
    }
    await checkAmount({ ...request, method: method.kind as MethodKind }, open);
    const id = newId('pay', now());
    const facts = buildOrderFacts({ id, provider: open.name, amount, locale, saveMethod: false }, { email, charges });
    const auto = claim(id);
    const made = buildNewPayment({ id, wallet, amount, origin: 'auto' }, open, facts);
    return createAndStart(made, auto);
  }

  async function checkAmount(
    { wallet, amount, method }: Pick<OrderRequest, 'wallet' | 'amount' | 'method'>,
    open: OpenPayment,
  ): Promise<void> {
    const { min, max } = getOrderBounds(await minimumOrder(wallet), open, method);
    const refuse = (hint: string) => fault('invalid_field', { field: 'amount', hint });
    if (amount % KOPECK !== 0n) throw refuse('must be whole kopecks');
    if (amount < min) throw refuse(`must be at least ${formatRub(min)} RUB`);
    if (amount > max) throw refuse(`must be at most ${formatRub(max)} RUB`);
  }

  function buildOrderFacts(
    {
      id,
      provider,
      amount,
      locale,
      saveMethod,
    }: Pick<OrderRequest, 'provider' | 'amount' | 'locale' | 'saveMethod'> & {
      id: string;
    },
    optional: Pick<OrderFacts, 'email' | 'method' | 'charges'>,
  ): OrderFacts {
    const base = publicUrl();
    const sum = formatRub(amount);
    // Receipts are printed in code pages that have no rouble sign.
    const description = locale === 'ru' ? `Пополнение баланса на ${sum.replace('.', ',')} руб.` : `Top-up ${sum} RUB`;
    const urls = { returnUrl: `${base}/account/wallet?order=${id}`, pageUrl: `${base}/payments/${provider}/page` };
    return { description, ...urls, locale, saveMethod, ...optional };
  }

  function buildNewPayment(
    what: Pick<NewPayment, 'id' | 'wallet' | 'amount' | 'origin'>,
    { name, provider }: OpenPayment,
    facts: OrderFacts,
  ): NewPayment {
    const at = now();
    const maker = { owner: ownerId, lease: at + Math.max(leaseMs, EXCHANGE_TIMEOUT_MS), createdAt: at };
    return {
      ...what,
      provider: name,
      shop: provider.shop,
      test: !provider.live,
      facts: JSON.stringify(facts),
      ...maker,
    };
  }

  async function createAndStart(start: NewPayment, auto: undefined): Promise<Payment>;
  async function createAndStart(start: NewPayment, auto: AutoTopupRow): Promise<Payment | undefined>;
  async function createAndStart(start: NewPayment, auto: AutoTopupRow | undefined): Promise<Payment | undefined> {
    const release = loop.markCreating(start.id);
    try {
      if ((await store.payments.create(start, auto)) === 'stale') return undefined;
      counts?.onOrder(start.provider, start.origin);
      const made = (await store.payments.get(start.id)) as Payment;
      const payment = await work(made, createExchangeSignal()).catch((err: unknown) => {
        // The payment is stored: the process that claims it next continues.
        log.warn({ err, payment: start.id }, 'could not start an order right away');
        return made;
      });
      expectDue(payment);
      return payment;
    } finally {
      release();
    }
  }

  async function poll(id: string): Promise<Payment | undefined> {
    const payment = await store.payments.get(id);
    // Without a `ref`, another process may be starting it at this moment.
    if (!payment || payment.ref === null || !POLLED_PHASES.includes(payment.phase)) return payment;
    const after = await work(payment, createExchangeSignal());
    expectDue(after);
    return after;
  }

  async function handleWebhook(name: string, raw: RawNotice): Promise<WebhookOutcome | undefined> {
    const open = providers().get(name);
    const end = open && (await webhooks.handle(open, raw, createExchangeSignal()));
    if (end) counts?.onWebhook(name, end);
    return end;
  }

  return {
    onChange(listener) {
      report = listener;
    },
    providers: () => [...providers().values()],
    minimumOrder,
    order,
    charge,
    poll,
    handleWebhook,
    start() {
      loop.start();
      cleaning = setInterval(() => void removeOldWebhooks(), CLEAN_EVERY_MS).unref();
    },
    async stop() {
      life.abort();
      clearInterval(cleaning);
      await loop.stop();
    },
  };
}

/** The phases in which a provider can still change a payment. */
const POLLED_PHASES = PAYMENT_PHASES.filter(
  (phase) => !['created', 'review', 'canceled', 'failed', 'rejected', 'refunded'].includes(phase),
);
