// Ids of orders, refunds, payment methods, consents, webhooks and adjustments: sortable by time, and unguessable.
import { randomBytes } from 'node:crypto';

/** 12 hex digits of time, 24 random ones; at most 40 characters, which every provider accepts as a key. */
export function newId(prefix: 'pay' | 'rfd' | 'pm' | 'con' | 'ntc' | 'adj', at: number): string {
  return `${prefix}_${at.toString(16).padStart(12, '0')}${randomBytes(12).toString('hex')}`;
}
