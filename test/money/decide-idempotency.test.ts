// Distinguishes a repeated call from another call with the same id.
import { expect } from 'chai';
import type { Operation } from '../../lib/money/decide.ts';
import { newBooks, operation, run } from '../ledger/books.ts';

const RUB = 1_000_000n;

describe('a second call under a used id', () => {
  for (const kind of ['reserve', 'charge'] as const) {
    const more = { key: 'other', model: 'other', prices: '{"other":"1"}', chargeKind: 'image', amount: 11n * RUB };
    for (const [field, value] of Object.entries(more)) {
      it(`is not the same ${kind} if its ${field} differs`, () => {
        const books = newBooks();
        run(books, operation('topup', 'p', 1000));
        const op = operation(kind, 'c', 10);
        expect(run(books, op)).to.equal('done');
        expect(run(books, op)).to.equal('exists');
        expect(run(books, { ...op, [field]: value } as Operation)).to.equal('id_taken');
        expect(books.journal).to.have.length(2);
      });
    }
  }
});
