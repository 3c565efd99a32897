// Money that was given: spent first, in the order in which grants end, given back to where it came from, and never paid out.
import { expect } from 'chai';
import fc from 'fast-check';
import { checkCharge } from '../../lib/ledger/audit-charge.ts';
import { decideAgain } from '../../lib/ledger/audit-rules.ts';
import { createWalletAudit } from '../../lib/ledger/audit-wallet.ts';
import type { Charge, Operation, Wallet } from '../../lib/money/decide.ts';
import {
  findNextEnd,
  GRANTS_MAX,
  listDueGrants,
  parseGrantBook,
  parseGrantParts,
  splitParts,
  sumParts,
  takeFromGrants,
} from '../../lib/money/grants.ts';
import { CHARGELESS, getChargeId } from '../../lib/money/operations.ts';
import { longer } from '../../testkit/long.ts';
import { AT, type Books, balances, newBooks, operation, run } from '../ledger/books.ts';

const RUB = 1_000_000n;

const walletOf = (books: Books) => books.wallets.get('w') as Wallet;
/** What each grant has left, in RUB. */
const leftOf = (books: Books) =>
  Object.fromEntries(parseGrantBook(walletOf(books).grants).map(({ id, left }) => [id, Number(left) / 1e6]));
const grantedOf = (books: Books) => Number(walletOf(books).granted ?? 0n) / 1e6;
/** What grants pay of a call, in RUB. */
const partsOf = (books: Books, id: string) =>
  Object.fromEntries(
    parseGrantParts(books.charges.get(id)?.grants).map((part) => [part.id, Number(part.amount) / 1e6]),
  );

function grant(id: string, rub: number, more: { until?: number; opens?: true } = {}): Operation {
  return { ...(operation('grant', id, rub) as Operation & { kind: 'grant' }), ...more };
}

function problemsOf(books: Books): readonly string[] {
  const problems: string[] = [];
  const account = createWalletAudit('w', (_wallet, problem) => problems.push(problem));
  for (const entry of books.journal) account.add(entry);
  account.end(walletOf(books), { id: 'w' });
  const again = books.journal.filter(({ kind }) => CHARGELESS.includes(kind));
  const entries = Map.groupBy(books.journal, ({ charge }) => charge);
  const charges = [...books.charges.values()].flatMap((charge) => {
    const { id, wallet } = charge;
    return checkCharge({ wallet, charge, entries: entries.get(id) ?? [] }).map(({ problem }) => problem);
  });
  return [...problems, ...again.flatMap((entry) => decideAgain(entry, undefined).problems), ...charges];
}

/** A wallet with 1000 RUB paid, and the operations, which are all applied. */
function story(...operations: readonly Operation[]): Books {
  const books = newBooks();
  for (const [at, op] of [operation('topup', 'p', 1000), ...operations].entries()) {
    expect(run(books, op), `operation ${at}`).to.equal('done');
  }
  expect(problemsOf(books)).to.deep.equal([]);
  return books;
}

describe('grants', () => {
  it('are spent before paid money, the one that ends first before the others', () => {
    const books = story(
      grant('forever', 50),
      grant('later', 20, { until: AT + 200 }),
      grant('sooner', 10, { until: AT + 100 }),
      operation('reserve', 'c', 25),
      operation('charge', 'd', 60),
    );
    expect(leftOf(books)).to.deep.equal({ sooner: 0, later: 0, forever: 0 });
    expect(partsOf(books, 'c')).to.deep.equal({ sooner: 10, later: 15 });
    expect(partsOf(books, 'd')).to.deep.equal({ later: 5, forever: 50 });
    expect(balances(books)).to.deep.equal([995, 25, 60, 1000, 0]);
    expect(grantedOf(books)).to.equal(80);
  });

  it('wait in the order in which they end, then in which they were given, and the first tells the next end', () => {
    const books = story(
      grant('forever', 1),
      grant('a', 1, { until: AT + 2 }),
      grant('b', 1, { until: AT + 2 }),
      grant('sooner', 1, { until: AT + 1 }),
      grant('forever too', 1),
    );
    const ends = parseGrantBook(walletOf(books).grants).map(({ id }) => {
      const next = findNextEnd(walletOf(books));
      expect(run(books, operation('grant_end', id, 0))).to.equal('done');
      return [id, next];
    });
    expect(ends).to.deep.equal([
      ['sooner', AT + 1],
      ['a', AT + 2],
      ['b', AT + 2],
      ['forever', null],
      ['forever too', null],
    ]);
    expect(walletOf(books).grants).to.equal(undefined);
    expect(findNextEnd(walletOf(books))).to.equal(null);
  });

  it('get back what a call does not use, and pay what it costs above its hold', () => {
    const books = story(
      grant('g', 30),
      operation('reserve', 'c', 20),
      operation('settle', 'c', 5),
      operation('reserve', 'd', 10),
      operation('settle', 'd', 12),
      operation('reserve', 'e', 4),
      operation('release', 'e', 0),
    );
    expect(leftOf(books)).to.deep.equal({ g: 13 });
    expect([partsOf(books, 'c'), partsOf(books, 'd'), partsOf(books, 'e')]).to.deep.equal([{ g: 5 }, { g: 12 }, {}]);
  });

  it('are spent, and their parts split, to the last micro', () => {
    const part = (id: string, amount: bigint) => ({ id, amount });
    const two = [part('a', 1n), part('b', 2n)];
    for (const [amount, first, rest] of [
      [0n, [], two],
      [1n, [part('a', 1n)], [part('b', 2n)]],
      [2n, [part('a', 1n), part('b', 1n)], [part('b', 1n)]],
      [3n, two, []],
      [4n, two, []],
    ] as const) {
      expect(splitParts(two, amount), `${amount}`).to.deep.equal([first, rest]);
      const book = two.map(({ id, amount: left }) => ({ id, left, until: null }));
      const taken = takeFromGrants(book, amount);
      expect(taken.parts, `${amount}`).to.deep.equal(first);
      const left = taken.book.filter((each) => each.left > 0n).map((each) => part(each.id, each.left));
      expect(left, `${amount}`).to.deep.equal(rest);
    }
  });

  it('get back what is refunded, and paid money what it paid', () => {
    const books = story(grant('g', 30), operation('charge', 'c', 50), operation('refund', 'c', 0));
    expect(leftOf(books)).to.deep.equal({ g: 30 });
    expect(balances(books)).to.deep.equal([1030, 0, 0, 1000, 0]);
  });

  it('lose their rest at their end; running calls keep what they hold, and what they give back later is gone', () => {
    const books = story(
      grant('g', 30, { until: AT + 1 }),
      operation('charge', 'before', 5),
      operation('reserve', 'used', 8),
      operation('reserve', 'unused', 7),
      operation('grant_end', 'g', 0),
    );
    expect([leftOf(books), grantedOf(books), walletOf(books).avail]).to.deep.equal([{}, 20, 1000n * RUB]);
    expect(run(books, operation('settle', 'used', 3))).to.equal('done');
    expect([grantedOf(books), partsOf(books, 'used')]).to.deep.equal([15, { g: 3 }]);
    expect(run(books, operation('release', 'unused', 0))).to.equal('done');
    expect(run(books, operation('refund', 'before', 0))).to.equal('done');
    expect([grantedOf(books), walletOf(books).avail, walletOf(books).held]).to.deep.equal([3, 1000n * RUB, 0n]);
    expect(problemsOf(books)).to.deep.equal([]);
  });

  it('count as no top-up, unless they say so', () => {
    const books = newBooks();
    expect(run(books, grant('g', 30))).to.equal('done');
    expect(run(books, operation('reserve', 'c', 1))).to.equal('never_topped');
    expect(run(books, operation('topup', 'p', 100))).to.equal('first_topup_too_small');
    expect(run(books, grant('h', 5, { opens: true, until: AT }))).to.equal('done');
    expect(run(books, operation('reserve', 'c', 1))).to.equal('done');
    // The wallet stays open after the end of the grant that opened it.
    expect(run(books, operation('grant_end', 'h', 0))).to.equal('done');
    expect(run(books, operation('reserve', 'd', 1))).to.equal('done');
    expect(run(books, operation('topup', 'p', 100))).to.equal('done');
    expect(problemsOf(books)).to.deep.equal([]);
  });

  it('are given and ended once, and only to the wallet of their first mention', () => {
    const books = story(grant('g', 30, { until: 5 }), operation('grant_end', 'g', 0));
    expect(run(books, grant('g', 30, { until: 5 }))).to.equal('exists');
    expect(run(books, grant('g', 30, { until: 6 }))).to.equal('id_taken');
    expect(run(books, grant('g', 31, { until: 5 }))).to.equal('id_taken');
    expect(run(books, grant('g', 30, { until: 5, opens: true }))).to.equal('id_taken');
    expect(run(books, operation('grant_end', 'g', 0))).to.equal('exists');
    expect(run(books, operation('grant_end', 'never', 0))).to.equal('no_grant');
  });

  it('are few, because every call reads them', () => {
    const books = story(...Array.from({ length: GRANTS_MAX }, (_, at) => grant(`g${at}`, 1)));
    expect(run(books, grant('more', 1))).to.equal('too_many_grants');
    expect(run(books, operation('grant_end', 'g7', 0))).to.equal('done');
    expect(run(books, grant('more', 1))).to.equal('done');
  });

  it('cover no refund of a payment, no lost dispute and no correction', () => {
    const books = story(grant('g', 500), operation('charge', 'c', 1200), operation('payback', 'r', 400));
    // 300 of the 1000 paid were left.
    expect(books.journal.at(-1)).to.include({ avail: -400n * RUB, topped: -400n * RUB, overshoot: 100n * RUB });
    expect(books.wallets.get('w')).to.include({ avail: -100n * RUB, status: 'suspended' });
    const rich = story(grant('g', 500), operation('payback', 'r', 900));
    expect(rich.journal.at(-1)?.overshoot).to.equal(0n);
    expect(run(rich, operation('adjust', 'a', -101))).to.equal('insufficient');
    expect(run(rich, operation('adjust', 'b', -100))).to.equal('done');
    expect(leftOf(rich)).to.deep.equal({ g: 500 });
    for (const found of [books, rich]) expect(problemsOf(found)).to.deep.equal([]);
  });

  it('are due when their time is over', () => {
    const books = story(grant('a', 1, { until: AT + 5 }), grant('b', 1, { until: AT + 6 }), grant('c', 1));
    expect(listDueGrants(walletOf(books), AT + 5).map(({ id }) => id)).to.deep.equal(['a']);
    expect(listDueGrants(walletOf(books), AT + 9).map(({ id }) => id)).to.deep.equal(['a', 'b']);
  });
});

const KINDS = [
  ...([
    'reserve',
    'reserve',
    'reserve',
    'charge',
    'settle',
    'settle',
    'settle',
    'release',
    'expire',
    'refund',
  ] as const),
  ...(['grant', 'grant', 'grant', 'grant_end', 'topup', 'pay', 'payback', 'dispute', 'adjust'] as const),
];
const act = fc.record({
  kind: fc.constantFrom(...KINDS),
  id: fc.integer({ min: 1, max: 30 }),
  rub: fc.integer({ min: 1, max: 300 }),
  until: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
});

/** Each invariant that the books of grants have, beside those of all books. */
function checkInvariants(books: Books): void {
  const { avail, held, charged, topped, adjusted, granted = 0n, grants } = walletOf(books);
  expect(avail + held + charged).to.equal(topped + adjusted + granted);
  const left = parseGrantBook(grants);
  expect(left.every((one) => one.left >= 0n)).to.equal(true);
  const pays = ({ state }: Charge) => state === 'held' || state === 'settled';
  const running = [...books.charges.values()].filter(pays).map((charge) => sumParts(parseGrantParts(charge.grants)));
  const paid = avail - left.reduce((sum, one) => sum + one.left, 0n);
  expect(running.reduce((sum, part) => sum + part, avail - paid)).to.equal(granted);
  const overshoot = books.journal.reduce((sum, entry) => sum + entry.overshoot, 0n);
  // What is paid out, or charged to paid money, never comes from a grant.
  expect(paid >= -overshoot && topped >= 0n).to.equal(true);
}

describe('thousands of random operations with grants', () => {
  it('keep every invariant, and the audit agrees', () => {
    const done = new Map<string, number>();
    const every = fc.array(act, { minLength: 200, maxLength: 200 });
    fc.assert(
      fc.property(every, (acts) => {
        const books = newBooks();
        run(books, operation('topup', 'first', 1000));
        for (const [at, { kind, id, rub, until }] of acts.entries()) {
          const op = operation(kind, `i${id}`, kind === 'adjust' && rub % 2 === 0 ? -rub : rub);
          const timed = op.kind === 'grant' && until !== undefined ? { ...op, until } : op;
          const before = walletOf(books).grants;
          if (run(books, timed) !== 'done') continue;
          done.set(kind, (done.get(kind) ?? 0) + 1);
          // Only calls and the ends of grants touch them.
          if (getChargeId(op) === undefined && !kind.startsWith('grant')) {
            expect(walletOf(books).grants).to.equal(before);
          }
          if (at % 10 === 9) checkInvariants(books);
        }
        checkInvariants(books);
        expect(problemsOf(books)).to.deep.equal([]);
      }),
      { numRuns: longer(30, 100), seed: 44 },
    );
    for (const kind of new Set(KINDS)) expect(done.get(kind), kind).to.be.above(longer(15, 50));
  });
});
