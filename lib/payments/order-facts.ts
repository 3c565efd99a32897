// What an order tells its provider besides the amount. It is stored as JSON with the payment, so that any process can
// send the same order again.
import type { Payment } from '../money/payment-rules.ts';
import type { MethodKind, Order } from '../upstream/contract/payment.ts';

export interface OrderFacts {
  readonly description: string;
  readonly returnUrl: string;
  readonly pageUrl: string;
  readonly locale: Order['locale'];
  readonly email?: string;
  readonly method?: MethodKind;
  readonly saveMethod: boolean;
  /** The id of the saved method to charge, for an automatic top-up. */
  readonly charges?: string;
}

export function parseOrderFacts({ facts }: Pick<Payment, 'facts'>): OrderFacts {
  return JSON.parse(facts);
}

/** The order as sent to the provider, identical in every retry. */
export function buildOrder(payment: Payment): Order {
  const { charges: _, ...facts } = parseOrderFacts(payment);
  const { id, amount, wallet, createdAt } = payment;
  return { id, idempotenceKey: id, amount, currency: 'RUB', customer: wallet, createdAt, ...facts };
}
