// A migration of SQLite: the journal records changes of the status of a wallet, and entries and rows of payments and jobs
// get marks, by which the audit notices values that were changed outside the ledger.
import type { DatabaseSync } from 'node:sqlite';
import { decideStatusChange } from '../status.ts';
import { changeChecks, matchAny } from './checks.ts';

const MARKED = ['payments', 'auto_topups', 'saved_methods', 'consents', 'jobs', 'keys', 'openings', 'archives'];

export function addStatusesAndMarks(db: DatabaseSync): void {
  db.exec('ALTER TABLE entries ADD COLUMN status TEXT; ALTER TABLE entries ADD COLUMN mark TEXT');
  for (const table of MARKED) db.exec(`ALTER TABLE ${table} ADD COLUMN mark TEXT`);
  changeChecks(db, 'entries', [
    ["kind = 'dispute'", matchAny('kind', ['dispute', 'suspend', 'resume'])],
    [', status TEXT', `, status TEXT CHECK (${matchAny('status', ['active', 'suspended'])})`],
  ]);
  addBaseline(db);
}

/** Adds the missing entry of wallets that were suspended by an earlier version. */
function addBaseline(db: DatabaseSync): void {
  const suspended = db.prepare("SELECT id, charged, seq FROM wallets WHERE status = 'suspended'", {
    readBigInts: true,
  });
  const move = db.prepare('UPDATE wallets SET seq = ? WHERE id = ?');
  const add = db.prepare(
    `INSERT INTO entries (op_id, wallet, seq, kind, at, avail, held, charged, topped, adjusted, overshoot,
      charged_after, status, mark) VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, ?, ?, ?)`,
  );
  for (const row of suspended.all()) {
    const { id, charged } = row as { id: string; charged: bigint };
    const nothing = { avail: 0n, held: 0n, topped: 0n, adjusted: -charged };
    const before = { id, ...nothing, charged, seq: Number(row.seq), status: 'active' } as const;
    const { entry } = decideStatusChange({ ...before, adjusted: charged }, 'suspended');
    if (!entry) continue;
    const { opId, wallet, seq, kind, at, chargedAfter, status, mark } = entry;
    move.run(seq, id);
    add.run(opId, wallet, seq, kind, at, chargedAfter, status, mark);
  }
}
