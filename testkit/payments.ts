// Payment providers as the gateway opens them, and orders for them.
import { randomUUID } from 'node:crypto';
import type { Order, PaymentPlugin, PaymentProvider, RefundOrder } from '../lib/payments/contract.ts';
import { createProvider, type OpenProvider } from '../lib/plugin/settings.ts';

export interface OpenedPayments extends OpenProvider<PaymentProvider> {
  /** What the provider logged. */
  readonly logged: readonly unknown[];
}

export function openPayments(plugin: PaymentPlugin, settings: object): OpenedPayments {
  const logged: unknown[] = [];
  const log = { warn: (...said: unknown[]) => void logged.push(said) };
  const open = createProvider<PaymentProvider>({ plugin, upstream: 'till', title: 'Payment provider', settings, log });
  return { ...open, logged };
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
