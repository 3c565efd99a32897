// The audit of one wallet by itself: what its entries, its opening and its account must agree on.
import { expect } from 'chai';
import { createWalletAudit } from '../../lib/ledger/audit-wallet.ts';
import type { Entry, Wallet } from '../../lib/money/decide.ts';
import type { Opening } from '../../lib/store/ports/archives.ts';
import type { AccountAudit } from '../../lib/store/ports/journal.ts';
import { type Books, newBooks, operation, run } from './books.ts';

describe('the audit of a wallet', () => {
  let books: Books;
  let wallet: Wallet;
  beforeEach(() => {
    books = newBooks();
    for (const op of [operation('topup', 'p', 1000), operation('adjust', 'a', -5), operation('charge', 'c', 10)])
      expect(run(books, op)).to.equal('done');
    wallet = books.wallets.get('w') as Wallet;
  });

  interface Rows {
    readonly journal?: readonly Entry[];
    readonly opening?: Opening;
    readonly found?: Wallet | undefined;
    readonly account?: AccountAudit | undefined;
  }

  function look(rows: Rows) {
    const problems: string[] = [];
    let drift = 0n;
    const audit = createWalletAudit('w', (id, text, amount = 0n) => {
      drift += amount;
      problems.push(id === 'w' ? text : `of ${id}: ${text}`);
    });
    const { journal = books.journal, opening, found, account } = { found: wallet, account: { id: 'w' }, ...rows };
    if (opening) audit.openAt(opening);
    for (const entry of journal) audit.add(entry);
    audit.end(found, account);
    return { problems, drift, removed: audit.removed(), checkpoint: audit.checkpoint() };
  }
  const problems = (rows: Rows) => look(rows).problems;
  /** With one entry changed. */
  const changed = (seq: number, fields: object) =>
    books.journal.map((entry) => (entry.seq === seq ? { ...entry, ...fields } : entry));

  it('finds nothing in what the ledger wrote, and counts nothing as removed', () => {
    const { problems: found, drift, removed } = look({});
    expect([found, drift, removed]).to.deep.equal([[], 0n, { entries: 0, charged: 0n }]);
  });

  it('misses a wallet, an account, and says what is wrong with them', () => {
    expect(look({ found: undefined })).to.deep.include({
      problems: ['there is no such wallet, but 3 entries of it'],
      drift: 995_000_000n,
    });
    expect(problems({ account: undefined })).to.deep.equal(['there is no such account']);
    expect(problems({ account: { id: 'w', problem: 'its limits cannot be read' } })).to.deep.equal([
      'its limits cannot be read',
    ]);
    const text = { ...wallet, avail: '985000000' } as unknown as Wallet;
    expect(problems({ found: text })).to.deep.equal(['the wallet is not valid']);
  });

  it('compares what the wallet says with its entries', () => {
    for (const [fields, problem] of [
      [{ status: 'suspended' }, 'status: suspended instead of active'],
      [{ playMoney: true }, 'it holds no play money, but its wallet says so'],
      [{ opened: true }, 'it is opened, but by no entry'],
      [{ grants: '[["g","1",null]]' }, 'grants: [["g","1",null]] instead of none'],
      [{ seq: 4 }, 'seq 4 with 3 entries from 1 to 3'],
      [{ avail: 985_000_001n, adjusted: -4_999_999n }, 'avail: 985000001 instead of 985000000'],
    ] as const) {
      expect(problems({ found: { ...wallet, ...fields } as Wallet })[0], problem).to.equal(problem);
    }
    run(books, operation('suspend', 's', 0));
    expect(problems({ found: { ...(books.wallets.get('w') as Wallet), status: 'active' } })).to.deep.equal([
      'status: active instead of suspended',
    ]);
  });

  it('reports an entry that is none, that does not balance, or that would be decided otherwise', () => {
    expect(problems({ journal: changed(2, { avail: 'x' }) })[0]).to.equal('entry 2: it is not a valid entry');
    expect(problems({ journal: changed(2, { adjusted: -4_000_000n }) })[0]).to.equal('entry 2: it does not balance');
    expect(problems({ journal: changed(2, { chargedAfter: 7n }) })).to.deep.equal([
      'entry 2: charged so far 7 instead of 0',
      'entry 2: its mark says another id, time, amount, note or status',
      'entry 3: charged so far 10000000 instead of 10000007',
    ]);
    expect(problems({ journal: changed(1, { overshoot: 3n }) })[0]).to.equal('entry 1: overshoot 3 instead of 0');
    const [first, ...others] = books.journal;
    expect(problems({ journal: others }).at(-1)).to.equal('seq 3 with 2 entries from 2 to 3');
    expect(problems({ journal: [first as Entry] }).at(-1)).to.equal('seq 3 with 1 entry from 1 to 1');
  });

  describe('from an opening', () => {
    let opening: Opening;
    beforeEach(() => {
      const { checkpoint } = look({});
      opening = { ...checkpoint, lasting: 2, budgets: [], kept: null };
      expect(run(books, operation('adjust', 'b', 1))).to.equal('done');
      wallet = books.wallets.get('w') as Wallet;
    });
    /** Those that stay when the call leaves for an archive. */
    const kept = () => books.journal.filter(({ seq }) => seq !== 3);

    it('goes on with its sums, and counts what has left', () => {
      const { problems: found, removed } = look({ opening, journal: kept() });
      expect([found, removed]).to.deep.equal([[], { entries: 1, charged: 10_000_000n }]);
      const whole = look({ opening });
      expect([whole.problems, whole.removed]).to.deep.equal([[], { entries: 0, charged: 0n }]);
    });

    it('is ignored if an archive moves it while the entries after it are read', () => {
      const found: string[] = [];
      const audit = createWalletAudit('w', (_id, text) => found.push(text));
      for (const entry of books.journal) audit.add(entry);
      audit.openAt({ ...opening, avail: 1n });
      audit.end(wallet, { id: 'w' });
      expect([found, audit.removed()]).to.deep.equal([[], { entries: 0, charged: 0n }]);
    });

    it('still checks the entries before it that stay, and how many they are', () => {
      expect(problems({ opening, journal: kept().slice(1) })).to.deep.equal([
        '1 entry without a call up to 3 instead of 2',
      ]);
      const wrong = changed(2, { note: 'another reason' });
      expect(problems({ opening, journal: wrong })).to.deep.equal([
        'entry 2: its mark says another id, time, amount, note or status',
      ]);
      expect(problems({ opening, journal: changed(2, { at: '1' }) })).to.deep.equal([
        'entry 2: it is not a valid entry',
      ]);
      // A call is checked with its charge.
      expect(problems({ opening, journal: changed(3, { at: '1' }) })).to.deep.equal([]);
    });
  });
});
