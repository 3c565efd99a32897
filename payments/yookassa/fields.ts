// Field names and units shared by requests and responses.
import type { JsonObject } from '../../lib/upstream/contract/payment.ts';

/** The metadata fields with our ids. */
export const ORDER = 'order_id';
export const REFUND = 'refund_id';

export const METHOD_TYPES = { card: 'bank_card', sbp: 'sbp', wallet: 'yoo_money' } as const;

export const MICRO_PER_KOPECK = 10_000n;

export function toFields(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
