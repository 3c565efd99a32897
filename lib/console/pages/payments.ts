// The payments of an account as a file for its accountant: each with its state, and whatever else moved money in or out
// otherwise than by calls. What moved adds up as in the statement.
import assert from 'node:assert/strict';
import { sumMoved } from '../../ledger/statement.ts';
import type { Entry } from '../../money/decide.ts';
import type { Micro } from '../../money/money.ts';
import { refundRequestId } from '../../money/payback.ts';
import { NOT_ACCEPTED, type Payment, parseRefunds, type Refund } from '../../money/payment.ts';
import { formatMoment } from '../../money/period.ts';
import { walkFrom } from '../../store/walks.ts';
import { readChargeQuery } from '../charge-query.ts';
import { type Cell, createCsv } from '../csv.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import type { OwnerVisit } from '../visit.ts';
import { paymentWords } from '../wallet/payment-words.ts';
import { reasonText } from '../wallet/reasons.ts';
import { entryWords } from './entry-words.ts';
import { readMonthSpan } from './statement.ts';

const WORDS = defineWords({
  en: {
    head: ['time', 'kind', 'amount_rub', 'moved_rub', 'state', 'payment', 'reason'],
    total: 'total',
  },
  ru: {
    head: ['время', 'операция', 'сумма_руб', 'изменение_баланса_руб', 'статус', 'номер_платежа', 'основание'],
    total: 'Всего',
  },
});

const PER_READ = 500;

export const paymentsCsv = page({
  path: '/account/payments.csv',
  who: 'account',
  isFile: true,
  async get(visit) {
    const { query, account, language } = visit;
    const month = query.has('month') ? readMonthSpan(visit) : undefined;
    const { from = 0, to = Number.MAX_SAFE_INTEGER } = month ?? readChargeQuery(visit).filter;
    const name = ['payments', ...(month ? [month.month] : []), account.id].join('-');
    return createCsv(language, `${name}.csv`, { head: WORDS[language].head, rows: listCsvRows(visit, { from, to }) });
  },
});

interface Span {
  /** ms since the epoch; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
}

/** One row. */
interface Movement {
  readonly at: number;
  readonly kind: Entry['kind'];
  readonly amount: Micro;
  /** What the balance changed by: nothing by a payment that was not made. */
  readonly moved: Micro;
  readonly state?: { readonly phase: Payment['phase'] } | { readonly refund: Refund['state'] };
  readonly payment?: string | null;
  readonly reason?: string | null;
}

/** In Russian the last row is the total; in English programs add the rows up. */
async function* listCsvRows(visit: OwnerVisit, span: Span): AsyncGenerator<readonly Cell[]> {
  const { language, zone } = visit;
  const rows = await readRows(visit, span);
  for (const row of rows) yield language === 'ru' ? toRussianRow(row, zone) : toPlainRow(row, zone);
  if (language !== 'ru') return;
  yield [WORDS.ru.total, '', '', { rub: rows.reduce((sum, { moved }) => sum + moved, 0n) }, '', '', ''];
}

function toPlainRow({ at, kind, amount, moved, state, payment, reason }: Movement, zone: string): readonly Cell[] {
  const name = state === undefined ? '' : 'phase' in state ? state.phase : state.refund;
  return [formatMoment(at, zone), kind, { rub: amount }, { rub: moved }, name, payment ?? '', reason ?? ''];
}

function toRussianRow({ at, kind, amount, moved, state, payment, reason }: Movement, zone: string): readonly Cell[] {
  const { phases, refunds } = paymentWords('ru');
  const name = state === undefined ? '' : 'phase' in state ? phases[state.phase] : refunds[state.refund];
  const why = reason ? reasonText('ru', reason) : '';
  return [{ at, zone }, entryWords('ru')[kind], { rub: amount }, { rub: moved }, name, payment ?? '', why];
}

/** Oldest first. */
async function readRows(visit: OwnerVisit, span: Span): Promise<readonly Movement[]> {
  const entries = await readEntries(visit, span);
  const created = await readPayments(visit, span);
  const payments = new Map(created.map((payment) => [payment.id, payment]));
  for (const { kind, note } of entries) {
    const isOfPayment = kind === 'pay' || kind === 'payback' || kind === 'dispute';
    if (!isOfPayment || note === null || payments.has(note)) continue;
    const earlier = await visit.services.store.payments.get(note);
    if (earlier) payments.set(note, earlier);
  }
  const rows = [
    ...created.filter(({ credited }) => credited === 0n).map(toUnpaidRow),
    ...entries.map((entry) => toRow(entry, payments.get(entry.note ?? ''))),
  ];
  return rows.sort((one, other) => one.at - other.at);
}

/** Those that moved money: the booking of a refund does not if its request did. */
async function readEntries({ services, account }: OwnerVisit, { from, to }: Span): Promise<readonly Entry[]> {
  const all: Entry[] = [];
  for (let at = from; ; ) {
    const found = await services.store.ledger.movements(account.id, { from: at, to, limit: PER_READ });
    const last = found.at(-1);
    const isEnd = last === undefined || found.length < PER_READ;
    // More of the same time may follow.
    const whole = isEnd ? found : found.filter((entry) => entry.at < last.at);
    all.push(...whole.filter((entry) => sumMoved(entry) !== 0n));
    if (isEnd) return all;
    assert(whole.length > 0);
    at = last.at;
  }
}

async function readPayments({ services, account }: OwnerVisit, { from, to }: Span): Promise<readonly Payment[]> {
  const all: Payment[] = [];
  const { payments } = services.store;
  const read = (before?: Payment) => payments.list({ wallet: account.id, limit: PER_READ, before });
  for await (const found of walkFrom(PER_READ, read)) {
    all.push(...found.filter(({ createdAt }) => createdAt >= from && createdAt < to));
    if (found.some(({ createdAt }) => createdAt < from)) break;
  }
  return all;
}

function toUnpaidRow(payment: Payment): Movement {
  const { id, createdAt, amount, phase } = payment;
  return { at: createdAt, kind: 'pay', amount, moved: 0n, state: { phase }, payment: id, reason: findDecline(payment) };
}

/** What the page of the payment says too; what operators write about one is not for its payer. */
function findDecline({ phase, reason }: Payment): string | null {
  return phase === 'canceled' || reason === NOT_ACCEPTED ? reason : null;
}

/** Why it came to nothing; before that it has the words of the operator who asked for it. */
function findRefusal({ state, reason }: Refund): string | null {
  return state === 'refused' ? (reason ?? null) : null;
}

function toRow(entry: Entry, payment: Payment | undefined): Movement {
  const { at, kind, note } = entry;
  const moved = sumMoved(entry);
  const row = { at, kind, amount: moved, moved };
  switch (kind) {
    case 'topup':
      return { ...row, state: { phase: 'credited' }, payment: note };
    case 'pay':
      if (!payment) return { ...row, payment: note };
      return { ...row, amount: payment.amount, state: { phase: payment.phase }, payment: note };
    case 'payback': {
      const refund = payment && findRefund(entry, payment);
      return { ...row, ...(refund && { state: { refund: refund.state }, reason: findRefusal(refund) }), payment: note };
    }
    case 'dispute':
      return { ...row, ...(payment && { state: { phase: payment.phase } }), payment: note };
    default:
      return { ...row, reason: note };
  }
}

/** The one that an entry requested, booked or gave back. */
function findRefund({ opId }: Entry, payment: Payment): Refund | undefined {
  return parseRefunds(payment).find(({ id, ref }) => {
    const ids = [refundRequestId(payment, id, 'asked'), refundRequestId(payment, id, 'refused')];
    return [...ids, `${payment.provider}:${ref}`].some((each) => opId === `refund:${each}`);
  });
}
