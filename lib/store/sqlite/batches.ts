// Deduplicates counts that are resent until confirmed: the batch number is stored in the same transaction.
import type { DatabaseSync } from 'node:sqlite';
import { DAY_MS } from '../../base/durations.ts';
import type { Batch } from '../ports/batches.ts';

/** A writer resends a batch for at most this long. */
const KEPT_MS = DAY_MS;

/** Runs `work` in the current transaction, unless the batch was committed before. */
export function createRunBatchOnce(db: DatabaseSync): (batch: Batch | undefined, work: () => void) => void {
  const note = db.prepare(
    `INSERT INTO batches (writer, number, at) VALUES (?, ?, ?) ON CONFLICT (writer)
    DO UPDATE SET number = ?2, at = ?3 WHERE number < ?2`,
  );
  const forget = db.prepare('DELETE FROM batches WHERE at < ?');
  return (batch, work) => {
    if (batch) {
      const now = Date.now();
      // The first batch of a writer removes rows of old writers.
      if (batch.number === 1) forget.run(now - KEPT_MS);
      if (note.run(batch.writer, batch.number, now).changes === 0) return;
    }
    work();
  };
}
