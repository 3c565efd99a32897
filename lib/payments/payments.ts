// The payments service behind the pages, the notice route and automatic top-up. An owner's payment begins with `order`
// and continues with `look`; automatic top-up uses `charge`. Operators' actions are in `operator.ts`.

import { fault } from '../base/faults.ts';
import type { OpenPayment } from '../catalog/payments.ts';
import { createLeaseLoop, type LoopClock } from '../ledger/lease-loop.ts';
import { FIRST_TOPUP_MINIMUM } from '../money/decide.ts';
import { formatRub, type Micro } from '../money/money.ts';
import { type NewPayment, PAYMENT_PHASES, type Payment } from '../money/payment-rules.ts';
import type { AutoTopupRow, SavedMethodRow } from '../store/ports/payments.ts';
import type { Store } from '../store/store.ts';
import type { UpstreamFault } from '../upstream/contract/fault.ts';
import type { MethodKind, Order, RawNotice } from '../upstream/contract/payment.ts';
import { boundsOf, KOPECK, LEAST_ORDER } from './bounds.ts';
import type { OrderFacts } from './facts.ts';
import { createFollow, type PaymentLog } from './follow.ts';
import { newId } from './ids.ts';
import { createNotices, type NoticeEnd } from './notices.ts';
import { createWork } from './work.ts';

export interface PaymentsOptions {
  readonly store: Pick<Store, 'payments' | 'ledger' | 'settings'>;
  /** The providers that are switched on now. */
  readonly providers: () => ReadonlyMap<string, OpenPayment>;
  readonly publicUrl: () => string;
  readonly ownerId: string;
  readonly leaseMs: number;
  /** The store's clock. */
  readonly clock: LoopClock;
  readonly log: PaymentLog;
  /** Called when this process has saved a card or another method. */
  readonly onSaved?: (method: SavedMethodRow) => void;
  readonly counts?: PaymentCounts | undefined;
}

/** Told of what happens in this process, for metrics. */
export interface PaymentCounts {
  onOrder(provider: string, origin: Payment['origin']): void;
  onCredit(provider: string): void;
  onNotice(provider: string, end: NoticeEnd): void;
  /** A provider could not be asked, or refused. */
  onFailure(provider: string, kind: UpstreamFault['kind']): void;
}

/** What an owner wants to pay. */
export interface OrderRequest {
  readonly wallet: string;
  /** The provider's name in the catalog. */
  readonly provider: string;
  readonly amount: Micro;
  readonly locale: Order['locale'];
  readonly email?: string;
  readonly method?: MethodKind;
  /** The owner agreed to save the method: store the consent first. */
  readonly saveMethod: boolean;
}

export interface ChargeRequest extends Pick<OrderRequest, 'wallet' | 'amount' | 'locale' | 'email'> {
  /** The id of one of the wallet's saved methods. */
  readonly method: string;
}

export interface Payments {
  /** Registers what is called after every stored change of a payment's phase or money made by this process. */
  onChange(report: (payment: Payment) => void): void;
  /** The providers that are switched on, for a page that offers them. */
  providers(): readonly OpenPayment[];
  /** The wallet's minimum order at this time: higher until the first payment. */
  leastOrder(wallet: string): Promise<Micro>;
  /**
   * Makes an order and asks its provider to start it. The payment has its `payUrl`, or is still `created` if the
   * provider did not answer: it is retried, and the page shows the link once it is there. Throws `invalid_field`
   * faults, or rejects with `StoreError`: then the order is either listed or was never made.
   */
  order(request: OrderRequest): Promise<Payment>;
  /**
   * Charges a saved method without its owner present. `claim` gets the new order's id and returns the next version of
   * the automatic top-up that starts it; both are stored in one transaction. Undefined if the automatic top-up changed
   * in the meantime; then nothing was started. The payment may be pending: its end arrives through `onChange`, in any
   * process, or through `store.payments.get`.
   */
  charge(request: ChargeRequest, claim: (orderId: string) => AutoTopupRow): Promise<Payment | undefined>;
  /** Asks the provider now: for the page a payer returns to, and for an operator. Undefined for an unknown id. */
  look(id: string): Promise<Payment | undefined>;
  /** Processes a notice; undefined if the provider is not switched on. */
  notice(provider: string, raw: RawNotice): Promise<NoticeEnd | undefined>;
  start(): void;
  stop(): Promise<void>;
}

/** Orders of one wallet waiting for their payer. */
const OPEN_MAX = 10;
const GAP_MS = 1000;
/** How long notices are kept as evidence. */
const NOTICES_KEPT_MS = 180 * 86_400_000;
const CLEAN_EVERY_MS = 6 * 3_600_000;
/** For one exchange with a provider. */
const ASK_MS = 30_000;

export function createPayments(options: PaymentsOptions): Payments {
  const { store, providers, publicUrl, ownerId, leaseMs, clock, log, counts } = options;
  const now = clock.now;
  const follow = createFollow({ store, now, log, onChange: noteChange, onSaved: options.onSaved });
  const notices = createNotices({ store, follow, now, log });
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
    work: async (payment, signal) => expect(await work(payment, AbortSignal.any([signal, limit()]))),
    onClaimError: (err) => log.warn({ err }, 'could not claim the payments that are due'),
    onWorkError: (err, payment) => log.warn({ err, payment: payment.id }, 'could not process a payment'),
  });

  function noteChange(payment: Payment): void {
    // A refund of it changes it too, and leaves it credited when it is refused.
    if (payment.phase === 'credited' && payment.refunds === '[]') counts?.onCredit(payment.provider);
    report(payment);
  }

  function limit(): AbortSignal {
    return AbortSignal.any([life.signal, AbortSignal.timeout(ASK_MS)]);
  }

  function expect({ id, dueAt }: Payment): void {
    if (dueAt !== null) loop.expectDue(id, dueAt);
  }

  async function clean(): Promise<void> {
    try {
      while ((await store.payments.removeOldWebhooks(now() - NOTICES_KEPT_MS)) > 0 && !life.signal.aborted);
    } catch (err) {
      log.warn({ err }, 'could not remove old notices');
    }
  }

  async function leastOrder(wallet: string): Promise<Micro> {
    return (await store.ledger.wallet(wallet))?.topped === 0n ? FIRST_TOPUP_MINIMUM : LEAST_ORDER;
  }

  async function order(request: OrderRequest): Promise<Payment> {
    const { wallet, provider, amount, method, saveMethod, locale, email } = request;
    const open = providers().get(provider);
    if (!open) throw fault('invalid_field', { field: 'provider', hint: 'must be one that is switched on' });
    await checkAmount(request, open);
    const waiting = await store.payments.list({ wallet, phases: ['created', 'pending'], limit: OPEN_MAX });
    if (waiting.length === OPEN_MAX)
      throw fault('invalid_field', { field: 'amount', hint: 'too many orders wait to be paid' });
    const id = newId('pay', now());
    const facts = factsFor({ id, provider, amount, locale, saveMethod }, { email, method });
    return begin(startOf({ id, wallet, amount, origin: 'manual' }, open, facts), undefined);
  }

  async function charge(
    request: ChargeRequest,
    claim: (orderId: string) => AutoTopupRow,
  ): Promise<Payment | undefined> {
    const { wallet, amount, locale, email, method: charges } = request;
    const method = await store.payments.method(charges);
    const open = method && providers().get(method.provider);
    if (!method || method.wallet !== wallet || method.removedAt !== null || !open?.provider.charge) {
      throw fault('invalid_field', { field: 'method', hint: 'must be a saved method that can be charged' });
    }
    await checkAmount({ ...request, method: method.kind as MethodKind }, open);
    const id = newId('pay', now());
    const facts = factsFor({ id, provider: open.name, amount, locale, saveMethod: false }, { email, charges });
    const auto = claim(id);
    const made = startOf({ id, wallet, amount, origin: 'auto' }, open, facts);
    return begin(made, auto);
  }

  async function checkAmount(
    { wallet, amount, method }: Pick<OrderRequest, 'wallet' | 'amount' | 'method'>,
    open: OpenPayment,
  ): Promise<void> {
    const { min, max } = boundsOf(await leastOrder(wallet), open, method);
    const refuse = (hint: string) => fault('invalid_field', { field: 'amount', hint });
    if (amount % KOPECK !== 0n) throw refuse('must be whole kopecks');
    if (amount < min) throw refuse(`must be at least ${formatRub(min)} RUB`);
    if (amount > max) throw refuse(`must be at most ${formatRub(max)} RUB`);
  }

  function factsFor(
    {
      id,
      provider,
      amount,
      locale,
      saveMethod,
    }: Pick<OrderRequest, 'provider' | 'amount' | 'locale' | 'saveMethod'> & {
      id: string;
    },
    more: { readonly [Name in 'email' | 'method' | 'charges']?: OrderFacts[Name] | undefined },
  ): OrderFacts {
    const base = publicUrl();
    const given = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined));
    const description = `${locale === 'ru' ? 'Пополнение счёта' : 'Top-up'} ${formatRub(amount)} RUB`;
    const urls = { returnUrl: `${base}/account/wallet?order=${id}`, pageUrl: `${base}/payments/${provider}/page` };
    return { description, ...urls, locale, saveMethod, ...given };
  }

  function startOf(
    what: Pick<NewPayment, 'id' | 'wallet' | 'amount' | 'origin'>,
    { name, provider }: OpenPayment,
    facts: OrderFacts,
  ): NewPayment {
    const at = now();
    const maker = { owner: ownerId, lease: at + Math.max(leaseMs, ASK_MS), createdAt: at };
    return {
      ...what,
      provider: name,
      shop: provider.shop,
      test: !provider.live,
      facts: JSON.stringify(facts),
      ...maker,
    };
  }

  async function begin(start: NewPayment, auto: undefined): Promise<Payment>;
  async function begin(start: NewPayment, auto: AutoTopupRow): Promise<Payment | undefined>;
  async function begin(start: NewPayment, auto: AutoTopupRow | undefined): Promise<Payment | undefined> {
    const release = loop.markCreating(start.id);
    try {
      if ((await store.payments.create(start, auto)) === 'stale') return undefined;
      counts?.onOrder(start.provider, start.origin);
      const made = (await store.payments.get(start.id)) as Payment;
      const payment = await work(made, limit()).catch((err: unknown) => {
        // It is stored: whoever claims it next continues.
        log.warn({ err, payment: start.id }, 'could not start an order right away');
        return made;
      });
      expect(payment);
      return payment;
    } finally {
      release();
    }
  }

  async function look(id: string): Promise<Payment | undefined> {
    const payment = await store.payments.get(id);
    // Another process may be starting it at this moment.
    if (!payment || payment.ref === null || !LOOKED_AT.includes(payment.phase)) return payment;
    const after = await work(payment, limit());
    expect(after);
    return after;
  }

  async function notice(name: string, raw: RawNotice): Promise<NoticeEnd | undefined> {
    const open = providers().get(name);
    const end = open && (await notices.take(open, raw, limit()));
    if (end) counts?.onNotice(name, end);
    return end;
  }

  return {
    onChange(listener) {
      report = listener;
    },
    providers: () => [...providers().values()],
    leastOrder,
    order,
    charge,
    look,
    notice,
    start() {
      loop.start();
      cleaning = setInterval(() => void clean(), CLEAN_EVERY_MS).unref();
    },
    async stop() {
      life.abort();
      clearInterval(cleaning);
      await loop.stop();
    },
  };
}

/** Payments that a provider can still change. */
const LOOKED_AT = PAYMENT_PHASES.filter(
  (phase) => !['created', 'review', 'canceled', 'failed', 'rejected', 'refunded'].includes(phase),
);
