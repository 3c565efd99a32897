// The money of payments as tables: operation, amount, expected status, balance after.
import { expect } from 'chai';
import { getOperationId, type OutcomeStatus } from '../../lib/money/decide.ts';
import { balances, type Kind, newBooks, operation, run } from '../ledger/books.ts';

/** RUB: available, held, charged, topped up, adjusted. */
type Balances = readonly [avail: number, held: number, charged: number, topped: number, adjusted: number];
type Row = readonly [kind: Kind, id: string, rub: number, status: OutcomeStatus, after: Balances];

const scenarios: Record<string, readonly Row[]> = {
  'a payment, small as it may be, and refunds of it': [
    ['pay', 'p1', 500, 'done', [500, 0, 0, 500, 0]],
    ['pay', 'p1', 500, 'exists', [500, 0, 0, 500, 0]],
    ['pay', 'p1', 501, 'id_taken', [500, 0, 0, 500, 0]],
    ['payback', 'r1', 200, 'done', [300, 0, 0, 300, 0]],
    ['payback', 'r1', 200, 'exists', [300, 0, 0, 300, 0]],
    ['payback', 'r2', 300, 'done', [0, 0, 0, 0, 0]],
    ['reserve', 'c1', 1, 'never_topped', [0, 0, 0, 0, 0]],
  ],
  'a refund of money that is spent leaves it owing, and suspends': [
    ['pay', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['reserve', 'c1', 600, 'done', [400, 600, 0, 1000, 0]],
    ['settle', 'c1', 600, 'done', [400, 0, 600, 1000, 0]],
    ['payback', 'r1', 1000, 'done', [-600, 0, 600, 0, 0]],
    ['reserve', 'c2', 1, 'suspended', [-600, 0, 600, 0, 0]],
    ['pay', 'p2', 1000, 'done', [400, 0, 600, 1000, 0]],
    ['payback', 'r2', 100, 'done', [300, 0, 600, 900, 0]],
    ['reserve', 'c3', 1, 'suspended', [300, 0, 600, 900, 0]],
  ],
  'a lost dispute leaves running calls their money, and what they return pays what is missing': [
    ['pay', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['reserve', 'c1', 900, 'done', [100, 900, 0, 1000, 0]],
    ['dispute', 'd1', 500, 'done', [-400, 900, 0, 500, 0]],
    ['settle', 'c1', 200, 'done', [300, 0, 200, 500, 0]],
    ['dispute', 'd2', 500, 'done', [-200, 0, 200, 0, 0]],
    ['dispute', 'd1', 500, 'exists', [-200, 0, 200, 0, 0]],
  ],
  'what holds return pays what is missing, however they end': [
    ['pay', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['charge', 'v1', 100, 'done', [900, 0, 100, 1000, 0]],
    ['reserve', 'c1', 300, 'done', [600, 300, 100, 1000, 0]],
    ['reserve', 'c2', 300, 'done', [300, 600, 100, 1000, 0]],
    ['reserve', 'c3', 300, 'done', [0, 900, 100, 1000, 0]],
    ['payback', 'r1', 1000, 'done', [-1000, 900, 100, 0, 0]],
    ['release', 'c1', 0, 'done', [-700, 600, 100, 0, 0]],
    ['expire', 'c2', 0, 'done', [-400, 300, 100, 0, 0]],
    ['settle', 'c3', 300, 'done', [-400, 0, 400, 0, 0]],
    ['refund', 'v1', 0, 'done', [-300, 0, 300, 0, 0]],
    ['adjust', 'a1', 300, 'done', [0, 0, 300, 0, 300]],
  ],
  'a refund takes no more than was paid, whatever was given': [
    ['pay', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['adjust', 'a1', 500, 'done', [1500, 0, 0, 1000, 500]],
    ['payback', 'r1', 1200, 'done', [500, 0, 0, 0, 500]],
  ],
};

describe('the money of payments', () => {
  for (const [name, rows] of Object.entries(scenarios)) {
    it(`moves as in the table: ${name}`, () => {
      const books = newBooks();
      const done: string[] = [];
      for (const [index, [kind, id, rub, status, after]] of rows.entries()) {
        const op = operation(kind, id, rub);
        const found = run(books, op);
        if (found === 'done') done.push(getOperationId(op));
        expect([found, ...balances(books)], `row ${index + 1}: ${kind} ${id} ${rub}`).to.deep.equal([status, ...after]);
      }
      expect(books.journal.map((entry) => entry.opId)).to.deep.equal(done);
    });
  }

  it('has operation ids that name the provider and differ from those of calls', () => {
    const ids = (['pay', 'payback', 'dispute'] as const).map((kind) => getOperationId(operation(kind, '1', 1)));
    expect(ids).to.deep.equal(['pay:till:1', 'refund:till:1', 'dispute:till:1']);
  });

  it('is never taken back twice under one id, nor for another order', () => {
    const books = newBooks();
    run(books, operation('pay', 'p', 1000));
    for (const kind of ['payback', 'dispute'] as const) {
      const op = operation(kind, 'r', 200);
      expect([run(books, op), run(books, op)]).to.deep.equal(['done', 'exists']);
      expect(run(books, { ...op, order: 'pay_another' } as never)).to.equal('id_taken');
    }
    expect(balances(books)[0]).to.equal(600);
  });

  it('does not suspend the wallet unless the operator wants it', () => {
    const books = newBooks();
    run(books, operation('pay', 'p', 1000));
    expect(run(books, { ...operation('payback', 'r', 2000), suspend: false } as never)).to.equal('done');
    expect(books.wallets.get('w')).to.include({ status: 'active', avail: 0n });
  });
});
