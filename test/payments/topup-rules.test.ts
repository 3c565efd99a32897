// When a wallet is topped up automatically, and the effect of declines, outages, days and months.
import { expect } from 'chai';
import fc from 'fast-check';
import { DAY_MS, HOUR_MS } from '../../lib/base/durations.ts';
import { readTopupBounds } from '../../lib/catalog/topup-bounds.ts';
import { NEVER_STARTED, NOT_ACCEPTED, type Payment } from '../../lib/money/payment.ts';
import {
  findBlocker,
  type Moment,
  markClaimed,
  markEnded,
  markPaused,
  markResumed,
  type TopupBlocker,
  WAITS_MS,
} from '../../lib/payments/topup-rules.ts';
import type { AutoTopupRow } from '../../lib/store/ports/payments.ts';

const AT = Date.UTC(2026, 10, 22, 12);
const RUB = 1_000_000n;

const ROW: AutoTopupRow = {
  id: 'acc_1',
  enabled: true,
  threshold: 500n * RUB,
  amount: 1000n * RUB,
  cap: 5000n * RUB,
  method: 'pm_1',
  consent: 'con_1',
  order: null,
  nextAt: 0,
  declines: 0,
  pausedAt: null,
  reason: null,
  day: '2026-11-22',
  dayCount: 0,
  month: '2026-11',
  monthSum: 0n,
  version: 3,
};
const BOUNDS = readTopupBounds();
const ORDERS_PER_DAY = 3;
const LOW = { avail: 300n * RUB, held: 100n * RUB, status: 'active' } as const;

const HINDRANCES: readonly [name: string, Partial<AutoTopupRow>, object, TopupBlocker | undefined][] = [
  ['low', {}, {}, undefined],
  ['at the threshold', {}, { held: 200n * RUB }, 'enough'],
  ['a hair below it', {}, { held: 200n * RUB - 1n }, undefined],
  ['in debt', {}, { avail: -5n * RUB, held: 0n }, undefined],
  ['switched off', { enabled: false }, {}, 'off'],
  ['no card any more', { method: null }, {}, 'off'],
  ['suspended', {}, { status: 'suspended' }, 'off'],
  ['paused', { pausedAt: 1 }, {}, 'paused'],
  ['an order is on its way', { order: 'pay_1' }, {}, 'in_flight'],
  ['after a decline', { nextAt: AT + 1 }, {}, 'waits'],
  ['when the wait is over', { nextAt: AT }, {}, undefined],
  ['a wait that a clock ahead has set', { nextAt: AT + 300 * DAY_MS }, {}, undefined],
  ['a day that a zone to the east has set', { day: '2026-11-23' }, {}, 'waits'],
  ['a day as far ahead as zones can be', { day: '2026-11-24' }, {}, 'waits'],
  ['a day that a clock ahead has set', { day: '2026-11-25' }, {}, undefined],
  ['a month that a clock ahead has set', { day: '2027-03-01', month: '2027-03', dayCount: 3 }, {}, undefined],
  ['the last order of the day', { dayCount: ORDERS_PER_DAY - 1 }, {}, undefined],
  ['as many orders as a day may have', { dayCount: ORDERS_PER_DAY }, {}, 'day'],
  ['as many yesterday', { dayCount: ORDERS_PER_DAY, day: '2026-11-21' }, {}, undefined],
  ['as much as a month may have', { monthSum: 4000n * RUB }, {}, undefined],
  ['a kopeck more', { monthSum: 4000n * RUB + 10_000n }, {}, 'cap'],
  ['that much last month', { monthSum: 5000n * RUB, month: '2026-10' }, {}, undefined],
];

const said = (kind: string) => JSON.stringify({ status: 'canceled', reason: { kind, code: 'c' } });

function paymentOf(more: Partial<Payment>): Payment {
  return { id: 'pay_1', amount: 1000n * RUB, createdAt: AT, state: null, reason: null, ...more } as Payment;
}

const NOW: Moment = { at: AT, zone: 'UTC' };
const FLYING = markClaimed(ROW, 'pay_1', NOW);

describe('rules of automatic top-ups', () => {
  for (const [name, row, wallet, hindrance] of HINDRANCES) {
    it(`${name}: ${hindrance ?? 'charges'}`, () => {
      expect(findBlocker({ ...ROW, ...row }, { ...LOW, ...wallet }, { ...NOW, bounds: BOUNDS })).to.equal(hindrance);
    });
  }

  for (const [name, bounds, row, hindrance] of [
    ['as many orders a day as owners consent to', { perDay: 5 }, { dayCount: 2 }, undefined],
    ['more orders a day than owners consent to', { perDay: 5 }, { dayCount: 3 }, 'day'],
    ['fewer orders a day', { perDay: 1 }, { dayCount: 1 }, 'day'],
    ['an amount that is the least', { amount: { min: '1000' } }, {}, undefined],
    ['an amount below the least', { amount: { min: '1000.01' } }, {}, 'bounds'],
    ['an amount that is the most', { amount: { max: '1000' } }, {}, undefined],
    ['an amount above the most', { amount: { max: '999.99' } }, {}, 'bounds'],
    ['a cap that is tighter than the owner’s', { cap: { max: '1999' } }, { monthSum: 1000n * RUB }, 'cap'],
    ['a cap that is wider', { cap: { max: '90000' } }, { monthSum: 4001n * RUB }, 'cap'],
    ['a threshold that is lower', { threshold: { max: '400' } }, {}, 'enough'],
    ['a threshold a hair above the balance', { threshold: { max: '400.01' } }, {}, undefined],
  ] as const) {
    it(`follows the operator’s bounds, ${name}: ${hindrance ?? 'charges'}`, () => {
      const facts = { ...NOW, bounds: readTopupBounds(bounds) };
      expect(findBlocker({ ...ROW, ...row }, LOW, facts)).to.equal(hindrance);
    });
  }

  it('counts an order when it starts, from zero on a new day and in a new month', () => {
    expect(FLYING).to.deep.equal({ ...ROW, order: 'pay_1', dayCount: 1, monthSum: 1000n * RUB });
    const old = { ...ROW, day: '2026-10-31', dayCount: 3, month: '2026-10', monthSum: 4000n * RUB };
    expect(markClaimed(old, 'pay_1', NOW)).to.deep.equal(FLYING);
    const today = { ...ROW, day: '2026-11-21', dayCount: 3, monthSum: 2000n * RUB };
    expect(markClaimed(today, 'pay_1', NOW)).to.include({ day: '2026-11-22', dayCount: 1, monthSum: 3000n * RUB });
  });

  it('restores at most what the month has counted', () => {
    const counted = { ...FLYING, monthSum: 400n * RUB };
    expect(markEnded(counted, paymentOf({ phase: 'rejected' }), NOW)?.auto.monthSum).to.equal(0n);
  });

  for (const phase of ['created', 'pending', 'succeeded', 'review'] as const) {
    it(`goes on waiting while its payment is ${phase}`, () => {
      expect(markEnded(FLYING, paymentOf({ phase }), NOW)).to.equal(undefined);
    });
  }

  for (const phase of ['credited', 'partly_refunded', 'refunded', 'disputed', 'reversed', 'kept'] as const) {
    it(`ends its order and forgets its declines once the payment is ${phase}`, () => {
      const end = markEnded({ ...FLYING, declines: 2, reason: 'x' }, paymentOf({ phase }), { ...NOW, at: AT + 1 });
      expect(end).to.deep.equal({ auto: { ...FLYING, order: null, nextAt: AT + 1 }, news: 'succeeded' });
    });
  }

  it('waits 1, 3 and 7 hours after declines and pauses after the fourth, telling of the first and the last', () => {
    let auto: AutoTopupRow = ROW;
    const seen: unknown[] = [];
    for (let decline = 1; decline <= 4; decline += 1) {
      const payment = paymentOf({ phase: 'canceled', state: said('soft'), reason: 'insufficient_funds' });
      const end = markEnded({ ...auto, order: 'pay_1' }, payment, NOW);
      seen.push([end?.news, (end?.auto.nextAt ?? 0) - AT, end?.auto.pausedAt]);
      auto = end?.auto as AutoTopupRow;
    }
    const [one, three, seven] = WAITS_MS;
    expect(seen).to.deep.equal([
      ['declined', one, null],
      [undefined, three, null],
      [undefined, seven, null],
      ['paused', seven, AT],
    ]);
    expect([one, three, seven].map((ms) => ms / HOUR_MS)).to.deep.equal([1, 3, 7]);
    expect(auto).to.include({ declines: 4, reason: 'insufficient_funds', order: null });
    expect(markResumed(auto)).to.include({ pausedAt: null, declines: 0, nextAt: 0, reason: null });
  });

  it('counts a decline for which its provider gave no reason', () => {
    for (const state of [null, '{}', '{"reason":null}']) {
      const end = markEnded(FLYING, paymentOf({ phase: 'canceled', state, reason: 'canceled' }), NOW);
      expect([end?.news, end?.auto.nextAt, end?.auto.declines]).to.deep.equal(['declined', AT + HOUR_MS, 1]);
    }
  });

  it('pauses at once for a card that can never be charged', () => {
    const end = markEnded(FLYING, paymentOf({ phase: 'canceled', state: said('hard'), reason: 'card_expired' }), NOW);
    expect([end?.news, end?.auto.pausedAt, end?.auto.reason]).to.deep.equal(['paused', AT, 'card_expired']);
  });

  for (const [name, payment] of [
    ['a technical failure', { phase: 'canceled', state: said('technical') }],
    ['a payment that nobody confirmed', { phase: 'canceled', state: said('expired') }],
    ['an order that never began', { phase: 'failed', ref: null, reason: NEVER_STARTED }],
    ['an order that its provider failed at', { phase: 'failed', ref: 'ref_1', reason: 'issuer_unavailable' }],
    ['an order that an operator refused', { phase: 'rejected' }],
    ['one that was not paid in time', { phase: 'expired' }],
  ] as const) {
    it(`does not count ${name} as a decline`, () => {
      const end = markEnded({ ...FLYING, declines: 1 }, paymentOf(payment), NOW);
      expect(end?.news).to.equal(undefined);
      expect(end?.auto).to.include({ order: null, declines: 1, pausedAt: null, nextAt: AT + 900_000 });
    });
  }

  it('pauses at once for an order that the provider refused', () => {
    const end = markEnded(FLYING, paymentOf({ phase: 'failed', ref: null, reason: 'unknown card' }), NOW);
    expect([end?.news, end?.auto.pausedAt, end?.auto.reason, end?.auto.monthSum]).to.deep.equal([
      ...['paused', AT, 'unknown card', 0n],
    ]);
    const third = markEnded({ ...FLYING, declines: 2 }, paymentOf({ phase: 'failed', ref: null, reason: null }), NOW);
    expect(third?.auto).to.include({ declines: 3, reason: '' });
  });

  it('does not count an order as a decline if the provider refuses the whole account', () => {
    const end = markEnded(FLYING, paymentOf({ phase: 'failed', ref: null, reason: NOT_ACCEPTED }), NOW);
    expect(end?.news).to.equal(undefined);
    expect(end?.auto).to.include({ order: null, pausedAt: null, nextAt: AT + 900_000 });
    expect(end?.auto).to.include({ dayCount: FLYING.dayCount - 1, monthSum: 0n, declines: 0 });
    for (const [before, after] of [
      [3, 2],
      [0, 0],
    ]) {
      const counted = { ...FLYING, dayCount: before as number };
      const ended = markEnded(counted, paymentOf({ phase: 'failed', ref: null, reason: NOT_ACCEPTED }), NOW);
      expect(ended?.auto.dayCount, `${before}`).to.equal(after);
    }
  });

  it('counts towards the month only what may have been paid', () => {
    const sumAfter = (more: Partial<Payment>) => markEnded(FLYING, paymentOf(more), NOW)?.auto.monthSum;
    expect(sumAfter({ phase: 'credited' })).to.equal(1000n * RUB);
    expect(sumAfter({ phase: 'expired' })).to.equal(1000n * RUB);
    expect(sumAfter({ phase: 'failed' })).to.equal(0n);
    expect(sumAfter({ phase: 'canceled', state: said('soft') })).to.equal(0n);
    // Started in another month than it ended.
    expect(sumAfter({ phase: 'failed', createdAt: AT - 40 * DAY_MS })).to.equal(1000n * RUB);
  });

  it('counts days and months in the account’s time zone', () => {
    // Three hours before December in UTC, by which rows were counted before there were time zones.
    const counted = { ...ROW, day: '2026-11-30', dayCount: 3, monthSum: 5000n * RUB };
    const at = Date.UTC(2026, 10, 30, 21);
    for (const [zone, hindrance] of [
      ['UTC', 'day'],
      ['Europe/Moscow', undefined],
      ['America/New_York', 'day'],
    ] as const) {
      expect(findBlocker(counted, LOW, { at, zone, bounds: BOUNDS }), zone).to.equal(hindrance);
    }
    const begun = markClaimed(counted, 'pay_1', { at, zone: 'Europe/Moscow' });
    expect(begun).to.include({ day: '2026-12-01', dayCount: 1, month: '2026-12', monthSum: 1000n * RUB });
    const lost = paymentOf({ phase: 'failed', ref: 'ref_1', createdAt: at });
    expect(markEnded(begun, lost, { at, zone: 'Europe/Moscow' })?.auto.monthSum).to.equal(0n);
    expect(markEnded(begun, lost, { at, zone: 'UTC' })?.auto.monthSum, 'another zone in between').to.equal(1000n * RUB);
  });

  it('does not restart a day for an account whose time zone changes back and forth', () => {
    const at = Date.UTC(2026, 10, 22, 20);
    const spent = { ...ROW, dayCount: ORDERS_PER_DAY };
    const east = { at, zone: 'Asia/Vladivostok' };
    expect(findBlocker(spent, LOW, { ...east, bounds: BOUNDS }), 'its 23rd').to.equal(undefined);
    const next = markEnded(markClaimed(spent, 'pay_1', east), paymentOf({ phase: 'credited' }), east)
      ?.auto as AutoTopupRow;
    expect(next).to.include({ day: '2026-11-23', dayCount: 1 });
    expect(findBlocker(next, LOW, { ...east, bounds: BOUNDS }), 'once more on its 23rd').to.equal(undefined);
    const back = { zone: 'UTC', bounds: BOUNDS };
    expect(findBlocker(next, LOW, { ...back, at }), 'still the 22nd').to.equal('waits');
    const later = { ...next, dayCount: ORDERS_PER_DAY };
    expect(findBlocker(later, LOW, { ...back, at: at + 8 * HOUR_MS }), 'the 23rd').to.equal('day');
  });

  it('is paused with a reason if it cannot start', () => {
    const declined = { ...ROW, declines: 2, reason: 'insufficient_funds' };
    expect(markPaused(declined, 'no card', AT)).to.deep.equal({ ...ROW, pausedAt: AT, reason: 'no card' });
  });

  it('never starts more than three orders a day or charges more than its monthly cap, in any sequence of events', () => {
    const outcome = fc.constantFrom('credited', 'soft', 'hard', 'technical', 'failed', 'expired', 'manual');
    const zone = fc.constantFrom('UTC', 'Europe/Moscow', 'America/New_York', 'Asia/Vladivostok', 'Asia/Kathmandu');
    const step = fc.record({ waitMs: fc.integer({ min: 0, max: 2 * DAY_MS }), outcome, zone });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        let auto: AutoTopupRow = { ...ROW, nextAt: 0 };
        let at = AT;
        const begun = new Map<string, number>();
        const charged = new Map<string, bigint>();
        for (const { waitMs, outcome: how, zone } of steps) {
          at += waitMs;
          if (how === 'manual' && auto.pausedAt !== null) auto = markResumed(auto);
          if (findBlocker(auto, LOW, { at, zone, bounds: BOUNDS }) !== undefined) continue;
          auto = markClaimed(auto, 'pay_1', { at, zone });
          const { day, month } = auto;
          begun.set(day, (begun.get(day) ?? 0) + 1);
          const isDecline = ['soft', 'hard', 'technical'].includes(how);
          const phase = isDecline ? 'canceled' : how === 'manual' ? 'credited' : how;
          if (phase === 'credited') charged.set(month, (charged.get(month) ?? 0n) + auto.amount);
          const payment = paymentOf({
            phase: phase as 'failed',
            createdAt: at,
            ...(isDecline && { state: said(how) }),
          });
          auto = markEnded(auto, payment, { at, zone })?.auto as AutoTopupRow;
        }
        for (const count of begun.values()) expect(count).to.be.at.most(ORDERS_PER_DAY);
        for (const sum of charged.values()) expect(sum <= ROW.cap).to.equal(true);
      }),
    );
  });
});
