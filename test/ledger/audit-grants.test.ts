// The audit of grants: from a checkpoint on, and of entries that spent paid money while a grant had some.
import { expect } from 'chai';
import { verifyChanges } from '../../lib/ledger/audit-changes.ts';
import { createWalletAudit } from '../../lib/ledger/audit-wallet.ts';
import type { Entry, Wallet } from '../../lib/money/decide.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import {
  applied,
  endGrant,
  giveBack,
  grant,
  newId,
  newWallet,
  RUB,
  reserve,
  settle,
} from '../contract/store/context.ts';
import { type Books, newBooks, operation, run } from './books.ts';

describe('the audit of grants', () => {
  it('goes on from a checkpoint, whatever they had left there', async () => {
    const opened: FaultyStore = await openFaultyStore();
    try {
      const { real } = opened;
      const [wallet, call, early] = [await newWallet(real), newId('req'), newId('grant')];
      await applied(real, grant(wallet, 30n * RUB, { grantId: early, until: 5 }), grant(wallet, 5n * RUB));
      await applied(real, reserve(wallet, { chargeId: call, amount: 33n * RUB }));
      expect(await verifyChanges(real)).to.include({ ok: true, wallets: 1, entries: 4 });
      await applied(real, settle(wallet, call, { amount: 31n * RUB }), reserve(wallet, { amount: 50n * RUB }));
      expect(await verifyChanges(real)).to.include({ ok: true, wallets: 1, entries: 2 });
      await applied(real, endGrant(wallet, early), giveBack('refund', wallet, call));
      expect(await verifyChanges(real)).to.include({ ok: true, wallets: 1, entries: 2 });
      expect(await verifyChanges(real)).to.include({ ok: true, entries: 0 });
    } finally {
      await opened.close();
    }
  });

  function problemsOf(books: Books, wallet: Wallet): readonly string[] {
    const problems: string[] = [];
    const account = createWalletAudit('w', (_wallet, problem) => problems.push(problem));
    for (const entry of books.journal) account.add(entry);
    account.end(wallet, { id: 'w' });
    return problems;
  }

  it('reports a call that took less of a grant than it could, even if the sums agree', () => {
    const books = newBooks();
    for (const op of [operation('topup', 'p', 1000), operation('grant', 'g', 30), operation('charge', 'c', 10)])
      expect(run(books, op)).to.equal('done');
    const wallet = books.wallets.get('w') as Wallet;
    expect(problemsOf(books, wallet)).to.deep.equal([]);
    const last = books.journal.at(-1) as Entry;
    for (const [part, left] of [
      ['-9000000', '21000000'],
      ['-11000000', '19000000'],
    ] as const) {
      books.journal.splice(-1, 1, { ...last, grants: `[["g","${part}"]]` });
      const same = { ...wallet, grants: `[["g","${left}",null]]` };
      expect(problemsOf(books, same).join()).to.contain(`grants [["g","${part}"]] instead of [["g","-10000000"]]`);
    }
    books.journal.splice(-1, 1, last);
    for (const grants of ['[["g","20000000",5]]', '[["g","20000001",null]]', 'x', undefined]) {
      const { grants: _, ...rest } = wallet;
      const damaged = grants === undefined ? rest : { ...rest, grants };
      expect(problemsOf(books, damaged).join()).to.contain(
        `grants: ${grants ?? 'none'} instead of [["g","20000000",null]]`,
      );
    }
  });

  it('reports entries whose part of a grant cannot be read, or is more than was left of it', () => {
    const books = newBooks();
    for (const op of [operation('topup', 'p', 1000), operation('grant', 'g', 30), operation('charge', 'c', 10)])
      expect(run(books, op)).to.equal('done');
    const wallet = books.wallets.get('w') as Wallet;
    const last = books.journal.at(-1) as Entry;
    books.journal.splice(-1, 1, { ...last, grants: 'x' });
    expect(problemsOf(books, wallet).join()).to.contain('its grants x cannot be read');
    books.journal.splice(-1, 1, { ...last, grants: '[["g","-30000001"]]' });
    expect(problemsOf(books, wallet).join()).to.contain(`a ${last.kind} that leaves -1 of the grant g`);
  });
});
