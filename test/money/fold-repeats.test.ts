// Idempotency keys in a batch: the first call takes its key, others are told so, and a call that failed gives it back.
import { expect } from 'chai';
import type { Operation, Wallet } from '../../lib/money/decide.ts';
import { fold, repeatIdsOf } from '../../lib/money/fold.ts';
import type { IdempotencyTerms } from '../../lib/money/idempotency.ts';
import { AT, type Books, newBooks, operation, run } from '../ledger/books.ts';

const TERMS: IdempotencyTerms = { id: 'hash', body: 'asked', awaited: true, expiresAt: AT + 100 };
const call = (id: string, terms: Partial<IdempotencyTerms> = {}, kind: 'reserve' | 'charge' = 'reserve') =>
  ({ ...operation(kind, id, 10), repeat: { ...TERMS, ...terms } }) as Operation;

/** What `fold` says of a batch, after which the rows are written as a store writes them. */
function apply(books: Books, batch: readonly Operation[]): readonly string[] {
  const { outcomes, wallets, charges, repeats } = fold(books, batch);
  for (const wallet of wallets) books.wallets.set(wallet.id, wallet);
  for (const charge of charges) books.charges.set(charge.id, charge);
  for (const repeat of repeats) books.repeats.set(repeat.id, repeat);
  return outcomes.map(({ status }) => status);
}

describe('a batch with idempotency keys', () => {
  let books: Books;

  beforeEach(() => {
    books = newBooks();
    run(books, operation('topup', 'p', 1000));
  });

  for (const kind of ['reserve', 'charge'] as const) {
    it(`gives a key to the first ${kind}, with its charge and without a reply`, () => {
      const { repeats } = fold(books, [call('a', {}, kind), operation('reserve', 'plain', 1)]);
      expect(repeats).to.deep.equal([{ ...TERMS, wallet: 'w', charge: 'a', reply: null }]);
    });
  }

  it('tells a repeat from another request, in one batch and in the next', () => {
    const rest = [call('b'), call('c', { body: 'other' }), call('d', { id: 'another' })];
    const wanted = ['repeated', 'key_misused', 'done'];
    expect(apply(newer(books), [call('a'), ...rest])).to.deep.equal(['done', ...wanted]);
    apply(books, [call('a')]);
    expect(apply(books, rest)).to.deep.equal(wanted);
    const { outcomes } = fold(books, [call('b')]);
    expect(outcomes).to.deep.equal([{ status: 'repeated', wallet: books.wallets.get('w') }]);
  });

  it('says so of a suspended account too: its first call was paid', () => {
    apply(books, [call('a')]);
    books.wallets.set('w', { ...(books.wallets.get('w') as Wallet), status: 'suspended' });
    const rest = [call('b'), call('c', { body: 'other' }), call('d', { id: 'another' })];
    expect(apply(books, rest)).to.deep.equal(['repeated', 'key_misused', 'suspended']);
  });

  it('leaves the key with the first call when that is sent again', () => {
    apply(books, [call('a')]);
    expect(fold(books, [call('a')])).to.deep.include({ repeats: [], entries: [] });
    expect(apply(books, [call('a')])).to.deep.equal(['exists']);
  });

  it('frees the key of a call that failed, in one batch and in the next', () => {
    const release = operation('release', 'a', 0);
    expect(apply(newer(books), [call('a'), release, call('b')])).to.deep.equal(['done', 'done', 'done']);
    apply(books, [call('a')]);
    expect(apply(newer(books), [release, call('b'), call('c')])).to.deep.equal(['done', 'done', 'repeated']);
    apply(books, [release]);
    expect(apply(books, [call('b')])).to.deep.equal(['done']);
    expect(books.repeats.get('hash')).to.include({ charge: 'b' });
  });

  it('frees a key whose time is over', () => {
    apply(books, [call('a')]);
    expect(apply(books, [{ ...call('b'), at: TERMS.expiresAt }])).to.deep.equal(['done']);
  });

  it('names the keys that it needs, once each', () => {
    const ids = repeatIdsOf([call('a'), call('b'), operation('reserve', 'c', 1), operation('settle', 'a', 1)]);
    expect([...ids]).to.deep.equal(['hash']);
  });
});

/** The same rows in maps of their own. */
function newer(books: Books): Books {
  const { wallets, charges, repeats } = books;
  return { ...books, wallets: new Map(wallets), charges: new Map(charges), repeats: new Map(repeats) };
}
