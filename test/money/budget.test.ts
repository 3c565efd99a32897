// The running sum of a key: what counts, in which period, and when a call is over the budget.
import { expect } from 'chai';
import {
  findLeft,
  getKeyCallsId,
  getSpent,
  isClosedRun,
  isOverBudget,
  RUN_IDS,
  RUN_MS,
  resolvePeriod,
} from '../../lib/money/budget.ts';
import type { Operation } from '../../lib/money/decide.ts';
import { type Books, balances, type Kind, newBooks, operation, run } from '../ledger/books.ts';

type Row = readonly [
  kind: Kind,
  id: string,
  rub: number,
  terms: readonly [period: number, limit: number] | null,
  is: string,
];

/** The key's period and sum, and the outcome, after each operation. */
function play(rows: readonly Row[]): { books: Books; sums: (readonly [number, number] | undefined)[] } {
  const books = newBooks();
  run(books, operation('topup', 'pay', 1000));
  const sums = rows.map(([kind, id, rub, terms, is]) => {
    const budget = terms && { budget: { period: terms[0], limit: BigInt(terms[1]) * 1_000_000n } };
    expect(run(books, { ...operation(kind, id, rub), ...budget } as Operation), `${kind} ${id}`).to.equal(is);
    const sum = books.budgets.get('k');
    return sum && ([sum.period, Number(sum.spent) / 1e6] as const);
  });
  return { books, sums };
}

describe('a sum', () => {
  const spent = { key: 'k', wallet: 'w', period: 5, spent: 7n };

  it('is over its limit once a call would exceed it in its period, and never without a limit', () => {
    const over = (limit: bigint | null, amount: bigint, period = 5) =>
      isOverBudget(spent, { period, opens: period, limit }, amount);
    expect([over(10n, 3n), over(10n, 4n), over(10n, 4n, 4), over(10n, 10n, 6), over(10n, 11n, 6)]).to.deep.equal([
      false,
      true,
      true,
      false,
      true,
    ]);
    expect(over(null, 10n ** 18n)).to.equal(false);
  });

  it('of a run is closed after the time of a run, that of a key never', () => {
    const closed = (key: string, after: number) => isClosedRun({ key, period: 5 }, 5 + after);
    const run = `${RUN_IDS.first}r`;
    expect([closed(run, 0), closed(run, RUN_MS), closed(run, RUN_MS + 1), closed('k', RUN_MS + 1)]).to.deep.equal([
      false,
      false,
      true,
      false,
    ]);
  });
});

describe('the budget of a key', () => {
  it('counts held and charged money, and refuses a call above the limit', () => {
    const { sums, books } = play([
      ['reserve', 'a', 6, [0, 10], 'done'],
      ['reserve', 'b', 5, [0, 10], 'key_budget'],
      ['reserve', 'b', 4, [0, 10], 'done'],
      ['charge', 'c', 1, [0, 10], 'key_budget'],
      ['settle', 'a', 2, null, 'done'],
      ['charge', 'c', 4, [0, 10], 'done'],
    ]);
    expect(sums.map((sum) => sum?.[1])).to.deep.equal([6, 6, 10, 10, 6, 10]);
    expect(balances(books)).to.deep.equal([990, 4, 6, 1000, 0]);
  });

  it('is credited with released, expired and refunded money', () => {
    const { sums } = play([
      ['reserve', 'a', 6, [0, 10], 'done'],
      ['release', 'a', 0, null, 'done'],
      ['reserve', 'b', 6, [0, 10], 'done'],
      ['expire', 'b', 0, null, 'done'],
      ['charge', 'c', 6, [0, 10], 'done'],
      ['refund', 'c', 0, null, 'done'],
      ['reserve', 'd', 3, [0, 10], 'done'],
      ['settle', 'd', 2, null, 'done'],
      ['refund', 'd', 0, null, 'done'],
      ['refund', 'd', 0, null, 'exists'],
      // Settled after it expired: the answer was delivered.
      ['settle', 'b', 5, null, 'done'],
    ]);
    expect(sums.map((sum) => sum?.[1])).to.deep.equal([6, 0, 6, 0, 6, 0, 3, 2, 0, 0, 5]);
  });

  it('may be exceeded by an overshoot, after which the next call is refused', () => {
    const { sums } = play([
      ['reserve', 'a', 6, [0, 10], 'done'],
      ['settle', 'a', 14, null, 'done'],
      ['reserve', 'b', 1, [0, 10], 'key_budget'],
      ['reserve', 'b', 1, [0, 15], 'done'],
    ]);
    expect(sums.map((sum) => sum?.[1])).to.deep.equal([6, 14, 14, 15]);
  });

  it('starts at zero in each period, and ignores money returned by calls of an earlier period', () => {
    const { sums } = play([
      ['reserve', 'a', 10, [100, 10], 'done'],
      ['reserve', 'b', 1, [100, 10], 'key_budget'],
      ['reserve', 'b', 1, [200, 10], 'done'],
      ['settle', 'a', 3, null, 'done'],
      ['refund', 'a', 0, null, 'done'],
      ['settle', 'b', 2, null, 'done'],
    ]);
    expect(sums).to.deep.equal([
      [100, 10],
      [100, 10],
      [200, 1],
      [200, 1],
      [200, 1],
      [200, 2],
    ]);
  });

  it('counts in the latest period that any process has started when clocks differ', () => {
    const { sums, books } = play([
      ['reserve', 'a', 6, [200, 10], 'done'],
      ['reserve', 'b', 5, [100, 10], 'key_budget'],
      ['reserve', 'b', 4, [100, 10], 'done'],
      ['release', 'b', 0, null, 'done'],
    ]);
    expect(sums).to.deep.equal([
      [200, 6],
      [200, 6],
      [200, 10],
      [200, 6],
    ]);
    expect(books.charges.get('b')?.period).to.equal(200);
  });

  it('counts no call that started without a budget, and every call that started with one', () => {
    const { sums, books } = play([
      ['reserve', 'a', 6, null, 'done'],
      ['settle', 'a', 6, null, 'done'],
      ['reserve', 'b', 10, [0, 10], 'done'],
      ['reserve', 'c', 5, null, 'done'],
      ['settle', 'b', 1, null, 'done'],
    ]);
    expect(sums).to.deep.equal([undefined, undefined, [0, 10], [0, 10], [0, 1]]);
    expect(books.charges.get('a')?.period).to.equal(null);
  });

  it('counts a call once, however often the call is sent', () => {
    const { sums } = play([
      ['reserve', 'a', 6, [0, 10], 'done'],
      ['reserve', 'a', 6, [0, 10], 'exists'],
      ['reserve', 'a', 6, [0, 1], 'exists'],
      ['settle', 'a', 4, null, 'done'],
      ['settle', 'a', 4, null, 'exists'],
      ['release', 'a', 0, null, 'exists'],
    ]);
    expect(sums.map((sum) => sum?.[1])).to.deep.equal([6, 6, 6, 4, 4, 4]);
  });

  it('is one sum for a key and its replacements, each with its own limit', () => {
    const books = newBooks();
    run(books, operation('topup', 'pay', 1000));
    const call = (kind: 'reserve' | 'charge', id: string, rub: number, key: string, most: number) => {
      const shared = key === 'k' ? {} : { key: 'k' };
      const budget = { ...shared, period: 0, limit: BigInt(most) * 1_000_000n };
      return run(books, { ...operation(kind, id, rub), key, budget } as Operation);
    };
    expect(call('reserve', 'a', 6, 'k', 10)).to.equal('done');
    expect(call('reserve', 'b', 5, 'k2', 10)).to.equal('key_budget');
    expect(call('charge', 'b', 4, 'k2', 10)).to.equal('done');
    expect(call('charge', 'c', 1, 'k', 10)).to.equal('key_budget');
    expect(call('reserve', 'c', 1, 'k3', 11)).to.equal('done');
    const ends = [operation('settle', 'a', 2), operation('refund', 'b', 0), operation('release', 'c', 0)];
    expect(ends.map((op) => run(books, op))).to.deep.equal(['done', 'done', 'done']);
    expect([...books.budgets.values()]).to.deep.equal([{ key: 'k', wallet: 'w', period: 0, spent: 2_000_000n }]);
    expect(['a', 'b', 'c'].map((id) => books.charges.get(id)?.budgetKey)).to.deep.equal([null, 'k', 'k']);
  });

  it('is checked after the wallet', () => {
    play([
      ['reserve', 'a', 1001, [0, 1], 'insufficient'],
      ['reserve', 'a', 1000, [0, 1], 'key_budget'],
    ]);
  });

  it('has nothing spent in a period without calls', () => {
    const budget = { key: 'k', wallet: 'w', period: 100, spent: 5n };
    expect([getSpent(budget, 100), getSpent(budget, 101), getSpent(budget, 99), getSpent(undefined, 1)]).to.deep.equal([
      5n,
      0n,
      5n,
      0n,
    ]);
    expect([
      resolvePeriod(budget, { period: 99, limit: 1n }),
      resolvePeriod(undefined, { period: 99, limit: 1n }),
    ]).to.deep.equal([100, 99]);
  });

  it('leaves what neither the period nor the running calls have spent, and never less than nothing', () => {
    const budget = { key: 'k', wallet: 'w', period: 100, spent: 5n };
    const rows = [
      [{ period: 100, limit: 9n }, 0n, 4n],
      [{ period: 100, limit: 9n }, 3n, 1n],
      [{ period: 100, limit: 9n }, 5n, 0n],
      [{ period: 100, limit: 4n }, 0n, 0n],
      [{ period: 101, limit: 9n }, 3n, 6n],
      [{ period: 99, limit: 9n }, 0n, 4n],
      [{ period: 100, limit: null }, 0n, undefined],
    ] as const;
    for (const [terms, exposed, left] of rows) {
      expect(findLeft(budget, terms, exposed), `${terms.period} ${terms.limit} ${exposed}`).to.equal(left);
    }
    expect(findLeft(undefined, { period: 100, limit: 9n }, 0n)).to.equal(9n);
  });
});

describe('the caps of a call', () => {
  it('count the money of an end user, and the calls of a key that run', () => {
    const [user, calls] = ['user:u', getKeyCallsId('k')];
    const caps = [
      { id: user, period: 0, limit: 10_000_000n },
      { id: calls, period: 0, limit: 1n },
    ];
    const books = newBooks();
    run(books, operation('topup', 'pay', 1000));
    const rows = [
      ['reserve', 'a', 6, 'done', 6_000_000n, 1n],
      ['reserve', 'b', 1, 'cap', 6_000_000n, 1n],
      ['settle', 'a', 4, 'done', 4_000_000n, 0n],
      ['reserve', 'c', 7, 'cap', 4_000_000n, 0n],
      ['reserve', 'c', 6, 'done', 10_000_000n, 1n],
      ['release', 'c', 0, 'done', 4_000_000n, 0n],
      ['refund', 'a', 0, 'done', 0n, 0n],
    ] as const;
    for (const [kind, id, rub, is, ...sums] of rows) {
      expect(run(books, { ...operation(kind, id, rub), caps } as Operation), `${kind} ${id}`).to.equal(is);
      expect(
        [user, calls].map((cap) => books.budgets.get(cap)?.spent),
        `${kind} ${id}`,
      ).to.deep.equal(sums);
    }
  });
});
