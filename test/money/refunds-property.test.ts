// Refunds (requested, refused, made by the provider or elsewhere), disputes and calls in any order: the wallet has the
// credited amount less paybacks and open requests, and the audit accepts every entry.
import { expect } from 'chai';
import fc from 'fast-check';
import { decideAgain } from '../../lib/ledger/audit-rules.ts';
import { createWalletAudit } from '../../lib/ledger/audit-wallet.ts';
import type { Operation, OutcomeStatus, Wallet } from '../../lib/money/decide.ts';
import { createLostDisputeOp, refundBookingOp, refundRefusalOp, refundRequestOp } from '../../lib/money/payback.ts';
import {
  computeHeldForRefund,
  createPayment,
  decidePayment,
  type Payment,
  type PaymentChange,
  parseDispute,
  parseRefunds,
  refundableAmount,
} from '../../lib/money/payment-rules.ts';
import { AT, type Books, newBooks, operation, run } from '../ledger/books.ts';

const RUB = 1_000_000n;
const PAID: Payment = {
  ...createPayment({
    id: 'pay_x',
    wallet: 'w',
    provider: 'till',
    amount: 1000n * RUB,
    shop: 'shop',
    test: false,
    origin: 'manual',
    facts: '{}',
    createdAt: AT,
    owner: 'o',
    lease: AT + 10,
  }),
  phase: 'succeeded',
  version: 3,
  ref: 'x',
};

type Act =
  | 'reserve'
  | 'settle'
  | 'release'
  | 'ask'
  | 'note'
  | 'refuse'
  | 'book'
  | 'elsewhere'
  | 'dispute'
  | 'lose'
  | 'top';

const act = fc.record({
  act: fc.constantFrom<Act[]>(
    ...(['reserve', 'reserve', 'settle', 'release', 'ask', 'ask', 'ask', 'note'] as const),
    ...(['refuse', 'book', 'book', 'elsewhere', 'dispute', 'lose', 'top'] as const),
  ),
  pick: fc.nat(5),
  rub: fc.integer({ min: 1, max: 700 }),
});

class Story {
  readonly books: Books = newBooks();
  count = 0;

  constructor() {
    this.books.payments.set('pay_x', PAID);
    const credit = { kind: 'credit', id: 'pay_x', version: 3, at: AT, reason: null, dueAt: null };
    run(this.books, { ...operation('pay', 'x', 1000), payment: credit } as Operation);
  }

  payment = () => this.books.payments.get('pay_x') as Payment;
  wallet = () => this.books.wallets.get('w') as Wallet;

  free(what: object): void {
    const payment = this.payment();
    const change = { id: 'pay_x', version: payment.version, at: AT, ...what } as PaymentChange;
    const { status, payment: after } = decidePayment(payment, change);
    if (status === 'done' && after) this.books.payments.set('pay_x', after);
  }

  perform({ act: what, pick, rub }: { act: Act; pick: number; rub: number }): OutcomeStatus | undefined {
    this.count += 1;
    const payment = this.payment();
    const amount = BigInt(rub) * RUB;
    const id = `n${this.count}`;
    const open = parseRefunds(payment).filter(({ state }) => state === 'asked');
    const one = open[pick % Math.max(1, open.length)];
    const held = [...this.books.charges.values()].filter(({ state }) => state === 'held');
    const call = held[pick % Math.max(1, held.length)]?.id ?? '';
    const left = payment.credited - payment.refunded;
    switch (what) {
      case 'reserve':
        return run(this.books, operation('reserve', id, rub));
      case 'settle':
        return call === '' ? undefined : run(this.books, operation('settle', call, rub));
      case 'release':
        return call === '' ? undefined : run(this.books, operation('release', call, 0));
      case 'top':
        return run(this.books, operation('adjust', id, rub));
      case 'ask':
        return amount <= refundableAmount(payment)
          ? run(this.books, refundRequestOp(payment, { at: AT, refund: id, reason: '' }, amount))
          : undefined;
      case 'note':
        return one && void this.free({ kind: 'note_refund', refund: one.id, ref: `re_${one.id}`, dueAt: AT });
      case 'refuse':
        return one && run(this.books, refundRefusalOp(payment, { at: AT, refund: one.id, reason: 'no' }));
      case 'book': {
        const money = { amount: one && BigInt(one.amount) < left ? BigInt(one.amount) : left, suspend: false };
        if (!one || left <= 0n) return undefined;
        return run(this.books, refundBookingOp(payment, { at: AT, ref: `re_${one.id}`, refund: one.id }, money));
      }
      case 'elsewhere':
        return amount <= left && payment.credited > 0n
          ? run(this.books, refundBookingOp(payment, { at: AT, ref: id, refund: null }, { amount, suspend: false }))
          : undefined;
      case 'dispute':
        return void this.free({ kind: 'dispute', dispute: 'cb', amount: pick > 2 && amount < left ? amount : left });
      case 'lose': {
        const dispute = parseDispute(payment);
        const lost = dispute && BigInt(dispute.amount) < left ? BigInt(dispute.amount) : left;
        if (!dispute || payment.phase !== 'disputed' || lost <= 0n) return undefined;
        return run(
          this.books,
          createLostDisputeOp(payment, { at: AT }, { dispute: 'cb', amount: lost, suspend: false }),
        );
      }
    }
  }

  check(): void {
    const { avail, held, charged, topped, adjusted } = this.wallet();
    const { credited, refunded, shortfall } = this.payment();
    const asked = parseRefunds(this.payment()).reduce((sum, refund) => sum + computeHeldForRefund(refund), 0n);
    expect(topped).to.equal(credited - refunded - asked);
    expect(topped >= 0n && shortfall >= 0n && shortfall <= refunded).to.equal(true);
    expect(avail + held + charged).to.equal(topped + adjusted);
    const overshoot = this.books.journal.reduce((sum, entry) => sum + entry.overshoot, 0n);
    expect(avail >= -overshoot).to.equal(true);
  }

  audit(): readonly string[] {
    const problems: string[] = [];
    const account = createWalletAudit('w', (_wallet, problem) => problems.push(problem));
    for (const entry of this.books.journal) account.add(entry);
    account.end(this.wallet(), { id: 'w', problem: null } as never);
    const back = this.books.journal.filter(({ kind }) => kind === 'payback' || kind === 'dispute');
    return [...problems, ...back.flatMap((entry) => decideAgain(entry, undefined).problems)];
  }
}

describe('refunds and disputes', () => {
  it('add up after any order of events, and the audit agrees', () => {
    let moves = 0;
    fc.assert(
      fc.property(fc.array(act, { minLength: 5, maxLength: 40, size: 'max' }), (acts) => {
        const story = new Story();
        for (const each of acts) {
          const status = story.perform(each);
          if (status !== undefined) {
            moves += status === 'done' ? 1 : 0;
            expect(status).to.be.oneOf(['done', 'exists', 'insufficient', 'never_topped', 'stale_payment']);
          }
          story.check();
        }
        expect(story.audit()).to.deep.equal([]);
      }),
      { numRuns: 400, seed: 12 },
    );
    expect(moves).to.be.above(2000);
  });

  it('are reported by the audit if an entry hides a shortfall or claims too much', () => {
    const story = new Story();
    story.perform({ act: 'reserve', pick: 0, rub: 600 });
    story.perform({ act: 'ask', pick: 0, rub: 700 });
    expect(story.wallet()).to.include({ avail: -300n * RUB, topped: 300n * RUB });
    expect(story.audit()).to.deep.equal([]);
    const entry = story.books.journal.at(-1);
    for (const overshoot of [0n, 299n * RUB, 301n * RUB]) {
      story.books.journal.splice(-1, 1, { ...entry, overshoot } as never);
      expect(story.audit().join()).to.contain(`overshoot ${overshoot} instead of ${300n * RUB}`);
    }
  });
});
