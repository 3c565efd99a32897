// Idempotency keys in a batch: the first call takes its key, others are refused, and a call that fails frees it.
import { expect } from 'chai';
import { collectIdempotencyIds } from '../../lib/money/batch-keys.ts';
import type { Operation, Wallet } from '../../lib/money/decide.ts';
import { fold } from '../../lib/money/fold.ts';
import type { IdempotencyTerms } from '../../lib/money/idempotency.ts';
import { AT, type Books, newBooks, operation, run } from '../ledger/books.ts';

const TERMS: IdempotencyTerms = { id: 'hash', body: 'asked', awaited: true, expiresAt: AT + 100 };
const call = (id: string, terms: Partial<IdempotencyTerms> = {}, kind: 'reserve' | 'charge' = 'reserve') =>
  ({ ...operation(kind, id, 10), idempotency: { ...TERMS, ...terms } }) as Operation;

/** Folds a batch and writes the rows as a store does. */
function apply(books: Books, batch: readonly Operation[]): readonly string[] {
  const { outcomes, wallets, charges, idempotencyRecords: repeats } = fold(books, batch);
  for (const wallet of wallets) books.wallets.set(wallet.id, wallet);
  for (const charge of charges) books.charges.set(charge.id, charge);
  for (const repeat of repeats) books.idempotencyRecords.set(repeat.id, repeat);
  return outcomes.map(({ status }) => status);
}

describe('a batch with idempotency keys', () => {
  let books: Books;

  beforeEach(() => {
    books = newBooks();
    run(books, operation('topup', 'p', 1000));
  });

  for (const kind of ['reserve', 'charge'] as const) {
    it(`stores the key of the first ${kind}, with its charge and without a reply`, () => {
      const { idempotencyRecords: repeats } = fold(books, [call('a', {}, kind), operation('reserve', 'plain', 1)]);
      expect(repeats).to.deep.equal([{ ...TERMS, wallet: 'w', charge: 'a', reply: null }]);
    });
  }

  it('distinguishes a repeated request from a different one, in one batch and in the next', () => {
    const rest = [call('b'), call('c', { body: 'other' }), call('d', { id: 'another' })];
    const wanted = ['repeated', 'key_misused', 'done'];
    expect(apply(newer(books), [call('a'), ...rest])).to.deep.equal(['done', ...wanted]);
    apply(books, [call('a')]);
    expect(apply(books, rest)).to.deep.equal(wanted);
    const { outcomes } = fold(books, [call('b')]);
    expect(outcomes).to.deep.equal([{ status: 'repeated', wallet: books.wallets.get('w') }]);
  });

  it('recognises a repeated request of a suspended account, whose first call was paid', () => {
    apply(books, [call('a')]);
    books.wallets.set('w', { ...(books.wallets.get('w') as Wallet), status: 'suspended' });
    const rest = [call('b'), call('c', { body: 'other' }), call('d', { id: 'another' })];
    expect(apply(books, rest)).to.deep.equal(['repeated', 'key_misused', 'suspended']);
  });

  it('leaves the key with the first call when that call is sent again', () => {
    apply(books, [call('a')]);
    expect(fold(books, [call('a')])).to.deep.include({ idempotencyRecords: [], entries: [] });
    expect(apply(books, [call('a')])).to.deep.equal(['exists']);
  });

  it('frees the key of a call that failed, in one batch and in the next', () => {
    const release = operation('release', 'a', 0);
    expect(apply(newer(books), [call('a'), release, call('b')])).to.deep.equal(['done', 'done', 'done']);
    apply(books, [call('a')]);
    expect(apply(newer(books), [release, call('b'), call('c')])).to.deep.equal(['done', 'done', 'repeated']);
    apply(books, [release]);
    expect(apply(books, [call('b')])).to.deep.equal(['done']);
    expect(books.idempotencyRecords.get('hash')).to.include({ charge: 'b' });
  });

  it('frees a key that has expired', () => {
    apply(books, [call('a')]);
    expect(apply(books, [{ ...call('b'), at: TERMS.expiresAt }])).to.deep.equal(['done']);
  });

  it('lists each key that it needs once', () => {
    const ids = collectIdempotencyIds([
      call('a'),
      call('b'),
      operation('reserve', 'c', 1),
      operation('settle', 'a', 1),
    ]);
    expect([...ids]).to.deep.equal(['hash']);
  });
});

/** Copies the maps, so that the original books stay unchanged. */
function newer(books: Books): Books {
  const { wallets, charges, idempotencyRecords } = books;
  return {
    ...books,
    wallets: new Map(wallets),
    charges: new Map(charges),
    idempotencyRecords: new Map(idempotencyRecords),
  };
}
