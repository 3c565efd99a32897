// Payment providers opened as the gateway opens them, and orders for them.
import { randomUUID } from 'node:crypto';
import type { Payment } from '../lib/money/payment-rules.ts';
import type { Store } from '../lib/store/store.ts';
import type {
  HostClock,
  HostMemory,
  Order,
  PaymentPlugin,
  PaymentProvider,
  RefundOrder,
} from '../lib/upstream/contract/payment.ts';
import { createProvider, type OpenProvider } from '../lib/upstream/host/settings.ts';
import { until } from './client.ts';

export interface OpenedPayments extends OpenProvider<PaymentProvider> {
  /** What the provider logged. */
  readonly logged: readonly unknown[];
}

interface Place {
  readonly memory?: HostMemory;
  readonly clock?: HostClock;
}

export function openPayments(plugin: PaymentPlugin, settings: object, place: Place = {}): OpenedPayments {
  const { memory = createMemory(), ...more } = place;
  const logged: unknown[] = [];
  const log = { warn: (...said: unknown[]) => void logged.push(said) };
  const shared = { upstream: 'till', title: 'Payment provider', log, extras: { memory } };
  return { ...createProvider<PaymentProvider>({ plugin, settings, ...shared, ...more }), logged };
}

/** What a provider remembers, for the duration of the test. */
export function createMemory(): HostMemory {
  const values = new Map<string, string>();
  return { get: async (name) => values.get(name), set: async (name, value) => void values.set(name, value) };
}

export const RUB = 1_000_000n;

export function makeOrder(more: Partial<Order> = {}): Order {
  const id = `pay_${randomUUID()}`;
  return {
    id,
    idempotenceKey: randomUUID(),
    amount: 1000n * RUB,
    currency: 'RUB',
    description: 'Top-up of the account 7',
    returnUrl: `https://gate.example/account/wallet?order=${id}`,
    pageUrl: 'https://gate.example/payments/till/page',
    locale: 'ru',
    customer: 'acc_7',
    saveMethod: false,
    createdAt: Date.now(),
    ...more,
  };
}

export function makeRefund(payment: string, more: Partial<RefundOrder> = {}): RefundOrder {
  return {
    id: `rfd_${randomUUID()}`,
    idempotenceKey: randomUUID(),
    payment,
    amount: 1000n * RUB,
    currency: 'RUB',
    reason: 'asked for',
    createdAt: Date.now(),
    ...more,
  };
}

/** Has a payment polled within a second, instead of 5 s after the last time. */
export async function pollSoon({ payments }: Store, id: string): Promise<void> {
  const find = async () => (await payments.get(id)) as Payment;
  await until(async () => (await find()).owner === null, 20_000);
  await payments.put('payments', [{ ...(await find()), dueAt: Date.now() }]);
}
