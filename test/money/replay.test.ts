// An operation can be rebuilt from its entry: copies and the audit rely on it.
import { expect } from 'chai';
import type { Charge, Operation, Wallet } from '../../lib/money/decide.ts';
import { getEntryChargeId, rebuildOperation } from '../../lib/money/replay.ts';
import { newBooks, operation, run } from '../ledger/books.ts';

describe('an operation rebuilt from its entry', () => {
  const books = newBooks();
  const steps: readonly Operation[] = [
    operation('topup', 't1', 1000),
    operation('pay', 'p1', 500),
    operation('adjust', 'a1', 7),
    operation('reserve', 'c1', 20),
    operation('settle', 'c1', 15),
    operation('reserve', 'c2', 30),
    operation('release', 'c2', 0),
    operation('reserve', 'c3', 30),
    { ...operation('expire', 'c3', 0), at: 100_000 },
    operation('charge', 'c4', 40),
    operation('refund', 'c4', 0),
    operation('payback', 'r1', 100),
    operation('dispute', 'd1', 50),
    operation('grant', 'g1', 60),
    { ...operation('grant', 'g2', 5), until: 9000, opens: true } as Operation,
    operation('grant_end', 'g2', 0),
    { ...operation('grant_end', 'g1', 0), reason: 'by mistake' } as Operation,
    { ...operation('adjust', 'a2', 100), reason: 'to go on' } as Operation,
    { ...operation('reserve', 'c5', 10), budget: { key: 'k0', period: 500, limit: null } } as Operation,
    { ...operation('charge', 'c6', 10), usage: '{"seconds":5}', budget: { period: 500, limit: null } } as Operation,
  ];
  const outcomes = steps.map((op) => {
    const outcome = run(books, op);
    // The payback suspended the wallet.
    books.wallets.set('w', { ...(books.wallets.get('w') as Wallet), status: 'active' });
    return outcome;
  });

  it('comes from steps that all apply', () => {
    expect(outcomes).to.deep.equal(steps.map(() => 'done'));
  });

  for (const [at, op] of steps.entries()) {
    it(`is the same: ${op.kind} at step ${at + 1}`, () => {
      const entry = books.journal[at] as (typeof books.journal)[number];
      const id = getEntryChargeId(entry);
      const charge = id === undefined ? undefined : (books.charges.get(id) as Charge);
      const found = rebuildOperation(entry, charge);
      // The wallet was active before, and an ended hold has lost its owner.
      const lost = {
        payback: { suspend: false },
        dispute: { suspend: false },
        reserve: charge?.state === 'held' ? {} : { owner: 'copied', lease: op.at },
      };
      const wanted = { ...op, ...lost[op.kind as keyof typeof lost] };
      expect(found).to.deep.equal(wanted);
    });
  }

  it('needs the charge if it started one', () => {
    const begun = books.journal.find(({ kind }) => kind === 'reserve') as (typeof books.journal)[number];
    expect(rebuildOperation(begun, undefined)).to.equal(undefined);
    expect(getEntryChargeId(books.journal[0] as (typeof books.journal)[number])).to.equal(undefined);
  });
});
