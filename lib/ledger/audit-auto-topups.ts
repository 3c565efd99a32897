// The audit of automatic top-ups: the counters of a row must match the payments it started, and the account must show the
// same settings.
import { DAY_MS, HOUR_MS } from '../base/durations.ts';
import type { Micro } from '../money/money.ts';
import type { Payment, PaymentPhase } from '../money/payment.ts';
import type { AutoTopupRow } from '../store/ports/payments.ts';
import type { Store } from '../store/store.ts';
import { type PageStart, walkFrom, walkPages } from '../store/walks.ts';
import type { ReportProblem } from './audit-rules.ts';

type Parts = Pick<Store, 'payments' | 'accounts'>;

const ROWS_PER_PAGE = 50;
/** The counter and the payment are written one after the other: around midnight they may fall on different days. */
const TOLERANCE_MS = 60_000;

export async function checkAutoTopups(store: Parts, report: ReportProblem): Promise<void> {
  const read = (page: PageStart) => store.payments.page('autoTopups', page);
  for await (const page of walkPages(ROWS_PER_PAGE, read, ({ id }) => id)) {
    const problems = await Promise.all(page.map((auto) => findAutoTopupProblems(store, auto)));
    for (const [index, { id }] of page.entries()) {
      for (const problem of problems[index] ?? []) report(id, `automatic top-up: ${problem}`);
    }
  }
}

async function findAutoTopupProblems(store: Parts, auto: AutoTopupRow): Promise<readonly string[]> {
  const problems = await compareAutoTopup(store, auto);
  if (problems.length === 0) return problems;
  // A running gateway may have changed the rows between the reads, so they are compared again.
  const again = await store.payments.autoTopup(auto.id);
  if (!again) return [];
  const still = await compareAutoTopup(store, again);
  const after = await store.payments.autoTopup(auto.id);
  return after?.version === again.version ? still : [];
}

async function compareAutoTopup({ payments, accounts }: Parts, auto: AutoTopupRow): Promise<readonly string[]> {
  const { id, enabled, amount, threshold, order } = auto;
  const shown = (await accounts.get(id))?.autoTopup;
  const isShown = shown?.enabled === enabled && shown.amount === amount && shown.threshold === threshold;
  const problems = isShown || !shown ? [] : ['its account shows another'];
  const started = order === null ? undefined : await payments.get(order);
  if (order !== null && (started?.wallet !== id || started.origin !== 'auto')) problems.push(`its order is ${order}`);
  return [...problems, ...(await checkCounts(payments, auto))];
}

async function checkCounts(payments: Parts['payments'], auto: AutoTopupRow): Promise<string[]> {
  const day = parseSpan(auto.day);
  const month = parseSpan(auto.month);
  if (!day || !month) return auto.day === '' && auto.month === '' ? [] : [`it counts ${auto.day}, ${auto.month}`];
  const made = await listAutoPaymentsSince(payments, auto.id, Math.min(day.first, month.first));
  const days = made.map(({ createdAt }) => ({ size: 1n, counts: checkMembership(createdAt, day) }));
  const months = made.map((payment) => ({ size: payment.amount, counts: checkMonthMembership(payment, auto, month) }));
  return [
    ...compareCount('payments of the day', BigInt(auto.dayCount), days),
    ...compareCount('sum of the month', auto.monthSum, months),
  ];
}

type Membership = 'yes' | 'no' | 'perhaps';

function compareCount(name: string, found: Micro, parts: readonly { size: Micro; counts: Membership }[]): string[] {
  const sum = (...wanted: Membership[]) =>
    parts.filter(({ counts }) => wanted.includes(counts)).reduce((all, { size }) => all + size, 0n);
  const least = sum('yes');
  const most = sum('yes', 'perhaps');
  if (found >= least && found <= most) return [];
  return [`${name}: ${found} instead of ${least === most ? least : `${least} to ${most}`}`];
}

/**
 * The span of a day or month in an unknown zone: the owner may have changed the zone since a payment was made, and earlier
 * versions counted in UTC.
 */
interface Span {
  /** The time that is within the day or month in some zone. */
  readonly first: number;
  readonly last: number;
  /** The time that is within the day or month in every zone; empty for a day. */
  readonly from: number;
  readonly to: number;
}

const EAST_MS = 14 * HOUR_MS + TOLERANCE_MS;
const WEST_MS = 12 * HOUR_MS + TOLERANCE_MS;

function parseSpan(text: string): Span | undefined {
  const from = Date.parse(text);
  if (Number.isNaN(from) || !/^\d{4}-\d\d(-\d\d)?$/.test(text)) return undefined;
  const date = new Date(from);
  const to = text.length > 7 ? from + DAY_MS : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return { first: from - EAST_MS, last: to + WEST_MS, from: from + WEST_MS, to: to - EAST_MS };
}

function checkMembership(at: number, { first, last, from, to }: Span): Membership {
  if (at < first || at >= last) return 'no';
  return at >= from && at < to ? 'yes' : 'perhaps';
}

const UNPAID: readonly PaymentPhase[] = ['canceled', 'failed', 'rejected'];

/** An unpaid amount is subtracted once the payment is seen to have ended, unless that is after its month or its expiry. */
function checkMonthMembership(payment: Payment, auto: AutoTopupRow, month: Span): Membership {
  const counts = checkMembership(payment.createdAt, month);
  if (counts === 'no') return counts;
  if (!UNPAID.includes(payment.phase)) return wasPaidLate(payment) ? 'perhaps' : counts;
  if (auto.order === payment.id) return 'perhaps';
  const { changedAt, expiresAt } = payment;
  const isCertain = Date.now() < month.to && (expiresAt === null || changedAt < expiresAt);
  return counts === 'yes' && isCertain ? 'no' : 'perhaps';
}

/** Its amount may have been subtracted before. */
function wasPaidLate({ state }: Payment): boolean {
  return state !== null && /"after":"(?:canceled|failed)"/.test(state);
}

async function listAutoPaymentsSince(
  payments: Parts['payments'],
  wallet: string,
  from: number,
): Promise<readonly Payment[]> {
  const made: Payment[] = [];
  const read = (before?: Payment) => payments.list({ wallet, limit: ROWS_PER_PAGE, before });
  for await (const page of walkFrom(ROWS_PER_PAGE, read)) {
    made.push(...page.filter(({ origin, createdAt }) => origin === 'auto' && createdAt >= from));
    if (page.some(({ createdAt }) => createdAt < from)) break;
  }
  return made;
}
