// The sandbox's payments: what was ordered, decided on the page, and refunded. The gateway stores them, so every process
// knows them, even after a restart. Late and expired payments are computed from the time alone.
import { createHash } from 'node:crypto';
import type {
  Order,
  PaymentHost,
  PaymentState,
  RefundOrder,
  RefundState,
  SavedMethod,
} from '../../lib/upstream/contract/payment.ts';
import { DECLINES } from './cards.ts';

export interface SandboxSettings {
  /** How long the pay page accepts a payment. */
  readonly linkMs: number;
  /** How long a late payment takes, past the end of its link if necessary. */
  readonly lateMs: number;
}

/** The effect of a button. */
type Decision =
  | { readonly kind: 'paid' | 'late' | 'wrong-sum' | 'wrong-currency' }
  | { readonly kind: 'declined'; readonly code: string };

/** One payment as stored in JSON, with amounts as strings. */
export interface Entry {
  readonly id: string;
  readonly order: string;
  readonly amount: string;
  readonly description: string;
  readonly returnUrl: string;
  readonly locale: 'ru' | 'en';
  /** The payer agreed to save the card. */
  readonly save: boolean;
  readonly expiresAt: number;
  readonly decision?: Decision & { readonly at: number };
  readonly saved?: SavedMethod;
  readonly refunds: readonly { readonly id: string; readonly amount: string; readonly order: string | null }[];
  readonly disputed?: boolean;
}

export type Till = ReturnType<typeof createTill>;

interface TillContext {
  readonly host: PaymentHost;
  readonly shop: string;
}

export function createTill({ linkMs, lateMs }: SandboxSettings, { host, shop }: TillContext) {
  const { memory, clock, fault } = host;
  let lastChange: Promise<unknown> = Promise.resolve();

  async function readEntry(id: string): Promise<Entry | undefined> {
    const text = await memory.get(id);
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** Runs the changes of this process one after another. */
  function changeEntry(id: string, make: (entry: Entry | undefined) => Entry): Promise<Entry> {
    const changing = lastChange.then(async () => {
      const entry = make(await readEntry(id));
      await memory.set(id, JSON.stringify(entry));
      return entry;
    });
    lastChange = changing.catch(() => undefined);
    return changing;
  }

  function requirePayment(entry: Entry | undefined): Entry {
    if (!entry) throw fault.make('missing', 'there is no such payment', { status: 404 });
    return entry;
  }

  /** In micro-roubles. */
  const unrefundedSum = ({ amount, refunds }: Entry) =>
    refunds.reduce((left, refund) => left - BigInt(refund.amount), BigInt(amount));

  function currentStatus({ decision, expiresAt }: Entry): PaymentState['status'] {
    if (!decision) return clock.now() < expiresAt ? 'pending' : 'canceled';
    if (decision.kind === 'declined') return 'canceled';
    return decision.kind === 'late' && clock.now() < decision.at + lateMs ? 'pending' : 'succeeded';
  }

  function findDecline({ decision }: Entry): PaymentState['reason'] {
    if (decision?.kind !== 'declined') return { kind: 'expired', code: 'link_expired' };
    return { kind: DECLINES[decision.code] ?? 'soft', code: decision.code };
  }

  function toPaymentState(entry: Entry): PaymentState {
    const status = currentStatus(entry);
    const amount = BigInt(entry.amount);
    const kind = status === 'succeeded' ? entry.decision?.kind : undefined;
    return {
      id: entry.id,
      status,
      amount: kind === 'wrong-sum' ? amount - 10_000n : amount,
      currency: kind === 'wrong-currency' ? 'USD' : 'RUB',
      shop,
      test: true,
      order: entry.order,
      saved: (status === 'succeeded' && entry.saved) || null,
      refunds: entry.refunds.map(toRefundState),
      reason: status === 'canceled' ? findDecline(entry) : null,
    };
  }

  function addRefund(id: string, refund: Entry['refunds'][number]): Promise<Entry> {
    return changeEntry(id, (before) => {
      const entry = requirePayment(before);
      if (entry.refunds.some((other) => other.id === refund.id)) return entry;
      if (currentStatus(entry) !== 'succeeded' || BigInt(refund.amount) > unrefundedSum(entry))
        throw fault.make('request', 'there is not so much left of the payment');
      return { ...entry, refunds: [...entry.refunds, refund] };
    });
  }

  return {
    readEntry,
    unrefundedSum,
    currentStatus,
    /** Creates the payment of an order, or returns the existing one if the idempotency key was used before. */
    async open(order: Order, saved?: SavedMethod): Promise<Entry> {
      const id = deriveId('sb', order.idempotenceKey);
      await memory.set(`order/${order.id}`, id);
      return changeEntry(id, (before) => {
        if (before) return before;
        const { amount, description, returnUrl, locale, saveMethod: save } = order;
        const expiresAt = clock.now() + linkMs;
        const entry = { id, order: order.id, amount: String(amount), description, returnUrl, locale, save, expiresAt };
        return { ...entry, refunds: [], saved };
      });
    },
    /** Does nothing after the first decision. */
    decide(id: string, decision: Decision, saved?: SavedMethod): Promise<Entry> {
      return changeEntry(id, (before) => {
        const entry = requirePayment(before);
        if (entry.decision || currentStatus(entry) !== 'pending') return entry;
        return { ...entry, decision: { ...decision, at: clock.now() }, ...(saved && entry.save && { saved }) };
      });
    },
    dispute: (id: string): Promise<Entry> =>
      changeEntry(id, (before) => ({ ...requirePayment(before), disputed: true })),
    fetch: async (id: string): Promise<PaymentState> => toPaymentState(requirePayment(await readEntry(id))),
    async find(order: string): Promise<PaymentState | undefined> {
      const id = await memory.get(`order/${order}`);
      const entry = id === undefined ? undefined : await readEntry(id);
      return entry && toPaymentState(entry);
    },
    async refund({ id: order, idempotenceKey, payment, amount }: RefundOrder): Promise<RefundState> {
      const refund = { id: deriveId('rf', idempotenceKey), amount: String(amount), order };
      await addRefund(payment, refund);
      return toRefundState(refund);
    },
    /** A refund made at the provider instead of through the gateway. */
    async refundHere(id: string, amount: bigint): Promise<Entry> {
      const { refunds } = requirePayment(await readEntry(id));
      return addRefund(id, { id: deriveId('rf', `${id} ${refunds.length}`), amount: String(amount), order: null });
    },
  };
}

function toRefundState({ id, amount, order }: Entry['refunds'][number]): RefundState {
  return { id, status: 'succeeded', amount: BigInt(amount), currency: 'RUB', order };
}

/** The same id for the same key, as hard to guess as the key. */
function deriveId(kind: string, key: string): string {
  return `${kind}-${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}
