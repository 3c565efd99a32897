// Ids of orders, refunds, payment methods, consents, webhooks and adjustments: sortable by time, and unguessable.
import { createHash, randomBytes } from 'node:crypto';
import { getOperationId } from '../money/operations.ts';
import type { Payment } from '../money/payment-rules.ts';

/** 12 hex digits of time, 24 random ones; at most 40 characters, which every provider accepts as a key. */
export function newId(prefix: 'pay' | 'rfd' | 'pm' | 'con' | 'ntc' | 'adj', at: number): string {
  return `${prefix}_${at.toString(16).padStart(12, '0')}${randomBytes(12).toString('hex')}`;
}

/** What every provider accepts as a key; some take it as the number of an order, too. */
const PLAIN = /^[\w.+-]{1,64}$/;

/** The id of a refund as providers get it: an operator may choose any text, in any script, as the id of a refund. */
export function toProviderId(id: string): string {
  return PLAIN.test(id) ? id : `rfd_${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}

export function getCreditEntryId({ wallet, provider, ref, amount, id: order, createdAt: at }: Payment): string {
  return getOperationId({ kind: 'pay', wallet, at, amount, order, paymentId: `${provider}:${ref}` });
}
