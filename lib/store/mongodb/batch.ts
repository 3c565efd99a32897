// Applies a batch of one wallet in five round trips, two more when a call ends in it and one more for budgets: load
// everything, write wallet, entries and charges, commit. `fold` decides what is written. A batch of several wallets,
// which copies send, takes a few more.
import assert from 'node:assert/strict';
import type { Document } from 'mongodb';
import {
  collectBatchKeys,
  collectBudgetKeys,
  collectExposedWallets,
  collectIdempotencyIds,
} from '../../money/batch-keys.ts';
import type { BudgetSum } from '../../money/budget.ts';
import type { Charge, Operation, Outcome } from '../../money/decide.ts';
import { addExposure, type Folded, fold, type Loaded, listReplacedAttempts } from '../../money/fold.ts';
import type { Job } from '../../money/job-rules.ts';
import type { Micro } from '../../money/money.ts';
import { createHeldChargeCache, type WalletChargeCache } from '../held-charge-cache.ts';
import type { LedgerStore } from '../ports/ledger.ts';
import { saveAttempts } from './attempts.ts';
import { StaleRead } from './failure.ts';
import { readIdempotencyDocument, saveIdempotencyRecords } from './idempotency.ts';
import { readJobDocument, replaceJobs, toJobDocument } from './jobs.ts';
import { readRowDocument, replacePayments } from './payments.ts';
import {
  readBudgetDocument,
  readCaps,
  readChargeDocument,
  readEntryDocument,
  readWalletDocument,
  sumToMicro,
  toBalanceFields,
  toChargeDocument,
  toEntryDocument,
  toGrantFields,
  toLong,
} from './rows.ts';
import { readFirstBatch, type Step, type Transactions } from './transaction.ts';
import { createWriteFairness } from './write-fairness.ts';

/** Larger batches save little and delay later operations. */
export const BATCH_MAX = 512;

export function createApply(transactions: Transactions): LedgerStore['apply'] {
  const fairness = createWriteFairness();
  const getChargeCache = createHeldChargeCache();

  return async (operations) => {
    assert(operations.length <= BATCH_MAX);
    const [wallet, ...others] = new Set(operations.map((op) => op.wallet));
    if (wallet === undefined) return [];
    if (others.length > 0) {
      return (await transactions.run({ steps: (step) => applyOnce(step, operations) })).outcomes;
    }
    const slot = await fairness.wait(wallet);
    const known = getChargeCache(wallet);
    const applied = await transactions.run({
      steps: (step) => {
        slot.begin();
        return applyOnce(step, operations, slot.alone ? known : undefined);
      },
      onConflict: slot.conflict,
    });
    known.remember(applied);
    slot.end(applied);
    return applied.outcomes;
  };
}

interface Applied {
  readonly outcomes: readonly Outcome[];
  readonly changed: readonly Charge[];
  /** `seq` of the single wallet; 0 if it is missing. */
  readonly seqBefore: number;
  readonly seqAfter: number;
}

async function applyOnce(step: Step, operations: readonly Operation[], known?: WalletChargeCache): Promise<Applied> {
  const loaded = await loadBatch(step, operations, known);
  const [wallet] = loaded.wallets.values();
  const folded = fold(loaded, operations);
  await saveBatch(step, folded, loaded);
  const seqBefore = wallet?.seq ?? 0;
  const seqAfter = seqBefore + folded.entries.length;
  return { outcomes: folded.outcomes, changed: folded.charges, seqBefore, seqAfter };
}

async function loadBatch(step: Step, operations: readonly Operation[], known?: WalletChargeCache): Promise<Loaded> {
  const keys = collectBatchKeys(operations);
  const asked = [...keys.charges].filter((id) => !known?.get(id));
  // A call counts in the same budget from start to end, so even a stale charge names the right one.
  const sums = collectBudgetKeys(operations, known ?? new Map());
  const ids = {
    charges: asked,
    entries: [...keys.entries],
    jobs: [...keys.jobs],
    payments: [...keys.payments],
    repeats: [...collectIdempotencyIds(operations)],
    budgets: [...sums],
  };
  const exposed = [...collectExposedWallets(operations)];
  const rows = await (keys.wallets.size === 1 ? readInOneTrip : readCollections)(step, [...keys.wallets], ids, exposed);
  const loaded: Loaded = {
    wallets: new Map(rows.wallets.map((row) => [row._id, readWalletDocument(row)])),
    charges: new Map(rows.charges.map((row) => [row._id, readChargeDocument(row)])),
    entries: new Map(rows.entries.map((row) => [row._id, readEntryDocument(row)])),
    jobs: new Map(rows.jobs.map((row) => [row._id, readJobDocument(row)])),
    payments: new Map(rows.payments.map((row) => [row._id, readRowDocument('payments', row)])),
    budgets: new Map(rows.budgets.map((row) => [row._id, readBudgetDocument(row)])),
    idempotencyRecords: new Map(rows.repeats.map((row) => [row._id, readIdempotencyDocument(row)])),
    exposed: sumExposures(rows.exposed),
  };
  const [wallet] = loaded.wallets.values();
  const unread = new Set(keys.charges).difference(new Set(asked));
  for (const { charge } of loaded.idempotencyRecords.values()) if (!loaded.charges.has(charge)) unread.add(charge);
  for (const id of unread) {
    const charge = known?.at(wallet?.seq, id);
    if (charge) loaded.charges.set(id, charge);
    if (charge) unread.delete(id);
  }
  if (unread.size > 0) await readCharges(step, [...unread], loaded);
  await readBudgets(step, [...collectBudgetKeys(operations, loaded.charges).difference(sums)], loaded);
  return loaded;
}

type BatchIds = Readonly<
  Record<'charges' | 'entries' | 'jobs' | 'payments' | 'repeats' | 'budgets', readonly string[]>
>;
type BatchDocuments = Readonly<Record<keyof BatchIds | 'wallets' | 'exposed', readonly Document[]>>;

/** Reads everything in one round trip, for a single wallet. */
async function readInOneTrip(
  step: Step,
  [wallet]: readonly string[],
  asked: BatchIds,
  exposed: readonly string[],
): Promise<BatchDocuments> {
  const lookups = Object.entries(asked)
    .filter(([, ids]) => ids.length > 0)
    .map(([from, ids]) => ({ $lookup: { from, pipeline: [{ $match: { _id: { $in: ids } } }], as: `found_${from}` } }));
  const sums = { $lookup: { from: 'charges', pipeline: buildExposurePipeline(exposed), as: 'found_exposed' } };
  const pipeline = [{ $match: { _id: wallet } }, ...lookups, ...(exposed.length > 0 ? [sums] : [])];
  const [row] = await readFirstBatch(step({ aggregate: 'wallets', pipeline, cursor: {} }));
  const found = (name: keyof BatchIds | 'exposed'): Document[] => row?.[`found_${name}`] ?? [];
  return {
    wallets: row ? [row] : [],
    charges: found('charges'),
    entries: found('entries'),
    jobs: found('jobs'),
    payments: found('payments'),
    repeats: found('repeats'),
    budgets: found('budgets'),
    exposed: found('exposed'),
  };
}

/** The possible cost of running calls above their holds, by wallet and budget. */
function buildExposurePipeline(wallets: readonly string[]): Document[] {
  const running = { wallet: { $in: wallets }, state: 'held', excess: { $gt: 0 } };
  const of = { wallet: '$wallet', key: '$key', budgetKey: '$budgetKey', period: '$period', caps: '$caps' };
  return [{ $match: running }, { $group: { _id: of, sum: { $sum: '$excess' } } }];
}

function sumExposures(rows: readonly Document[]): Map<string, Micro> {
  const exposed = new Map<string, Micro>();
  for (const { _id: of, sum } of rows) {
    const { wallet, key, budgetKey = null, period = null, caps } = of;
    const own = { wallet, key, budgetKey, period: period === null ? null : Number(period) };
    addExposure(exposed, caps ? { ...own, caps: readCaps(caps) } : own, sumToMicro(sum));
  }
  return exposed;
}

async function readCollections(
  step: Step,
  wallets: readonly string[],
  asked: BatchIds,
  exposed: readonly string[],
): Promise<BatchDocuments> {
  const sums = { aggregate: 'charges', pipeline: buildExposurePipeline(exposed), cursor: { batchSize: BATCH_MAX } };
  return {
    exposed: exposed.length > 0 ? await readFirstBatch(step(sums)) : [],
    wallets: await findByIds(step, 'wallets', wallets),
    charges: await findByIds(step, 'charges', asked.charges),
    entries: await findByIds(step, 'entries', asked.entries),
    jobs: await findByIds(step, 'jobs', asked.jobs),
    payments: await findByIds(step, 'payments', asked.payments),
    repeats: await findByIds(step, 'repeats', asked.repeats),
    budgets: await findByIds(step, 'budgets', asked.budgets),
  };
}

function findByIds(step: Step, collection: string, ids: readonly string[]): Promise<Document[]> {
  if (ids.length === 0) return Promise.resolve([]);
  const limits = { batchSize: ids.length, singleBatch: true };
  return readFirstBatch(step({ find: collection, filter: { _id: { $in: ids } }, ...limits }));
}

/** Reads charges that the cache does not have, or only in a stale state. */
async function readCharges(step: Step, ids: readonly string[], { charges }: Loaded): Promise<void> {
  for (const row of await findByIds(step, 'charges', ids)) charges.set(row._id, readChargeDocument(row));
}

/** Reads the budgets of charges that the cache did not have. */
async function readBudgets(step: Step, keys: readonly string[], { budgets }: Loaded): Promise<void> {
  for (const row of await findByIds(step, 'budgets', keys)) budgets.set(row._id, readBudgetDocument(row));
}

async function saveBatch(step: Step, folded: Folded, loaded: Loaded): Promise<void> {
  await saveJobs(step, folded.jobs, loaded.jobs);
  await replacePayments(step, folded.payments, loaded.payments);
  if (folded.wallets.length === 0) return;
  // Writes the status, too, so that a concurrent change of it restarts the transaction.
  const updates = folded.wallets.map((wallet) => {
    const { id, status, playMoney, opened } = wallet;
    const before = loaded.wallets.get(id);
    const $set = {
      ...toBalanceFields(wallet),
      status,
      ...((wallet.grants !== before?.grants || wallet.granted !== before?.granted) && toGrantFields(wallet)),
      ...(playMoney !== before?.playMoney && { playMoney: playMoney ?? false }),
      ...(opened && { opened }),
    };
    return { q: { _id: id, seq: before?.seq }, u: { $set } };
  });
  const { n } = await step({ update: 'wallets', updates });
  if (n !== updates.length) throw new StaleRead(`${updates.length - n} wallets are no longer as they were read`);
  await step({ insert: 'entries', documents: folded.entries.map(toEntryDocument) });
  await deleteChangedCharges(
    step,
    folded.charges.map(({ id }) => id).filter((id) => loaded.charges.has(id)),
  );
  if (folded.charges.length > 0) await step({ insert: 'charges', documents: folded.charges.map(toChargeDocument) });
  await saveAttempts(step, folded.attempts, listReplacedAttempts(loaded, folded));
  await saveBudgets(step, folded.budgets);
  await saveIdempotencyRecords(step, folded.idempotencyRecords);
}

async function saveBudgets(step: Step, budgets: readonly BudgetSum[]): Promise<void> {
  if (budgets.length === 0) return;
  const updates = budgets.map(({ key, wallet, period, spent }) => ({
    q: { _id: key },
    u: { $set: { wallet, period, spent: toLong(spent) } },
    upsert: true,
  }));
  await step({ update: 'budgets', updates });
}

/** Jobs may change without an entry: the money of a failed job may have been returned before. */
async function saveJobs(step: Step, jobs: readonly Job[], loaded: ReadonlyMap<string, Job>): Promise<void> {
  if (jobs.length === 0) return;
  const documents = jobs.filter(({ id }) => !loaded.has(id)).map(toJobDocument);
  if (documents.length > 0) await step({ insert: 'jobs', documents });
  await replaceJobs(
    step,
    jobs.filter(({ id }) => loaded.has(id)),
    loaded,
  );
}

/** Changed charges are deleted and inserted: in a transaction, an update makes the server read its catalog for each index. */
async function deleteChangedCharges(step: Step, charges: readonly string[]): Promise<void> {
  if (charges.length === 0) return;
  const { n } = await step({ delete: 'charges', deletes: [{ q: { _id: { $in: charges } }, limit: 0 }] });
  if (n !== charges.length) throw new StaleRead(`${charges.length - n} charges are gone`);
}
