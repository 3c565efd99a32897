// The audit knows from the journal whether a wallet holds play money.
import { expect } from 'chai';
import { createWalletAudit } from '../../lib/ledger/audit-wallet.ts';
import type { Entry, Operation, Wallet } from '../../lib/money/decide.ts';
import { newBooks, operation, run } from './books.ts';

const PLAY = { ...operation('topup', 'play', 1000), isPlay: true } as Operation;
const PAID = { ...operation('pay', 'paid', 1000), isPlay: true } as Operation;
const SETTLE = { ...operation('adjust', 'settle', -10), settlesPlay: true } as Operation;
const REAL = operation('topup', 'real', 1000);

describe('the audit of play money', () => {
  function problems(
    operations: readonly Operation[],
    change: (wallet: Wallet, entries: readonly Entry[]) => { wallet?: Wallet; entries?: readonly Entry[] } = () => ({}),
  ): readonly string[] {
    const books = newBooks();
    for (const op of operations) expect(run(books, op)).to.equal('done');
    const kept = books.wallets.get('w') as Wallet;
    const { wallet = kept, entries = books.journal } = change(kept, books.journal);
    const found: string[] = [];
    const account = createWalletAudit('w', (_wallet, problem) => found.push(problem));
    for (const entry of entries) account.add(entry);
    account.end(wallet, { id: 'w' });
    return found;
  }

  const hold = ({ playMoney: _, ...wallet }: Wallet) => ({ wallet: { ...wallet, playMoney: true as const } });
  const drop = ({ playMoney: _, ...wallet }: Wallet) => ({ wallet });
  const UNTOLD = 'it holds play money, which its wallet does not say';
  const NONE = 'it holds no play money, but its wallet says so';

  for (const [name, operations, isHeld] of [
    ['a gift', [PLAY], true],
    ['a test payment', [REAL, PAID], true],
    ['one that was settled', [PLAY, SETTLE], false],
    ['one after that', [PLAY, SETTLE, PAID], true],
    ['none', [REAL, operation('adjust', 'a', -10)], false],
    ['no entry at all', [], false],
  ] as const) {
    it(`reports a wallet that differs from ${name}`, () => {
      expect(problems(operations)).to.deep.equal([]);
      expect(problems(operations, hold)).to.deep.equal(isHeld ? [] : [NONE]);
      expect(problems(operations, drop)).to.deep.equal(isHeld ? [UNTOLD] : []);
    });
  }

  it('reports a wallet that wrongly is open, or is not', () => {
    const moved = { ...operation('adjust', 'moved', -5), movesIn: true } as Operation;
    const open = (wallet: Wallet) => ({ wallet: { ...wallet, opened: true as const } });
    const close = ({ opened: _, ...wallet }: Wallet) => ({ wallet });
    expect(problems([moved])).to.deep.equal([]);
    expect(problems([moved], close)).to.deep.equal(['an entry opened it, but its wallet is not opened']);
    expect(problems([REAL], open)).to.deep.equal(['it is opened, but by no entry']);
  });

  it('reports an entry whose mark wrongly lacks or contains play money', () => {
    const shorten = (wallet: Wallet, [first, ...rest]: readonly Entry[]) => ({
      ...hold(wallet),
      entries: [{ ...(first as Entry), mark: String(first?.mark).slice(0, 8) }, ...rest],
    });
    const lengthen = (wallet: Wallet, [first, ...rest]: readonly Entry[]) => ({
      ...hold(wallet),
      entries: [{ ...(first as Entry), mark: `${first?.mark}play` }, ...rest],
    });
    const other = 'entry 1: its mark says another id, time, amount, note or status';
    expect(problems([PLAY], shorten)).to.deep.equal([other, NONE]);
    expect(problems([REAL], lengthen)).to.deep.equal([other]);
  });

  it('trusts a wallet whose entries are of an earlier version', () => {
    const unmark = (_wallet: Wallet, entries: readonly Entry[]) => ({
      entries: entries.map((entry) => ({ ...entry, mark: null })),
    });
    const both = [hold, drop];
    for (const change of both) {
      const changed = (wallet: Wallet, entries: readonly Entry[]) => ({
        ...change(wallet),
        ...unmark(wallet, entries),
      });
      expect(problems([PLAY, REAL], changed)).to.deep.equal([]);
    }
  });
});
