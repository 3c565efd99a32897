// A migration of SQLite: the journal records changes of the status of a wallet, and entries and rows of payments and jobs
// get marks, by which the audit notices values that were changed outside the ledger.
import type { DatabaseSync } from 'node:sqlite';
import { decideStatusChange } from '../status.ts';
import { oneOf } from './checks.ts';

const MARKED = ['payments', 'auto_topups', 'saved_methods', 'consents', 'jobs', 'keys', 'openings', 'archives'];

export function addStatusesAndMarks(db: DatabaseSync): void {
  db.exec('ALTER TABLE entries ADD COLUMN status TEXT; ALTER TABLE entries ADD COLUMN mark TEXT');
  for (const table of MARKED) db.exec(`ALTER TABLE ${table} ADD COLUMN mark TEXT`);
  changeChecks(db);
  addBaseline(db);
}

/**
 * Replaces the text of a CHECK, as https://sqlite.org/lang_altertable.html (7) describes for changes that do not affect
 * stored rows. A CHECK cannot be altered, copying the table would take hours, and adding a column with one reads every row.
 */
function changeChecks(db: DatabaseSync): void {
  db.enableDefensive(false);
  db.exec('PRAGMA writable_schema = ON');
  const change = db.prepare(
    "UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE type = 'table' AND name = 'entries'",
  );
  change.run("kind = 'dispute'", oneOf('kind', ['dispute', 'suspend', 'resume']));
  change.run(', status TEXT', `, status TEXT CHECK (${oneOf('status', ['active', 'suspended'])})`);
  db.exec('PRAGMA writable_schema = RESET');
  db.enableDefensive(true);
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
