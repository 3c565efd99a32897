// The balance that an account had in another system: it opens the wallet, whatever its sign.
import { expect } from 'chai';
import type { Operation } from '../../lib/money/decide.ts';
import { balances, newBooks, operation, run } from '../ledger/books.ts';

describe('a balance that moves in', () => {
  it('opens a wallet with the balance it had elsewhere, which may be a debt', () => {
    const books = newBooks();
    const move = (rub: number) => ({ ...operation('adjust', 'moved', rub), movesIn: true }) as Operation;
    expect(run(books, operation('adjust', 'a', -1))).to.equal('insufficient');
    expect(run(books, move(-1.5))).to.equal('done');
    expect(run(books, move(-1.5))).to.equal('exists');
    expect(run(books, move(-1))).to.equal('id_taken');
    expect(books.journal[0]).to.include({ overshoot: 1_500_000n, adjusted: -1_500_000n, topped: 0n });
    expect(run(books, operation('topup', 'p', 2))).to.equal('done');
    expect(run(books, operation('reserve', 'c', 0.5))).to.equal('done');
    expect(balances(books)).to.deep.equal([0, 0.5, 0, 2, -1.5]);
  });

  it('opens an empty wallet, too', () => {
    const books = newBooks();
    expect(run(books, { ...operation('adjust', 'moved', 0), movesIn: true } as Operation)).to.equal('done');
    expect(run(books, operation('reserve', 'c', 1))).to.equal('insufficient');
    expect(run(books, operation('topup', 'p', 2))).to.equal('done');
  });
});
