// The life of a payment: every change in every phase as a table, and random lives as properties.
import { expect } from 'chai';
import fc from 'fast-check';
import { REFUNDS_MAX, type Refund } from '../../lib/money/payment.ts';
import {
  createPayment,
  decidePayment,
  type Moved,
  PAYMENT_PHASES,
  type Payment,
  type PaymentChange,
  type PaymentPhase,
  parseRefunds,
  refundableAmount,
} from '../../lib/money/payment-rules.ts';
import { longer } from '../../testkit/long.ts';

const RUB = 1_000_000n;
const AT = 1_800_000_000_000;
const START = createPayment({
  id: 'pay_1',
  wallet: 'w',
  provider: 'till',
  amount: 1000n * RUB,
  shop: 's',
  test: false,
  origin: 'manual',
  facts: '{}',
  createdAt: AT,
  owner: 'own_1',
  lease: AT + 10,
});

const ASKED = JSON.stringify([
  { id: 'rfd_1', ref: null, amount: String(100n * RUB), state: 'asked', reason: 'r', at: AT, taken: null },
]);

/** A payment as it is in a phase. */
function inPhase(phase: PaymentPhase): Payment {
  const begun = { ...START, phase, ref: 'ref_1', owner: null, lease: null, dueAt: null };
  if (phase === 'created') return START;
  if (['pending', 'expired', 'canceled', 'failed'].includes(phase)) return begun;
  if (['succeeded', 'review', 'rejected'].includes(phase)) return { ...begun, state: '{}' };
  const dispute = ['disputed', 'reversed', 'kept'].includes(phase)
    ? JSON.stringify({ id: 'cb_0', amount: String(1000n * RUB), taken: null })
    : null;
  const refunded = phase === 'refunded' ? 1000n * RUB : 0n;
  return { ...begun, credited: 1000n * RUB, refunded, refunds: ASKED, dispute };
}

const base = { id: 'pay_1', version: 1, at: AT + 5 };
const CHANGES: readonly PaymentChange[] = [
  { kind: 'begin', ...base, ref: 'ref_1', payUrl: 'https://till/', expiresAt: AT + 9, dueAt: AT + 7 },
  { kind: 'poll', ...base, dueAt: AT + 77 },
  { kind: 'succeed', ...base, ref: 'ref_1', state: '{"a":1}' },
  { kind: 'review', ...base, reason: 'sum', paid: { ref: 'ref_1', state: '{"a":1}' } },
  { kind: 'reject', ...base, reason: 'no' },
  { kind: 'cancel', ...base, reason: 'insufficient_funds', state: '{}' },
  { kind: 'expire', ...base, reason: 'late', dueAt: AT + 99 },
  { kind: 'fail', ...base, reason: 'refused' },
  { kind: 'ask_refund', ...base, refund: 'rfd_2', reason: 'wish' },
  { kind: 'note_refund', ...base, refund: 'rfd_1', ref: 're_1', dueAt: AT + 9 },
  { kind: 'refuse_refund', ...base, refund: 'rfd_1', reason: 'no' },
  { kind: 'dispute', ...base, dispute: 'cb_1', amount: 1000n * RUB },
  { kind: 'keep', ...base },
  { kind: 'credit', ...base, reason: null, dueAt: null },
  { kind: 'refund', ...base, ref: 're_9', refund: null },
  { kind: 'reverse', ...base },
];
const MOVED: Readonly<Record<string, Moved>> = {
  credit: { amount: 1000n * RUB, taken: 0n },
  ask_refund: { amount: 200n * RUB, taken: 200n * RUB },
  refund: { amount: 300n * RUB, taken: 300n * RUB },
  reverse: { amount: 1000n * RUB, taken: 400n * RUB },
};

/** The next phase for each change in each phase; absent: the change is refused. */
const NEXT: { readonly [Phase in PaymentPhase]?: { readonly [Kind in PaymentChange['kind']]?: PaymentPhase } } = {
  created: { begin: 'pending', poll: 'created', succeed: 'succeeded', cancel: 'canceled', fail: 'failed' },
  pending: {
    poll: 'pending',
    succeed: 'succeeded',
    cancel: 'canceled',
    expire: 'expired',
    fail: 'failed',
  },
  expired: { poll: 'expired', succeed: 'succeeded', cancel: 'canceled', expire: 'expired' },
  succeeded: { poll: 'succeeded', review: 'review', credit: 'credited' },
  review: { reject: 'rejected', credit: 'credited' },
  canceled: { review: 'review' },
  failed: { review: 'review' },
  credited: {
    poll: 'credited',
    ask_refund: 'credited',
    note_refund: 'credited',
    refuse_refund: 'credited',
    dispute: 'disputed',
    refund: 'partly_refunded',
  },
  partly_refunded: {
    poll: 'partly_refunded',
    ask_refund: 'partly_refunded',
    note_refund: 'partly_refunded',
    refuse_refund: 'partly_refunded',
    dispute: 'disputed',
    refund: 'partly_refunded',
  },
  disputed: {
    poll: 'disputed',
    note_refund: 'disputed',
    refuse_refund: 'disputed',
    keep: 'kept',
    reverse: 'reversed',
    refund: 'disputed',
  },
  reversed: { poll: 'reversed', note_refund: 'reversed', refuse_refund: 'reversed', refund: 'reversed' },
  kept: { poll: 'kept', note_refund: 'kept', refuse_refund: 'kept', refund: 'kept' },
};
const FINAL: readonly PaymentPhase[] = ['rejected', 'refunded', 'reversed', 'kept'];

describe('a payment', () => {
  for (const phase of PAYMENT_PHASES) {
    for (const change of CHANGES) {
      const next = NEXT[phase]?.[change.kind];
      it(`${phase}: ${change.kind} ${next ? `leads to ${next}` : 'changes nothing'}`, () => {
        const before = inPhase(phase);
        const { status, payment } = decidePayment(before, change, MOVED[change.kind]);
        if (next === undefined) {
          expect(status).to.be.oneOf(['stale', 'exists']);
          expect(payment).to.equal(before);
          return;
        }
        expect([status, payment?.phase]).to.deep.equal(['done', next]);
        expect(payment).to.include({ owner: null, lease: null, version: 2 });
        expect(decidePayment(payment, change, MOVED[change.kind])).to.deep.equal({ status: 'exists', payment });
        if (!['credit', 'ask_refund', 'refuse_refund', 'refund', 'reverse', 'dispute'].includes(change.kind)) {
          const other = { ...change, version: 7 };
          expect(decidePayment(payment, other as PaymentChange, MOVED[change.kind]).status).to.equal('stale');
        }
      });
    }
  }

  it('has final phases that no change leaves', () => {
    const stays = (phase: PaymentPhase) => Object.values(NEXT[phase] ?? {}).every((next) => next === phase);
    expect(PAYMENT_PHASES.filter(stays)).to.have.members(FINAL);
  });

  it('is changed only in the version that the change was decided on', () => {
    const change = { ...base, version: 2, kind: 'fail', reason: 'x' } as const;
    expect(decidePayment(START, change)).to.deep.equal({ status: 'stale', payment: START });
    expect(decidePayment(undefined, change)).to.deep.equal({ status: 'no_payment' });
  });

  it('refuses a success with the id of another payment at the provider', () => {
    const change = { kind: 'succeed', ...base, ref: 'ref_2', state: '{}' } as const;
    expect(decidePayment(inPhase('pending'), change).status).to.equal('stale');
  });

  it('comes to review after it ended without money only with the payment that was made', () => {
    const review = (paid?: { ref: string; state: string }) =>
      decidePayment(inPhase('canceled'), { kind: 'review', ...base, reason: 'late', ...(paid && { paid }) }).status;
    expect(review()).to.equal('stale');
    expect(review({ ref: 'ref_2', state: '{}' })).to.equal('stale');
    const failed = { ...inPhase('failed'), ref: null };
    const paid = { ref: 'ref_2', state: '{"a":1}' };
    const { payment } = decidePayment(failed, { kind: 'review', ...base, reason: 'late', paid });
    expect(payment).to.include({ phase: 'review', ref: 'ref_2', state: '{"a":1}', reason: 'late', dueAt: null });
  });

  it('records the shortfall, and is refunded once the whole amount is taken back', () => {
    const asked = { kind: 'refund', ...base, ref: 're_1', refund: 'rfd_1' } as const;
    const first = decidePayment(inPhase('credited'), asked, { amount: 400n * RUB, taken: 50n * RUB })
      .payment as Payment;
    expect(first).to.include({ phase: 'partly_refunded', refunded: 400n * RUB, shortfall: 350n * RUB });
    expect(parseRefunds(first)).to.deep.equal([
      {
        ...parseRefunds(inPhase('credited'))[0],
        ref: 're_1',
        amount: '400000000',
        state: 'booked',
        taken: '50000000',
        moved: '-400000000',
      },
    ]);
    const rest = { kind: 'refund', ...base, version: 2, ref: 're_2', refund: null } as const;
    expect(decidePayment(first, rest, { amount: 601n * RUB, taken: 0n }).status).to.equal('stale');
    const last = decidePayment(first, rest, { amount: 600n * RUB, taken: 600n * RUB }).payment;
    expect(last).to.include({ phase: 'refunded', refunded: 1000n * RUB, shortfall: 350n * RUB, dueAt: null });
  });

  it('refuses a refund above the remaining amount, less requested refunds', () => {
    const payment = inPhase('credited');
    expect(refundableAmount(payment)).to.equal(900n * RUB);
    const ask = (amount: bigint) =>
      decidePayment(payment, { kind: 'ask_refund', ...base, refund: 'rfd_2', reason: '' }, { amount, taken: amount })
        .status;
    expect([ask(0n), ask(901n * RUB), ask(900n * RUB)]).to.deep.equal(['stale', 'stale', 'done']);
    const dispute = (amount: bigint) =>
      decidePayment(payment, { kind: 'dispute', ...base, dispute: 'cb', amount }).status;
    expect([dispute(0n), dispute(1001n * RUB), dispute(1000n * RUB)]).to.deep.equal(['stale', 'stale', 'done']);
  });

  it('has a maximum number of refunds, each of which can still be booked', () => {
    const [asked] = parseRefunds(inPhase('credited'));
    const many = (count: number): Payment => ({
      ...inPhase('credited'),
      refunds: JSON.stringify(
        Array.from({ length: count }, (_, at) => ({ ...asked, id: `rfd_${at}`, ref: `re_${at}`, amount: '1' })),
      ),
    });
    const ask = { kind: 'ask_refund', ...base, refund: 'rfd_new', reason: '' } as const;
    const book = (ref: string) => ({ kind: 'refund', ...base, ref, refund: null }) as const;
    const status = (payment: Payment, change: PaymentChange) =>
      decidePayment(payment, change, { amount: 1n, taken: 1n }).status;
    for (const change of [ask, book('re_new')]) {
      expect([status(many(REFUNDS_MAX - 1), change), status(many(REFUNDS_MAX), change)]).to.deep.equal([
        'done',
        'stale',
      ]);
    }
    expect(status(many(REFUNDS_MAX), book('re_7'))).to.equal('done');
  });

  it('is due only while a requested refund is open', () => {
    const [one] = parseRefunds(inPhase('credited'));
    const payment = { ...inPhase('credited'), refunds: JSON.stringify([one, { ...one, id: 'rfd_2' }]) };
    const refuse = { kind: 'refuse_refund', ...base, reason: 'no' } as const;
    const first = decidePayment(payment, { ...refuse, refund: 'rfd_1' }).payment as Payment;
    const second = decidePayment(first, { ...refuse, version: 2, refund: 'rfd_2' }).payment as Payment;
    expect([first.dueAt, second.dueAt]).to.deep.equal([AT + 5, null]);
    const book = { kind: 'refund', ...base, version: 2, ref: 're_2', refund: 'rfd_2' } as const;
    const moved = { amount: 100n * RUB, taken: 100n * RUB };
    expect(decidePayment(first, book, moved).payment?.dueAt).to.equal(null);
    expect(decidePayment(payment, { ...book, version: 1 }, moved).payment?.dueAt).to.equal(AT + 5);
  });

  it('is credited once, and refuses refunds of zero', () => {
    const credit = { kind: 'credit', ...base, reason: null, dueAt: null } as const;
    const status = (phase: PaymentPhase, change: PaymentChange, amount: bigint) =>
      decidePayment(inPhase(phase), change, { amount, taken: 0n }).status;
    expect(status('credited', credit, 1000n * RUB)).to.equal('exists');
    expect(status('credited', credit, 999n * RUB)).to.equal('stale');
    const least = { ...inPhase('credited'), credited: 1n };
    expect(decidePayment(least, credit, { amount: 1n, taken: 0n }).status).to.equal('exists');
    expect(status('credited', { kind: 'refund', ...base, ref: 're_9', refund: null }, 0n)).to.equal('stale');
    expect(status('disputed', { kind: 'reverse', ...base }, 0n)).to.equal('stale');
    const disputed = { ...inPhase('disputed'), dispute: JSON.stringify({ id: 'cb', amount: '5', taken: null }) };
    const reverse = (amount: bigint) =>
      decidePayment(disputed, { kind: 'reverse', ...base }, { amount, taken: amount }).status;
    expect([reverse(6n), reverse(5n), reverse(4n)]).to.deep.equal(['stale', 'done', 'done']);
  });

  it('changes each refund separately, and only while it is open', () => {
    const [one] = parseRefunds(inPhase('credited')) as [Refund];
    const withRefunds = (...refunds: Refund[]): Payment => ({
      ...inPhase('partly_refunded'),
      refunded: 100n * RUB,
      refunds: JSON.stringify(refunds),
    });
    const booked: Refund = { ...one, ref: 're_1', state: 'booked', taken: one.amount };
    const refused: Refund = { ...one, id: 'rfd_2', state: 'refused' };
    const open: Refund = { ...one, id: 'rfd_3' };
    const payment = withRefunds(booked, refused, open);
    expect(refundableAmount(payment)).to.equal(800n * RUB);
    const note = (refund: string) =>
      decidePayment(payment, { kind: 'note_refund', ...base, refund, ref: 're_9', dueAt: AT + 9 });
    const refuse = (refund: string) => decidePayment(payment, { kind: 'refuse_refund', ...base, refund, reason: 'no' });
    expect(['rfd_1', 'rfd_2', 'rfd_3', 'rfd_4'].map((id) => note(id).status)).to.deep.equal([
      ...['stale', 'stale', 'done', 'stale'],
    ]);
    expect(['rfd_1', 'rfd_2', 'rfd_3', 'rfd_4'].map((id) => refuse(id).status)).to.deep.equal([
      ...['stale', 'exists', 'done', 'stale'],
    ]);
    const denied = parseRefunds(refuse('rfd_3').payment as Payment).find(({ id }) => id === 'rfd_3');
    expect(denied).to.deep.equal({ ...open, state: 'refused', reason: 'no', given: '0' });
    expect(note('rfd_3').payment).to.include({ dueAt: AT + 9, changedAt: AT + 5 });
    // A second refund with an id of ours that is booked already counts as another refund.
    const second = { kind: 'refund', ...base, ref: 're_2', refund: 'rfd_1' } as const;
    const after = decidePayment(payment, second, { amount: RUB, taken: RUB }).payment as Payment;
    expect(parseRefunds(after).map(({ ref, state }) => [ref, state])).to.deep.equal([
      ['re_1', 'booked'],
      [null, 'refused'],
      [null, 'asked'],
      ['re_2', 'booked'],
    ]);
    // A refund started elsewhere has the provider's id, and the time at which it was reported.
    expect(parseRefunds(after).at(-1)).to.include({ id: 're_2', amount: String(RUB), reason: '', at: AT + 5 });
    const all = { kind: 'refund', ...base, ref: 're_3', refund: null } as const;
    const whole = decidePayment(payment, all, { amount: 900n * RUB, taken: 0n }).payment;
    expect(whole).to.include({ phase: 'refunded', dueAt: null });
  });

  it('changes only its due time when polled', () => {
    const before = inPhase('pending');
    const { payment } = decidePayment(before, { kind: 'poll', ...base, dueAt: AT + 77 });
    expect(payment).to.deep.equal({ ...before, dueAt: AT + 77, version: 2 });
  });

  it('withdraws unsent refunds when its dispute is lost, and keeps polling sent ones', () => {
    const [unsent] = parseRefunds(inPhase('credited'));
    const sent = { ...unsent, id: 'rfd_2', ref: 're_2' };
    const disputed = { ...inPhase('disputed'), refunds: JSON.stringify([unsent, sent]) };
    const reverse = (rub: bigint) => {
      const moved = { amount: rub * RUB, taken: rub * RUB };
      return decidePayment(disputed, { kind: 'reverse', ...base }, moved).payment as Payment;
    };
    const part = reverse(600n);
    expect(parseRefunds(part).map(({ state, reason }) => [state, reason])).to.deep.equal([
      ['refused', 'the dispute was lost'],
      ['asked', 'r'],
    ]);
    expect([part.dueAt, reverse(1000n).dueAt]).to.deep.equal([AT + 5, null]);
    const won = decidePayment(disputed, { kind: 'keep', ...base }).payment as Payment;
    expect([won.dueAt, parseRefunds(won).map(({ state }) => state)]).to.deep.equal([AT + 5, ['asked', 'asked']]);
    const refund = { kind: 'refund', ...base, version: 2, ref: 're_2', refund: 'rfd_2' } as const;
    const later = (payment: Payment, rub: bigint) =>
      decidePayment(payment, refund, { amount: rub * RUB, taken: 0n }).payment;
    expect(later(part, 400n)).to.include({ phase: 'reversed', refunded: 1000n * RUB, shortfall: 400n * RUB });
    expect(later(part, 401n)).to.equal(part);
    expect(later(won, 1000n)).to.include({ phase: 'kept', refunded: 1000n * RUB });
  });

  it('keeps its sums consistent after any order of changes', () => {
    const whole = fc.oneof(fc.constantFrom(250, 500, 1000), fc.integer({ min: 0, max: 1100 }));
    const rub = whole.map((some) => BigInt(some) * RUB);
    const step = fc.record({
      change: fc.constantFrom(...CHANGES),
      late: fc.boolean(),
      amount: rub,
      share: fc.integer({ min: 0, max: 100 }),
      name: fc.integer({ min: 1, max: 4 }),
    });
    const seen = new Set<PaymentPhase>();
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        let payment: Payment = START;
        for (const { change, late, amount, share, name } of steps) {
          const named = {
            ...change,
            ...('amount' in change && { amount }),
            ...('refund' in change && change.refund !== null && { refund: `rfd_${name}` }),
            ...(change.kind === 'refund' && { ref: `re_${name}` }),
            version: payment.version - Number(late),
          } as PaymentChange;
          const credit = amount === 0n ? RUB : amount;
          const moved = { amount: change.kind === 'credit' ? credit : amount, taken: (amount * BigInt(share)) / 100n };
          const { status, payment: after } = decidePayment(payment, named, moved);
          if (status !== 'done') expect(after).to.equal(payment);
          if (status === 'done') {
            if (FINAL.includes(payment.phase)) expect(after?.phase).to.equal(payment.phase);
            expect(after?.version).to.equal(payment.version + 1);
          }
          payment = after as Payment;
          seen.add(payment.phase);
          expectSums(payment);
        }
      }),
      { numRuns: longer(500, 2000), seed: 11 },
    );
    expect([...seen]).to.have.members([...PAYMENT_PHASES]);
  });

  function expectSums(payment: Payment): void {
    const { phase, credited, refunded, shortfall, ref } = payment;
    const booked = parseRefunds(payment).filter(({ state }) => state === 'booked');
    const lost = phase === 'reversed' ? BigInt(JSON.parse(payment.dispute ?? '{}').amount) : 0n;
    expect(booked.reduce((sum, { amount }) => sum + BigInt(amount), lost)).to.equal(refunded);
    expect(refunded <= credited && shortfall >= 0n && shortfall <= refunded).to.equal(true);
    expect(new Set(booked.map((one) => one.ref)).size).to.equal(booked.length);
    expect(credited > 0n).to.equal(
      ['credited', 'partly_refunded', 'refunded', 'disputed', 'reversed', 'kept'].includes(phase),
    );
    if (credited > 0n) expect(ref).to.equal('ref_1');
  }
});
