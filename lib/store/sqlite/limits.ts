// Rate limit windows in the SQLite store.
import type { Batch } from '../ports/batches.ts';
import type { LimitWindow } from '../ports/limits.ts';
import { createRunBatchOnce } from './batches.ts';
import type { Connection } from './connection.ts';
import type { PortWrites } from './thread-ports.ts';

export function limitWrites({ db, write }: Connection): PortWrites<'limits'> {
  // A window that ends far in the future dates from before the clock was set back.
  const hit = db.prepare(
    `INSERT INTO limits (bucket, ends_at, count) VALUES (:bucket, :endsAt, 1) ON CONFLICT (bucket) DO UPDATE SET
      count = iif(ends_at > :now AND ends_at <= :latest, count + 1, 1),
      ends_at = iif(ends_at > :now AND ends_at <= :latest, ends_at, :endsAt)
    RETURNING bucket, ends_at AS endsAt, count`,
  );
  // If two windows are open, all hits belong to the one that opened first.
  const merge = db.prepare(
    `INSERT INTO limits (bucket, ends_at, count) VALUES (:bucket, :endsAt, :count) ON CONFLICT (bucket) DO UPDATE SET
      count = count + :count, ends_at = min(ends_at, :endsAt)`,
  );
  const open = db.prepare('SELECT bucket, ends_at AS endsAt, count FROM limits WHERE ends_at > ? ORDER BY bucket');
  const drop = db.prepare('DELETE FROM limits WHERE ends_at <= ?');
  const runBatchOnce = createRunBatchOnce(db);
  // A window lost in a power failure only allows some extra calls for a minute; syncing to disk would delay every call.
  const durability = 'normal';
  return {
    hit: (bucket: string, windowMs: number, now: number): LimitWindow =>
      write(
        () => readWindowRow(hit.get({ bucket, endsAt: now + windowMs, latest: now + 2 * windowMs, now })),
        durability,
      ),
    // Read by the writing thread, so that earlier hits are included.
    open: (now: number): LimitWindow[] => open.all(now).map(readWindowRow),
    merge: (windows: readonly LimitWindow[], now: number, batch?: Batch): void =>
      write(() => {
        drop.run(now);
        runBatchOnce(batch, () => {
          for (const { bucket, endsAt, count } of windows) if (endsAt > now) merge.run({ bucket, endsAt, count });
        });
      }, durability),
  };
}

function readWindowRow(row: Record<string, unknown> | undefined): LimitWindow {
  return { bucket: row?.bucket as string, endsAt: row?.endsAt as number, count: row?.count as number };
}
