// Random batches against the store and against the pure functions: rows and outcomes must be the same.
import { expect } from 'chai';
import fc from 'fast-check';
import type { BudgetSum } from '../../../lib/money/budget.ts';
import type { Charge, Entry, Operation, Wallet } from '../../../lib/money/decide.ts';
import { createEmptyWallet } from '../../../lib/money/decide.ts';
import { addExposure, fold, getExposure } from '../../../lib/money/fold.ts';
import { decideStatusChange } from '../../../lib/store/status.ts';
import type { Store } from '../../../lib/store/store.ts';
import { longer } from '../../../testkit/long.ts';
import {
  adjust,
  charge,
  endGrant,
  giveBack,
  grant,
  newAccount,
  newId,
  problemsOf,
  RUB,
  reserve,
  type StoreKind,
  settle,
  topup,
  useStore,
} from './context.ts';

const KINDS = [
  ...(['topup', 'adjust', 'reserve', 'charge', 'settle', 'release', 'expire', 'refund'] as const),
  ...(['grant', 'grant_end'] as const),
];

/** One random operation, before it knows its wallet and the ids of this run. */
interface Sketch {
  readonly kind: (typeof KINDS)[number];
  readonly id: number;
  readonly rub: number;
  /** Of one of two keys; null for a call without a budget. */
  readonly budget: { readonly period: number; readonly rub: number; readonly isShared: boolean } | null;
  /** What a hold may cost above itself; null for a call with a cap. */
  readonly excessRub: number | null;
  /** The periods and limits of further budgets, of three. */
  readonly caps: readonly { readonly of: number; readonly period: number; readonly rub: number }[];
}

const sketch: fc.Arbitrary<Sketch> = fc.record({
  kind: fc.constantFrom(...KINDS),
  id: fc.integer({ min: 0, max: 9 }),
  rub: fc.integer({ min: 1, max: 700 }),
  budget: fc.option(
    fc.record({
      period: fc.integer({ min: 0, max: 2 }),
      rub: fc.integer({ min: 1, max: 1200 }),
      isShared: fc.boolean(),
    }),
  ),
  excessRub: fc.option(fc.integer({ min: 1, max: 300 })),
  caps: fc.uniqueArray(
    fc.record({
      of: fc.integer({ min: 0, max: 2 }),
      period: fc.integer({ min: 0, max: 2 }),
      rub: fc.integer({ min: 1, max: 1200 }),
    }),
    { maxLength: 2, selector: ({ of }) => of },
  ),
});

const RUNS = longer(2, 20);

export function modelContract(kind: StoreKind): void {
  const context = useStore(kind);

  it('behaves like the pure functions, batch after batch', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12, size: 'max' }), (steps) =>
        compare([context.store], steps),
      ),
      { numRuns: RUNS },
    );
  });

  it('behaves like them too if batches and suspensions come from several openers', async () => {
    const stores = [context.store, await context.other(), await context.other(2)];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24, size: 'max' }), (steps) => compare(stores, steps)),
      { numRuns: RUNS },
    );
  });
}

/** A batch, after the account's status was perhaps changed, each by one of the openers. */
interface Step {
  readonly batch: readonly Sketch[];
  readonly by: number;
  readonly status: { readonly to: 'active' | 'suspended'; readonly by: number } | null;
}

const opener = fc.integer({ min: 0, max: 2 });
const step: fc.Arbitrary<Step> = fc.record({
  batch: fc.array(sketch, { minLength: 1, maxLength: 12 }),
  by: opener,
  status: fc.option(fc.record({ to: fc.constantFrom('active', 'suspended'), by: opener }), { freq: 4 }),
});

async function compare(stores: readonly Store[], steps: readonly Step[]): Promise<void> {
  const openerOf = (by: number) => stores[by % stores.length] as Store;
  const wallet = await newAccount(openerOf(0));
  const run = newId('run');
  const model = createModel(wallet);
  await both(openerOf(0), [topup(wallet, 1000n * RUB)]);
  for (const { batch, by, status } of steps) {
    if (status) {
      await openerOf(status.by).accounts.setStatus(wallet, status.to);
      const [last] = await openerOf(0).ledger.entries(wallet, { limit: 1 });
      model.setStatus(status.to, last?.at ?? 0);
    }
    await both(
      openerOf(by),
      batch.map((item) => operationOf(item, { wallet, run })),
    );
  }
  expect(await problemsOf(openerOf(0), wallet)).to.deep.equal([]);

  async function both(store: Store, operations: readonly Operation[]): Promise<void> {
    const outcomes = await store.ledger.apply(operations);
    expect(outcomes).to.deep.equal(model.apply(operations));
    expect(await store.ledger.wallet(wallet)).to.deep.equal(model.wallet());
    const budgets = await store.ledger.budgets([...keysOf(run), ...[0, 1, 2].map((at) => capOf(run, at))]);
    expect(budgets.toSorted((a, b) => a.key.localeCompare(b.key))).to.deep.equal(model.budgets());
    for (const row of model.charges()) expect(await store.ledger.charge(row.id)).to.deep.equal(row);
    const entries = await store.ledger.entries(wallet, { limit: 10_000 });
    expect(entries.toReversed()).to.deep.equal(model.entries());
  }
}

const keysOf = (run: string): readonly string[] => [`${run}-key-0`, `${run}-key-1`];
const capOf = (run: string, at: number) => (at === 0 ? `run:${run}` : `user:${run}:${at}`);

function operationOf(
  { kind, id, rub, budget, excessRub, caps }: Sketch,
  { wallet, run }: { wallet: string; run: string },
): Operation {
  const amount = BigInt(rub) * RUB;
  const chargeId = `${run}-${id}`;
  const first = keysOf(run)[0] as string;
  const key = keysOf(run)[id % 2] as string;
  const shared = budget?.isShared && { key: first };
  const terms = budget && { budget: { ...shared, period: budget.period * 1000, limit: BigInt(budget.rub) * RUB } };
  const capped = caps.map(({ of, period, rub: limit }) => ({
    id: capOf(run, of),
    period: period * 1000,
    // The first is a run: it goes on while it has begun later than that.
    ...(of === 0 && { opens: period * 1000 + 1500 }),
    limit: BigInt(limit) * RUB,
  }));
  const start = { chargeId, amount, key, ...terms, ...(capped.length > 0 && { caps: capped }) };
  switch (kind) {
    case 'topup':
      return topup(wallet, amount, { paymentId: chargeId });
    case 'adjust':
      return adjust(wallet, rub % 2 === 0 ? amount : -amount, { adjustId: chargeId });
    case 'reserve':
      return reserve(wallet, { ...start, ...(excessRub !== null && { excess: BigInt(excessRub) * RUB }) });
    case 'charge':
      return charge(wallet, start);
    case 'settle':
      return settle(wallet, chargeId, { amount });
    case 'grant':
      return grant(wallet, amount, { grantId: chargeId, until: rub % 3 === 0 ? null : rub });
    case 'grant_end':
      return endGrant(wallet, chargeId);
    default:
      return giveBack(kind, wallet, chargeId);
  }
}

/** The ledger in memory, with every row always loaded. */
function createModel(id: string) {
  const wallets = new Map<string, Wallet>([[id, createEmptyWallet(id)]]);
  const charges = new Map<string, Charge>();
  const journal = new Map<string, Entry>();
  const budgets = new Map<string, BudgetSum>();
  return {
    apply(operations: readonly Operation[]) {
      const exposed = new Map<string, bigint>();
      for (const row of charges.values()) if (getExposure(row) > 0n) addExposure(exposed, row, getExposure(row));
      const others = { jobs: new Map(), payments: new Map(), budgets, idempotencyRecords: new Map(), exposed };
      const folded = fold({ wallets, charges, entries: new Map(journal), ...others }, operations);
      for (const row of folded.wallets) wallets.set(row.id, row);
      for (const row of folded.charges) charges.set(row.id, row);
      for (const row of folded.entries) journal.set(row.opId, row);
      for (const row of folded.budgets) budgets.set(row.key, row);
      return folded.outcomes;
    },
    setStatus(status: Wallet['status'], at: number) {
      const decision = decideStatusChange(wallets.get(id) as Wallet, status, at);
      wallets.set(id, decision.wallet as Wallet);
      if (decision.entry) journal.set(decision.entry.opId, decision.entry);
    },
    wallet: () => wallets.get(id),
    charges: () => [...charges.values()],
    budgets: () => [...budgets.values()].sort((a, b) => a.key.localeCompare(b.key)),
    entries: () => [...journal.values()],
  };
}
