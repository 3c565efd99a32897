// All rules of automatic top-ups: when a wallet's card is charged, and how a finished payment changes the setup. Pure.
import { HOUR_MS } from '../base/durations.ts';
import type { TopupBounds } from '../catalog/topup-bounds.ts';
import { addDays, formatDay } from '../money/days.ts';
import type { Wallet } from '../money/decide.ts';
import { maxMicro, minMicro } from '../money/money.ts';
import { NEVER_STARTED, NOT_ACCEPTED, type Payment } from '../money/payment.ts';
import type { AutoTopupRow } from '../store/ports/payments.ts';

/** Waits after the first, second and third consecutive decline; the fourth pauses the automatic top-up. */
export const WAITS_MS = [HOUR_MS, 3 * HOUR_MS, 7 * HOUR_MS] as const;
/** The wait after a failure that was not a decline. */
const OUTAGE_MS = 900_000;
const ZONES_APART_DAYS = 2;

/** Why a top-up that cannot be ordered is paused; owners see it. */
export const CARD_UNUSABLE = 'this card cannot be charged now';
/** Unlike the others, this pause ends by itself: once the provider is back. */
export const PROVIDER_OFF = 'its payment provider is switched off';
export const NO_OWNER = 'nobody owns this account any more';
export const AMOUNT_UNUSABLE = 'the payment provider does not take this amount';

/** Why nothing is charged now. */
export type TopupBlocker = 'off' | 'paused' | 'in_flight' | 'waits' | 'enough' | 'bounds' | 'day' | 'cap';

/** A time with the account's time zone: orders are counted per day and month of that zone. */
export interface Moment {
  readonly at: number;
  readonly zone: string;
}

interface TopupFacts extends Moment {
  /** The current bounds, which may be tighter than when the owner set up the automatic top-up. */
  readonly bounds: TopupBounds;
}

export function findBlocker(
  auto: AutoTopupRow,
  wallet: Pick<Wallet, 'avail' | 'held' | 'status'>,
  { at, zone, bounds }: TopupFacts,
): TopupBlocker | undefined {
  const { day, month } = calendarDay({ at, zone });
  const { dayCount, monthSum } = countOrders(auto, { at, zone });
  if (!auto.enabled || auto.method === null || wallet.status !== 'active') return 'off';
  if (auto.pausedAt !== null) return 'paused';
  if (auto.order !== null) return 'in_flight';
  // The counted day lies ahead after a move to a zone further west: wait, so that no day or month counts twice. Zones
  // are never two days apart: a later day comes from a clock that ran ahead and must not block top-ups forever.
  if ((auto.day > day || auto.month > month) && auto.day <= addDays(day, ZONES_APART_DAYS)) return 'waits';
  // A `nextAt` beyond the longest wait also comes from a clock that ran ahead.
  if (auto.nextAt > at && auto.nextAt <= at + WAITS_MS[2]) return 'waits';
  if (auto.amount < bounds.amount.min || auto.amount > bounds.amount.max) return 'bounds';
  if (dayCount >= bounds.perDay) return 'day';
  if (monthSum + auto.amount > minMicro(auto.cap, bounds.cap.max)) return 'cap';
  // Last, because a call refused for lack of money overrides it.
  return wallet.avail + wallet.held >= minMicro(auto.threshold, bounds.threshold.max) ? 'enough' : undefined;
}

/** The row when an order starts. */
export function markClaimed(auto: AutoTopupRow, order: string, now: Moment): AutoTopupRow {
  const { dayCount, monthSum } = countOrders(auto, now);
  return { ...auto, order, ...calendarDay(now), dayCount: dayCount + 1, monthSum: monthSum + auto.amount };
}

/** Events that owners get alerts for. */
export type TopupNews = 'succeeded' | 'declined' | 'paused';

interface TopupEnd {
  readonly auto: AutoTopupRow;
  readonly news?: TopupNews;
}

/** The row after its payment has ended; undefined while the payment is open. */
export function markEnded(auto: AutoTopupRow, payment: Payment, now: Moment): TopupEnd | undefined {
  const { at } = now;
  const free = { ...auto, order: null };
  switch (payment.phase) {
    case 'created':
    case 'pending':
    case 'succeeded':
    case 'review':
      return undefined;
    case 'canceled':
      return markDeclined(restoreMonthSum(free, payment, now), payment, at);
    case 'failed':
      return markFailed(restoreMonthSum(free, payment, now), payment, at);
    case 'rejected':
      return { auto: { ...restoreMonthSum(free, payment, now), nextAt: at + OUTAGE_MS } };
    case 'expired':
      // The payment may still be credited late, so it keeps counting towards the month.
      return { auto: { ...free, nextAt: at + OUTAGE_MS } };
    default:
      return { auto: { ...free, declines: 0, nextAt: at, reason: null }, news: 'succeeded' };
  }
}

/** A pause ends when the owner pays by hand or chooses another card. */
export function markResumed(auto: AutoTopupRow): AutoTopupRow {
  return { ...auto, pausedAt: null, declines: 0, nextAt: 0, reason: null };
}

/**
 * Waits for the owner to fix the setup. Declines before it are forgotten: they would make it a pause that only another
 * card ends.
 */
export function markPaused(auto: AutoTopupRow, reason: string, at: number): AutoTopupRow {
  return { ...auto, pausedAt: at, reason, declines: 0 };
}

function markDeclined(auto: AutoTopupRow, { state, reason }: Payment, at: number): TopupEnd {
  const { kind } = parseDecline(state);
  if (kind === 'technical' || kind === 'expired') return { auto: { ...auto, nextAt: at + OUTAGE_MS } };
  const declines = auto.declines + 1;
  const waitMs = WAITS_MS[declines - 1];
  const after = { ...auto, declines, reason };
  if (kind === 'hard' || waitMs === undefined) return { auto: { ...after, pausedAt: at }, news: 'paused' };
  return { auto: { ...after, nextAt: at + waitMs }, ...(declines === 1 && { news: 'declined' }) };
}

/** Pauses after an outright refusal of the order, which would be refused again. */
function markFailed(auto: AutoTopupRow, { ref, reason }: Payment, at: number): TopupEnd {
  // The operator's account is at fault and nothing was charged: the order does not count for the day either.
  if (ref === null && reason === NOT_ACCEPTED)
    return { auto: { ...auto, dayCount: Math.max(0, auto.dayCount - 1), nextAt: at + OUTAGE_MS } };
  if (ref !== null || reason === NEVER_STARTED) return { auto: { ...auto, nextAt: at + OUTAGE_MS } };
  return { auto: { ...markPaused(auto, reason ?? '', at), declines: auto.declines + 1 }, news: 'paused' };
}

function parseDecline(state: string | null): { readonly kind?: string } {
  const said = state === null ? undefined : (JSON.parse(state) as { reason?: { kind?: string } | null });
  return said?.reason ?? {};
}

/** Unpaid amounts do not count towards the monthly cap. An order of an earlier month was counted in that month. */
function restoreMonthSum(auto: AutoTopupRow, { amount, createdAt }: Payment, now: Moment): AutoTopupRow {
  const months = [{ ...now, at: createdAt }, now].map((moment) => calendarDay(moment).month);
  if (months.some((month) => month !== auto.month)) return auto;
  return { ...auto, monthSum: maxMicro(auto.monthSum - amount, 0n) };
}

/** The orders of this day and their sum of this month so far. */
export function countOrders({ day, dayCount, month, monthSum }: AutoTopupRow, now: Moment) {
  const today = calendarDay(now);
  return { dayCount: day === today.day ? dayCount : 0, monthSum: month === today.month ? monthSum : 0n };
}

function calendarDay({ at, zone }: Moment): { readonly day: string; readonly month: string } {
  const day = formatDay(at, zone);
  return { day, month: day.slice(0, 7) };
}
