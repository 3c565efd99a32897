// Checkpoints of the audit in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import { paired } from '../checkpoints.ts';
import type { Checkpoint, Verified } from '../ports/checkpoints.ts';
import { type Connection, inRead, prepareBig } from './connection.ts';
import { WALLET_COLUMNS, walletOf } from './rows.ts';

const COLUMNS = 'wallet, seq, avail, held, charged, topped, adjusted, overshoot';
/** Sorts after every text. */
const LAST = new Uint8Array([255]);

export function checkpointWrites({ db, write }: Connection) {
  const put = createPutCheckpoint(db);
  return {
    putCheckpoints: (checkpoints: readonly Checkpoint[]): void =>
      write(() => {
        for (const checkpoint of checkpoints) put(checkpoint);
      }),
  };
}

/** Puts one inside the current transaction. */
export function createPutCheckpoint(db: DatabaseSync): (checkpoint: Checkpoint) => void {
  const put = db.prepare(
    `INSERT INTO checkpoints (${COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (wallet) DO UPDATE SET
      seq = ?2, avail = ?3, held = ?4, charged = ?5, topped = ?6, adjusted = ?7, overshoot = ?8 WHERE seq < ?2`,
  );
  return ({ wallet, seq, avail, held, charged, topped, adjusted, overshoot }) =>
    void put.run(wallet, seq, avail, held, charged, topped, adjusted, overshoot);
}

export function checkpointReads(db: DatabaseSync) {
  const wallets = prepareBig(db, `SELECT ${WALLET_COLUMNS} FROM wallets WHERE id > ? ORDER BY id LIMIT ?`);
  const checkpoints = prepareBig(db, `SELECT ${COLUMNS} FROM checkpoints WHERE wallet > ? AND wallet <= ?`);
  return {
    checkpointPage: (after: string, limit: number): readonly Verified[] =>
      inRead(db, () => {
        const found = wallets.all(after, limit).map(walletOf);
        const end = found.length < limit ? LAST : (found.at(-1)?.id ?? LAST);
        return paired(found, checkpoints.all(after, end).map(checkpointOf));
      }),
  };
}

function checkpointOf(row: Record<string, unknown>): Checkpoint {
  const { wallet, seq, ...sums } = row as unknown as Checkpoint;
  return { ...sums, wallet, seq: Number(seq) };
}
