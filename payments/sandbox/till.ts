// The sandbox's payments: what was ordered, decided on the page, and given back. They are stored by the gateway, so
// every process knows them, also after a restart; only time makes a payment late or expired.
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
  /** How long a link to the page can be used to pay. */
  readonly linkMs: number;
  /** How long a late payment takes, past the end of its link if necessary. */
  readonly lateMs: number;
}

/** What a button did. */
export type Decision =
  | { readonly kind: 'paid' | 'late' | 'wrong-sum' | 'wrong-currency' }
  | { readonly kind: 'declined'; readonly code: string };

/** One payment, as JSON: amounts are strings. */
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

interface Place {
  readonly host: PaymentHost;
  readonly shop: string;
}

export function createTill({ linkMs, lateMs }: SandboxSettings, { host, shop }: Place) {
  const { memory, clock, fault } = host;
  let turn: Promise<unknown> = Promise.resolve();

  async function entryOf(id: string): Promise<Entry | undefined> {
    const text = await memory.get(id);
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** Serialises this process's changes. */
  function change(id: string, make: (entry: Entry | undefined) => Entry): Promise<Entry> {
    const changing = turn.then(async () => {
      const entry = make(await entryOf(id));
      await memory.set(id, JSON.stringify(entry));
      return entry;
    });
    turn = changing.catch(() => undefined);
    return changing;
  }

  function known(entry: Entry | undefined): Entry {
    if (!entry) throw fault.make('missing', 'there is no such payment', { status: 404 });
    return entry;
  }

  /** What is left of it, in micro-roubles. */
  const leftOf = ({ amount, refunds }: Entry) =>
    refunds.reduce((left, refund) => left - BigInt(refund.amount), BigInt(amount));

  function statusOf({ decision, expiresAt }: Entry): PaymentState['status'] {
    if (!decision) return clock.now() < expiresAt ? 'pending' : 'canceled';
    if (decision.kind === 'declined') return 'canceled';
    return decision.kind === 'late' && clock.now() < decision.at + lateMs ? 'pending' : 'succeeded';
  }

  function reasonOf({ decision }: Entry): PaymentState['reason'] {
    if (decision?.kind !== 'declined') return { kind: 'expired', code: 'link_expired' };
    return { kind: DECLINES[decision.code] ?? 'soft', code: decision.code };
  }

  function stateOf(entry: Entry): PaymentState {
    const status = statusOf(entry);
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
      refunds: entry.refunds.map(refundState),
      reason: status === 'canceled' ? reasonOf(entry) : null,
    };
  }

  function giveBack(id: string, refund: Entry['refunds'][number]): Promise<Entry> {
    return change(id, (before) => {
      const entry = known(before);
      if (entry.refunds.some((other) => other.id === refund.id)) return entry;
      if (statusOf(entry) !== 'succeeded' || BigInt(refund.amount) > leftOf(entry))
        throw fault.make('request', 'there is not so much left of the payment');
      return { ...entry, refunds: [...entry.refunds, refund] };
    });
  }

  return {
    entryOf,
    leftOf,
    statusOf,
    /** The payment of an order; with the key of an earlier call, the existing one. */
    async open(order: Order, saved?: SavedMethod): Promise<Entry> {
      const id = idOf('sb', order.idempotenceKey);
      await memory.set(`order/${order.id}`, id);
      return change(id, (before) => {
        if (before) return before;
        const { amount, description, returnUrl, locale, saveMethod: save } = order;
        const expiresAt = clock.now() + linkMs;
        const entry = { id, order: order.id, amount: String(amount), description, returnUrl, locale, save, expiresAt };
        return { ...entry, refunds: [], ...(saved && { saved }) };
      });
    },
    /** The first decision stays. */
    decide(id: string, decision: Decision, saved?: SavedMethod): Promise<Entry> {
      return change(id, (before) => {
        const entry = known(before);
        if (entry.decision || statusOf(entry) !== 'pending') return entry;
        return { ...entry, decision: { ...decision, at: clock.now() }, ...(saved && entry.save && { saved }) };
      });
    },
    dispute: (id: string): Promise<Entry> => change(id, (before) => ({ ...known(before), disputed: true })),
    fetch: async (id: string): Promise<PaymentState> => stateOf(known(await entryOf(id))),
    async find(order: string): Promise<PaymentState | undefined> {
      const id = await memory.get(`order/${order}`);
      const entry = id === undefined ? undefined : await entryOf(id);
      return entry && stateOf(entry);
    },
    async refund({ id: order, idempotenceKey, payment, amount }: RefundOrder): Promise<RefundState> {
      const refund = { id: idOf('rf', idempotenceKey), amount: String(amount), order };
      await giveBack(payment, refund);
      return refundState(refund);
    },
    /** A refund that starts here instead of in the gateway. */
    async refundHere(id: string, amount: bigint): Promise<Entry> {
      const { refunds } = known(await entryOf(id));
      return giveBack(id, { id: idOf('rf', `${id} ${refunds.length}`), amount: String(amount), order: null });
    },
  };
}

function refundState({ id, amount, order }: Entry['refunds'][number]): RefundState {
  return { id, status: 'succeeded', amount: BigInt(amount), currency: 'RUB', order };
}

/** As hard to guess as the key. */
function idOf(kind: string, key: string): string {
  return `${kind}-${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}
