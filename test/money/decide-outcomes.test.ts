// The content of an outcome: the current wallet and charge, whether the operation was applied, repeated or refused.
import { expect } from 'chai';
import { createEmptyWallet, decide, type Operation, type OutcomeStatus } from '../../lib/money/decide.ts';
import { fold } from '../../lib/money/fold.ts';
import { AT, type Books, balances, type Kind, newBooks, operation, run, USAGE } from '../ledger/books.ts';

const RUB = 1_000_000n;

describe('the outcome of an operation', () => {
  let books: Books;

  beforeEach(() => {
    books = newBooks();
    run(books, operation('topup', 'p', 1000));
  });

  const refusals: readonly [OutcomeStatus, Kind, id: string, rub: number][] = [
    ['insufficient', 'adjust', 'a', -1001],
    ['insufficient', 'reserve', 'c', 1001],
    ['id_taken', 'topup', 'p', 1],
    ['no_charge', 'settle', 'none', 1],
    ['no_charge', 'release', 'none', 0],
    ['no_charge', 'refund', 'none', 0],
    ['exists', 'topup', 'p', 1000],
  ];
  for (const [status, kind, id, rub] of refusals) {
    it(`contains the wallet when ${kind} is answered with ${status}`, () => {
      const { outcomes } = fold(books, [operation(kind, id, rub)]);
      expect(outcomes).to.deep.equal([{ status, wallet: books.wallets.get('w') }]);
    });
  }

  it('contains the wallet when a call is refused as never_topped, suspended or key_budget', () => {
    const empty = createEmptyWallet('w');
    const known = { charge: undefined, prior: undefined };
    const small = decide({ ...known, wallet: empty }, operation('topup', 'p', 1));
    expect(small).to.deep.equal({ status: 'first_topup_too_small', wallet: empty });
    const unpaid = decide({ ...known, wallet: empty }, operation('reserve', 'c', 1));
    expect(unpaid).to.deep.equal({ status: 'never_topped', wallet: empty });
    const wallet = { ...empty, topped: RUB, avail: RUB };
    const suspended = { ...wallet, status: 'suspended' } as const;
    const held = decide({ ...known, wallet: suspended }, operation('reserve', 'c', 1));
    expect(held).to.deep.equal({ status: 'suspended', wallet: suspended });
    const spent = { ...operation('reserve', 'c', 1), budget: { period: 0, limit: 1n } } as Operation;
    expect(decide({ ...known, wallet }, spent)).to.deep.equal({ status: 'key_budget', wallet, left: 1n });
    const exposed = decide({ ...known, wallet, exposedInBudget: 3n }, spent);
    expect(exposed).to.deep.equal({ status: 'key_budget', wallet, left: 0n });
    const caps = [
      { id: 'user:u', period: 0, limit: 9n * RUB },
      { id: 'run:r', period: 0, limit: 2n },
    ];
    const states = [
      { sum: undefined, exposed: 0n },
      { sum: { key: 'run:r', wallet: 'w', period: 0, spent: 1n }, exposed: 0n },
    ];
    const capped = { ...operation('reserve', 'c', 1), caps } as Operation;
    expect(decide({ ...known, wallet, caps: states }, capped)).to.deep.equal({
      status: 'cap',
      wallet,
      cap: 'run:r',
      left: 1n,
    });
    expect(decide({ ...known, wallet, caps: states.map((state) => ({ ...state, exposed: 3n })) }, capped)).to.include({
      cap: 'run:r',
      left: 0n,
    });
    // A count of calls has no money left.
    const many = { ...operation('reserve', 'c', 1), caps: [{ id: 'calls:k', period: 0, limit: 0n }] } as Operation;
    expect(decide({ ...known, wallet }, many)).to.deep.equal({ status: 'cap', wallet, cap: 'calls:k' });
  });

  it('contains the charge when it exists already, has ended before, or has not ended yet', () => {
    const steps: readonly [Kind, OutcomeStatus][] = [
      ['reserve', 'done'],
      ['reserve', 'exists'],
      ['refund', 'not_settled'],
      ['settle', 'done'],
      ['settle', 'exists'],
      ['release', 'exists'],
      ['refund', 'done'],
      ['refund', 'exists'],
    ];
    for (const [kind, status] of steps) {
      const op = operation(kind, 'c', 10);
      const { outcomes } = fold(books, [op]);
      run(books, op);
      const rows = { wallet: books.wallets.get('w'), charge: books.charges.get('c') };
      expect(outcomes, kind).to.deep.equal([{ status, ...rows }]);
    }
    const { outcomes } = fold(books, [operation('reserve', 'c', 11)]);
    expect(outcomes).to.deep.equal([{ status: 'id_taken', wallet: books.wallets.get('w') }]);
  });

  it('contains the wallet when a payback is sent again, for the same order or another', () => {
    const op = operation('payback', 'r', 100);
    run(books, op);
    const wallet = books.wallets.get('w');
    expect(fold(books, [op]).outcomes).to.deep.equal([{ status: 'exists', wallet }]);
    const other = { ...op, order: 'pay_other' } as Operation;
    expect(fold(books, [other]).outcomes).to.deep.equal([{ status: 'id_taken', wallet }]);
  });

  it('contains a charge with charged 0 while it is held, and with its usage once it is charged', () => {
    run(books, operation('reserve', 'c', 10));
    expect(books.charges.get('c')).to.include({ charged: 0n, reserved: 10n * RUB, usage: null, endedAt: null });
    run(books, { ...operation('charge', 'v', 5), usage: USAGE } as Operation);
    expect(books.charges.get('v')).to.include({ charged: 5n * RUB, usage: USAGE, endedAt: AT, owner: null });
    run(books, operation('charge', 'bare', 5));
    expect(books.charges.get('bare')).to.include({ usage: null });
  });

  it('is an assertion error if damaged rows would take more than is held or charged', () => {
    run(books, operation('reserve', 'c', 10));
    run(books, operation('charge', 'v', 10));
    const wallet = { ...createEmptyWallet('w'), topped: 10n * RUB, avail: 10n * RUB };
    for (const [kind, id] of [['release', 'c'] as const, ['settle', 'c'] as const, ['refund', 'v'] as const]) {
      const charge = books.charges.get(id);
      expect(() => decide({ wallet, charge, prior: undefined }, operation(kind, id, 1)), kind).to.throw();
    }
  });

  it('records in the journal where the money came from, and why', () => {
    for (const kind of ['adjust', 'pay', 'payback'] as const) run(books, operation(kind, 'x', 5));
    expect(books.journal.map(({ note }) => note)).to.deep.equal(['p', 'test', 'pay_x', 'pay_x']);
  });

  it('allows the smallest correction of a debt and the smallest refund', () => {
    run(books, operation('reserve', 'c', 1000));
    run(books, operation('settle', 'c', 1001));
    expect(run(books, operation('adjust', 'a', 0.000001))).to.equal('done');
    run(books, operation('topup', 'q', 1));
    expect(balances(books)[0]).to.equal(0.000001);
    expect(run(books, operation('payback', 'r', 0.000001))).to.equal('done');
    expect(balances(books)[0]).to.equal(0);
  });
});
