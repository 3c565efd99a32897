// Writes of the MongoDB store that add to the sums of all wallets together.
import type { Document } from 'mongodb';
import { BUCKET_COUNT } from '../../base/time-buckets.ts';
import type { ServiceSum } from '../ports/usage.ts';
import { getServiceKey } from '../service-sums.ts';
import { toLong } from './rows.ts';

/** The fields of the times to the first fragment, by bucket. */
export const TIME_FIELDS: readonly string[] = Array.from({ length: BUCKET_COUNT }, (_, at) => `first${at}`);

export function buildServiceUpsert(sum: ServiceSum): Document {
  const { subject, grain, at, name, first, charged, refunded, cost, ...counts } = sum;
  const money = { charged: toLong(charged), refunded: toLong(refunded), cost: toLong(cost) };
  return {
    q: { _id: `${getServiceKey(sum)}` },
    u: { $setOnInsert: { subject, grain, at, name }, $inc: { ...counts, ...money, ...toTimeFields(first) } },
    upsert: true,
  };
}

export function toTimeFields(first: readonly number[]): Document {
  return Object.fromEntries(TIME_FIELDS.map((field, at) => [field, first[at] ?? 0]));
}
