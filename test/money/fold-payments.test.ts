// Money and a payment that change in one batch: both or neither, and a repeat changes nothing.
import { expect } from 'chai';
import { collectBatchKeys, collectBudgetKeys } from '../../lib/money/batch-keys.ts';
import type { Operation } from '../../lib/money/decide.ts';
import { fold } from '../../lib/money/fold.ts';
import { createPayment, type Payment } from '../../lib/money/payment-rules.ts';
import { AT, type Books, balances, newBooks, operation, run } from '../ledger/books.ts';

const RUB = 1_000_000n;
const ARRIVED: Payment = {
  ...createPayment({
    id: 'pay_x',
    wallet: 'w',
    provider: 'till',
    amount: 500n * RUB,
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

const credit = (version = 3): Operation =>
  ({
    ...operation('pay', 'x', 500),
    payment: { kind: 'credit', id: 'pay_x', version, at: AT, reason: null, dueAt: null },
  }) as Operation;
const back = (ref: string, rub: number, version: number): Operation =>
  ({
    ...operation('payback', ref, rub),
    order: 'pay_x',
    payment: { kind: 'refund', id: 'pay_x', version, at: AT, ref, refund: null },
  }) as Operation;

describe('a batch with payments', () => {
  let books: Books;

  beforeEach(() => {
    books = newBooks();
    books.payments.set('pay_x', ARRIVED);
  });

  it('credits a payment together with its money, only once', () => {
    const { outcomes, payments } = fold(books, [credit()]);
    expect(payments).to.have.length(1);
    expect(payments[0]).to.include({ phase: 'credited', credited: 500n * RUB, version: 4 });
    expect(outcomes[0]?.payment).to.equal(payments[0]);
    expect([run(books, credit()), run(books, credit())]).to.deep.equal(['done', 'exists']);
    expect([balances(books)[0], books.journal.length]).to.deep.equal([500, 1]);
    expect(fold(books, [credit()]).outcomes[0]?.payment).to.deep.equal(payments[0]);
  });

  it('moves no money when the payment has changed in the meantime or does not exist', () => {
    const wallet = books.wallets.get('w');
    const { outcomes, ...written } = fold(books, [credit(2)]);
    expect(outcomes).to.deep.equal([{ status: 'stale_payment', wallet, payment: ARRIVED }]);
    expect(Object.values(written).flat()).to.deep.equal([]);
    const gone = fold({ ...books, payments: new Map() }, [credit()]);
    expect([gone.outcomes, gone.entries]).to.deep.equal([[{ status: 'stale_payment', wallet }], []]);
  });

  it('changes no payment when its money is refused', () => {
    run(books, credit());
    const other = { ...credit(4), amount: 7n } as Operation;
    const { outcomes, payments } = fold(books, [other]);
    expect(outcomes).to.deep.equal([{ status: 'id_taken', wallet: books.wallets.get('w') }]);
    expect(payments).to.deep.equal([]);
  });

  it('sees the effects of earlier operations of the same batch, and books the shortfall of the wallet', () => {
    const spend = operation('charge', 'c', 400);
    const { outcomes, payments } = fold(books, [credit(), spend, back('r1', 50, 4), back('r2', 100, 5)]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['done', 'done', 'done', 'done']);
    const sums = { refunded: 150n * RUB, shortfall: 50n * RUB, phase: 'partly_refunded', version: 6 };
    expect(payments).to.have.length(1);
    expect(payments[0]).to.include(sums);
  });

  it('recognises a refund that was booked already when its answer was lost', () => {
    run(books, credit());
    expect([run(books, back('r', 50, 4)), run(books, back('r', 50, 4))]).to.deep.equal(['done', 'exists']);
    expect(books.payments.get('pay_x')).to.include({ refunded: 50n * RUB, shortfall: 0n, version: 5 });
  });

  it('lists the payments that it needs', () => {
    expect([...collectBatchKeys([credit(), operation('topup', 'p', 1)]).payments]).to.deep.equal(['pay_x']);
  });
});

describe('the budget sums that a batch needs', () => {
  it('are those of calls with a budget, by terms or by charge, under the first key of a chain of replacements', () => {
    const books = newBooks();
    const budget = { period: 0, limit: null };
    const start = { ...operation('reserve', 'a', 1), budget } as Operation;
    const shared = { ...operation('reserve', 'b', 1), key: 'new', budget: { ...budget, key: 'first' } } as Operation;
    expect([...collectBudgetKeys([start, shared], books.charges)]).to.deep.equal(['k', 'first']);
    run(books, operation('topup', 'p', 1000));
    for (const op of [start, shared, operation('reserve', 'plain', 1)]) run(books, op);
    const ends = ['a', 'b', 'plain'].map((id) => operation('release', id, 0));
    expect([...collectBudgetKeys([...ends, operation('topup', 'q', 1)], books.charges)]).to.deep.equal(['k', 'first']);
  });

  it('are updated within a batch', () => {
    const books = newBooks();
    run(books, operation('topup', 'p', 1000));
    const start = (id: string) =>
      ({ ...operation('reserve', id, 6), budget: { period: 0, limit: 10n * RUB } }) as Operation;
    const { outcomes, budgets } = fold(books, [start('a'), start('b'), operation('release', 'a', 0), start('b')]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['done', 'key_budget', 'done', 'done']);
    expect(budgets).to.deep.equal([{ key: 'k', wallet: 'w', period: 0, spent: 6n * RUB }]);
  });
});
