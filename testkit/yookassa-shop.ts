// A shop as kept by YooKassa, in memory with its own clock: payments, saved methods and refunds, and the webhooks that
// their changes trigger. Modelled on https://yookassa.ru/developers/api and its OpenAPI specification.
import { randomUUID } from 'node:crypto';

export interface ShopOptions {
  readonly shopId?: string;
  /** A test shop's payments are marked as tests. */
  readonly test?: boolean;
  /** The vendor has enabled autopayments. */
  readonly autopayments?: boolean;
  /** Payments require receipts. */
  readonly receipts?: boolean;
  /** Where the payment pages are. */
  readonly checkout?: string;
  readonly now?: () => number;
  readonly onWebhook?: (webhook: ShopWebhook) => void;
  /** The ids of methods; by default that of the payment, as is usual at the vendor. */
  readonly findMethodId?: (payment: Payment) => string;
}

interface Sum {
  readonly value: string;
  readonly currency: string;
}

interface Card {
  readonly first6: string;
  readonly last4: string;
  readonly expiry_month: string;
  readonly expiry_year: string;
  readonly card_type: string;
}

interface Method {
  readonly type: string;
  readonly id: string;
  readonly saved: boolean;
  readonly status: 'active' | 'inactive';
  readonly title?: string;
  readonly card?: Card;
}

interface Cancellation {
  readonly party: 'yoo_money' | 'payment_network' | 'merchant';
  readonly reason: string;
}

export interface Payment {
  readonly id: string;
  status: 'pending' | 'waiting_for_capture' | 'succeeded' | 'canceled';
  amount: Sum;
  readonly description?: string;
  readonly recipient: { readonly account_id: string; readonly gateway_id: string };
  payment_method?: Method;
  readonly created_at: string;
  captured_at?: string;
  expires_at?: string;
  confirmation?: { readonly type: 'redirect'; readonly return_url: string; readonly confirmation_url: string };
  readonly test: boolean;
  paid: boolean;
  refundable: boolean;
  refunded_amount?: Sum;
  readonly metadata: Readonly<Record<string, string>>;
  cancellation_details?: Cancellation;
  readonly merchant_customer_id?: string;
}

export interface Refund {
  readonly id: string;
  readonly payment_id: string;
  status: 'pending' | 'succeeded' | 'canceled';
  readonly amount: Sum;
  readonly description?: string;
  readonly created_at: string;
  readonly metadata: Readonly<Record<string, string>>;
  cancellation_details?: Cancellation;
}

export interface ShopWebhook {
  readonly type: 'notification';
  readonly event: string;
  /** Its state at the time of the event. */
  readonly object: Payment | Refund;
}

/** The body of a request, whatever it contains. */
// biome-ignore lint/suspicious/noExplicitAny: a server reads any shape
export type Body = any;

/** What happens when a saved method is charged: a state, or the reason for a decline. */
type Outcome = 'succeeded' | 'pending' | (string & {});

export type Shop = ReturnType<typeof createShop>;

const LINK_MS = 3_600_000;

export const CARD: Card = {
  first6: '220000',
  last4: '4444',
  expiry_month: '07',
  expiry_year: '2031',
  card_type: 'Mir',
};

export function createShop(options: ShopOptions = {}) {
  const { shopId = '506751', test = true, autopayments = true, receipts = false } = options;
  const { checkout = 'https://yoomoney.ru', now = Date.now, onWebhook, findMethodId = ({ id }) => id } = options;
  const payments = new Map<string, Payment>();
  const refunds = new Map<string, Refund>();
  const methods = new Map<string, Method>();
  const outcomes = new Map<string, Outcome>();
  const toSave = new Set<string>();
  let refundOutcome: Outcome = 'succeeded';

  const date = () => new Date(now()).toISOString();

  function tell(event: string, object: Payment | Refund): void {
    onWebhook?.({ type: 'notification', event, object: structuredClone(object) });
  }

  function open(id: string): Payment {
    const payment = payments.get(id);
    if (!payment) throw new Error(`there is no payment ${id}`);
    if (payment.status !== 'pending' && payment.status !== 'waiting_for_capture')
      throw new Error(`payment ${id} is ${payment.status}: that is final`);
    return payment;
  }

  function succeed(payment: Payment, method: Method): void {
    Object.assign(payment, { status: 'succeeded', paid: true, refundable: true, captured_at: date() });
    payment.payment_method = method;
    delete payment.confirmation;
    delete payment.expires_at;
    tell('payment.succeeded', payment);
  }

  function cancel(payment: Payment, reason: string, party: Cancellation['party']): void {
    Object.assign(payment, { status: 'canceled', paid: false, refundable: false });
    payment.cancellation_details = { party, reason };
    delete payment.confirmation;
    delete payment.expires_at;
    tell('payment.canceled', payment);
  }

  /** A link that was never used ends its payment. */
  function endLinks(): void {
    for (const payment of payments.values()) {
      const isOver = payment.confirmation && Date.parse(payment.created_at) + LINK_MS <= now();
      if (payment.status === 'pending' && isOver) cancel(payment, 'expired_on_confirmation', 'yoo_money');
    }
  }

  function describeMethod(payment: Payment, card: Card | null): Method {
    const saved = toSave.has(payment.id) && card !== null;
    const status = saved ? 'active' : 'inactive';
    const id = findMethodId(payment);
    const method: Method = card
      ? { type: 'bank_card', id, saved, status, title: `Bank card *${card.last4}`, card }
      : { type: 'sbp', id, saved, status };
    if (saved) methods.set(method.id, method);
    return method;
  }

  function create(body: Body): Payment {
    const payment: Payment = {
      id: randomUUID(),
      status: 'pending',
      amount: { ...body.amount },
      ...(body.description !== undefined && { description: body.description }),
      recipient: { account_id: shopId, gateway_id: '2131004' },
      created_at: date(),
      test,
      paid: false,
      refundable: false,
      metadata: { ...body.metadata },
      ...(body.merchant_customer_id !== undefined && { merchant_customer_id: body.merchant_customer_id }),
    };
    payments.set(payment.id, payment);
    if (body.payment_method_id !== undefined) charge(payment, body.payment_method_id);
    else {
      const url = `${checkout}/checkout/payments/v2/contract?orderId=${payment.id}`;
      payment.confirmation = { type: 'redirect', return_url: body.confirmation.return_url, confirmation_url: url };
      if (body.save_payment_method === true) toSave.add(payment.id);
    }
    return payment;
  }

  function charge(payment: Payment, methodId: string): void {
    const method = methods.get(methodId) as Method;
    const outcome = outcomes.get(methodId) ?? 'succeeded';
    payment.payment_method = method;
    if (outcome === 'succeeded') succeed(payment, method);
    else if (outcome !== 'pending') cancel(payment, outcome, 'payment_network');
  }

  const giveBack = (payment: Payment) =>
    [...refunds.values()]
      .filter(({ payment_id, status }) => payment_id === payment.id && status !== 'canceled')
      .reduce((sum, { amount }) => sum + readKopecks(amount), 0n);

  function refund(body: Body): Refund {
    const made: Refund = {
      id: randomUUID(),
      payment_id: body.payment_id,
      status: 'pending',
      amount: { ...body.amount },
      ...(body.description !== undefined && { description: body.description }),
      created_at: date(),
      metadata: { ...body.metadata },
    };
    refunds.set(made.id, made);
    if (refundOutcome !== 'pending') endRefund(made.id, refundOutcome);
    return made;
  }

  function endRefund(id: string, outcome: Outcome): void {
    const made = refunds.get(id) as Refund;
    if (outcome === 'succeeded') {
      made.status = 'succeeded';
      const payment = payments.get(made.payment_id) as Payment;
      payment.refunded_amount = formatSum(readKopecks(payment.refunded_amount) + readKopecks(made.amount));
      payment.refundable = giveBack(payment) < readKopecks(payment.amount);
      // A canceled refund has no event.
      tell('refund.succeeded', made);
    } else {
      made.status = 'canceled';
      made.cancellation_details = { party: 'yoo_money', reason: outcome };
    }
  }

  return {
    shopId,
    autopayments,
    receipts,
    payments,
    refunds,
    methods,
    create,
    endLinks,
    /** The part of a payment that is not refunded, in kopecks. */
    left: (payment: Payment) => readKopecks(payment.amount) - giveBack(payment),
    refund,
    endRefund,
    /** The outcome of refunds from now on. */
    refundsGo: (outcome: Outcome) => {
      refundOutcome = outcome;
    },
    /** The outcome of charges to a saved method from now on. */
    methodGoes: (id: string, outcome: Outcome) => outcomes.set(id, outcome),
    /** The payer pays, by card, or by SBP with null. */
    pay(id: string, card: Card | null = CARD): Payment {
      const payment = open(id);
      succeed(payment, describeMethod(payment, card));
      return payment;
    },
    /** The money is on hold, as in a shop with two-stage payments. */
    hold(id: string, card: Card = CARD): Payment {
      const payment = open(id);
      Object.assign(payment, { status: 'waiting_for_capture', paid: true, expires_at: date() });
      payment.payment_method = describeMethod(payment, card);
      delete payment.confirmation;
      tell('payment.waiting_for_capture', payment);
      return payment;
    },
    decline(id: string, reason: string, party: Cancellation['party'] = 'payment_network'): Payment {
      const payment = open(id);
      payment.payment_method = { type: 'bank_card', id, saved: false, status: 'inactive', card: CARD };
      cancel(payment, reason, party);
      return payment;
    },
    /** Something differs from the order: another sum, currency or shop. */
    spoil: (id: string, change: Partial<Payment>): Payment => Object.assign(payments.get(id) as Payment, change),
  };
}

export function readKopecks(sum: Sum | undefined): bigint {
  return BigInt((sum?.value ?? '0.00').replace('.', ''));
}

function formatSum(kopecks: bigint): Sum {
  const digits = String(kopecks).padStart(3, '0');
  return { value: `${digits.slice(0, -2)}.${digits.slice(-2)}`, currency: 'RUB' };
}
