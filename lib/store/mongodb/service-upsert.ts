// Rows of the sums of all wallets together in the MongoDB store: what adds to them, and what adds them up.
import type { Document } from 'mongodb';
import { BUCKET_COUNT } from '../../base/time-buckets.ts';
import type { ServiceCount, ServiceSum } from '../ports/usage.ts';
import { getServiceKey, listServiceCounts } from '../service-sums.ts';
import { toLong } from './rows.ts';

/** The fields of the times to the first fragment, by bucket. */
export const TIME_FIELDS: readonly string[] = Array.from({ length: BUCKET_COUNT }, (_, at) => `first${at}`);

/** What only the sums of routes have: rows of the others would be more than twice as long, and as slow to add up. */
export const ROUTE_FIELDS: readonly string[] = ['attempts', ...TIME_FIELDS];

/** `isWhole`: with every field, as the schema wanted them before sums by the week. */
export function buildServiceUpsert(sum: ServiceSum, { isWhole = false } = {}): Document {
  const { subject, grain, at, name, first, attempts, charged, refunded, cost, ...counts } = sum;
  const money = { charged: toLong(charged), refunded: toLong(refunded), cost: toLong(cost) };
  const ofRoute = isWhole || subject === 'route' ? { attempts, ...toTimeFields(first) } : {};
  return {
    q: { _id: `${getServiceKey(sum)}` },
    u: { $setOnInsert: { subject, grain, at, name }, $inc: { ...counts, ...money, ...ofRoute } },
    upsert: true,
  };
}

/** What `$group` adds up of the sums of a subject. */
export function sumServiceFields(subject: ServiceSum['subject'], wanted?: readonly ServiceCount[]): Document {
  return sumFields([...listServiceCounts(subject, wanted), ...(subject === 'route' && !wanted ? TIME_FIELDS : [])]);
}

export function sumFields(names: readonly string[]): Document {
  return Object.fromEntries(names.map((name) => [name, { $sum: `$${name}` }]));
}

export function toTimeFields(first: readonly number[]): Document {
  return Object.fromEntries(TIME_FIELDS.map((field, at) => [field, first[at] ?? 0]));
}
