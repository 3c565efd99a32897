// Checkpoints of the audit in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import { COMPARED_SUMS, pairWithCheckpoints } from '../checkpoints.ts';
import type { ChangedWallets, Checkpoint, WalletCheckpoint } from '../ports/checkpoints.ts';
import { type Connection, inReadTransaction, prepareBig } from './connection.ts';
import { readGrantCells, readWalletRow, WALLET_COLUMNS } from './rows.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const COLUMNS = 'wallet, seq, avail, held, charged, topped, adjusted, overshoot, granted, grants';
const COLUMNS_OF_CHECKPOINT = COLUMNS.replace(/\w+/g, (name) => `checkpoints.${name}`);
const HAS_CHANGED = COMPARED_SUMS.map((name) => `wallets.${name} IS NOT coalesce(checkpoints.${name}, 0)`).join(' OR ');
/** Sorts after every text. */
const AFTER_EVERY_TEXT = new Uint8Array([255]);

export function checkpointWrites({ db, write }: Connection): PortWrites<'checkpoints'> {
  const put = createPutCheckpoint(db);
  return {
    put: (checkpoints: readonly Checkpoint[]): void =>
      write(() => {
        for (const checkpoint of checkpoints) put(checkpoint);
      }),
  };
}

/** Writes a checkpoint inside the current transaction. */
export function createPutCheckpoint(db: DatabaseSync): (checkpoint: Checkpoint) => void {
  const put = db.prepare(
    `INSERT INTO checkpoints (${COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (wallet) DO UPDATE SET
      seq = ?2, avail = ?3, held = ?4, charged = ?5, topped = ?6, adjusted = ?7, overshoot = ?8, granted = ?9, grants = ?10
    WHERE seq < ?2`,
  );
  return ({ wallet, seq, avail, held, charged, topped, adjusted, overshoot, granted = 0n, grants = null }) =>
    void put.run(wallet, seq, avail, held, charged, topped, adjusted, overshoot, granted, grants);
}

export function checkpointReads(db: DatabaseSync): PortReads<'checkpoints'> {
  const wallets = prepareBig(db, `SELECT ${WALLET_COLUMNS} FROM wallets WHERE id > ? ORDER BY id LIMIT ?`);
  const checkpoints = prepareBig(db, `SELECT ${COLUMNS} FROM checkpoints WHERE wallet > ? AND wallet <= ?`);
  const range = db.prepare(
    'SELECT count(*) AS count, max(id) AS last FROM (SELECT id FROM wallets WHERE id > ? ORDER BY id LIMIT ?)',
  );
  const changed = prepareBig(
    db,
    `SELECT id, ${COLUMNS_OF_CHECKPOINT} FROM wallets LEFT JOIN checkpoints ON wallet = id
    WHERE id > ?1 AND id <= ?2 AND (${HAS_CHANGED})
    UNION ALL
    SELECT wallet, ${COLUMNS} FROM checkpoints
    WHERE wallet > ?1 AND wallet <= ?2 AND NOT EXISTS (SELECT 1 FROM wallets WHERE id = wallet)
    ORDER BY 1`,
  );
  return {
    changes: (after: string, limit: number): ChangedWallets =>
      inReadTransaction(db, () => {
        const { count, last } = range.get(after, limit) as unknown as { count: number; last: string | null };
        const isWhole = count < limit || last === null;
        const found = changed.all(after, isWhole ? AFTER_EVERY_TEXT : last).map(({ id, ...row }) => ({
          id: id as string,
          checkpoint: row.wallet === null ? undefined : readCheckpointRow(row),
        }));
        return { wallets: count, found, ...(!isWhole && { next: last }) };
      }),
    page: (after: string, limit: number): readonly WalletCheckpoint[] =>
      inReadTransaction(db, () => {
        const found = wallets.all(after, limit).map(readWalletRow);
        const end = found.length < limit ? AFTER_EVERY_TEXT : (found.at(-1)?.id ?? AFTER_EVERY_TEXT);
        return pairWithCheckpoints(found, checkpoints.all(after, end).map(readCheckpointRow));
      }),
  };
}

function readCheckpointRow(row: Record<string, unknown>): Checkpoint {
  const { wallet, seq, granted: _, grants: __, ...sums } = row as unknown as Checkpoint;
  return { ...sums, wallet, seq: Number(seq), ...readGrantCells(row) };
}
