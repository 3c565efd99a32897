// When a payment is fetched next: soon while its payer is busy, less often later, and never again a day after its link.
import type { Payment } from '../money/payment-rules.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const FIRST_MS = 5000;
const DAY_MS = 24 * HOUR_MS;

/** Every 5 s in the first minute, then every minute while its link is valid, then hourly for a day; null after that. */
export function nextLookAt(
  { createdAt, expiresAt }: Pick<Payment, 'createdAt' | 'expiresAt'>,
  at: number,
): number | null {
  if (at - createdAt < MINUTE_MS) return at + FIRST_MS;
  if (expiresAt === null || at < expiresAt) return at + MINUTE_MS;
  return at - expiresAt < DAY_MS ? at + HOUR_MS : null;
}

/** A provider may take days for a refund. */
export function nextRefundLookAt(askedAt: number, at: number): number {
  return at + (at - askedAt < 10 * MINUTE_MS ? MINUTE_MS : HOUR_MS);
}
