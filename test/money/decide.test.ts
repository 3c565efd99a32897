// The money rules as tables: operation, amount, expected status, balance after.
import { expect } from 'chai';
import {
  type ChargeState,
  createEmptyWallet,
  decide,
  FIRST_TOPUP_MINIMUM,
  getOperationId,
  type Operation,
  type OutcomeStatus,
  type Wallet,
} from '../../lib/money/decide.ts';
import { CHARGELESS } from '../../lib/money/operations.ts';
import { AT, type Books, balances, type Kind, newBooks, operation, run, USAGE } from '../ledger/books.ts';

const RUB = 1_000_000n;

/** RUB: available, held, charged, topped up, adjusted. */
type Balances = readonly [avail: number, held: number, charged: number, topped: number, adjusted: number];
type Row = readonly [kind: Kind, id: string, rub: number, status: OutcomeStatus, after: Balances];

function check(books: Books, rows: readonly Row[]): void {
  for (const [index, [kind, id, rub, status, after]] of rows.entries()) {
    const found = run(books, operation(kind, id, rub));
    expect([found, ...balances(books)], `row ${index + 1}: ${kind} ${id} ${rub}`).to.deep.equal([status, ...after]);
  }
}

const scenarios: Record<string, readonly Row[]> = {
  'a call that costs less than its hold': [
    ['topup', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['reserve', 'c1', 10, 'done', [990, 10, 0, 1000, 0]],
    ['settle', 'c1', 4, 'done', [996, 0, 4, 1000, 0]],
    ['settle', 'c1', 4, 'exists', [996, 0, 4, 1000, 0]],
  ],
  'a call that costs exactly its hold': [
    ['topup', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['reserve', 'c1', 1000, 'done', [0, 1000, 0, 1000, 0]],
    ['settle', 'c1', 1000, 'done', [0, 0, 1000, 1000, 0]],
    ['reserve', 'c2', 0.000001, 'insufficient', [0, 0, 1000, 1000, 0]],
  ],
  'a call that costs more than its hold and than there is': [
    ['topup', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['reserve', 'c1', 1000, 'done', [0, 1000, 0, 1000, 0]],
    ['settle', 'c1', 1002.5, 'done', [-2.5, 0, 1002.5, 1000, 0]],
    ['reserve', 'c2', 0.000001, 'insufficient', [-2.5, 0, 1002.5, 1000, 0]],
    ['charge', 'c2', 0.000001, 'insufficient', [-2.5, 0, 1002.5, 1000, 0]],
    ['adjust', 'a1', -1, 'insufficient', [-2.5, 0, 1002.5, 1000, 0]],
    ['adjust', 'a2', 1, 'done', [-1.5, 0, 1002.5, 1000, 1]],
    ['topup', 'p2', 2, 'done', [0.5, 0, 1002.5, 1002, 1]],
    ['reserve', 'c2', 0.5, 'done', [0, 0.5, 1002.5, 1002, 1]],
    ['refund', 'c1', 0, 'done', [1002.5, 0.5, 0, 1002, 1]],
  ],
  'a call that costs nothing': [
    ['topup', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['reserve', 'c1', 10, 'done', [990, 10, 0, 1000, 0]],
    ['settle', 'c1', 0, 'done', [1000, 0, 0, 1000, 0]],
    ['refund', 'c1', 0, 'done', [1000, 0, 0, 1000, 0]],
  ],
  'a call that fails': [
    ['topup', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['reserve', 'c1', 10, 'done', [990, 10, 0, 1000, 0]],
    ['release', 'c1', 0, 'done', [1000, 0, 0, 1000, 0]],
    ['release', 'c1', 0, 'exists', [1000, 0, 0, 1000, 0]],
    ['settle', 'c1', 5, 'exists', [1000, 0, 0, 1000, 0]],
  ],
  'a call whose process died': [
    ['topup', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['reserve', 'c1', 10, 'done', [990, 10, 0, 1000, 0]],
    ['expire', 'c1', 0, 'done', [1000, 0, 0, 1000, 0]],
    ['expire', 'c1', 0, 'exists', [1000, 0, 0, 1000, 0]],
    ['release', 'c1', 0, 'exists', [1000, 0, 0, 1000, 0]],
    ['refund', 'c1', 0, 'exists', [1000, 0, 0, 1000, 0]],
  ],
  'a call whose process slept, was taken for dead, and woke up with the answer': [
    ['topup', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['reserve', 'c1', 10, 'done', [990, 10, 0, 1000, 0]],
    ['expire', 'c1', 0, 'done', [1000, 0, 0, 1000, 0]],
    ['reserve', 'c2', 998, 'done', [2, 998, 0, 1000, 0]],
    ['settle', 'c1', 5, 'done', [-3, 998, 5, 1000, 0]],
    ['settle', 'c1', 5, 'exists', [-3, 998, 5, 1000, 0]],
    ['expire', 'c1', 0, 'exists', [-3, 998, 5, 1000, 0]],
    ['release', 'c1', 0, 'exists', [-3, 998, 5, 1000, 0]],
    ['refund', 'c1', 0, 'done', [2, 998, 0, 1000, 0]],
    ['settle', 'c1', 5, 'exists', [2, 998, 0, 1000, 0]],
  ],
  'a video that fails': [
    ['topup', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['charge', 'v1', 75, 'done', [925, 0, 75, 1000, 0]],
    ['charge', 'v1', 75, 'exists', [925, 0, 75, 1000, 0]],
    ['refund', 'v1', 0, 'done', [1000, 0, 0, 1000, 0]],
    ['refund', 'v1', 0, 'exists', [1000, 0, 0, 1000, 0]],
  ],
  'a second call under a used id': [
    ['topup', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['reserve', 'c1', 10, 'done', [990, 10, 0, 1000, 0]],
    ['reserve', 'c1', 10, 'exists', [990, 10, 0, 1000, 0]],
    ['reserve', 'c1', 11, 'id_taken', [990, 10, 0, 1000, 0]],
    ['charge', 'c1', 9, 'id_taken', [990, 10, 0, 1000, 0]],
  ],
  'several calls at once share what is there': [
    ['topup', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['reserve', 'c1', 400, 'done', [600, 400, 0, 1000, 0]],
    ['reserve', 'c2', 400, 'done', [200, 800, 0, 1000, 0]],
    ['reserve', 'c3', 400, 'insufficient', [200, 800, 0, 1000, 0]],
    ['charge', 'c3', 200, 'done', [0, 800, 200, 1000, 0]],
    ['settle', 'c1', 1, 'done', [399, 400, 201, 1000, 0]],
    ['reserve', 'c4', 400, 'insufficient', [399, 400, 201, 1000, 0]],
    ['release', 'c2', 0, 'done', [799, 0, 201, 1000, 0]],
    ['reserve', 'c4', 400, 'done', [399, 400, 201, 1000, 0]],
  ],
  'a refused operation may succeed later under the same id': [
    ['topup', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['reserve', 'c1', 1500, 'insufficient', [1000, 0, 0, 1000, 0]],
    ['adjust', 'a1', -1500, 'insufficient', [1000, 0, 0, 1000, 0]],
    ['topup', 'p2', 1000, 'done', [2000, 0, 0, 2000, 0]],
    ['reserve', 'c1', 1500, 'done', [500, 1500, 0, 2000, 0]],
    ['settle', 'c1', 0, 'done', [2000, 0, 0, 2000, 0]],
    ['adjust', 'a1', -1500, 'done', [500, 0, 0, 2000, -1500]],
  ],
  'the first payment': [
    ['reserve', 'c1', 1, 'never_topped', [0, 0, 0, 0, 0]],
    ['charge', 'c1', 1, 'never_topped', [0, 0, 0, 0, 0]],
    ['topup', 'p1', 999.999999, 'first_topup_too_small', [0, 0, 0, 0, 0]],
    ['topup', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['topup', 'p2', 0.000001, 'done', [1000.000001, 0, 0, 1000.000001, 0]],
  ],
  'a correction instead of a payment': [
    ['adjust', 'a1', 50, 'done', [50, 0, 0, 0, 50]],
    ['reserve', 'c1', 50, 'never_topped', [50, 0, 0, 0, 50]],
    ['charge', 'c1', 1, 'never_topped', [50, 0, 0, 0, 50]],
    ['topup', 'p1', 999, 'first_topup_too_small', [50, 0, 0, 0, 50]],
    ['adjust', 'a2', -50, 'done', [0, 0, 0, 0, 0]],
    ['adjust', 'a3', -0.000001, 'insufficient', [0, 0, 0, 0, 0]],
    ['adjust', 'a4', 50, 'done', [50, 0, 0, 0, 50]],
    ['topup', 'p1', 1000, 'done', [1050, 0, 0, 1000, 50]],
    ['adjust', 'a5', -1000, 'done', [50, 0, 0, 1000, -950]],
    ['reserve', 'c1', 50, 'done', [0, 50, 0, 1000, -950]],
  ],
  'payments and corrections count once': [
    ['topup', 'p1', 1000, 'done', [1000, 0, 0, 1000, 0]],
    ['topup', 'p1', 1000, 'exists', [1000, 0, 0, 1000, 0]],
    ['topup', 'p1', 2000, 'id_taken', [1000, 0, 0, 1000, 0]],
    ['adjust', 'p1', 5, 'done', [1005, 0, 0, 1000, 5]],
    ['adjust', 'p1', 5, 'exists', [1005, 0, 0, 1000, 5]],
    ['adjust', 'p1', -5, 'id_taken', [1005, 0, 0, 1000, 5]],
    ['reserve', 'p1', 5, 'done', [1000, 5, 0, 1000, 5]],
  ],
};

/** The states of a charge, each with the operations that lead to it from 1000 RUB. */
const states: Record<string, { readonly path: readonly Kind[]; readonly state?: ChargeState }> = {
  none: { path: [] },
  held: { path: ['reserve'], state: 'held' },
  settled: { path: ['reserve', 'settle'], state: 'settled' },
  released: { path: ['reserve', 'release'], state: 'released' },
  expired: { path: ['reserve', 'expire'], state: 'expired' },
  refunded: { path: ['reserve', 'settle', 'refund'], state: 'refunded' },
  charged: { path: ['charge'], state: 'settled' },
  'charged, refunded': { path: ['charge', 'refund'], state: 'refunded' },
};

type Answer = readonly [status: OutcomeStatus, state: ChargeState | undefined];

/** Each operation on each state: the answer, and the state after it. */
const answers: Record<string, Partial<Record<Kind, Answer>>> = {
  none: {
    reserve: ['done', 'held'],
    charge: ['done', 'settled'],
    settle: ['no_charge', undefined],
    release: ['no_charge', undefined],
    expire: ['no_charge', undefined],
    refund: ['no_charge', undefined],
  },
  held: {
    reserve: ['exists', 'held'],
    charge: ['exists', 'held'],
    settle: ['done', 'settled'],
    release: ['done', 'released'],
    expire: ['done', 'expired'],
    refund: ['not_settled', 'held'],
  },
  settled: { refund: ['done', 'refunded'] },
  expired: { settle: ['done', 'settled'] },
  charged: { refund: ['done', 'refunded'] },
};

/** RUB after each state: nothing, 10 held, 6 charged by settling, 10 charged at once. */
const left: Record<string, Balances> = {
  none: [1000, 0, 0, 1000, 0],
  held: [990, 10, 0, 1000, 0],
  settled: [994, 0, 6, 1000, 0],
  charged: [990, 0, 10, 1000, 0],
};

describe('decide', () => {
  describe('stories', () => {
    for (const [name, rows] of Object.entries(scenarios)) {
      it(name, () => check(newBooks(), rows));
    }
  });

  describe('every operation on every state of a charge', () => {
    const kinds = ['reserve', 'charge', 'settle', 'release', 'expire', 'refund'] as const;
    const rubOf = (kind: Kind) => (kind === 'settle' ? 6 : 10);
    for (const [name, { path, state }] of Object.entries(states)) {
      for (const kind of kinds) {
        const [status, after] = answers[name]?.[kind] ?? ['exists', state];
        it(`${kind} on ${name} is ${status}${after ? ` and leaves it ${after}` : ''}`, () => {
          const books = newBooks();
          run(books, operation('topup', 'p', 1000));
          for (const step of path) expect(run(books, operation(step, 'c', rubOf(step)))).to.equal('done');
          const before = structuredClone(books);
          expect(run(books, operation(kind, 'c', rubOf(kind)))).to.equal(status);
          expect(books.charges.get('c')?.state).to.equal(after);
          if (status === 'done') {
            const money = after === 'settled' ? (kind === 'charge' ? 'charged' : 'settled') : (after ?? 'none');
            expect(balances(books)).to.deep.equal(left[money] ?? left.none);
          } else {
            expect(books).to.deep.equal(before);
          }
        });
      }
    }
  });

  describe('a suspended wallet', () => {
    const answersOfSuspended: readonly [Kind, OutcomeStatus][] = [
      ['reserve', 'suspended'],
      ['charge', 'suspended'],
      ['topup', 'done'],
      ['adjust', 'done'],
      ['settle', 'done'],
      ['release', 'done'],
      ['expire', 'done'],
    ];
    for (const [kind, status] of answersOfSuspended) {
      it(`answers ${kind} with ${status}`, () => {
        const books = newBooks();
        run(books, operation('topup', 'p', 1000));
        run(books, operation('reserve', 'c', 10));
        books.wallets.set('w', { ...(books.wallets.get('w') as Wallet), status: 'suspended' });
        const id = kind === 'reserve' || kind === 'charge' ? 'new' : 'c';
        expect(run(books, operation(kind, id, 5))).to.equal(status);
        expect(books.wallets.get('w')?.status).to.equal('suspended');
      });
    }

    it('answers a repeated operation as before the suspension', () => {
      const books = newBooks();
      run(books, operation('topup', 'p', 1000));
      run(books, operation('reserve', 'c', 10));
      books.wallets.set('w', { ...(books.wallets.get('w') as Wallet), status: 'suspended' });
      expect(run(books, operation('reserve', 'c', 10))).to.equal('exists');
    });
  });

  describe('an id of another wallet', () => {
    const kinds = ['reserve', 'charge', 'settle', 'release', 'expire', 'refund'] as const;
    for (const kind of kinds) {
      it(`is refused by ${kind} and changes nothing`, () => {
        const books = newBooks();
        run(books, operation('topup', 'p', 1000));
        run(books, operation('reserve', 'c', 10));
        const thief = { ...createEmptyWallet('thief'), avail: 50n * RUB, topped: 50n * RUB };
        const op = { ...operation(kind, 'c', 5), wallet: 'thief' };
        const charge = books.charges.get('c');
        expect(decide({ wallet: thief, charge, prior: undefined }, op)).to.deep.equal({
          status: 'id_taken',
          wallet: thief,
        });
      });
    }

    it('is id_taken when a top-up uses it', () => {
      const books = newBooks();
      const { entry } = decide(
        { wallet: books.wallets.get('w'), charge: undefined, prior: undefined },
        operation('topup', 'p', 1000),
      );
      const thief = createEmptyWallet('thief');
      const op = { ...operation('topup', 'p', 1000), wallet: 'thief' };
      expect(decide({ wallet: thief, charge: undefined, prior: entry }, op).status).to.equal('id_taken');
    });
  });

  it('answers no_wallet when the wallet does not exist', () => {
    const known = { wallet: undefined, charge: undefined, prior: undefined };
    for (const kind of ['topup', 'adjust', 'reserve', 'charge', 'settle', 'release', 'expire', 'refund'] as const) {
      expect(decide(known, operation(kind, 'x', 1))).to.deep.equal({ status: 'no_wallet' });
    }
  });

  it('asserts that amounts make sense', () => {
    const known = {
      wallet: { ...createEmptyWallet('w'), avail: RUB, topped: RUB },
      charge: undefined,
      prior: undefined,
    };
    for (const [kind, rub] of [
      ['topup', 0],
      ['topup', -1],
      ['reserve', 0],
      ['reserve', -1],
      ['charge', 0],
    ] as const) {
      expect(() => decide(known, operation(kind, 'x', rub)), `${kind} ${rub}`).to.throw();
    }
    expect(() => decide({ ...known, wallet: createEmptyWallet('other') }, operation('topup', 'x', 1000))).to.throw();
  });

  it('does not hold what running calls owe', () => {
    const wallet: Wallet = { ...createEmptyWallet('w'), avail: 10n, topped: 10n };
    const reserved = (amount: bigint, owed: bigint) =>
      decide({ wallet, charge: undefined, prior: undefined }, {
        ...operation('reserve', 'c', 1),
        amount,
        owed,
      } as Operation);
    expect(reserved(6n, 4n)).to.deep.include({ status: 'done', wallet: { ...wallet, avail: 4n, held: 6n, seq: 1 } });
    expect(reserved(6n, 5n)).to.deep.equal({ status: 'insufficient', wallet });
    expect(reserved(1n, 100n)).to.deep.equal({ status: 'insufficient', wallet });
  });

  describe('the journal', () => {
    for (const [name, rows] of Object.entries(scenarios)) {
      it(`has one balanced row for each applied operation: ${name}`, () => {
        const books = newBooks();
        const done = rows.filter(([kind, id, rub]) => run(books, operation(kind, id, rub)) === 'done');
        expect(books.journal.map((entry) => entry.opId)).to.deep.equal(
          done.map((row) => getOperationId(operation(row[0], row[1], row[2]))),
        );
        expect(books.journal.map((entry) => entry.seq)).to.deep.equal(done.map((_, index) => index + 1));
        for (const entry of books.journal) {
          expect(entry.avail + entry.held + entry.charged).to.equal(entry.topped + entry.adjusted);
          expect(entry.charge === null).to.equal(CHARGELESS.includes(entry.kind));
        }
      });
    }

    it('records the overshoot of each settlement, and the sum of charges after each row', () => {
      const wallet: Wallet = { ...createEmptyWallet('w'), avail: 0n, held: 10n, charged: 7n, topped: 17n, seq: 4 };
      const { charge } = decide({ wallet: { ...wallet, avail: 10n, held: 0n }, charge: undefined, prior: undefined }, {
        ...operation('reserve', 'c', 1),
        amount: 10n,
      } as Operation);
      const over = decide({ wallet, charge, prior: undefined }, {
        ...operation('settle', 'c', 1),
        amount: 13n,
      } as Operation);
      expect(over.entry).to.deep.include({
        avail: -3n,
        held: -10n,
        charged: 13n,
        overshoot: 3n,
        chargedAfter: 20n,
        seq: 5,
      });
      const under = decide({ wallet, charge, prior: undefined }, {
        ...operation('settle', 'c', 1),
        amount: 9n,
      } as Operation);
      expect(under.entry).to.deep.include({ avail: 1n, held: -10n, charged: 9n, overshoot: 0n, chargedAfter: 16n });
    });

    it('records a settlement entirely as overshoot when its hold had expired', () => {
      const books = newBooks();
      for (const kind of ['topup', 'reserve', 'expire', 'settle'] as const) run(books, operation(kind, 'c', 1000));
      const change = { avail: -1000n * RUB, held: 0n, charged: 1000n * RUB, overshoot: 1000n * RUB };
      expect(books.journal.at(-1)).to.deep.include({ ...change, opId: 'settle:c', chargedAfter: 1000n * RUB });
      expect(books.charges.get('c')).to.deep.include({ state: 'settled', charged: 1000n * RUB, usage: USAGE });
    });
  });

  it('removes the owner of a charge that ends, and keeps its cost after a refund', () => {
    const books = newBooks();
    run(books, operation('topup', 'p', 1000));
    run(books, operation('reserve', 'c', 10));
    expect(books.charges.get('c')).to.deep.include({ owner: 'o', lease: AT + 10, createdAt: AT, endedAt: null });
    run(books, { ...operation('settle', 'c', 6), at: AT + 5 } as Operation);
    const settled = { state: 'settled', owner: null, lease: null, endedAt: AT + 5, usage: USAGE };
    expect(books.charges.get('c')).to.deep.include({ ...settled, charged: 6n * RUB, reserved: 10n * RUB });
    run(books, { ...operation('refund', 'c', 0), at: AT + 9 } as Operation);
    expect(books.charges.get('c')).to.deep.include({ state: 'refunded', charged: 6n * RUB, endedAt: AT + 9 });
  });

  it('gives each operation its own id', () => {
    const kinds = ['topup', 'adjust', 'reserve', 'charge', 'settle', 'release', 'expire', 'refund'] as const;
    expect(kinds.map((kind) => getOperationId(operation(kind, 'x', 1)))).to.deep.equal(
      kinds.map((kind) => `${kind}:x`),
    );
  });

  it('requires 1000 RUB for the first payment', () => {
    expect(FIRST_TOPUP_MINIMUM).to.equal(1000n * RUB);
  });
});
