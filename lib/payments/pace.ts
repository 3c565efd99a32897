// When a payment is looked at again: soon while its payer is at it, seldom later, and not at all a day after its link.
import type { Payment } from './decide.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const FIRST_MS = 5000;
const DAY_MS = 24 * HOUR_MS;

/** In the first minute every 5 s, then each minute while its link lives, then hourly for a day; null after that. */
export function nextLookAt(
  { createdAt, expiresAt }: Pick<Payment, 'createdAt' | 'expiresAt'>,
  at: number,
): number | null {
  if (at - createdAt < MINUTE_MS) return at + FIRST_MS;
  if (expiresAt === null || at < expiresAt) return at + MINUTE_MS;
  return at - expiresAt < DAY_MS ? at + HOUR_MS : null;
}

/** Refunds take a provider days at times. */
export function nextRefundLookAt(askedAt: number, at: number): number {
  return at + (at - askedAt < 10 * MINUTE_MS ? MINUTE_MS : HOUR_MS);
}
