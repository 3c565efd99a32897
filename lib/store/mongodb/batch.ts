// Applies a batch of one wallet in five round trips, six when a call ends in it: load all, write wallet, entries and
// charges, commit. `fold` decides what is written.
import assert from 'node:assert/strict';
import type { Document } from 'mongodb';
import type { Outcome } from '../../ledger/decide.ts';
import { type Folded, fold, keysOf, type Loaded } from '../../ledger/fold.ts';
import type { LedgerStore, Submission } from '../store.ts';
import { StaleRead } from './failure.ts';
import { balancesOf, chargeOf, chargeRow, entryOf, entryRow, walletOf } from './rows.ts';
import type { Step, Transactions } from './transaction.ts';
import { createTurns } from './turns.ts';

/** Larger batches save little, and those behind them wait longer. */
export const BATCH_MAX = 512;

export function createApply(transactions: Transactions): LedgerStore['apply'] {
  const turns = createTurns();

  return async (batch) => {
    assert(batch.length <= BATCH_MAX);
    const [first] = batch;
    if (!first) return [];
    const { wallet } = first.op;
    assert(batch.every(({ op }) => op.wallet === wallet));
    if (!batch.some(isWanted)) return batch.map(() => undefined);
    const turn = await turns.wait(wallet);
    let kept: readonly Submission[] = [];
    const { outcomes, seqBefore, seqAfter } = await transactions.run({
      steps: (step) => {
        turn.begin();
        // Whoever was answered meanwhile that nothing happened must stay right.
        kept = batch.filter(isWanted);
        return kept.length === 0 ? NOTHING : applyOnce(step, kept);
      },
      onCommit: () => {
        for (const item of kept) item.tried = true;
      },
      onConflict: turn.conflict,
    });
    turn.end({ seqBefore, seqAfter });
    const byItem = new Map(kept.map((item, index) => [item, outcomes[index]]));
    return batch.map((item) => byItem.get(item));
  };
}

function isWanted(item: Submission): boolean {
  return item.tried || !item.abandoned;
}

interface Applied {
  readonly outcomes: readonly Outcome[];
  readonly seqBefore: number | undefined;
  readonly seqAfter: number | undefined;
}

const NOTHING: Promise<Applied> = Promise.resolve({ outcomes: [], seqBefore: undefined, seqAfter: undefined });

async function applyOnce(step: Step, items: readonly Submission[]): Promise<Applied> {
  const operations = items.map(({ op }) => op);
  const loaded = await load(step, operations);
  const [wallet] = loaded.wallets.values();
  const folded = fold(loaded, operations);
  await save(step, folded, loaded);
  return { outcomes: folded.outcomes, seqBefore: wallet?.seq, seqAfter: folded.wallets[0]?.seq ?? wallet?.seq };
}

async function load(step: Step, operations: Parameters<typeof keysOf>[0]): Promise<Loaded> {
  const { wallets, charges, entries } = keysOf(operations);
  const pipeline = [{ $match: { _id: [...wallets][0] } }, lookup('charges', charges), lookup('entries', entries)];
  const reply = await step({ aggregate: 'wallets', pipeline: pipeline.flat(), cursor: {} });
  const [row] = reply.cursor.firstBatch as Document[];
  return {
    wallets: new Map(row && [[row._id, walletOf(row)]]),
    charges: new Map(((row?.foundCharges ?? []) as Document[]).map((found) => [found._id, chargeOf(found)])),
    entries: new Map(((row?.foundEntries ?? []) as Document[]).map((found) => [found._id, entryOf(found)])),
  };
}

function lookup(from: 'charges' | 'entries', ids: ReadonlySet<string>): Document[] {
  if (ids.size === 0) return [];
  const as = from === 'charges' ? 'foundCharges' : 'foundEntries';
  return [{ $lookup: { from, pipeline: [{ $match: { _id: { $in: [...ids] } } }], as } }];
}

async function save(step: Step, folded: Folded, loaded: Loaded): Promise<void> {
  const [wallet] = folded.wallets;
  if (!wallet) return;
  const seqBefore = wallet.seq - folded.entries.length;
  const balances = { q: { _id: wallet.id, seq: seqBefore }, u: { $set: balancesOf(wallet) } };
  const { n } = await step({ update: 'wallets', updates: [balances] });
  if (n !== 1) throw new StaleRead(`the wallet ${wallet.id} is no longer at ${seqBefore}`);
  await step({ insert: 'entries', documents: folded.entries.map(entryRow) });
  await takeOut(
    step,
    folded.charges.map(({ id }) => id).filter((id) => loaded.charges.has(id)),
  );
  if (folded.charges.length > 0) await step({ insert: 'charges', documents: folded.charges.map(chargeRow) });
}

/** Rows that changed are put in anew: in a transaction an update has the server read its catalog for every index. */
async function takeOut(step: Step, charges: readonly string[]): Promise<void> {
  if (charges.length === 0) return;
  const { n } = await step({ delete: 'charges', deletes: [{ q: { _id: { $in: charges } }, limit: 0 }] });
  if (n !== charges.length) throw new StaleRead(`${charges.length - n} charges are gone`);
}
