// All rules of automatic top-ups, pure: when a wallet's card is charged, and what the end of a payment means.
import type { TopupBounds } from '../catalog/topup-bounds.ts';
import { addDays, formatDay } from '../money/days.ts';
import type { Wallet } from '../money/decide.ts';
import type { Micro } from '../money/money.ts';
import { NEVER_STARTED, NOT_ACCEPTED, type Payment } from '../money/payment.ts';
import type { AutoTopupRow } from '../store/ports/payments.ts';
import { lesser } from './bounds.ts';

/** After the first, second and third consecutive decline; the fourth pauses it. */
export const WAITS_MS = [3_600_000, 3 * 3_600_000, 7 * 3_600_000] as const;
/** After a failure that was not a decline. */
export const OUTAGE_MS = 900_000;
const ZONES_APART_DAYS = 2;

/** Why nothing is charged now; undefined: something is. */
export type Hindrance = 'off' | 'paused' | 'in_flight' | 'waits' | 'enough' | 'bounds' | 'day' | 'cap';

/** A moment, and the account's time zone, by whose days and months orders are counted. */
export interface Moment {
  readonly at: number;
  readonly zone: string;
}

export interface TopupFacts extends Moment {
  /** Those in force now, which may be tighter than when its owner set it up. */
  readonly bounds: TopupBounds;
}

export function findBlocker(
  auto: AutoTopupRow,
  wallet: Pick<Wallet, 'avail' | 'held' | 'status'>,
  { at, zone, bounds }: TopupFacts,
): Hindrance | undefined {
  const { day, month } = calendarOf({ at, zone });
  const { dayCount, monthSum } = countsAt(auto, { at, zone });
  if (!auto.enabled || auto.method === null || wallet.status !== 'active') return 'off';
  if (auto.pausedAt !== null) return 'paused';
  if (auto.order !== null) return 'in_flight';
  // Counted in a zone east of this one: no day and no month counts twice. Zones are never two days apart: a day beyond
  // that was counted by a clock that ran ahead, which must not block it for good.
  if ((auto.day > day || auto.month > month) && auto.day <= addDays(day, ZONES_APART_DAYS)) return 'waits';
  // Likewise.
  if (auto.nextAt > at && auto.nextAt <= at + WAITS_MS[2]) return 'waits';
  if (auto.amount < bounds.amount.min || auto.amount > bounds.amount.max) return 'bounds';
  if (dayCount >= bounds.perDay) return 'day';
  if (monthSum + auto.amount > lesser(auto.cap, bounds.cap.max)) return 'cap';
  // Last, because a call refused for lack of money overrides it.
  return wallet.avail + wallet.held >= lesser(auto.threshold, bounds.threshold.max) ? 'enough' : undefined;
}

/** The row when an order starts. */
export function claimed(auto: AutoTopupRow, order: string, now: Moment): AutoTopupRow {
  const { dayCount, monthSum } = countsAt(auto, now);
  return { ...auto, order, ...calendarOf(now), dayCount: dayCount + 1, monthSum: monthSum + auto.amount };
}

/** What owners are alerted of. */
export type TopupNews = 'succeeded' | 'declined' | 'paused';

export interface TopupEnd {
  readonly auto: AutoTopupRow;
  readonly news?: TopupNews;
}

/** The row after its payment has ended; undefined while that is still open. */
export function ended(auto: AutoTopupRow, payment: Payment, now: Moment): TopupEnd | undefined {
  const { at } = now;
  const free = { ...auto, order: null };
  switch (payment.phase) {
    case 'created':
    case 'pending':
    case 'succeeded':
    case 'review':
      return undefined;
    case 'canceled':
      return declined(giveBack(free, payment, now), payment, at);
    case 'failed':
      return failed(giveBack(free, payment, now), payment, at);
    case 'rejected':
      return { auto: { ...giveBack(free, payment, now), nextAt: at + OUTAGE_MS } };
    case 'expired':
      // It may still be credited late, so it keeps counting towards the month.
      return { auto: { ...free, nextAt: at + OUTAGE_MS } };
    default:
      return { auto: { ...free, declines: 0, nextAt: at, reason: null }, news: 'succeeded' };
  }
}

/** A pause ends when the owner pays by hand or chooses another card. */
export function resumed(auto: AutoTopupRow): AutoTopupRow {
  return { ...auto, pausedAt: null, declines: 0, nextAt: 0, reason: null };
}

/** A setup that cannot be charged waits for its owner. */
export function paused(auto: AutoTopupRow, reason: string, at: number): AutoTopupRow {
  return { ...auto, pausedAt: at, reason };
}

function declined(auto: AutoTopupRow, { state, reason }: Payment, at: number): TopupEnd {
  const { kind } = declineOf(state);
  if (kind === 'technical' || kind === 'expired') return { auto: { ...auto, nextAt: at + OUTAGE_MS } };
  const declines = auto.declines + 1;
  const waitMs = WAITS_MS[declines - 1];
  const after = { ...auto, declines, reason };
  if (kind === 'hard' || waitMs === undefined) return { auto: { ...after, pausedAt: at }, news: 'paused' };
  return { auto: { ...after, nextAt: at + waitMs }, ...(declines === 1 && { news: 'declined' }) };
}

/** An order that the provider refused outright would be refused again later. */
function failed(auto: AutoTopupRow, { ref, reason }: Payment, at: number): TopupEnd {
  // Nothing was charged, whatever the operator has to mend: it does not count for the day either.
  if (ref === null && reason === NOT_ACCEPTED)
    return { auto: { ...auto, dayCount: Math.max(0, auto.dayCount - 1), nextAt: at + OUTAGE_MS } };
  if (ref !== null || reason === NEVER_STARTED) return { auto: { ...auto, nextAt: at + OUTAGE_MS } };
  return { auto: { ...paused(auto, reason ?? '', at), declines: auto.declines + 1 }, news: 'paused' };
}

function declineOf(state: string | null): { readonly kind?: string } {
  const said = state === null ? undefined : (JSON.parse(state) as { reason?: { kind?: string } | null });
  return said?.reason ?? {};
}

/** Unpaid amounts do not count towards the cap; last month's payment counted there. */
function giveBack(auto: AutoTopupRow, { amount, createdAt }: Payment, now: Moment): AutoTopupRow {
  const months = [{ ...now, at: createdAt }, now].map((moment) => calendarOf(moment).month);
  if (months.some((month) => month !== auto.month)) return auto;
  const left: Micro = auto.monthSum - amount;
  return { ...auto, monthSum: left < 0n ? 0n : left };
}

/** What was ordered this day and this month so far. */
export function countsAt({ day, dayCount, month, monthSum }: AutoTopupRow, now: Moment) {
  const today = calendarOf(now);
  return { dayCount: day === today.day ? dayCount : 0, monthSum: month === today.month ? monthSum : 0n };
}

function calendarOf({ at, zone }: Moment): { readonly day: string; readonly month: string } {
  const day = formatDay(at, zone);
  return { day, month: day.slice(0, 7) };
}
