// Deduplicates counts that are resent until confirmed: the batch number is stored in the same transaction.
import type { Document } from 'mongodb';
import { DAY_MS } from '../../base/durations.ts';
import type { Batch } from '../ports/batches.ts';
import { NOW } from './clock.ts';
import type { Step, Transactions } from './transaction.ts';

/** A writer resends a batch for at most this long. */
const KEPT_MS = DAY_MS;

/** Runs the command in a transaction, unless the batch was committed before. */
export async function runBatchOnce(
  transactions: Transactions,
  batch: Batch | undefined,
  command: Document,
): Promise<void> {
  await transactions.run({
    steps: async (step) => {
      if (batch && (await isBatchApplied(step, batch))) return;
      await step(command);
    },
  });
}

async function isBatchApplied(step: Step, { writer, number }: Batch): Promise<boolean> {
  // The first batch of a writer removes rows of old writers.
  if (number === 1) await step({ delete: 'batches', deletes: [{ q: OLD_BATCHES, limit: 0 }] });
  const update = [{ $set: { number: { $max: ['$number', number] }, at: NOW } }];
  const { value } = await step({ findAndModify: 'batches', query: { _id: writer }, update, upsert: true });
  return value !== null && Number(value.number) >= number;
}

const OLD_BATCHES = { $expr: { $lt: ['$at', { $subtract: [NOW, KEPT_MS] }] } };
