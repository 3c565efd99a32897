// The audit of budgets by itself: sums of keys and caps, counts of running calls, and periods.
import { expect } from 'chai';
import { createBudgetCheck } from '../../lib/ledger/audit-budgets.ts';
import { RUN_MS } from '../../lib/money/budget.ts';
import type { Charge, Entry } from '../../lib/money/decide.ts';
import type { Opening } from '../../lib/store/ports/archives.ts';
import type { JournalPage } from '../../lib/store/ports/journal.ts';
import { type Books, newBooks, operation, run } from './books.ts';

const PERIOD = 500;

describe('the audit of budgets', () => {
  let books: Books;
  beforeEach(() => {
    books = newBooks();
    const budget = { period: PERIOD, limit: null };
    const caps = [{ id: 'calls:k', period: 0, limit: null }];
    run(books, operation('topup', 'p', 1000));
    for (const id of ['one', 'two']) {
      const reserve = { ...operation('reserve', id, 10), budget, caps } as ReturnType<typeof operation>;
      expect(run(books, reserve)).to.equal('done');
    }
    run(books, operation('settle', 'one', 4));
  });

  function look(
    sums: readonly object[] = [...books.budgets.values()],
    more: Partial<JournalPage> = {},
    isThere = true,
  ) {
    const found: (string | bigint)[] = [];
    const check = createBudgetCheck((_wallet, text, drift) =>
      found.push(text, ...(drift === undefined ? [] : [drift])),
    );
    const page = { entries: books.journal, charges: [...books.charges.values()], openings: [], budgets: sums, ...more };
    check.add(page as unknown as JournalPage);
    check.end('w', isThere);
    return found;
  }
  const changed = (key: string, fields: object) =>
    [...books.budgets.values()].map((sum) => (sum.key === key ? { ...sum, ...fields } : sum));

  it('agrees with what the ledger wrote: what is charged and held, and one running call', () => {
    expect(books.budgets.get('k')?.spent).to.equal(14_000_000n);
    expect(books.budgets.get('calls:k')?.spent).to.equal(1n);
    expect(look()).to.deep.equal([]);
  });

  it('reports another sum, count or period, and a sum that is missing or too much', () => {
    expect(look(changed('k', { spent: 14_000_003n }))).to.deep.equal([
      'the budget k: spent: 14000003 instead of 14000000',
      3n,
    ]);
    expect(look(changed('k', { spent: '14' }))).to.deep.equal(['the budget k: it is not an amount']);
    expect(look(changed('calls:k', { spent: 2n }))).to.deep.equal(['the count calls:k: 2 calls run instead of 1']);
    expect(look(changed('k', { period: 501 }))).to.deep.equal(['the budget k: its period is 501 instead of 500']);
    expect(look([])).to.deep.equal([
      'the budget k: there is no sum of its calls',
      'the budget calls:k: there is no sum of its calls',
    ]);
    const other = { key: 'x', wallet: 'w', period: 1, spent: 0n };
    expect(look([...books.budgets.values(), other])).to.deep.equal(['the budget x: its period is 1 instead of none']);
    expect(look([], {}, false)).to.deep.equal([]);
  });

  it('does not miss the sum of a run that is over', () => {
    const now = Date.now();
    const runOf = (period: number): Partial<JournalPage> => ({
      charges: [{ id: 'one', key: 'k', period: null, caps: [{ id: 'run:a', period }] } as unknown as Charge],
    });
    expect(look([], runOf(now - RUN_MS - 60_000))).to.deep.equal([]);
    expect(look([], runOf(now - RUN_MS + 60_000))).to.deep.equal(['the budget run:a: there is no sum of its calls']);
    const damaged = [{ id: 'one', key: 'k', period: null, caps: 'x' } as unknown as Charge];
    expect(look([], { charges: damaged })).to.deep.equal([]);
  });

  it('counts the later of two periods only, and calls of replaced keys in the sum of the first', () => {
    const charge = (id: string, period: number, more: object = {}) => ({ id, key: 'k', period, ...more });
    const entry = (seq: number, id: string) =>
      ({ ...books.journal[1], seq, opId: `reserve:${id}`, charge: id, held: 5n }) as Entry;
    const more = {
      entries: [entry(1, 'a'), entry(2, 'b'), entry(3, 'c'), entry(4, 'd')],
      charges: [charge('a', 1), charge('b', 2), charge('c', 1), charge('d', 2, { key: 'l', budgetKey: 'k' })],
    } as unknown as Partial<JournalPage>;
    expect(look([{ key: 'k', wallet: 'w', period: 2, spent: 10n }], more)).to.deep.equal([]);
  });

  it('starts from the sums of an opening, which stand for the entries up to it', () => {
    const seq = books.journal.at(-2)?.seq ?? 0;
    const budgets = [
      { key: 'k', period: PERIOD, spent: 20_000_000n },
      { key: 'calls:k', period: 0, spent: 2n },
    ];
    const openings = [{ wallet: 'w', seq, budgets } as unknown as Opening];
    expect(look(undefined, { openings })).to.deep.equal([]);
    expect(look(undefined, { openings, entries: books.journal.slice(-1) })).to.deep.equal([]);
    expect(look(undefined, { openings, entries: [] })[0]).to.equal('the budget k: spent: 14000000 instead of 20000000');
  });
});
