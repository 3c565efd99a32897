// Names shared by requests and answers.
import type { JsonObject } from '../../lib/upstream/contract/payment.ts';

/** In the metadata: our ids. */
export const ORDER = 'order_id';
export const REFUND = 'refund_id';

export const METHOD_TYPES = { card: 'bank_card', sbp: 'sbp', wallet: 'yoo_money' } as const;

export const MICRO_PER_KOPECK = 10_000n;

export function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
