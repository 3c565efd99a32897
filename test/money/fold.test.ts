// Random histories over several wallets: the invariants hold after every batch, however the batches are cut.
import { expect } from 'chai';
import fc from 'fast-check';
import { collectBatchKeys, collectBudgetKeys } from '../../lib/money/batch-keys.ts';
import type { BudgetSum } from '../../lib/money/budget.ts';
import {
  type Charge,
  type ChargeState,
  createEmptyWallet,
  type Entry,
  getOperationId,
  type Operation,
  type Outcome,
  type Wallet,
} from '../../lib/money/decide.ts';
import { fold } from '../../lib/money/fold.ts';
import { getPaidBalance } from '../../lib/money/grants.ts';
import type { IdempotencyRecord } from '../../lib/money/idempotency.ts';
import type { Job } from '../../lib/money/job-rules.ts';
import type { Micro } from '../../lib/money/money.ts';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { longer } from '../../testkit/long.ts';

const RUB = 1_000_000n;
const WALLETS = ['w1', 'w2', 'w3'];

/** The rows of a store, in memory. */
interface Rows {
  readonly wallets: Map<string, Wallet>;
  readonly charges: Map<string, Charge>;
  readonly entries: Map<string, Entry>;
  readonly jobs: Map<string, Job>;
  readonly payments: Map<string, Payment>;
  readonly budgets: Map<string, BudgetSum>;
  readonly idempotencyRecords: Map<string, IdempotencyRecord>;
}

function newRows(): Rows {
  return {
    wallets: new Map(WALLETS.map((id) => [id, createEmptyWallet(id)])),
    charges: new Map(),
    entries: new Map(),
    jobs: new Map(),
    payments: new Map(),
    budgets: new Map(),
    idempotencyRecords: new Map(),
  };
}

/** As a store does it: only the rows that the batch names are loaded, only what `fold` returns is written. */
function apply(rows: Rows, batch: readonly Operation[]): readonly Outcome[] {
  const keys = collectBatchKeys(batch);
  const pick = <T>(from: Map<string, T>, ids: Set<string>) => new Map([...from].filter(([id]) => ids.has(id)));
  const loaded = {
    wallets: pick(rows.wallets, keys.wallets),
    charges: pick(rows.charges, keys.charges),
    entries: pick(rows.entries, keys.entries),
    jobs: pick(rows.jobs, keys.jobs),
    payments: pick(rows.payments, keys.payments),
    budgets: pick(rows.budgets, collectBudgetKeys(batch, rows.charges)),
    idempotencyRecords: rows.idempotencyRecords,
  };
  const folded = fold(loaded, batch);
  for (const wallet of folded.wallets) rows.wallets.set(wallet.id, wallet);
  for (const charge of folded.charges) rows.charges.set(charge.id, charge);
  for (const job of folded.jobs) rows.jobs.set(job.id, job);
  for (const budget of folded.budgets) rows.budgets.set(budget.key, budget);
  for (const entry of folded.entries) {
    expect(rows.entries.has(entry.opId), `${entry.opId} is written once`).to.equal(false);
    rows.entries.set(entry.opId, entry);
  }
  return folded.outcomes;
}

const rub = fc
  .oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 900, max: 1200 }))
  .map((whole) => BigInt(whole) * RUB);
const wallet = fc.constantFrom(...WALLETS, 'nobody');
/** Few ids, so that repeated and conflicting operations are common. */
const id = fc.integer({ min: 1, max: 12 }).map((number) => `i${number}`);

const operation: fc.Arbitrary<Operation> = fc
  .record({
    kind: fc.constantFrom<Operation['kind'][]>(
      ...([
        'topup',
        'adjust',
        'reserve',
        'reserve',
        'charge',
        'settle',
        'settle',
        'release',
        'expire',
        'refund',
        'pay',
        'payback',
        'dispute',
        'grant',
        'grant_end',
      ] as const),
    ),
    wallet,
    id,
    amount: rub,
    negative: fc.boolean(),
    at: fc.integer({ min: 1, max: 1000 }),
  })
  .map(({ kind, wallet, id, amount, negative, at }): Operation => {
    const base = { wallet, at };
    const start = { ...base, chargeId: id, key: 'k', chargeKind: 'text', model: 'm', prices: '{}', amount } as const;
    switch (kind) {
      case 'topup':
        return { kind, ...base, amount, paymentId: id };
      case 'adjust':
        return { kind, ...base, amount: negative ? -amount : amount, adjustId: id, reason: 'test' };
      case 'reserve':
        return { kind, ...start, owner: 'o', lease: at + 10 };
      case 'charge':
        return { kind, ...start };
      case 'settle':
        return { kind, ...base, chargeId: id, amount, usage: '{"tokens_input":1}' };
      case 'pay':
        return { kind, ...base, amount, paymentId: `till:${id}`, order: id };
      case 'payback':
      case 'dispute':
        return { kind, ...base, amount, paybackId: `till:${id}`, order: id, suspend: negative && amount > 900n * RUB };
      case 'suspend':
      case 'resume':
        return { kind, ...base, changeId: id };
      case 'grant':
        return { kind, ...base, amount, grantId: id, until: negative ? at + 500 : null, reason: 'test' };
      case 'grant_end':
        return { kind, ...base, grantId: id, reason: null };
      default:
        return { kind, ...base, chargeId: id };
    }
  });

/** Starts with money on every wallet, so that not every operation is refused. */
const history = fc
  .array(operation, { minLength: 1, maxLength: 80, size: 'max' })
  .map((operations): Operation[] => [
    ...WALLETS.map(
      (id): Operation => ({ kind: 'topup', wallet: id, at: 0, amount: 1000n * RUB, paymentId: `first-${id}` }),
    ),
    ...operations,
  ]);
const cuts = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 80, size: 'max' });

function cut<T>(list: readonly T[], sizes: readonly number[]): T[][] {
  const batches: T[][] = [];
  let from = 0;
  for (let turn = 0; from < list.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    batches.push(list.slice(from, from + size));
    from += size;
  }
  return batches;
}

describe('fold', () => {
  it('keeps the books balanced after every batch', () => {
    fc.assert(
      fc.property(history, cuts, (operations, sizes) => {
        const rows = newRows();
        for (const batch of cut(operations, sizes)) {
          const before = new Map(rows.charges);
          apply(rows, batch);
          expectBalanced(rows);
          expectForward(before, rows.charges);
        }
      }),
      { numRuns: longer(60, 200) },
    );
  });

  it('gives the same rows and outcomes however operations are split into batches', () => {
    fc.assert(
      fc.property(history, cuts, (operations, sizes) => {
        const one = newRows();
        const other = newRows();
        const outcomes = operations.flatMap((op) => apply(one, [op]));
        const others = cut(operations, sizes).flatMap((batch) => apply(other, batch));
        expect(others).to.deep.equal(outcomes);
        expect(other).to.deep.equal(one);
      }),
      { numRuns: longer(40, 100) },
    );
  });

  it('changes nothing when applied operations are sent again', () => {
    fc.assert(
      fc.property(history, cuts, (operations, sizes) => {
        const rows = newRows();
        const done = cut(operations, sizes).flatMap((batch) => {
          const outcomes = apply(rows, batch);
          return batch.filter((_, index) => outcomes[index]?.status === 'done');
        });
        const before = structuredClone(rows);
        const again = cut(done, sizes).flatMap((batch) => apply(rows, batch));
        expect(new Set(again.map(({ status }) => status))).to.deep.equal(new Set(['exists']));
        expect(rows).to.deep.equal(before);
      }),
      { numRuns: longer(40, 100) },
    );
  });

  it('writes an entry for each applied operation, and only for those', () => {
    fc.assert(
      fc.property(history, (operations) => {
        const rows = newRows();
        const outcomes = apply(rows, operations);
        const done = operations.filter((_, index) => outcomes[index]?.status === 'done').map(getOperationId);
        expect([...rows.entries.keys()]).to.deep.equal(done);
      }),
      { numRuns: 50 },
    );
  });

  it('reaches every kind of entry and every status', () => {
    // The properties above say little if the random histories are all refused.
    const kinds = new Set<string>();
    const found = new Set<string>();
    const suspended = newRows();
    suspended.wallets.set('w1', { ...createEmptyWallet('w1'), status: 'suspended', avail: RUB, topped: RUB });
    found.add(apply(suspended, [{ ...reserveOf('w1'), amount: 1n } as Operation])[0]?.status ?? '');
    found.add(apply(newRows(), [reserveOf('w2')])[0]?.status ?? '');
    for (const operations of fc.sample(history, { numRuns: 300, seed: 7 })) {
      const rows = newRows();
      for (const outcome of apply(rows, operations)) found.add(outcome.status);
      for (const outcome of apply(newRows(), operations.slice(WALLETS.length))) found.add(outcome.status);
      for (const entry of rows.entries.values()) kinds.add(entry.kind);
    }
    expect([...kinds]).to.have.members([
      'topup',
      'adjust',
      'reserve',
      'charge',
      'settle',
      'release',
      'expire',
      'refund',
      'pay',
      'payback',
      'dispute',
      'grant',
      'grant_end',
    ]);
    expect([...found]).to.have.members([
      ...['done', 'exists', 'insufficient', 'never_topped', 'suspended'],
      ...['no_wallet', 'no_charge', 'not_settled', 'first_topup_too_small', 'id_taken', 'no_grant'],
    ]);
  });

  it('lists the rows that a batch needs, and no others', () => {
    const keys = collectBatchKeys([
      { kind: 'topup', wallet: 'w1', at: 1, amount: 1n, paymentId: 'p' },
      { kind: 'adjust', wallet: 'w1', at: 1, amount: 1n, adjustId: 'a', reason: '' },
      { kind: 'release', wallet: 'w2', at: 1, chargeId: 'c' },
      reserveOf('w2'),
    ]);
    expect([...keys.wallets]).to.deep.equal(['w1', 'w2']);
    expect([...keys.charges]).to.deep.equal(['c', 'c-w2']);
    expect([...keys.entries]).to.deep.equal(['topup:p', 'adjust:a']);
  });
});

function reserveOf(wallet: string): Operation {
  const call = { key: 'k', chargeKind: 'text', model: 'm', prices: '{}', owner: 'o', lease: 9 } as const;
  return { kind: 'reserve', wallet, at: 1, chargeId: `c-${wallet}`, amount: RUB, ...call };
}

/** The invariants of the ledger. */
function expectBalanced({ wallets, charges, entries }: Rows): void {
  for (const wallet of wallets.values()) {
    const { id, avail, held, charged, topped, adjusted, granted = 0n, seq } = wallet;
    const journal = [...entries.values()].filter((entry) => entry.wallet === id);
    const mine = [...charges.values()].filter((charge) => charge.wallet === id);
    const inState = (state: ChargeState) => mine.filter((charge) => charge.state === state);
    expect(avail + held + charged, 'the equation').to.equal(topped + adjusted + granted);
    for (const column of ['avail', 'held', 'charged', 'topped', 'adjusted', 'granted'] as const) {
      const added = sum(journal, (entry) => entry[column] ?? 0n);
      expect(wallet[column] ?? 0n, `${column} is the sum of the journal`).to.equal(added);
    }
    expect(held, 'held').to.equal(sum(inState('held'), (charge) => charge.reserved));
    expect(charged, 'charged').to.equal(sum(inState('settled'), (charge) => charge.charged));
    expect(
      journal.map((entry) => entry.seq),
      'no gap',
    ).to.deep.equal(journal.map((_, index) => index + 1));
    expect(seq).to.equal(journal.length);
    const paid = getPaidBalance(wallet);
    expect(paid >= -sum(journal, (entry) => entry.overshoot), 'below zero by overshoot only').to.equal(true);
    expectRunningSums(journal);
  }
}

function expectRunningSums(journal: readonly Entry[]): void {
  let [avail, charged] = [0n, 0n];
  for (const entry of journal) {
    avail += entry.avail;
    charged += entry.charged;
    expect(entry.avail + entry.held + entry.charged, entry.opId).to.equal(
      entry.topped + entry.adjusted + (entry.granted ?? 0n),
    );
    expect(entry.chargedAfter, entry.opId).to.equal(charged);
    if (entry.kind === 'reserve' || entry.kind === 'charge') expect(avail >= 0n, entry.opId).to.equal(true);
  }
}

const NEXT: Record<ChargeState, readonly ChargeState[]> = {
  held: ['held', 'settled', 'released', 'expired', 'refunded'],
  settled: ['settled', 'refunded'],
  released: ['released'],
  expired: ['expired', 'settled', 'refunded'],
  refunded: ['refunded'],
};

/** The state of a charge only moves forward, and its initial values never change. */
function expectForward(before: ReadonlyMap<string, Charge>, after: ReadonlyMap<string, Charge>): void {
  for (const [id, old] of before) {
    const now = after.get(id);
    expect(now?.state).to.be.oneOf([...NEXT[old.state]]);
    expect(now).to.deep.include({ wallet: old.wallet, reserved: old.reserved, createdAt: old.createdAt });
    if (old.state !== 'held' && old.state !== 'expired') expect(now?.charged).to.equal(old.charged);
  }
}

function sum<T>(list: readonly T[], of: (item: T) => Micro): Micro {
  return list.reduce((total, item) => total + of(item), 0n);
}
