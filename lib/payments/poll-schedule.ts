// When a payment is polled next: often while the payer is busy, less often later, never more than a day after its link.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/durations.ts';
import type { Payment } from '../money/payment-rules.ts';
import { IMPLAUSIBLE_WAIT_MS } from '../store/claim.ts';

const FIRST_MINUTE_GAP_MS = 5000;

/** Every 5 s in the first minute, every minute while its link is valid, hourly for one more day; then null. */
export function nextPollAt(
  { createdAt, expiresAt }: Pick<Payment, 'createdAt' | 'expiresAt'>,
  at: number,
): number | null {
  if (at - createdAt < MINUTE_MS) return at + FIRST_MINUTE_GAP_MS;
  if (expiresAt === null || at < expiresAt) return at + MINUTE_MS;
  return at - expiresAt < DAY_MS ? at + HOUR_MS : null;
}

/**
 * Only the process that has claimed the payment, or finds it overdue, schedules the next poll. A time too far ahead comes
 * from a clock that was set back since.
 */
export function isDue({ dueAt }: Pick<Payment, 'dueAt'>, at: number): boolean {
  return dueAt !== null && (dueAt <= at || dueAt > at + IMPLAUSIBLE_WAIT_MS.payments);
}

/** Without an end: a provider may take days for a refund. */
export function nextRefundPollAt(askedAt: number, at: number): number {
  return at + (at - askedAt < 10 * MINUTE_MS ? MINUTE_MS : HOUR_MS);
}
