// The audit of automatic top-ups: what a row counts must be the payments it started, and the account shows the same wish.
import type { Micro } from '../money/money.ts';
import type { Payment } from '../money/payment.ts';
import type { AutoTopupRow } from '../store/ports/payments.ts';
import type { Store } from '../store/store.ts';
import type { Found } from './audit-rules.ts';

type Parts = Pick<Store, 'payments' | 'accounts'>;

const PAGE = 50;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A row is counted, and its payment made, one after the other: around midnight they may be of two days. */
const BETWEEN_MS = 60_000;

export async function checkAutoTopups(store: Parts, found: Found): Promise<void> {
  for (let after = ''; ; ) {
    const page = await store.payments.page('autoTopups', { after, limit: PAGE });
    const problems = await Promise.all(page.map((auto) => problemsOf(store, auto)));
    for (const [index, { id }] of page.entries()) {
      for (const problem of problems[index] ?? []) found(id, `automatic top-up: ${problem}`);
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.id;
  }
}

async function problemsOf(store: Parts, auto: AutoTopupRow): Promise<readonly string[]> {
  const problems = await disagreements(store, auto);
  if (problems.length === 0) return problems;
  // Read one after the other beside a running gateway: they may have changed in between.
  const again = await store.payments.autoTopup(auto.id);
  if (!again) return [];
  const still = await disagreements(store, again);
  const after = await store.payments.autoTopup(auto.id);
  return after?.version === again.version ? still : [];
}

async function disagreements({ payments, accounts }: Parts, auto: AutoTopupRow): Promise<readonly string[]> {
  const { id, enabled, amount, threshold, order } = auto;
  const shown = (await accounts.get(id))?.autoTopup;
  const isShown = shown?.enabled === enabled && shown.amount === amount && shown.threshold === threshold;
  const problems = isShown || !shown ? [] : ['its account shows another'];
  const started = order === null ? undefined : await payments.get(order);
  if (order !== null && (started?.wallet !== id || started.origin !== 'auto')) problems.push(`its order is ${order}`);
  return [...problems, ...(await checkCounts(payments, auto))];
}

async function checkCounts(payments: Parts['payments'], auto: AutoTopupRow): Promise<string[]> {
  const day = spanOf(auto.day);
  const month = spanOf(auto.month);
  if (!day || !month) return auto.day === '' && auto.month === '' ? [] : [`it counts ${auto.day}, ${auto.month}`];
  const made = await startedSince(payments, auto.id, Math.min(day.first, month.first));
  const days = made.map(({ createdAt }) => ({ size: 1n, counts: countsIn(createdAt, day) }));
  const months = made.map((payment) => ({ size: payment.amount, counts: countsForMonth(payment, auto, month) }));
  return [
    ...compare('payments of the day', BigInt(auto.dayCount), days),
    ...compare('sum of the month', auto.monthSum, months),
  ];
}

type Counts = 'yes' | 'no' | 'perhaps';

function compare(name: string, found: Micro, parts: readonly { size: Micro; counts: Counts }[]): string[] {
  const sum = (...wanted: Counts[]) =>
    parts.filter(({ counts }) => wanted.includes(counts)).reduce((all, { size }) => all + size, 0n);
  const least = sum('yes');
  const most = sum('yes', 'perhaps');
  if (found >= least && found <= most) return [];
  return [`${name}: ${found} instead of ${least === most ? least : `${least} to ${most}`}`];
}

/**
 * Of a day or month, in the account's zone when each payment was made: its first owner may have chosen another since, and
 * earlier versions counted in UTC.
 */
interface Span {
  /** From when to when it may be that day or month. */
  readonly first: number;
  readonly last: number;
  /** From when to when it is everywhere; of a day that is never. */
  readonly from: number;
  readonly to: number;
}

const EAST_MS = 14 * HOUR_MS + BETWEEN_MS;
const WEST_MS = 12 * HOUR_MS + BETWEEN_MS;

function spanOf(text: string): Span | undefined {
  const from = Date.parse(text);
  if (Number.isNaN(from) || !/^\d{4}-\d\d(-\d\d)?$/.test(text)) return undefined;
  const date = new Date(from);
  const to = text.length > 7 ? from + DAY_MS : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return { first: from - EAST_MS, last: to + WEST_MS, from: from + WEST_MS, to: to - EAST_MS };
}

function countsIn(at: number, { first, last, from, to }: Span): Counts {
  if (at < first || at >= last) return 'no';
  return at >= from && at < to ? 'yes' : 'perhaps';
}

/** What was not paid is taken out again once its end was seen: not if that was later than its month or its time. */
function countsForMonth(payment: Payment, auto: AutoTopupRow, month: Span): Counts {
  const counts = countsIn(payment.createdAt, month);
  if (counts === 'no' || !['canceled', 'failed', 'rejected'].includes(payment.phase)) return counts;
  if (auto.order === payment.id) return 'perhaps';
  const { changedAt, expiresAt } = payment;
  const isCertain = Date.now() < month.to && (expiresAt === null || changedAt < expiresAt);
  return counts === 'yes' && isCertain ? 'no' : 'perhaps';
}

async function startedSince(payments: Parts['payments'], wallet: string, from: number): Promise<readonly Payment[]> {
  const made: Payment[] = [];
  for (let before: Payment | undefined; ; ) {
    const page: readonly Payment[] = await payments.list({ wallet, limit: PAGE, ...(before && { before }) });
    made.push(...page.filter(({ origin, createdAt }) => origin === 'auto' && createdAt >= from));
    before = page.at(-1);
    if (!before || page.length < PAGE || before.createdAt < from) return made;
  }
}
