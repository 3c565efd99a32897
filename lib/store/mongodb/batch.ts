// Applies a batch of one wallet in five round trips, six when a call ends in it: load everything, write wallet, entries
// and charges, commit. `fold` decides what is written.
import assert from 'node:assert/strict';
import type { Document } from 'mongodb';
import type { Charge, Outcome } from '../../money/decide.ts';
import { budgetKeysOf, type Folded, fold, keysOf, type Loaded, repeatIdsOf } from '../../money/fold.ts';
import type { Job } from '../../money/job-rules.ts';
import type { KeyBudget } from '../../money/key-budget.ts';
import { createKnown, type KnownCharges } from '../known.ts';
import type { LedgerStore, Submission } from '../ports/ledger.ts';
import { StaleRead } from './failure.ts';
import { repeatOf, saveRepeats } from './idempotency.ts';
import { jobOf, jobRow, replaceJobs } from './jobs.ts';
import { replacePayments, rowOf } from './payments.ts';
import { balancesOf, budgetOf, chargeOf, chargeRow, entryOf, entryRow, toLong, walletOf } from './rows.ts';
import { firstBatch, type Step, type Transactions } from './transaction.ts';
import { createTurns } from './turns.ts';

/** Larger batches save little and delay those behind them. */
export const BATCH_MAX = 512;

export function createApply(transactions: Transactions): LedgerStore['apply'] {
  const turns = createTurns();
  const knownOf = createKnown();

  return async (batch) => {
    assert(batch.length <= BATCH_MAX);
    const [first] = batch;
    if (!first) return [];
    const { wallet } = first.op;
    assert(batch.every(({ op }) => op.wallet === wallet));
    if (!batch.some(isWanted)) return batch.map(() => undefined);
    const turn = await turns.wait(wallet);
    let kept: readonly Submission[] = [];
    const known = knownOf(wallet);
    const applied = await transactions.run({
      steps: async (step) => {
        turn.begin();
        // A caller who was told in the meantime that nothing happened must be right.
        kept = batch.filter(isWanted);
        return kept.length === 0 ? undefined : applyOnce(step, kept, turn.alone ? known : undefined);
      },
      onCommit: () => {
        for (const item of kept) item.tried = true;
      },
      onConflict: turn.conflict,
    });
    if (applied) known.remember(applied);
    turn.end({ seqBefore: applied?.seqBefore, seqAfter: applied?.seqAfter });
    const byItem = new Map(kept.map((item, index) => [item, applied?.outcomes[index]]));
    return batch.map((item) => byItem.get(item));
  };
}

function isWanted(item: Submission): boolean {
  return item.tried || !item.abandoned;
}

interface Applied {
  readonly outcomes: readonly Outcome[];
  readonly changed: readonly Charge[];
  /** 0 for a missing wallet. */
  readonly seqBefore: number;
  readonly seqAfter: number;
}

async function applyOnce(step: Step, items: readonly Submission[], known?: KnownCharges): Promise<Applied> {
  const operations = items.map(({ op }) => op);
  const loaded = await load(step, operations, known);
  const [wallet] = loaded.wallets.values();
  const folded = fold(loaded, operations);
  await save(step, folded, loaded);
  const seqBefore = wallet?.seq ?? 0;
  const seqAfter = seqBefore + folded.entries.length;
  return { outcomes: folded.outcomes, changed: folded.charges, seqBefore, seqAfter };
}

async function load(step: Step, operations: Parameters<typeof keysOf>[0], known?: KnownCharges): Promise<Loaded> {
  const keys = keysOf(operations);
  const asked = [...keys.charges].filter((id) => !known?.has(id));
  const match = { $match: { _id: [...keys.wallets][0] } };
  const pipeline = [
    match,
    lookup('charges', asked),
    lookup('entries', [...keys.entries]),
    lookup('jobs', [...keys.jobs]),
    lookup('payments', [...keys.payments]),
    lookup('repeats', [...repeatIdsOf(operations)]),
  ];
  const reply = await step({ aggregate: 'wallets', pipeline: pipeline.flat(), cursor: {} });
  const [row] = reply.cursor.firstBatch as Document[];
  const wallet = row && walletOf(row);
  const loaded: Loaded = {
    wallets: new Map(wallet && [[wallet.id, wallet]]),
    charges: new Map(((row?.foundCharges ?? []) as Document[]).map((found) => [found._id, chargeOf(found)])),
    entries: new Map(((row?.foundEntries ?? []) as Document[]).map((found) => [found._id, entryOf(found)])),
    jobs: new Map(((row?.foundJobs ?? []) as Document[]).map((found) => [found._id, jobOf(found)])),
    payments: new Map(((row?.foundPayments ?? []) as Document[]).map((found) => [found._id, rowOf('payments', found)])),
    budgets: new Map(),
    repeats: new Map(((row?.foundRepeats ?? []) as Document[]).map((found) => [found._id, repeatOf(found)])),
  };
  const unread = new Set(keys.charges).difference(new Set(asked));
  for (const { charge } of loaded.repeats.values()) if (!loaded.charges.has(charge)) unread.add(charge);
  for (const id of unread) {
    const charge = known?.at(wallet?.seq, id);
    if (charge) loaded.charges.set(id, charge);
    if (charge) unread.delete(id);
  }
  if (unread.size > 0) await readCharges(step, [...unread], loaded);
  await readBudgets(step, [...budgetKeysOf(operations, loaded.charges)], loaded);
  return loaded;
}

/** What was known is stale. */
async function readCharges(step: Step, ids: readonly string[], loaded: Loaded): Promise<void> {
  const limits = { batchSize: ids.length, singleBatch: true };
  const { cursor } = await step({ find: 'charges', filter: { _id: { $in: ids } }, ...limits });
  for (const row of cursor.firstBatch as Document[]) loaded.charges.set(row._id, chargeOf(row));
}

async function readBudgets(step: Step, keys: readonly string[], { budgets }: Loaded): Promise<void> {
  if (keys.length === 0) return;
  const limits = { batchSize: keys.length, singleBatch: true };
  const rows = await firstBatch(step({ find: 'budgets', filter: { _id: { $in: keys } }, ...limits }));
  for (const row of rows) budgets.set(row._id, budgetOf(row));
}

const FOUND = {
  charges: 'foundCharges',
  entries: 'foundEntries',
  jobs: 'foundJobs',
  payments: 'foundPayments',
  repeats: 'foundRepeats',
} as const;

function lookup(from: keyof typeof FOUND, ids: readonly string[]): Document[] {
  if (ids.length === 0) return [];
  const as = FOUND[from];
  return [{ $lookup: { from, pipeline: [{ $match: { _id: { $in: ids } } }], as } }];
}

async function save(step: Step, folded: Folded, loaded: Loaded): Promise<void> {
  await saveJobs(step, folded.jobs, loaded.jobs);
  await replacePayments(step, folded.payments, loaded.payments);
  const [wallet] = folded.wallets;
  if (!wallet) return;
  const seqBefore = wallet.seq - folded.entries.length;
  const { status } = wallet;
  // Written only if it changes: an operator may be changing it too.
  const isSame = status === loaded.wallets.get(wallet.id)?.status;
  const balances = {
    q: { _id: wallet.id, seq: seqBefore },
    u: { $set: { ...balancesOf(wallet), ...(!isSame && { status }) } },
  };
  const { n } = await step({ update: 'wallets', updates: [balances] });
  if (n !== 1) throw new StaleRead(`the wallet ${wallet.id} is no longer at ${seqBefore}`);
  await step({ insert: 'entries', documents: folded.entries.map(entryRow) });
  await takeOut(
    step,
    folded.charges.map(({ id }) => id).filter((id) => loaded.charges.has(id)),
  );
  if (folded.charges.length > 0) await step({ insert: 'charges', documents: folded.charges.map(chargeRow) });
  await saveBudgets(step, folded.budgets);
  await saveRepeats(step, folded.repeats);
}

async function saveBudgets(step: Step, budgets: readonly KeyBudget[]): Promise<void> {
  if (budgets.length === 0) return;
  const updates = budgets.map(({ key, wallet, period, spent }) => ({
    q: { _id: key },
    u: { $set: { wallet, period, spent: toLong(spent) } },
    upsert: true,
  }));
  await step({ update: 'budgets', updates });
}

/** Even without an entry: the money of a failed job may have been returned before. */
async function saveJobs(step: Step, jobs: readonly Job[], loaded: ReadonlyMap<string, Job>): Promise<void> {
  if (jobs.length === 0) return;
  const documents = jobs.filter(({ id }) => !loaded.has(id)).map(jobRow);
  if (documents.length > 0) await step({ insert: 'jobs', documents });
  await replaceJobs(
    step,
    jobs.filter(({ id }) => loaded.has(id)),
    loaded,
  );
}

/** Changed rows are replaced: in a transaction an update makes the server read its catalog for every index. */
async function takeOut(step: Step, charges: readonly string[]): Promise<void> {
  if (charges.length === 0) return;
  const { n } = await step({ delete: 'charges', deletes: [{ q: { _id: { $in: charges } }, limit: 0 }] });
  if (n !== charges.length) throw new StaleRead(`${charges.length - n} charges are gone`);
}
