// A migration of SQLite: columns for money that was given, in everything that adds up money.
import type { DatabaseSync } from 'node:sqlite';
import { changeChecks, matchAny } from './checks.ts';

const BALANCED = 'avail + held + charged = topped + adjusted';

/** `grants` is JSON; `grants_due` is when the first grant of a wallet ends. */
export function addGrants(db: DatabaseSync): void {
  for (const table of ['wallets', 'entries', 'openings', 'checkpoints']) {
    db.exec(`ALTER TABLE ${table} ADD COLUMN granted INTEGER NOT NULL DEFAULT 0`);
    db.exec(`ALTER TABLE ${table} ADD COLUMN grants TEXT`);
  }
  db.exec('ALTER TABLE charges ADD COLUMN grants TEXT');
  db.exec('ALTER TABLE wallets ADD COLUMN grants_due INTEGER');
  db.exec('CREATE INDEX wallets_due ON wallets (grants_due) WHERE grants_due IS NOT NULL');
  for (const table of ['wallets', 'entries', 'openings'])
    changeChecks(db, table, [[BALANCED, `${BALANCED} + granted`]]);
  changeChecks(db, 'entries', [["kind = 'resume'", matchAny('kind', ['resume', 'grant', 'grant_end'])]]);
}
