// Acts (акты об оказании услуг): what an account's calls cost in a closed month, of the money that was paid for them. An
// act is kept as it was issued. The ledger has more digits than kopecks, so that each act is the difference of two rounded
// sums, up to its end and up to its beginning: however many months, their acts add up to the rounded total.
import { DAY_MS } from '../../base/durations.ts';
import { findLatestArchiveDate } from '../../ledger/archive-find.ts';
import { addDays, findDayStart, formatDay } from '../../money/days.ts';
import { KOPECK, type Micro } from '../../money/money.ts';
import type { PaperRow } from '../../store/ports/papers.ts';
import type { Store } from '../../store/store.ts';
import type { Buyer, Seller } from './details.ts';

interface ActContent {
  /** `2026-11`, in the time zone that the account had. */
  readonly month: string;
  readonly zone: string;
  /** What calls had cost of paid money up to the beginning and the end of the act, in micro-roubles, as decimal numbers. */
  readonly begin: string;
  readonly end: string;
  /** The ledger's sum of charges, grants' part included, up to the same moments. */
  readonly chargedBegin: string;
  readonly chargedEnd: string;
  /** What grants paid of the calls of the month, in micro-roubles. */
  readonly grants: string;
  /** What had been paid in up to the beginning and the end of the month, in micro-roubles. */
  readonly paidBegin: string;
  readonly paidEnd: string;
  readonly seller: Seller;
  readonly buyer: Buyer;
  /** Who issued it. */
  readonly user: string;
}

const SUMS = ['begin', 'end', 'chargedBegin', 'chargedEnd', 'grants', 'paidBegin', 'paidEnd'] as const;
type Sums = Readonly<Record<(typeof SUMS)[number], Micro>>;

export interface Act extends Omit<ActContent, (typeof SUMS)[number]>, Sums {
  readonly id: string;
  readonly number: number;
  readonly account: string;
  /** When it was issued, ms since the epoch. */
  readonly at: number;
}

type ActStore = Pick<Store, 'papers' | 'ledger' | 'archives' | 'accounts'>;

/** `open`: the month is not over; `nothing`: no paid calls, or as much was returned; `archived`: calls have left the store. */
export type ActRefusal = 'open' | 'nothing' | 'archived';

export interface ActOrder {
  readonly account: string;
  /** `2026-11` */
  readonly month: string;
  readonly zone: string;
  readonly seller: Seller;
  readonly buyer: Buyer;
  readonly user: string;
  readonly now: number;
}

export function readMonth(text: string): string | undefined {
  return /^20\d{2}-(?:0[1-9]|1[0-2])$/.test(text) ? text : undefined;
}

/** The month that was the last one to end. */
export function findLastMonth(now: number, zone: string): string {
  return shiftMonth(formatDay(now, zone).slice(0, 7), -1);
}

export function shiftMonth(month: string, by: -1 | 1): string {
  return addDays(`${month}-01`, by === 1 ? 32 : -1).slice(0, 7);
}

function findMonthStart(month: string, zone: string): number {
  return findDayStart(`${month}-01`, zone);
}

/** The last day of the month, which is the date of its act. */
export function findActDate(month: string): string {
  return addDays(`${shiftMonth(month, 1)}-01`, -1);
}

function makeActId(account: string, month: string): string {
  return `${account}:${month}`;
}

/** Issues the act of a month, or returns the one that was issued before. */
export async function issueAct(
  store: ActStore,
  order: ActOrder,
): Promise<{ readonly act: Act } | { readonly refusal: ActRefusal }> {
  const { account, month, zone, seller, buyer, user, now } = order;
  const known = await findAct(store, account, month);
  if (known) return { act: known };
  const [from, to] = [findMonthStart(month, zone), findMonthStart(shiftMonth(month, 1), zone)];
  if (to > now) return { refusal: 'open' };
  const archived = await findLatestArchiveDate(store, account);
  if (archived !== undefined && archived > from) return { refusal: 'archived' };
  const sums = await readSums(store, order, { from, to });
  if (!sums) return { refusal: 'archived' };
  if (computeActKopecks(sums) <= 0n) return { refusal: 'nothing' };
  const texts = Object.fromEntries(SUMS.map((name) => [name, `${sums[name]}`])) as Record<keyof Sums, string>;
  const content: ActContent = { month, zone, ...texts, seller, buyer, user };
  const paper = { kind: 'act', id: makeActId(account, month), account, state: 'issued', at: now } as const;
  return { act: readActRow(await store.papers.issue({ ...paper, content: JSON.stringify(content) })) };
}

export async function findAct(
  { papers }: Pick<Store, 'papers'>,
  account: string,
  month: string,
): Promise<Act | undefined> {
  const row = await papers.get('act', makeActId(account, month));
  return row && readActRow(row);
}

export function readActRow({ id, number, account, at, content }: PaperRow): Act {
  const { month, zone, seller, buyer, user, ...texts }: ActContent = JSON.parse(content);
  if (number === null || account === null) throw new Error(`the act ${id} has no number or no account`);
  const sums = Object.fromEntries(SUMS.map((name) => [name, BigInt(texts[name])])) as Record<keyof Sums, Micro>;
  return { id, number, account, at, month, zone, ...sums, seller, buyer, user };
}

/** Rounds half up. */
export function roundToKopecks(micro: Micro): bigint {
  const shifted = micro + KOPECK / 2n;
  return shifted >= 0n ? shifted / KOPECK : -((-shifted + KOPECK - 1n) / KOPECK);
}

export function computeActKopecks({ begin, end }: Pick<Sums, 'begin' | 'end'>): bigint {
  return roundToKopecks(end) - roundToKopecks(begin);
}

/** The advance (аванс) before the month, what came in, and what is left: each from rounded sums, so that they add up. */
export function computeAdvance({ begin, end, paidBegin, paidEnd }: Sums) {
  const opening = roundToKopecks(paidBegin) - roundToKopecks(begin);
  const received = roundToKopecks(paidEnd) - roundToKopecks(paidBegin);
  return { opening, received, closing: opening + received - computeActKopecks({ begin, end }) };
}

/**
 * The sums of neighbouring acts are kept, so that a call that is booked late is in one act and only in one. Undefined if
 * they cannot be known any more.
 */
async function readSums(
  store: ActStore,
  { account, month, zone }: Pick<ActOrder, 'account' | 'month' | 'zone'>,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Sums | undefined> {
  const first = await findBegin(store, { account, month, zone });
  if (!first) return undefined;
  const { begin, chargedBegin, start, paidBegin, lateGrants = 0n } = first;
  const later = await findAct(store, account, shiftMonth(month, 1));
  const chargedEnd = later?.chargedBegin ?? (await store.ledger.chargedAt(account, to - 1));
  const granted = lateGrants + (await sumGrants(store, account, { from: start, to }));
  const end = begin + chargedEnd - chargedBegin - granted;
  return {
    begin,
    chargedBegin,
    chargedEnd,
    end: later?.begin ?? end,
    grants: await sumGrants(store, account, { from, to }),
    paidBegin: paidBegin ?? (await store.ledger.paidBefore(account, from)),
    paidEnd: later?.paidBegin ?? (await store.ledger.paidBefore(account, to)),
  };
}

/** How many months whose refunds outweighed their calls may be made up for by the next act. */
const CARRIED_MAX = 12;

interface Begin extends Pick<Sums, 'begin' | 'chargedBegin'> {
  /** From when on the calls of the act count. */
  readonly start: number;
  /** What had been paid in up to the end of the act of the month before; absent if that has none. */
  readonly paidBegin?: Micro;
  /** What grants paid of calls that were booked after the act before, in its month; absent: nothing. */
  readonly lateGrants?: Micro;
}

/**
 * What calls had cost up to the beginning of an act: as the act before it says, or by the ledger. Months before without
 * an act because more was returned in them than charged count in this one.
 */
async function findBegin(
  store: ActStore,
  { account, month, zone }: Pick<ActOrder, 'account' | 'month' | 'zone'>,
): Promise<Begin | undefined> {
  const start = findMonthStart(month, zone);
  const before = await findAct(store, account, shiftMonth(month, -1));
  const archived = (await findLatestArchiveDate(store, account)) ?? 0;
  if (before) return { ...(await beginAfter(store, before, archived)), paidBegin: before.paidEnd };
  const chargedBegin = await store.ledger.chargedAt(account, start - 1);
  const grants = await sumAllGrants(store, account, start);
  if (grants === undefined) return undefined;
  let found: Begin = { begin: chargedBegin - grants, chargedBegin, start };
  for (let [at, count] = [shiftMonth(month, -1), 0]; count < CARRIED_MAX; at = shiftMonth(at, -1), count += 1) {
    const from = findMonthStart(at, zone);
    const earlier = await findAct(store, account, at);
    if (earlier) return beginAfter(store, earlier, archived);
    if (from < archived) break;
    const chargedThen = await store.ledger.chargedAt(account, from - 1);
    const grantsThen = await sumGrants(store, account, { from, to: found.start });
    const begin = found.begin - (found.chargedBegin - chargedThen - grantsThen);
    if (computeActKopecks({ begin, end: found.begin }) > 0n) break;
    found = { begin, chargedBegin: chargedThen, start: from };
  }
  return found;
}

/** Where an act ended, in the time zone that the account had then: it may have another one now. */
async function beginAfter(store: ActStore, act: Act, archived: number): Promise<Begin> {
  const { account, month, zone, end, chargedEnd, grants } = act;
  const [from, start] = [findMonthStart(month, zone), findMonthStart(shiftMonth(month, 1), zone)];
  // Of archived calls nobody can tell how much grants paid: none is booked late by then.
  const lateGrants = archived > from ? 0n : (await sumGrants(store, account, { from, to: start })) - grants;
  return { begin: end, chargedBegin: chargedEnd, start, lateGrants };
}

/** What grants paid of all calls before a time; undefined if calls are archived: nobody can tell how much of them. */
async function sumAllGrants(store: ActStore, account: string, at: number): Promise<Micro | undefined> {
  if (!(await store.ledger.hadGrants(account))) return 0n;
  if ((await findLatestArchiveDate(store, account)) !== undefined) return undefined;
  const createdAt = (await store.accounts.get(account))?.createdAt ?? at;
  return sumGrants(store, account, { from: createdAt, to: at });
}

/** A day at a time: an account may have a million calls. */
async function sumGrants(
  store: Pick<Store, 'ledger'>,
  account: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Micro> {
  if (!(await store.ledger.hadGrants(account))) return 0n;
  let sum = 0n;
  for (let at = from; at < to; at += DAY_MS)
    sum += await store.ledger.grantsCharged(account, { from: at, to: Math.min(at + DAY_MS, to) });
  return sum;
}
